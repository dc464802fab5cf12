//! Removes old rows again and again, in small batches.

use crate::worker_loop::{is_running, pause};
use async_trait::async_trait;
use civitas_kernel::Result;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of the search.
const SEARCH: Duration = Duration::from_secs(600);
/// The pause between two batches, in which others write.
const BETWEEN: Duration = Duration::from_millis(100);
/// The most rows of one batch.
pub const BATCH: i64 = 500;

/// Removes old rows of some tables.
#[async_trait]
pub trait Sweep: Send + Sync {
    /// What is removed, for the log.
    const DESCRIPTION: &'static str;

    /// One batch of each table. Returns the number of rows that were changed or removed.
    async fn sweep(&self) -> Result<u64>;
}

/// Sweeps until `stop` is true: the next batch after 100 ms, after the last one in 10 minutes.
pub async fn run_sweeps<S: Sweep>(sweeper: &S, mut stop: watch::Receiver<bool>) {
    while is_running(&stop) {
        let time = match sweeper.sweep().await {
            Ok(0) => SEARCH,
            Ok(rows) => {
                tracing::debug!(rows, what = S::DESCRIPTION, "old rows were removed");
                BETWEEN
            }
            Err(error) => {
                tracing::warn!(%error, what = S::DESCRIPTION, "old rows could not be removed");
                SEARCH
            }
        };
        pause(time, &mut stop).await;
    }
}
