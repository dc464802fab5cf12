//! Removes old entries of the audit trail (`audit_retention_days`).

use crate::Store;
use crate::worker_loop::goes_on;
use civitas_kernel::clock;
use std::sync::Arc;
use std::time::Duration as Interval;
use time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// The interval of the search.
const SEARCH: Interval = Interval::from_secs(600);
/// The pause between two batches, in which others write.
const BETWEEN: Interval = Interval::from_millis(100);
/// The most rows of one batch.
const BATCH: i64 = 500;

/// Removes old entries from the beginning of each chain, in small batches.
pub struct AuditRetention {
    store: Arc<dyn Store>,
    keep: Option<Duration>,
}

impl AuditRetention {
    /// `keep`: how long entries are kept; `None`: for ever.
    pub fn new(store: Arc<dyn Store>, keep: Option<Duration>) -> Self {
        Self { store, keep }
    }

    /// Runs until `stop` is true.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let Some(keep) = self.keep else { return };
        while goes_on(&stop) {
            let wait = match self.store.audit().remove_before(clock::now() - keep, BATCH).await {
                Ok(0) => SEARCH,
                Ok(rows) => {
                    tracing::info!(rows, "old entries of the audit trail were removed");
                    BETWEEN
                }
                Err(error) => {
                    tracing::warn!(%error, "old entries of the audit trail could not be removed");
                    SEARCH
                }
            };
            tokio::select! { () = sleep(wait) => {}, _ = stop.changed() => {} }
        }
    }
}
