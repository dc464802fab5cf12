//! Ports: what this crate needs from outside.

use crate::{Job, JobAnswer, JobFailure, JobOwner, JobStatus, JobSummary};
use async_trait::async_trait;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::{JobId, OrganizationId, Page, PageRequest, Result, filter_fields};
use serde_json::Value;
use std::time::Duration;
use time::OffsetDateTime;

filter_fields! {
    /// The fields for filters of jobs (contract 09 A.3, 01 §6.2). Their ids are no numbers, and no field.
    pub enum JobField = JOB_FIELDS, JobFilter {
        CommandKey: "command_key", FieldKind::Text;
        Status: "status", FieldKind::Enum(JobStatus::NAMES);
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

/// The result of storing the end of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEndOutcome {
    /// It is stored.
    Recorded,
    /// The job was deleted meanwhile: its effects are kept, and its result is discarded.
    Gone,
    /// Another worker owns the job: the transaction must roll back.
    Lost,
}

/// The store of jobs.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Stores a new job: pending, due at once.
    async fn add(&self, job: &Job) -> Result<()>;
    /// The job.
    async fn find(&self, organization: OrganizationId, id: JobId) -> Result<Option<JobAnswer>>;
    /// The owner's jobs, newest first.
    async fn list(
        &self,
        organization: OrganizationId,
        owner: JobOwner,
        filters: &[JobFilter],
        page: PageRequest,
    ) -> Result<Page<JobSummary>>;
    /// Removes the owner's job, in any status. Whether there was one.
    async fn remove(&self, organization: OrganizationId, owner: JobOwner, id: JobId) -> Result<bool>;

    /// Claims jobs that are due, at most `limit`: they are `processing`, leased to this worker until `until`, started
    /// once more. One job is claimed by one worker. Organizations take turns: a job waits for at most a few jobs of each
    /// other organization, however many of them wait. The jobs of one organization are claimed in the order in which
    /// they were added. A job that cannot be read has failed with `InternalError`, and is left out.
    async fn claim(
        &self,
        worker: &str,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Job>>;
    /// Extends the leases of these jobs, if this worker owns them.
    async fn renew(&self, worker: &str, jobs: &[JobId], until: OffsetDateTime) -> Result<()>;
    /// Returns jobs whose lease ended before `now` to `pending`, due after the delay of their attempt; after the last
    /// attempt they have failed with `lost`. Returns their number.
    async fn reclaim(&self, now: OffsetDateTime, lost: &JobFailure) -> Result<u64>;
    /// Returns all jobs that are being processed to `pending`, due at `now`; after the last attempt they have failed
    /// with `lost`. For a process without other workers. How many there were.
    async fn reclaim_all(&self, now: OffsetDateTime, lost: &JobFailure) -> Result<u64>;
    /// Returns all jobs of this worker, which stops, to `pending`, due at `now`. Their last start is not counted.
    /// Returns their number.
    async fn release_all(&self, worker: &str, now: OffsetDateTime) -> Result<u64>;
    /// Completes or fails a job this worker still owns. A null result is none. The command of the job is removed.
    async fn end<'a>(
        &self,
        worker: &str,
        id: JobId,
        outcome: Result<&'a Value, &'a JobFailure>,
        now: OffsetDateTime,
    ) -> Result<JobEndOutcome>;
    /// Gives back a job this worker still owns: it is `pending` again, due at `due`. The attempt can be not counted,
    /// after a fault of the machine.
    async fn release(
        &self,
        worker: &str,
        id: JobId,
        due: OffsetDateTime,
        forgive: bool,
    ) -> Result<JobEndOutcome>;
    /// Waits until a job may have been added, at most this long.
    async fn wait(&self, at_most: Duration);
}
