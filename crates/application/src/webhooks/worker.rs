//! The worker that sends deliveries: leases registrations, and sends what is due for each.

use super::turn::{Sending, Turn};
use crate::Store;
use crate::worker_loop::{Capacity, POLL, Slots, WorkSource, run_loop};
use async_trait::async_trait;
use civitas_kernel::{RegistrationId, clock, sortable_id};
use civitas_webhooks::{Schedule, SecretCipher, WebhookSender};
use std::sync::Arc;
use std::time::Duration as Interval;
use time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{MissedTickBehavior, interval};

/// The duration of a lease of a registration.
const LEASE: Duration = Duration::seconds(60);
/// The interval at which leases are renewed.
const HEARTBEAT: Interval = Interval::from_secs(20);
/// The most registrations a worker sends to at once. One that does not answer occupies one of them.
const REGISTRATIONS: usize = 200;

/// Sends deliveries until it is stopped. Registrations are served in turn, each by one worker at a time.
pub struct DeliveryWorker {
    sending: Arc<Sending>,
    /// Notified when a turn has ended: the registration may have more.
    turn_ended: Notify,
}

impl DeliveryWorker {
    /// A worker that stops when `stop` is true.
    pub fn new(
        store: Arc<dyn Store>,
        sender: Arc<dyn WebhookSender>,
        cipher: Arc<dyn SecretCipher>,
        schedule: Schedule,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let worker = sortable_id().to_string();
        let sending = Arc::new(Sending { store, sender, cipher, schedule, worker, stop });
        Self { sending, turn_ended: Notify::new() }
    }

    /// Runs until it is stopped; then requests in flight have time to end.
    pub async fn run(self) {
        let stop = self.sending.stop.clone();
        let keeper = tokio::spawn(keep_leases(self.sending.clone()));
        run_loop(Arc::new(self), &Slots::default(), Capacity { running: REGISTRATIONS, ahead: 0 }, stop)
            .await;
        keeper.abort();
    }
}

#[async_trait]
impl WorkSource for DeliveryWorker {
    type Item = RegistrationId;

    async fn claim(&self, limit: i64) -> Vec<RegistrationId> {
        let now = clock::now();
        let sending = &*self.sending;
        let claimed = sending.store.deliveries().claim(&sending.worker, now, now + LEASE, limit).await;
        claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "no registrations could be claimed");
            Vec::new()
        })
    }

    #[tracing::instrument(
        name = "application.webhooks.deliver", level = "debug", skip_all, fields(registration = id.0)
    )]
    async fn execute(&self, id: RegistrationId) {
        if let Err(error) = Turn::of(&self.sending, id).run().await {
            // The lease ends by itself; what was not recorded is sent again.
            tracing::warn!(%error, registration = id.0, "deliveries were interrupted");
        }
        self.turn_ended.notify_one();
    }

    async fn wait(&self) {
        tokio::select! {
            () = self.sending.store.deliveries().wait(POLL) => {},
            () = self.turn_ended.notified() => {},
        }
    }
}

/// Renews the leases of the worker.
async fn keep_leases(sending: Arc<Sending>) {
    let mut ticks = interval(HEARTBEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = sending.store.deliveries().renew(&sending.worker, clock::now() + LEASE).await {
            tracing::warn!(%error, "the leases of registrations could not be renewed");
        }
    }
}
