//! One turn of a registration: sends what is due, records what the receiver answered.

use super::fan_out::FanOutLimit;
use super::outcomes::{jitter, reason_to_drop, record_health};
use civitas_application::metrics::{self, LeasedWork};
use civitas_application::worker_loop::is_running;
use civitas_application::{ShareHolder, SharePermit, SharedResource, Shares, Store};
use civitas_kernel::{RegistrationId, Result, clock};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryId, DeliveryOutcome, DeliveryVerdict, DueDelivery, RetrySchedule, SecretCipher,
    SendError, SendErrorKind, SignedRequest, SigningSecret, TargetPolicy, WebhookSender, WebhookTarget,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

/// The most requests to one registration at once (contract 09 C.4).
const MAX_REQUESTS_IN_FLIGHT: usize = 10;
/// The most deliveries read at once.
const MAX_DELIVERIES_PER_READ: i64 = 250;
/// The most ended attempts before they are recorded.
const MAX_UNRECORDED_ATTEMPTS: usize = 250;
/// The longest time from the end of an attempt until it is recorded.
const MAX_RECORD_DELAY: Duration = Duration::from_millis(250);
/// The time that requests in flight have to end when the worker stops.
const STOP_GRACE_PERIOD: Duration = Duration::from_secs(8);
/// The longest time a turn takes on new deliveries; then the registration waits for its next turn.
const MAX_TURN_DURATION: Duration = Duration::from_secs(30);
/// The interval of the search for new deliveries while others are in flight.
const SEARCH_INTERVAL: Duration = Duration::from_millis(500);
/// The delay after which a request that got no permit tries again, if none of the turn ends before.
const PERMIT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// How old the state of the registration may be when a request begins.
const MAX_SNAPSHOT_AGE: Duration = Duration::from_secs(1);
/// The delays after a fault of the machine while attempts are recorded.
const RECORD_RETRY_DELAYS: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];

/// What a turn uses: ports, limits, the name of the worker.
pub(super) struct DeliveryContext {
    pub(super) store: Arc<dyn Store>,
    pub(super) sender: Arc<dyn WebhookSender>,
    pub(super) cipher: Arc<dyn SecretCipher>,
    pub(super) schedule: RetrySchedule,
    pub(super) shares: Arc<Shares>,
    pub(super) fan_out: FanOutLimit,
    /// The name of the worker in leases.
    pub(super) worker: String,
    /// Whether to stop.
    pub(super) stop: watch::Receiver<bool>,
}

/// A leased registration, and the permit for its first request.
pub struct LeasedRegistration {
    pub(super) id: RegistrationId,
    pub(super) holder: ShareHolder<'static>,
    pub(super) permit: SharePermit,
}

/// The state of the registration, with its secret decrypted.
struct RegistrationSnapshot {
    target: WebhookTarget,
    host: String,
    secret: Result<Arc<SigningSecret>, String>,
    read_at: Instant,
}

/// One turn. Each request has a permit of [`SharedResource::WebhookRequests`], and the turn has one at least, from its
/// begin to its end: so few registrations of one client or organization have a turn at once.
pub(super) struct DeliveryTurn<'a> {
    context: &'a Arc<DeliveryContext>,
    id: RegistrationId,
    holder: ShareHolder<'static>,
    /// A permit that no request has.
    permit: Option<SharePermit>,
    begun: Instant,
    snapshot: Option<RegistrationSnapshot>,
    /// Read, not yet sent.
    waiting: VecDeque<DueDelivery>,
    /// Tasks of their own: they go on while ended attempts are recorded.
    in_flight: JoinSet<(DueDelivery, DeliveryAttempt, SharePermit)>,
    /// The ids of deliveries in flight.
    sent: Vec<DeliveryId>,
    ended: Vec<DeliveryOutcome>,
    /// When the oldest of `ended` must be recorded.
    record_at: Instant,
    /// When to search for new deliveries again.
    search_at: Instant,
    /// When to send again what had no permit, or would have been one copy too many.
    resume_at: Instant,
    /// Whether an answer did not come in time: other registrations of the client are next.
    is_silent: bool,
    /// Whether all deliveries that were due at the last search were read.
    is_drained: bool,
    /// The registration was deleted, paused or disabled, another worker has it, or the database does not answer: what is
    /// in flight ends, and nothing more is sent.
    lost: bool,
    /// Becomes true when the worker stops.
    stop: watch::Receiver<bool>,
    /// When requests in flight are given up; `None` while the worker runs.
    stop_at: Option<Instant>,
}

impl<'a> DeliveryTurn<'a> {
    pub(super) fn new(
        context: &'a Arc<DeliveryContext>,
        LeasedRegistration { id, holder, permit }: LeasedRegistration,
    ) -> Self {
        let now = Instant::now();
        Self {
            context,
            id,
            holder,
            permit: Some(permit),
            begun: now,
            snapshot: None,
            waiting: VecDeque::new(),
            in_flight: JoinSet::new(),
            sent: Vec::new(),
            ended: Vec::new(),
            record_at: now,
            search_at: now,
            resume_at: now,
            is_silent: false,
            is_drained: false,
            lost: false,
            stop: context.stop.clone(),
            stop_at: None,
        }
    }

