//! Leases of jobs. Their times are those of the database's clock ([`Session::database_time`]).

use super::turns::first;
use super::{Transition, processing};
use crate::columns::{self, EnumColumn, JsonColumn, Tolerant, UuidColumn};
use crate::engine::Db;
use crate::prepared::PrepareOnce;
use crate::schema::jobs;
use crate::session::{Rows, Run, Session};
use civitas_jobs::{Failure, Job, JobOwner, JobPayload, JobStatus, MOST_ATTEMPTS, next_attempt};
use civitas_kernel::{ClientId, Error, JobId, OrganizationId, Result, TokenId, UserId};
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

/// The columns to read of a claimed job.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
struct ClaimedRow {
    id: UuidColumn,
    organization_id: i64,
    api_client_id: i64,
    user_id: Option<i64>,
    access_token_id: i64,
    command_key: String,
    payload: Tolerant<JsonColumn<JobPayload>>,
    attempts: i64,
    created_at: OffsetDateTime,
    turn: i64,
}

impl ClaimedRow {
    /// The job; its id and the cause when its payload cannot be read.
    fn into_job(self) -> Result<Job, (Uuid, String)> {
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

/// Claims the due jobs whose turn it is. Those whose payload cannot be read have failed.
pub(super) async fn claim(
    session: &Session,
    worker: &str,
    now: OffsetDateTime,
    until: OffsetDateTime,
    limit: i64,
) -> Result<Vec<Job>> {
    let (due, until) = (session.database_time(now).await?, session.database_time(until).await?);
    loop {
        let (claimed, is_any_broken) = claim_once(session, worker, now, due, until, limit).await?;
        if !claimed.is_empty() || !is_any_broken {
            return Ok(claimed);
        }
    }
}

/// The claimed jobs, and whether others have failed because they cannot be read.
async fn claim_once(
    session: &Session,
    worker: &str,
    now: OffsetDateTime,
    due: OffsetDateTime,
    until: OffsetDateTime,
    limit: i64,
) -> Result<(Vec<Job>, bool)> {
    let atomic = session.transaction_of_one().await?;
    let mut rows: Vec<ClaimedRow> = diesel::update(jobs::table.filter(first(due, limit)))
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
    let (mut claimed, mut broken) = (Vec::new(), Vec::new());
    for row in rows {
        match row.into_job() {
            Ok(job) => claimed.push(job),
            Err(fault) => broken.push(fault),
        }
    }
    if !broken.is_empty() {
        let ids: Vec<Uuid> = broken.iter().map(|(id, _)| *id).collect();
        let failure = Failure::from(&Error::internal("the payload cannot be read"));
        diesel::update(jobs::table.filter(columns::any_uuid(jobs::id.nullable(), &ids)))
            .filter(jobs::worker.eq(worker))
            .set(Transition::failed(&failure, now).ended())
            .run_on(session.write())
            .await?;
    }
    for (job, cause) in &broken {
        tracing::error!(%job, cause, "a job failed: its payload cannot be read");
    }
    Ok((claimed, !broken.is_empty()))
}

/// Extends the leases of these jobs of a worker.
pub(super) async fn renew(
    session: &Session,
    worker: &str,
    jobs: &[JobId],
    until: OffsetDateTime,
) -> Result<()> {
    let until = session.database_time(until).await?;
    let ids: Vec<Uuid> = jobs.iter().map(|id| id.0).collect();
    diesel::update(jobs::table)
        .filter(columns::any_uuid(jobs::id.nullable(), &ids))
        .filter(processing())
        .filter(jobs::worker.eq(worker))
        .set(jobs::leased_until.eq(until))
        .done_on(session.write())
        .await
}

/// Releases the jobs whose lease has ended.
pub(super) async fn reclaim(session: &Session, now: OffsetDateTime, lost: &Failure) -> Result<u64> {
    let at = session.database_time(now).await?;
    let atomic = session.transaction().await?;
    let ended = || jobs::table.filter(processing()).filter(jobs::leased_until.lt(at));
    let mut reclaimed = 0;
    for attempt in 1..=MOST_ATTEMPTS {
        let Some(delay) = next_attempt(attempt) else { continue };
        reclaimed += diesel::update(ended().filter(jobs::attempts.le(attempt)))
            .set((Transition::to(JobStatus::Pending, now), jobs::due_at.eq(at + delay)))
            .run_on(atomic.connection())
            .await?;
    }
    // A job that was claimed since the statements above has attempts left.
    reclaimed += diesel::update(ended().filter(jobs::attempts.ge(MOST_ATTEMPTS)))
        .set(Transition::failed(lost, now).ended())
        .run_on(atomic.connection())
        .await?;
    atomic.commit().await?;
    Ok(reclaimed as u64)
}

/// Releases all jobs that are being processed.
pub(super) async fn take_over(session: &Session, now: OffsetDateTime, lost: &Failure) -> Result<u64> {
    let due = session.database_time(now).await?;
    let atomic = session.transaction().await?;
    let failed = diesel::update(jobs::table.filter(processing()).filter(jobs::attempts.ge(MOST_ATTEMPTS)))
        .set(Transition::failed(lost, now).ended())
        .run_on(atomic.connection())
        .await?;
    let pending = diesel::update(jobs::table.filter(processing()))
        .set((Transition::to(JobStatus::Pending, now), jobs::due_at.eq(due)))
        .run_on(atomic.connection())
        .await?;
    atomic.commit().await?;
    Ok((failed + pending) as u64)
}

/// Releases all jobs of a worker that stops, without counting the attempt.
pub(super) async fn release_all(session: &Session, worker: &str, now: OffsetDateTime) -> Result<u64> {
    let due = session.database_time(now).await?;
    diesel::update(jobs::table.filter(processing()).filter(jobs::worker.eq(worker)))
        .set((
            Transition::to(JobStatus::Pending, now),
            jobs::due_at.eq(due),
            jobs::attempts.eq(jobs::attempts - 1),
        ))
        .run_on(session.write())
        .await
        .map(|rows| rows as u64)
}
