//! Jobs and their leases. The times of leases are those of the database's clock ([`Session::database_time`]).

mod rows;
mod turns;

pub(super) use self::rows::{JobAnswerRow, SummaryRow};
pub(super) use self::turns::IS_WAITING;

use self::rows::{ClaimedRow, Row, Transition};
use crate::columns::{self, Condition, EnumColumn, UuidColumn};
use crate::engine::Db;
use crate::filter::{FilterColumn, column_condition};
use crate::list_pages::list_page;
use crate::prepared::PrepareOnce;
use crate::schema::jobs;
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, WorkKind};
use async_trait::async_trait;
use civitas_jobs::{
    Job, JobAnswer, JobEndOutcome, JobFailure, JobField, JobFilter, JobOwner, JobStatus, JobStore,
    JobSummary, MAX_ATTEMPTS, next_attempt,
};
use civitas_kernel::{Error, JobId, OrganizationId, Page, PageRequest, Result, clock};
use diesel::dsl::{exists, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use serde_json::Value;
use std::time::Duration;
use time::OffsetDateTime;

type Boxed<'a> = diesel::dsl::IntoBoxed<'a, jobs::table, Db>;

/// The jobs of one owner. Those of a service token have no user: null is compared as a value.
fn rows_of_owner<'a>(organization: OrganizationId, owner: JobOwner) -> Boxed<'a> {
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
        JobField::CommandKey => FilterColumn::Ascii(Box::new(jobs::command_key.nullable())),
        JobField::Status => FilterColumn::Ascii(Box::new(jobs::status.nullable())),
        JobField::CreatedAt => FilterColumn::Time(Box::new(jobs::created_at.nullable())),
        JobField::UpdatedAt => FilterColumn::Time(Box::new(jobs::updated_at.nullable())),
    };
    column_condition(column, &filter.condition)
}

/// The jobs that have ended: the same condition as the index `jobs_ended`.
pub(super) fn has_ended() -> SqlLiteral<Bool> {
    sql("jobs.status IN ('completed', 'failed')")
}

/// The same condition as the index `jobs_leased`.
fn processing() -> SqlLiteral<Bool> {
    sql("jobs.status = 'processing'")
}

impl Session {
    /// Claims once: the jobs, and whether others have failed because they cannot be read.
    async fn claim_once(
        &self,
        worker: &str,
        now: OffsetDateTime,
        due: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<(Vec<Job>, bool)> {
        let atomic = self.transaction_of_one().await?;
        let mut rows: Vec<ClaimedRow> =
            diesel::update(jobs::table.filter(turns::first_due_condition(due, limit)))
                .set((
                    jobs::status.eq(EnumColumn(JobStatus::Processing)),
                    jobs::worker.eq(worker),
                    jobs::leased_until.eq(until),
                    jobs::attempts.eq(jobs::attempts + 1),
                    jobs::updated_at.eq(now),
                ))
                .returning(ClaimedRow::as_returning())
                .prepare_once()
                .rows_from(atomic.connection())
                .await?;
        atomic.commit().await?;
        rows.sort_by_key(|row| (row.turn, row.created_at));
        let (claimed, broken) = columns::split_readable(rows.into_iter().map(ClaimedRow::into_job));
        if !broken.is_empty() {
            let these = columns::any_uuid(jobs::id.nullable(), broken.iter().map(|(id, _)| *id));
            let failure = JobFailure::from(&Error::internal("the payload cannot be read"));
            diesel::update(jobs::table.filter(these))
                .filter(jobs::worker.eq(worker))
                .set(Transition::failed(&failure, now).with_empty_payload())
                .run_on(self.write())
                .await?;
        }
        for (job, cause) in &broken {
            tracing::error!(%job, cause, "a job failed: its payload cannot be read");
        }
        Ok((claimed, !broken.is_empty()))
    }

    /// The result of an update that found the job of this worker, or did not.
    async fn finish(&self, id: JobId, is_found: bool) -> Result<JobEndOutcome> {
        if is_found {
            return Ok(JobEndOutcome::Recorded);
        }
        let is_there = diesel::select(exists(jobs::table.find(UuidColumn(id.0))));
        let is_there: bool = is_there.value_from(self.write()).await?;
        Ok(if is_there { JobEndOutcome::Lost } else { JobEndOutcome::Gone })
    }
}

#[async_trait]
impl JobStore for Session {
    async fn add(&self, job: &Job) -> Result<()> {
        let row = Row::from_job(job, self.database_time(job.created_at).await?);
        let turn = turns::turn_of_new_job(row.organization_id, row.due_at);
        let insert = diesel::insert_into(jobs::table).values((row, jobs::turn.eq(turn))).prepare_once();
        let single = self.transaction_of_one().await?;
        insert.run_on(single.connection()).await?;
        single.commit().await?;
        self.notify(WorkKind::Jobs);
        Ok(())
    }