    /// Sends until nothing is due, the turn is over or the worker stops. Then records and ends the lease.
    pub(super) async fn run(mut self) -> Result<()> {
        loop {
            if self.may_send_more()
                && let Err(error) = self.send_more().await
            {
                tracing::warn!(%error, registration = self.id.0, "no more deliveries are sent in this turn");
                self.waiting.clear();
                self.lost = true;
            }
            if self.in_flight.is_empty() {
                if !self.may_send_more() || (self.is_drained && self.waiting.is_empty()) {
                    break;
                }
                if self.waiting.is_empty() {
                    continue;
                }
            }
            if self.stop_at.is_some_and(|at| Instant::now() >= at) {
                tracing::info!(
                    registration = self.id.0,
                    "requests in flight are given up, and sent again later"
                );
                break;
            }
            self.wait().await?;
        }
        self.record_attempts().await?;
        self.release().await
    }

    /// Whether new requests may begin.
    fn may_send_more(&self) -> bool {
        let is_over = self.lost
            || self.is_silent
            || self.stop_at.is_some()
            || self.begun.elapsed() >= MAX_TURN_DURATION;
        !is_over && is_running(&self.stop)
    }

    /// Reads what is due, and begins requests.
    async fn send_more(&mut self) -> Result<()> {
        self.search().await?;
        self.send_waiting().await
    }

    /// Reads due deliveries when fewer requests than the limit are in flight.
    async fn search(&mut self) -> Result<()> {
        let is_time = !self.is_drained || Instant::now() >= self.search_at;
        if !self.waiting.is_empty() || self.in_flight.len() >= MAX_REQUESTS_IN_FLIGHT || !is_time {
            return Ok(());
        }
        // Else they would be read again.
        self.record_attempts().await?;
        if self.lost {
            return Ok(());
        }
        let queue = self.context.store.deliveries();
        let found = queue.due(self.id, clock::now(), &self.sent, MAX_DELIVERIES_PER_READ).await?;
        self.is_drained = found.len() < usize::try_from(MAX_DELIVERIES_PER_READ).unwrap_or(usize::MAX);
        self.search_at = Instant::now() + SEARCH_INTERVAL;
        self.waiting.extend(found);
        Ok(())
    }

    /// Begins requests, up to the limit, while they get permits and are not too many copies.
    async fn send_waiting(&mut self) -> Result<()> {
        while self.in_flight.len() < MAX_REQUESTS_IN_FLIGHT
            && let Some(delivery) = self.waiting.pop_front()
        {
            if !self.refresh().await? {
                self.waiting.clear();
                return Ok(());
            }
            let Some(snapshot) = &self.snapshot else { return Ok(()) };
            if let Some(reason) = reason_to_drop(&snapshot.target, &delivery) {
                let verdict = DeliveryVerdict::Dropped(reason);
                self.end(DeliveryOutcome { delivery: delivery.id, attempt: None, verdict });
                continue;
            }
            let DeliveryContext { shares, fan_out, .. } = &**self.context;
            let spare = || shares.try_take_spare(SharedResource::WebhookRequests, self.holder);
            let Some(permit) = self.permit.take().or_else(spare) else {
                self.postpone(delivery, PERMIT_RETRY_DELAY);
                return Ok(());
            };
            if let Err(wait) = fan_out.take(&snapshot.host, self.holder, delivery.event) {
                self.permit = Some(permit);
                self.postpone(delivery, wait);
                return Ok(());
            }
            self.sent.push(delivery.id);
            self.in_flight.spawn(request(self.context.clone(), snapshot, delivery, permit));
        }
        Ok(())
    }

    fn postpone(&mut self, delivery: DueDelivery, wait: Duration) {
        self.waiting.push_front(delivery);
        self.resume_at = Instant::now() + wait;
    }

    /// Reads the registration if what is known of it is old. Whether it may be sent to.
    async fn refresh(&mut self) -> Result<bool> {
        if self.snapshot.as_ref().is_some_and(|snapshot| snapshot.read_at.elapsed() < MAX_SNAPSHOT_AGE) {
            return Ok(true);
        }
        let DeliveryContext { store, worker, cipher, .. } = &**self.context;
        self.snapshot = store.deliveries().target(worker, self.id).await?.map(|target| {
            let secret = cipher.open(&target.registration.secret).map(Arc::new);
            if let Err(error) = &secret {
                tracing::error!(%error, registration = self.id.0, "the secret cannot be decrypted");
            }
            let secret = secret.map_err(|_| "the secret cannot be decrypted".to_owned());
            let url = TargetPolicy::parse(&target.registration.url);
            let host = url.ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
            RegistrationSnapshot { target, host, secret, read_at: Instant::now() }
        });
        self.lost = self.snapshot.is_none();
        Ok(!self.lost)
    }

