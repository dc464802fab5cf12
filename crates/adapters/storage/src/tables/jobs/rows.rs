//! The rows of jobs.

#![expect(clippy::ref_option_ref, reason = "what Diesel derives borrows each field")]

use crate::columns::{EnumColumn, JsonColumn, LenientColumn, UuidColumn};
use crate::engine::Db;
use crate::schema::jobs;
use civitas_jobs::{Job, JobAnswer, JobFailure, JobOwner, JobPayload, JobStatus, JobSummary};
use civitas_kernel::{ClientId, FieldError, JobId, OrganizationId, TokenId, UserId};
use diesel::dsl::Eq;
use diesel::prelude::*;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use uuid::Uuid;

/// The columns to write of a new job.
#[derive(Insertable)]
#[diesel(table_name = jobs, check_for_backend(Db), treat_none_as_default_value = false)]
pub(super) struct Row {
    id: UuidColumn,
    pub(super) organization_id: i64,
    api_client_id: i64,
    user_id: Option<i64>,
    access_token_id: i64,
    command_key: String,
    status: EnumColumn<JobStatus>,
    payload: JsonColumn<JobPayload>,
    bytes: i64,
    attempts: i64,
    pub(super) due_at: OffsetDateTime,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

/// The columns for lists, without payload and result, which may have 1 MiB each.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
pub(in crate::tables) struct SummaryRow {
    id: UuidColumn,
    command_key: String,
    status: EnumColumn<JobStatus>,
    attempts: i64,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

/// The columns for the client of a job. The result is not parsed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
pub(in crate::tables) struct JobAnswerRow {
    #[diesel(embed)]
    summary: SummaryRow,
    api_client_id: i64,
    user_id: Option<i64>,
    result: Option<JsonColumn<Box<RawValue>>>,
    error_class: Option<String>,
    error_message: Option<String>,
    error_details: Option<JsonColumn<Vec<FieldError>>>,
}

impl Row {
    /// A job that waits.
    pub(super) fn from_job(job: &Job, due_at: OffsetDateTime) -> Self {
        Self {
            id: UuidColumn(job.id.0),
            organization_id: job.organization.0,
            api_client_id: job.owner.client.0,
            user_id: job.owner.user.map(|user| user.0),
            access_token_id: job.token.0,
            command_key: job.command_key.clone(),
            status: EnumColumn(JobStatus::Pending),
            payload: JsonColumn(job.payload.clone()),
            bytes: json_bytes(&job.payload),
            attempts: job.attempts,
            due_at,
            created_at: job.created_at,
            updated_at: job.created_at,
        }
    }
}

impl From<SummaryRow> for JobSummary {
    fn from(row: SummaryRow) -> Self {
        Self {
            id: JobId(row.id.0),
            command_key: row.command_key,
            status: row.status.0,
            attempts: row.attempts,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl From<JobAnswerRow> for JobAnswer {
    fn from(row: JobAnswerRow) -> Self {
        let failure = row.error_class.map(|class| JobFailure {
            class: class.into(),
            message: row.error_message.unwrap_or_default(),
            details: row.error_details.map(|details| details.0).unwrap_or_default(),
        });
        let result = row.result.map(|result| Box::<str>::from(result.0).into_string());
        let owner = JobOwner { client: ClientId(row.api_client_id), user: row.user_id.map(UserId) };
        Self { owner, summary: row.summary.into(), result, failure }
    }
}

/// The columns to write of a transition; `None` clears a column.
#[derive(AsChangeset)]
#[diesel(table_name = jobs, treat_none_as_null = true)]
pub(super) struct Transition<'a> {
    status: EnumColumn<JobStatus>,
    worker: Option<&'a str>,
    leased_until: Option<OffsetDateTime>,
    result: Option<JsonColumn<&'a Value>>,
    error_class: Option<&'a str>,
    error_message: Option<&'a str>,
    error_details: Option<JsonColumn<&'a [FieldError]>>,
    updated_at: OffsetDateTime,
}

impl<'a> Transition<'a> {
    /// To a status in which no worker owns the job.
    pub(super) fn to_status(status: JobStatus, now: OffsetDateTime) -> Self {
        Self {
            status: EnumColumn(status),
            worker: None,
            leased_until: None,
            result: None,
            error_class: None,
            error_message: None,
            error_details: None,
            updated_at: now,
        }
    }

    /// To the end of the job, after which the command is not needed.
    pub(super) fn with_empty_payload(
        self,
    ) -> (Self, Eq<jobs::payload, JsonColumn<JobPayload>>, Eq<jobs::bytes, i64>) {
        let bytes = self.result.as_ref().map_or(0, |result| json_bytes(result.0));
        (self, jobs::payload.eq(JsonColumn(JobPayload::empty())), jobs::bytes.eq(bytes))
    }

    pub(super) fn completed(result: &'a Value, now: OffsetDateTime) -> Self {
        let result = Some(result).filter(|result| !result.is_null()).map(JsonColumn);
        Self { result, ..Self::to_status(JobStatus::Completed, now) }
    }

    pub(super) fn failed(failure: &'a JobFailure, now: OffsetDateTime) -> Self {
        Self {
            error_class: Some(&failure.class),
            error_message: Some(&failure.message),
            error_details: Some(JsonColumn(&failure.details)),
            ..Self::to_status(JobStatus::Failed, now)
        }
    }
}

/// The length of a value as JSON.
fn json_bytes(value: &impl Serialize) -> i64 {
    // What cannot be written is not stored either.
    serde_json::to_vec(value).map_or(0, |json| i64::try_from(json.len()).unwrap_or(i64::MAX))
}

/// The columns to read of a claimed job.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
pub(super) struct ClaimedRow {
    id: UuidColumn,
    organization_id: i64,
    api_client_id: i64,
    user_id: Option<i64>,
    access_token_id: i64,
    command_key: String,
    payload: LenientColumn<JsonColumn<JobPayload>>,
    attempts: i64,
    pub(super) created_at: OffsetDateTime,
    pub(super) turn: i64,
}

impl ClaimedRow {
    /// The job; its id and the cause when its payload cannot be read.
    pub(super) fn into_job(self) -> Result<Job, (Uuid, String)> {
        let payload = self.payload.0.map_err(|cause| (self.id.0, cause))?;
        Ok(Job {
            id: JobId(self.id.0),
            organization: OrganizationId(self.organization_id),
            owner: JobOwner { client: ClientId(self.api_client_id), user: self.user_id.map(UserId) },
            token: TokenId(self.access_token_id),
            command_key: self.command_key,
            payload: payload.0,
            attempts: self.attempts,
            created_at: self.created_at,
        })
    }
}
