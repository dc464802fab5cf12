//! Deletes jobs that have ended (`job_retention_days`), tokens, links and sessions whose time is over
//! (`token_retention_days`), failed logins that do not count any more, counts of mails, and the rows of removed
//! organizations and API clients.

use crate::Store;
use crate::sweeping::{BATCH, Sweep, run_sweeps};
use async_trait::async_trait;
use civitas_accounts::login_failures::MOST_FAILED_NAMES;
use civitas_accounts::mail_limits::MAILS_COUNT_FOR;
use civitas_kernel::{Result, clock};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};
use tokio::sync::watch;

/// The most rows of one batch of jobs, or of removed records: each may have 1 MiB.
const LARGE: i64 = 100;

/// Deletes what is old, in small batches.
pub struct Cleanup {
    /// The store.
    pub store: Arc<dyn Store>,
    /// How long jobs are kept after their end; `None`: for ever.
    pub jobs: Option<Duration>,
    /// How long tokens, links and sessions are kept after their time is over; `None`: for ever.
    pub credentials: Option<Duration>,
}

impl Cleanup {
    /// Runs until `stop` is true.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        run_sweeps(&self, stop).await;
    }

    /// One batch of each table. Returns the number of rows that were removed.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn sweep_at(&self, now: OffsetDateTime) -> Result<u64> {
        let mut removed = 0;
        if let Some(age) = self.jobs {
            removed += self.store.job_log().remove_ended(now - age, LARGE).await?;
        }
        if let Some(age) = self.credentials {
            removed += self.store.ended_credentials().remove_before(now - age, BATCH).await?;
        }
        removed += self.store.login_failures().remove_unneeded(now, MOST_FAILED_NAMES, BATCH).await?;
        removed += self.store.mail_counts().remove_before(now - MAILS_COUNT_FOR, BATCH).await?;
        Ok(removed + self.store.removals().remove_rows(LARGE).await?)
    }
}

#[async_trait]
impl Sweep for Cleanup {
    const WHAT: &'static str = "rows that are old, or belong to removed organizations and clients";

    async fn sweep(&self) -> Result<u64> {
        self.sweep_at(clock::now()).await
    }
}