    /// Waits for the end of a request, for the time to record, or for the time to search or to send again.
    async fn wait(&mut self) -> Result<()> {
        let may_begin = self.may_send_more() && self.in_flight.len() < MAX_REQUESTS_IN_FLIGHT;
        let begin_at = if self.waiting.is_empty() { self.search_at } else { self.resume_at };
        let (record_at, is_stopping) = (self.record_at, self.stop_at.is_some());
        let stop_at = self.stop_at.unwrap_or(record_at);
        tokio::select! {
            Some(ended) = self.in_flight.join_next() => self.note(ended),
            () = sleep_until(record_at), if !self.ended.is_empty() => self.record_attempts().await?,
            () = sleep_until(begin_at), if may_begin => {}
            () = sleep_until(stop_at), if is_stopping => {}
            _ = self.stop.changed(), if !is_stopping => self.stop_at = Some(Instant::now() + STOP_GRACE_PERIOD),
        }
        if self.ended.len() >= MAX_UNRECORDED_ATTEMPTS { self.record_attempts().await } else { Ok(()) }
    }

    /// Notes what follows from an attempt. After a panic the delivery is sent again in the next turn.
    fn note(&mut self, ended: Result<(DueDelivery, DeliveryAttempt, SharePermit), JoinError>) {
        let (delivery, attempt, permit) = match ended {
            Ok(ended) => ended,
            Err(panic) => return tracing::error!(%panic, registration = self.id.0, "a request failed"),
        };
        self.permit.get_or_insert(permit);
        self.is_silent |= matches!(&attempt.result, Err(error) if error.kind == SendErrorKind::Timeout);
        self.sent.retain(|id| *id != delivery.id);
        let number = attempt.number - delivery.replayed_after;
        let verdict = match self.context.schedule.decide(number, &attempt, clock::now(), jitter()) {
            DeliveryVerdict::Retry(_) if delivery.is_test => DeliveryVerdict::Dead("the test failed".into()),
            verdict => verdict,
        };
        self.end(DeliveryOutcome { delivery: delivery.id, attempt: Some(attempt), verdict });
    }

    fn end(&mut self, outcome: DeliveryOutcome) {
        if self.ended.is_empty() {
            self.record_at = Instant::now() + MAX_RECORD_DELAY;
        }
        self.ended.push(outcome);
    }

    /// Stores what has ended, in one transaction. A fault of the machine is waited for; after the last wait the error is
    /// returned, and the deliveries are sent again by the next worker.
    async fn record_attempts(&mut self) -> Result<()> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let mut waits = RECORD_RETRY_DELAYS.into_iter();
        loop {
            match self.store_ended().await {
                Ok(stored) => {
                    self.lost |= !stored;
                    self.ended.clear();
                    return Ok(());
                }
                Err(error) if error.is_transient() => {
                    let Some(wait) = waits.next() else { return Err(error) };
                    tracing::warn!(%error, ?wait, "the attempts could not be recorded");
                    sleep(wait).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether it was stored: not when the lease is lost.
    async fn store_ended(&mut self) -> Result<bool> {
        let DeliveryContext { store, worker, .. } = &**self.context;
        let tx = store.begin().await?;
        let Some(mut health) = tx.deliveries().lock_leased(worker, self.id).await? else {
            tx.rollback().await;
            metrics::leases_lost(LeasedWork::Delivery, 1);
            return Ok(false);
        };
        let was_enabled = health.disabled_at.is_none();
        record_health(&mut health, &self.ended);
        tx.deliveries().record(self.id, &self.ended, &health, clock::now()).await?;
        tx.commit().await?;
        if was_enabled && health.disabled_at.is_some() {
            tracing::warn!(
                registration = self.id.0,
                failures = health.failures,
                "a registration was disabled"
            );
            self.snapshot = None;
        }
        Ok(true)
    }

    /// Ends the lease.
    async fn release(&mut self) -> Result<()> {
        let DeliveryContext { store, worker, .. } = &**self.context;
        let tx = store.begin().await?;
        tx.deliveries().release(worker, self.id).await?;
        tx.commit().await
    }
}

/// Makes an attempt.
fn request(
    context: Arc<DeliveryContext>,
    snapshot: &RegistrationSnapshot,
    delivery: DueDelivery,
    permit: SharePermit,
) -> impl Future<Output = (DueDelivery, DeliveryAttempt, SharePermit)> + Send + use<> {
    let url = snapshot.target.registration.url.clone();
    let secret = snapshot.secret.clone();
    async move {
        let (at, number) = (clock::now(), delivery.attempts + 1);
        let attempt = match &secret {
            Ok(secret) => {
                let message =
                    SignedRequest { url: &url, secret, id: delivery.id, at, body: &delivery.payload };
                context.sender.send(message, number).await
            }
            Err(cause) => {
                let error = SendError { kind: SendErrorKind::Internal, cause: cause.clone() };
                DeliveryAttempt { number, at, duration: Duration::ZERO, result: Err(error) }
            }
        };
        (delivery, attempt, permit)
    }
}