    async fn find(&self, organization: OrganizationId, id: JobId) -> Result<Option<JobAnswer>> {
        jobs::table
            .find(UuidColumn(id.0))
            .filter(jobs::organization_id.eq(organization.0))
            .model_from::<JobAnswerRow, _>(self.read())
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
        let rows = || rows_of_owner(organization, owner).select(columns::all_columns::<SummaryRow>());
        let page: Page<SummaryRow> = list_page!(connection, page, self.bounds; rows();
            filters, |filter| condition(filter); jobs, (jobs::created_at.desc(), jobs::id.desc()));
        Ok(page.map(Into::into))
    }

    async fn remove(&self, organization: OrganizationId, owner: JobOwner, id: JobId) -> Result<bool> {
        let own = rows_of_owner(organization, owner).filter(jobs::id.eq(UuidColumn(id.0))).select(jobs::id);
        diesel::delete(jobs::table.filter(jobs::id.eq_any(own))).any_on(self.write()).await
    }

    async fn claim(
        &self,
        worker: &str,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Job>> {
        let (due, until) = (self.database_time(now).await?, self.database_time(until).await?);
        loop {
            let (claimed, is_any_broken) = self.claim_once(worker, now, due, until, limit).await?;
            if !claimed.is_empty() || !is_any_broken {
                return Ok(claimed);
            }
        }
    }

    async fn renew(&self, worker: &str, jobs: &[JobId], until: OffsetDateTime) -> Result<()> {
        let until = self.database_time(until).await?;
        diesel::update(jobs::table)
            .filter(columns::any_uuid(jobs::id.nullable(), jobs.iter().map(|id| id.0)))
            .filter(processing())
            .filter(jobs::worker.eq(worker))
            .set(jobs::leased_until.eq(until))
            .done_on(self.write())
            .await
    }

    async fn reclaim(&self, now: OffsetDateTime, lost: &JobFailure) -> Result<u64> {
        let at = self.database_time(now).await?;
        let atomic = self.transaction().await?;
        let ended = || jobs::table.filter(processing()).filter(jobs::leased_until.lt(at));
        let mut reclaimed = 0;
        for attempt in 1..=MAX_ATTEMPTS {
            let Some(delay) = next_attempt(attempt) else { continue };
            reclaimed += diesel::update(ended().filter(jobs::attempts.le(attempt)))
                .set((Transition::to_status(JobStatus::Pending, now), jobs::due_at.eq(at + delay)))
                .run_on(atomic.connection())
                .await?;
        }
        // A job that was claimed since the statements above has attempts left.
        reclaimed += diesel::update(ended().filter(jobs::attempts.ge(MAX_ATTEMPTS)))
            .set(Transition::failed(lost, now).with_empty_payload())
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(reclaimed)
    }

    async fn reclaim_all(&self, now: OffsetDateTime, lost: &JobFailure) -> Result<u64> {
        let due = self.database_time(now).await?;
        let atomic = self.transaction().await?;
        let failed = diesel::update(jobs::table.filter(processing()).filter(jobs::attempts.ge(MAX_ATTEMPTS)))
            .set(Transition::failed(lost, now).with_empty_payload())
            .run_on(atomic.connection())
            .await?;
        let pending = diesel::update(jobs::table.filter(processing()))
            .set((Transition::to_status(JobStatus::Pending, now), jobs::due_at.eq(due)))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(failed + pending)
    }

    async fn release_all(&self, worker: &str, now: OffsetDateTime) -> Result<u64> {
        let due = self.database_time(now).await?;
        diesel::update(jobs::table.filter(processing()).filter(jobs::worker.eq(worker)))
            .set((
                Transition::to_status(JobStatus::Pending, now),
                jobs::due_at.eq(due),
                jobs::attempts.eq(jobs::attempts - 1),
            ))
            .run_on(self.write())
            .await
    }

    async fn end<'a>(
        &self,
        worker: &str,
        id: JobId,
        outcome: Result<&'a Value, &'a JobFailure>,
        now: OffsetDateTime,
    ) -> Result<JobEndOutcome> {
        let transition = match outcome {
            Ok(result) => Transition::completed(result, now),
            Err(failure) => Transition::failed(failure, now),
        };
        let ended = diesel::update(jobs::table.find(UuidColumn(id.0)))
            .filter(jobs::worker.eq(worker))
            .filter(processing())
            .set(transition.with_empty_payload())
            .prepare_once()
            .any_on(self.write())
            .await?;
        self.finish(id, ended).await
    }

    async fn release(
        &self,
        worker: &str,
        id: JobId,
        due: OffsetDateTime,
        forgive: bool,
    ) -> Result<JobEndOutcome> {
        let due = self.database_time(due).await?;
        let released = diesel::update(jobs::table.find(UuidColumn(id.0)))
            .filter(jobs::worker.eq(worker))
            .filter(processing())
            .set((
                Transition::to_status(JobStatus::Pending, clock::now()),
                jobs::due_at.eq(due),
                jobs::attempts.eq(jobs::attempts - i64::from(forgive)),
            ))
            .prepare_once()
            .any_on(self.write())
            .await?;
        self.finish(id, released).await
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(WorkKind::Jobs, at_most).await;
    }
}
