//! The log of jobs, for administrators of the deployment.

use crate::{JobAnswer, JobStatus, JobSummary};
use async_trait::async_trait;
use civitas_kernel::{ClientId, JobId, LogPage, LogRequest, OrganizationId, Result, UserId};
use serde_json::Value;
use time::OffsetDateTime;

/// Which jobs to list. Members that are `None` match every job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobLogFilter {
    /// Of this organization.
    pub organization: Option<OrganizationId>,
    /// With this status.
    pub status: Option<JobStatus>,
    /// With this command key.
    pub command: Option<String>,
    /// Of the client with this `client_id`.
    pub client: Option<String>,
    /// Accepted at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Accepted before this time.
    pub to: Option<OffsetDateTime>,
}

/// The client of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobClient {
    /// Its number.
    pub id: ClientId,
    /// `client_id` and name; `None` when the client was deleted.
    pub uid_and_name: Option<(String, String)>,
}

/// The user of a job of a user token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobUser {
    /// The user.
    pub id: UserId,
    /// The nickname; `None` when the account is gone.
    pub nickname: Option<String>,
}

/// A job in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedJob {
    /// Id, command key, status, starts and times.
    pub summary: JobSummary,
    /// The organization.
    pub organization: OrganizationId,
    /// The client.
    pub client: JobClient,
    /// The user; `None` for a service token.
    pub user: Option<JobUser>,
    /// The class of the error of a failed job.
    pub error_class: Option<String>,
}

/// A job with everything that is stored of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobDetail {
    /// As in the log.
    pub job: LoggedJob,
    /// Result and failure.
    pub answer: JobAnswer,
    /// When it is started, or started again; of no meaning after its end.
    pub due_at: OffsetDateTime,
    /// The command as it is stored; `None` after the end of the job, when it is removed.
    pub request: Option<Value>,
}

/// The jobs of all clients, for administrators of the deployment. The caller checks permission.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait JobLog: Send + Sync {
    /// Jobs, the newest first. There are no totals: the page tells whether there are newer and older jobs.
    async fn list(&self, filter: &JobLogFilter, page: LogRequest<JobId>) -> Result<LogPage<LoggedJob>>;
    /// A job.
    async fn find(&self, id: JobId) -> Result<Option<JobDetail>>;
    /// Removes a job in any status; one that is being processed still takes effect. Whether there was one.
    async fn remove(&self, id: JobId) -> Result<bool>;
    /// Removes jobs that ended before this time, the oldest first, at most `limit`. Returns their number.
    async fn remove_ended(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
    /// Removes jobs of a user in any status, at most `limit`. Returns their number.
    async fn remove_of_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64>;
}
