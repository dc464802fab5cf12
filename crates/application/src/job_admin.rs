//! What administrators do with jobs. The caller checks permission.

use crate::Store;
use civitas_jobs::{JobCounts, JobDetail, JobLogFilter, LoggedJob};
use civitas_kernel::{Error, JobId, LogPage, LogRequest, Result};
use time::OffsetDateTime;

/// Reads and removes the jobs of all clients.
#[derive(Clone, Copy)]
pub struct JobAdmin<'a> {
    /// The store.
    pub store: &'a dyn Store,
}

impl JobAdmin<'_> {
    /// Jobs, the newest first.
    pub async fn jobs(&self, filter: &JobLogFilter, page: LogRequest<JobId>) -> Result<LogPage<LoggedJob>> {
        self.store.job_log().list(filter, page).await
    }

    /// A job with its result, its failure, and its request until it ends.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn job(&self, id: JobId) -> Result<JobDetail> {
        self.store.job_log().find(id).await?.ok_or(Error::NotFound)
    }

    /// Removes a job. A pending one never runs; one that is being processed still takes effect.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn remove(&self, id: JobId) -> Result<()> {
        let removed = self.store.job_log().remove(id).await?;
        if removed { Ok(()) } else { Err(Error::NotFound) }
    }

    /// How many jobs wait and run now, and how many accepted since this time have ended.
    pub async fn counts(&self, since: OffsetDateTime) -> Result<JobCounts> {
        self.store.job_log().counts(since).await
    }
}
