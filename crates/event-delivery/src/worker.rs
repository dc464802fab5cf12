//! The worker that sends deliveries: leases registrations, and sends what is due for each.

use super::fan_out::FanOutLimit;
use super::turn::{DeliveryContext, DeliveryTurn, LeasedRegistration};
use async_trait::async_trait;
use civitas_application::worker_loop::{POLL_INTERVAL, WorkSource, WorkerSlots, run_loop};
use civitas_application::{ShareHolder, SharedResource, Shares, Store};
use civitas_kernel::{ClientId, OrganizationId, Result, clock, sortable_id};
use civitas_webhooks::{RetrySchedule, SecretCipher, WaitingRegistration, WebhookSender};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration as Interval;
use time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval};

/// The duration of a lease of a registration.
const LEASE_DURATION: Duration = Duration::seconds(60);
/// The interval at which leases are renewed.
const LEASE_RENEWAL_INTERVAL: Interval = Interval::from_secs(20);
/// Whose permits deployment-wide clients use together.
const NO_ORGANIZATION: OrganizationId = OrganizationId(0);

/// Sends deliveries until it is stopped. Registrations are served in turn, each by one worker at a time. One that does not
/// answer occupies permits of its client and organization alone.
pub struct DeliveryWorker {
    context: Arc<DeliveryContext>,
    /// Notified when a turn has ended: the registration may have more.
    turn_ended: Notify,
}

impl DeliveryWorker {
    /// A worker that stops when `stop` is true.
    pub fn new(
        store: Arc<dyn Store>,
        sender: Arc<dyn WebhookSender>,
        cipher: Arc<dyn SecretCipher>,
        schedule: RetrySchedule,
        shares: Arc<Shares>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let (worker, fan_out) = (sortable_id().to_string(), FanOutLimit::new());
        let context =
            Arc::new(DeliveryContext { store, sender, cipher, schedule, shares, fan_out, worker, stop });
        Self { context, turn_ended: Notify::new() }
    }

    /// Runs until it is stopped; then requests in flight have time to end.
    pub async fn run(self) {
        let stop = self.context.stop.clone();
        let renewal = tokio::spawn(keep_leases(self.context.clone()));
        // Each registration has a permit: there are no more of them than permits.
        let permits = self.context.shares.limits(SharedResource::WebhookRequests).process;
        let capacity = WorkerSlots { running: usize::try_from(permits).unwrap_or(usize::MAX), ahead: 0 };
        run_loop(Arc::new(self), capacity, stop).await;
        renewal.abort();
    }

    /// Leases registrations for which there are permits, at most `limit`.
    async fn lease(&self, limit: i64) -> Result<Vec<LeasedRegistration>> {
        let DeliveryContext { store, worker, shares, .. } = &*self.context;
        let (queue, now) = (store.deliveries(), clock::now());
        let each = i64::try_from(shares.limits(SharedResource::WebhookRequests).client).unwrap_or(i64::MAX);
        let waiting = queue.waiting(now, each).await?;
        let mut chosen = with_permits(shares, waiting, usize::try_from(limit).unwrap_or_default());
        if chosen.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = chosen.iter().map(|one| one.id).collect();
        let leased = queue.claim(worker, &ids, now, now + LEASE_DURATION).await?;
        chosen.retain(|one| leased.contains(&one.id));
        Ok(chosen)
    }
}

/// Takes permits for at most `limit` registrations: one of each client, those of organizations that use the fewest permits
/// first; then another one of each. Those for which there is no permit are left out.
fn with_permits(
    shares: &Arc<Shares>,
    waiting: Vec<WaitingRegistration>,
    limit: usize,
) -> Vec<LeasedRegistration> {
    let mut of_clients: HashMap<ClientId, u64> = HashMap::new();
    let ranked = waiting.into_iter().map(|one| {
        let of_client = of_clients.entry(one.client).or_default();
        *of_client += 1;
        let organization = one.organization.unwrap_or(NO_ORGANIZATION);
        let holder = ShareHolder { organization, client: Some(one.client), record: None };
        (*of_client, shares.used(SharedResource::WebhookRequests, organization), one.id, holder)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(of_client, used, ..)| (*of_client, *used));
    let permitted = ranked.into_iter().filter_map(|(_, _, id, holder)| {
        let permit = shares.try_take(SharedResource::WebhookRequests, holder)?;
        Some(LeasedRegistration { id, holder, permit })
    });
    permitted.take(limit).collect()
}

#[async_trait]
impl WorkSource for DeliveryWorker {
    type Item = LeasedRegistration;

    async fn claim(&self, limit: i64) -> Vec<LeasedRegistration> {
        self.lease(limit).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "no registrations could be claimed");
            Vec::new()
        })
    }

    #[tracing::instrument(
        name = "application.webhooks.deliver", level = "debug", skip_all, fields(registration = leased.id.0)
    )]
    async fn execute(&self, leased: LeasedRegistration) {
        let id = leased.id;
        if let Err(error) = DeliveryTurn::new(&self.context, leased).run().await {
            // The lease ends by itself; what was not recorded is sent again.
            tracing::warn!(%error, registration = id.0, "deliveries were interrupted");
        }
        self.turn_ended.notify_one();
    }

    async fn wait(&self) {
        tokio::select! {
            () = self.context.store.deliveries().wait(POLL_INTERVAL) => {},
            () = self.turn_ended.notified() => {},
        }
    }
}

/// Renews the leases of the worker.
async fn keep_leases(context: Arc<DeliveryContext>) {
    let mut ticks = interval(LEASE_RENEWAL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) =
            context.store.deliveries().renew(&context.worker, clock::now() + LEASE_DURATION).await
        {
            tracing::warn!(%error, "the leases of registrations could not be renewed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_application::ShareCapacity;
    use civitas_kernel::RegistrationId;

    fn shares(webhook_requests: u64) -> Arc<Shares> {
        Shares::new(ShareCapacity {
            read_connections: 1,
            searches: 4,
            write_connections: None,
            stored_bytes: 1,
            webhook_requests,
        })
    }

    fn waiting(organization: i64, client: i64, ids: std::ops::Range<i64>) -> Vec<WaitingRegistration> {
        let one = |id| WaitingRegistration {
            id: RegistrationId(id),
            client: ClientId(client),
            organization: Some(OrganizationId(organization)),
        };
        ids.map(one).collect()
    }

    fn ids(leased: &[LeasedRegistration]) -> Vec<i64> {
        leased.iter().map(|one| one.id.0).collect()
    }

    #[test]
    fn organizations_and_their_clients_take_turns() {
        let shares = shares(400);
        let all = [waiting(1, 1, 0..20), waiting(1, 2, 20..22), waiting(2, 3, 30..33)].concat();
        let first = with_permits(&shares, all.clone(), 6);
        assert_eq!(ids(&first), [0, 20, 30, 1, 21, 31]);
        let _others = with_permits(&shares, waiting(2, 4, 40..60), 10);
        assert_eq!(ids(&with_permits(&shares, all, 2)), [0, 20], "organization 2 uses more");
    }

    #[test]
    fn a_client_without_a_permit_delays_nobody() {
        let shares = shares(400);
        let silent = with_permits(&shares, waiting(1, 1, 0..300), 400);
        assert_eq!(silent.len(), 20);
        let all = [waiting(1, 1, 20..40), waiting(1, 2, 50..51), waiting(2, 3, 60..61)].concat();
        assert_eq!(ids(&with_permits(&shares, all.clone(), 400)), [60, 50]);
        drop(silent);
        assert_eq!(with_permits(&shares, all, 400).len(), 22);
    }
}
