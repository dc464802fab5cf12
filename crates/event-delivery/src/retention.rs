//! Deletes deliveries that have ended and events that are old (`event_retention_days`).

use async_trait::async_trait;
use civitas_application::Store;
use civitas_application::sweeping::{BATCH, Sweep, run_sweeps};
use civitas_kernel::{Result, clock};
use civitas_webhooks::DeliveryStatus;
use std::sync::Arc;
use time::Duration;
use tokio::sync::watch;

/// How long deliveries are kept that were given up, and how long they may wait (contract 09 C.4).
const KEEP_DEAD: Duration = Duration::days(30);

/// Deletes what is old, in small batches.
pub struct RetentionWorker {
    store: Arc<dyn Store>,
    /// How long events and accepted deliveries are kept; `None`: for ever.
    events: Option<Duration>,
}

impl RetentionWorker {
    /// `events`: how long events and accepted deliveries are kept; `None`: for ever.
    pub fn new(store: Arc<dyn Store>, events: Option<Duration>) -> Self {
        Self { store, events }
    }

    /// Runs until `stop` is true.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        run_sweeps(&self, stop).await;
    }
}

#[async_trait]
impl Sweep for RetentionWorker {
    const DESCRIPTION: &'static str = "events and deliveries";

    async fn sweep(&self) -> Result<u64> {
        let now = clock::now();
        let (log, outbox) = (self.store.delivery_log(), self.store.outbox());
        let expired = log.expire(now - KEEP_DEAD, now, BATCH).await?;
        let Some(events) = self.events else { return Ok(expired) };
        let dead = events.max(KEEP_DEAD);
        let accepted = [DeliveryStatus::Delivered, DeliveryStatus::Dropped];
        let ended = log.remove_ended(&accepted, now - events, BATCH).await?
            + log.remove_ended(&[DeliveryStatus::Dead], now - dead, BATCH).await?;
        Ok(expired + ended + outbox.remove_before(now - events, BATCH).await?)
    }
}
