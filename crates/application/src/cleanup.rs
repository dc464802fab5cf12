//! Deletes jobs that have ended (`job_retention_days`), tokens, links and sessions whose time is over,
//! failed logins that do not count any more, counts of mails, answers to writes with an
//! idempotency key, the rows of removed organizations and API clients, and entries of the audit trail
//! (`audit_retention_days`).

use crate::Store;
use crate::idempotency::ANSWER_RETENTION;
use crate::sweeping::{BATCH, Sweep, run_sweeps};
use async_trait::async_trait;
use civitas_accounts::login_failures::MAX_FAILED_NAMES;
use civitas_accounts::mail_limits::MAIL_COUNT_WINDOW;
use civitas_kernel::{Result, clock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use time::{Duration, OffsetDateTime};
use tokio::sync::watch;

/// How long tokens, links and sessions are kept after their time is over: a week of the past explains what a client did.
const CREDENTIAL_RETENTION: Duration = Duration::WEEK;

/// The most rows of one batch of jobs, or of removed records: each may have 1 MiB.
const LARGE: i64 = 100;

/// The number of removed rows after which the statistics of the tables are updated.
const MANY: u64 = 10_000;

/// Deletes what is old, in small batches.
pub struct CleanupWorker {
    /// The store.
    pub store: Arc<dyn Store>,
    /// How long jobs are kept after their end; `None`: for ever.
    pub jobs: Option<Duration>,
    /// How long entries of the audit trail are kept; `None`: for ever.
    pub audit: Option<Duration>,
}

impl CleanupWorker {
    /// Runs until `stop` is true.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        run_sweeps(&Sweeper { cleanup: self, removed: RemovedRows::default() }, stop).await;
    }

    /// One batch of each table. Returns the number of rows that were removed.
    pub async fn sweep_at(&self, now: OffsetDateTime) -> Result<u64> {
        // An error of one does not keep the others from it: the trail may have to be removed by law.
        let audit = match self.audit {
            Some(age) => self.store.audit().remove_before(now - age, BATCH).await,
            None => Ok(0),
        };
        let mut removed = 0;
        if let Some(age) = self.jobs {
            removed += self.store.job_log().remove_ended(now - age, LARGE).await?;
        }
        removed += self.store.ended_credentials().remove_before(now - CREDENTIAL_RETENTION, BATCH).await?;
        removed += self.store.login_failures().remove_unneeded(now, MAX_FAILED_NAMES, BATCH).await?;
        removed += self.store.mail_counts().remove_before(now - MAIL_COUNT_WINDOW, BATCH).await?;
        let kept_since = now - ANSWER_RETENTION;
        removed += self.store.idempotency_keys().remove_answers_before(kept_since, LARGE).await?;
        removed += self.store.removals().remove_rows(LARGE).await?;
        Ok(removed + audit?)
    }
}

/// The rows that were removed since the last empty batch.
#[derive(Default)]
struct RemovedRows(AtomicU64);

impl RemovedRows {
    /// Counts the rows of a batch. If it is empty, the number of all since the last empty one; 0 otherwise.
    fn until_empty(&self, rows: u64) -> u64 {
        if rows > 0 {
            self.0.fetch_add(rows, Ordering::Relaxed);
            return 0;
        }
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// The sweeps of a process.
struct Sweeper {
    cleanup: CleanupWorker,
    removed: RemovedRows,
}

#[async_trait]
impl Sweep for Sweeper {
    const DESCRIPTION: &'static str = "rows that are old, or belong to removed organizations and clients";

    /// After the last batch, such as that of an organization, empties the log beside the database; after a large removal, updates
    /// the statistics of the tables.
    async fn sweep(&self) -> Result<u64> {
        let rows = self.cleanup.sweep_at(clock::now()).await?;
        let (removed, store) = (self.removed.until_empty(rows), &self.cleanup.store);
        if removed > 0 {
            // False while somebody reads; the next sweep that removes rows tries again.
            store.truncate_log().await?;
        }
        if removed >= MANY {
            store.analyze().await?;
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_until_a_batch_is_empty() {
        let removed = RemovedRows::default();
        let after = [0, MANY - 1, 0, MANY - 1, 1, 0, 0].map(|rows| removed.until_empty(rows));
        assert_eq!(after, [0, 0, MANY - 1, 0, 0, MANY, 0]);
    }
}
