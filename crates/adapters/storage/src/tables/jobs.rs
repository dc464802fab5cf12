//! Jobs and their leases.

#![expect(clippy::ref_option_ref, reason = "what Diesel derives borrows each field")]

mod leases;
mod turns;

pub(super) use self::turns::WAITING;

use crate::columns::{self, Condition, EnumColumn, JsonColumn, UuidColumn};
use crate::engine::Db;
use crate::filter::{Column, holds};
use crate::list_pages::list_page;
use crate::prepared::PrepareOnce;
use crate::schema::jobs;
use crate::session::{Models, Rows, Run, Session, Work};
use async_trait::async_trait;
use civitas_jobs::{
    Failure, Finish, Job, JobField, JobFilter, JobOwner, JobPayload, JobReport, JobStatus, JobStore,
    JobSummary,
};
use civitas_kernel::{FieldError, JobId, OrganizationId, Page, PageRequest, Result, clock};
use diesel::dsl::{Eq, exists, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;
use time::OffsetDateTime;

/// The columns to write of a new job.
#[derive(Insertable)]
#[diesel(table_name = jobs, check_for_backend(Db), treat_none_as_default_value = false)]
struct Row {
    id: UuidColumn,
    organization_id: i64,
    api_client_id: i64,
    user_id: Option<i64>,
    access_token_id: i64,
    command_key: String,
    status: EnumColumn<JobStatus>,
    payload: JsonColumn<JobPayload>,
    bytes: i64,
    attempts: i64,
    due_at: OffsetDateTime,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

/// The columns for lists, without payload and result, which may have 1 MiB each.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
pub(super) struct SummaryRow {
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
pub(super) struct ReportRow {
    #[diesel(embed)]
    summary: SummaryRow,
    result: Option<JsonColumn<Box<RawValue>>>,
    error_class: Option<String>,
    error_message: Option<String>,
    error_details: Option<JsonColumn<Vec<FieldError>>>,
}

impl Row {
    /// A job that waits.
    fn of(job: &Job, due_at: OffsetDateTime) -> Self {
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

impl From<ReportRow> for JobReport {
    fn from(row: ReportRow) -> Self {
        let failure = row.error_class.map(|class| Failure {
            class: class.into(),
            message: row.error_message.unwrap_or_default(),
            details: row.error_details.map(|details| details.0).unwrap_or_default(),
        });
        let result = row.result.map(|result| Box::<str>::from(result.0).into_string());
        Self { summary: row.summary.into(), result, failure }
    }
}

/// The columns to write of a transition; `None` clears a column.
#[derive(AsChangeset)]
#[diesel(table_name = jobs, treat_none_as_null = true)]
struct Transition<'a> {
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
    fn to(status: JobStatus, now: OffsetDateTime) -> Self {
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
    fn ended(self) -> (Self, Eq<jobs::payload, JsonColumn<JobPayload>>, Eq<jobs::bytes, i64>) {
        let bytes = self.result.as_ref().map_or(0, |result| json_bytes(result.0));
        (self, jobs::payload.eq(JsonColumn(JobPayload::ended())), jobs::bytes.eq(bytes))
    }

    fn failed(failure: &'a Failure, now: OffsetDateTime) -> Self {
        Self {
            error_class: Some(&failure.class),
            error_message: Some(&failure.message),
            error_details: Some(JsonColumn(&failure.details)),
            ..Self::to(JobStatus::Failed, now)
        }
    }
}

/// The length of a value as JSON.
fn json_bytes(value: &impl Serialize) -> i64 {
    // What cannot be written is not stored either.
    serde_json::to_vec(value).map_or(0, |json| i64::try_from(json.len()).unwrap_or(i64::MAX))
}

type Boxed<'a> = diesel::dsl::IntoBoxed<'a, jobs::table, Db>;

/// The jobs of one owner. Those of a service token have no user: null is compared as a value.
fn of<'a>(organization: OrganizationId, owner: JobOwner) -> Boxed<'a> {
    let jobs = jobs::table
        .into_boxed()
        .filter(jobs::organization_id.eq(organization.0))
        .filter(jobs::api_client_id.eq(owner.client.0));
    match owner.user {
        Some(user) => jobs.filter(jobs::user_id.eq(user.0)),
        None => jobs.filter(jobs::user_id.is_null()),
    }
}

fn condition(filter: &JobFilter) -> Result<Condition<jobs::table>> {
    let column = match filter.field {
        JobField::CommandKey => Column::Ascii(Box::new(jobs::command_key.nullable())),
        JobField::Status => Column::Ascii(Box::new(jobs::status.nullable())),
        JobField::CreatedAt => Column::Time(Box::new(jobs::created_at.nullable())),
        JobField::UpdatedAt => Column::Time(Box::new(jobs::updated_at.nullable())),
    };
    holds(column, &filter.condition)
}

/// The jobs that have ended: the same condition as the index `jobs_ended`.
pub(super) fn ended() -> SqlLiteral<Bool> {
    sql("jobs.status IN ('completed', 'failed')")
}

/// The same condition as the index `jobs_leased`.
fn processing() -> SqlLiteral<Bool> {
    sql("jobs.status = 'processing'")
}

impl Session {
    /// The result for this number of updated rows.
    async fn finish(&self, id: JobId, rows: usize) -> Result<Finish> {
        if rows > 0 {
            return Ok(Finish::Recorded);
        }
        let is_there = diesel::select(exists(jobs::table.find(UuidColumn(id.0))));
        let is_there: bool = is_there.value_from(self.write()).await?;
        Ok(if is_there { Finish::Lost } else { Finish::Gone })
    }
}

#[async_trait]
impl JobStore for Session {
    async fn add(&self, job: &Job) -> Result<()> {
        let row = Row::of(job, self.database_time(job.created_at).await?);
        let turn = turns::next(row.organization_id, row.due_at);
        let insert = diesel::insert_into(jobs::table).values((row, jobs::turn.eq(turn))).prepare_once();
        let single = self.transaction_of_one().await?;
        insert.run_on(single.connection()).await?;
        single.commit().await?;
        self.notify(Work::Jobs);
        Ok(())
    }

    async fn find(&self, organization: OrganizationId, id: JobId) -> Result<Option<JobReport>> {
        jobs::table
            .find(UuidColumn(id.0))
            .filter(jobs::organization_id.eq(organization.0))
            .model_from::<ReportRow, _>(self.read())
            .await
    }

    async fn list(
        &self,
        organization: OrganizationId,
        owner: JobOwner,
        filters: &[JobFilter],
        page: PageRequest,
    ) -> Result<Page<JobSummary>> {
        let connection = &mut *self.read_page(page, false).await?;
        let own = || of(organization, owner).select(columns::of::<SummaryRow>());
        let page: Page<SummaryRow> = list_page!(connection, page, self.bounds; own();
            filters, |filter| condition(filter); jobs, (jobs::created_at.desc(), jobs::id.desc()));
        Ok(page.map(Into::into))
    }

    async fn remove(&self, organization: OrganizationId, owner: JobOwner, id: JobId) -> Result<bool> {
        let own = of(organization, owner).filter(jobs::id.eq(UuidColumn(id.0))).select(jobs::id);
        diesel::delete(jobs::table.filter(jobs::id.eq_any(own)))
            .run_on(self.write())
            .await
            .map(|rows| rows > 0)
    }

    async fn claim(
        &self,
        worker: &str,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Job>> {
        leases::claim(self, worker, now, until, limit).await
    }

    async fn renew(&self, worker: &str, jobs: &[JobId], until: OffsetDateTime) -> Result<()> {
        leases::renew(self, worker, jobs, until).await
    }

    async fn reclaim(&self, now: OffsetDateTime, lost: &Failure) -> Result<u64> {
        leases::reclaim(self, now, lost).await
    }

    async fn take_over(&self, now: OffsetDateTime, lost: &Failure) -> Result<u64> {
        leases::take_over(self, now, lost).await
    }

    async fn release_all(&self, worker: &str, now: OffsetDateTime) -> Result<u64> {
        leases::release_all(self, worker, now).await
    }

    async fn end<'a>(
        &self,
        worker: &str,
        id: JobId,
        outcome: Result<&'a Value, &'a Failure>,
        now: OffsetDateTime,
    ) -> Result<Finish> {
        let transition = match outcome {
            Ok(result) => {
                let result = Some(result).filter(|result| !result.is_null()).map(JsonColumn);
                Transition { result, ..Transition::to(JobStatus::Completed, now) }
            }
            Err(failure) => Transition::failed(failure, now),
        };
        let ended = diesel::update(jobs::table.find(UuidColumn(id.0)))
            .filter(jobs::worker.eq(worker))
            .filter(processing())
            .set(transition.ended())
            .prepare_once()
            .run_on(self.write())
            .await?;
        self.finish(id, ended).await
    }

    async fn release(&self, worker: &str, id: JobId, due: OffsetDateTime, forgive: bool) -> Result<Finish> {
        let due = self.database_time(due).await?;
        let released = diesel::update(jobs::table.find(UuidColumn(id.0)))
            .filter(jobs::worker.eq(worker))
            .filter(processing())
            .set((
                Transition::to(JobStatus::Pending, clock::now()),
                jobs::due_at.eq(due),
                jobs::attempts.eq(jobs::attempts - i64::from(forgive)),
            ))
            .prepare_once()
            .run_on(self.write())
            .await?;
        self.finish(id, released).await
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(Work::Jobs, at_most).await;
    }
}
