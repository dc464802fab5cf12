//! A job and its states, from pending to completed or failed (contract 09 A.5).

use civitas_kernel::{
    AnswerLanguages, ClientId, Ctx, Error, FieldError, JobId, OrganizationId, TokenId, UserId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use time::{Duration, OffsetDateTime};

/// The duration of a lease without a heartbeat.
pub const LEASE: Duration = Duration::seconds(60);
/// The interval of heartbeats.
pub const HEARTBEAT: Duration = Duration::seconds(20);
/// The most starts of a job.
pub const MAX_ATTEMPTS: i64 = 3;

/// The longest `error_message`, in characters.
const MAX_MESSAGE: usize = 65_000;

/// The delay before a job is started again. `attempt` is the number of the lost one, from 1. `None` after the last: the
/// job has failed.
///
/// Source: contract 09 A.5.
pub fn next_attempt(attempt: i64) -> Option<Duration> {
    match attempt {
        1 => Some(Duration::seconds(5)),
        2 => Some(Duration::seconds(30)),
        _ => None,
    }
}

civitas_kernel::named_enum! {
    /// The status of a job.
    pub enum JobStatus {
        /// Waits for a worker.
        Pending = "pending",
        /// A worker owns it.
        Processing = "processing",
        /// Done; never changes again.
        Completed = "completed",
        /// Failed or lost; never changes again.
        Failed = "failed",
    }
}

impl JobStatus {
    /// Whether it never changes again.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// The owner of a job, or of another write: all tokens of the same client and user see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JobOwner {
    /// The client.
    pub client: ClientId,
    /// The user of a user token.
    pub user: Option<UserId>,
}

impl JobOwner {
    /// The caller of a request.
    pub fn of_caller(ctx: &Ctx) -> Self {
        Self { client: ctx.caller.client, user: ctx.participant() }
    }
}

/// The work of a job: a command, and the languages of its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPayload {
    /// The name of the command; its key unless several commands share one.
    pub name: String,
    /// The command.
    pub command: Value,
    /// The languages of the result.
    #[serde(flatten)]
    pub languages: AnswerLanguages,
}

impl JobPayload {
    /// The payload of a job that has ended: its command is removed, because it may contain personal data.
    pub fn empty() -> Self {
        Self { name: String::new(), command: Value::Null, languages: AnswerLanguages::default() }
    }
}

/// Why a job failed, in stable names (contract 09 A.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// `BadRequest`, `Unauthorized`, `Forbidden`, `NotFound`, `ValidationError`, `WorkerLost`, `InternalError`.
    pub class: Cow<'static, str>,
    /// The error text of the synchronous endpoint, at most 65 000 characters.
    pub message: String,
    /// The invalid members; empty unless the class is `ValidationError`.
    pub details: Vec<FieldError>,
}

impl JobFailure {
    /// The failure of a job that lost three workers.
    pub fn worker_lost() -> Self {
        Self { class: "WorkerLost".into(), message: "Worker lost".to_owned(), details: Vec::new() }
    }
}

impl From<&Error> for JobFailure {
    fn from(error: &Error) -> Self {
        let class = match error {
            Error::Rejected(_) | Error::MissingParameter(_) | Error::AnswerTooLong => "BadRequest",
            Error::Unauthenticated => "Unauthorized",
            Error::Forbidden => "Forbidden",
            Error::NotFound => "NotFound",
            Error::Invalid { .. } => "ValidationError",
            Error::OAuth { .. }
            | Error::Disabled
            | Error::ReadOnly
            | Error::NotServed
            | Error::TooManyRequests(_)
            | Error::Conflict(_)
            | Error::Unavailable(_)
            | Error::Timeout(_)
            | Error::Internal(_) => "InternalError",
        };
        let message = match error {
            transient if transient.is_transient() => Cow::Borrowed("Internal Server Error"),
            other => other.description(),
        };
        Self {
            class: class.into(),
            message: message.chars().take(MAX_MESSAGE).collect(),
            details: error.details().to_vec(),
        }
    }
}

/// A job for a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id, which gives the right to read it.
    pub id: JobId,
    /// The organization.
    pub organization: OrganizationId,
    /// The owner.
    pub owner: JobOwner,
    /// The token of the request.
    pub token: TokenId,
    /// The command's key (contract 09 A.6).
    pub command_key: String,
    /// The work.
    pub payload: JobPayload,
    /// The number of starts.
    pub attempts: i64,
    /// When it was accepted.
    pub created_at: OffsetDateTime,
}

/// A job in a list. Its payload and result, which may be large, are not read.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSummary {
    /// Its id.
    pub id: JobId,
    /// The command's key.
    pub command_key: String,
    /// Where it is on its way.
    pub status: JobStatus,
    /// The number of starts.
    pub attempts: i64,
    /// When it was accepted.
    pub created_at: OffsetDateTime,
    /// When its status last changed.
    pub updated_at: OffsetDateTime,
}

/// A job for its client, without the work.
#[derive(Debug, Clone, PartialEq)]
pub struct JobAnswer {
    /// Whose it is.
    pub owner: JobOwner,
    /// The part that lists have too.
    pub summary: JobSummary,
    /// The answer of the synchronous endpoint, as JSON text; `None` before the end, and for writes without an answer.
    pub result: Option<String>,
    /// Why it failed.
    pub failure: Option<JobFailure>,
}

impl JobAnswer {
    /// The owner of a job that has ended.
    pub fn owner_of_ended(&self) -> Option<JobOwner> {
        self.summary.status.has_ended().then_some(self.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_the_inline_twin_would_and_no_cause() {
        let failure = JobFailure::from(&Error::internal("no such table"));
        assert_eq!(
            (failure.class.as_ref(), failure.message.as_str()),
            ("InternalError", "Internal Server Error")
        );
        let failure = JobFailure::from(&Error::rejected("x".repeat(70_000)));
        assert_eq!(failure.message.len(), 65_000);
    }

    #[test]
    fn there_are_three_attempts() {
        assert_eq!([1, 2, 3].map(|n| next_attempt(n).is_some()), [true, true, false]);
        assert_eq!(MAX_ATTEMPTS, 3);
    }
}
