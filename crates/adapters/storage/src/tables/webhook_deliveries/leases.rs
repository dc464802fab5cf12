//! Leases of registrations.

use super::pending;
use crate::columns;
use crate::engine::dialect;
use crate::failure::Stored;
use crate::prepared::PrepareOnce;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::webhook_registrations as registrations;
use crate::session::{Session, lock_row};
use civitas_kernel::{RegistrationId, Result};
use civitas_webhooks::Health;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// Leases registrations that are due, those that were served the longest ago first.
pub(super) async fn claim(
    session: &Session,
    worker: &str,
    now: OffsetDateTime,
    until: OffsetDateTime,
    limit: i64,
) -> Result<Vec<RegistrationId>> {
    let (now, until) = (session.database_time(now).await?, session.database_time(until).await?);
    let is_free = || registrations::leased_until.is_null().or(registrations::leased_until.le(now));
    let due = || {
        registrations::table
            .filter(registrations::due_at.le(now))
            .filter(registrations::disabled_at.is_null())
            .filter(registrations::paused_at.is_null())
            .filter(is_free())
    };
    // Reads first: mostly there is nothing to do, and then it need not wait for the writer.
    let is_any: bool =
        diesel::select(exists(due())).get_result(&mut *session.read().await?).await.stored()?;
    if !is_any {
        return Ok(Vec::new());
    }
    let atomic = session.atomic_uncached().await?;
    let first = due()
        .order((registrations::served_at.is_not_null(), registrations::served_at, registrations::id))
        .limit(limit)
        .select(registrations::id);
    let ids: Vec<i64> = dialect::skip_locked!(first).load(&mut *atomic.connection().await?).await.stored()?;
    if !ids.is_empty() {
        diesel::update(registrations::table)
            .filter(columns::any_of(registrations::id.nullable(), &ids))
            .set((
                registrations::worker.eq(worker),
                registrations::leased_until.eq(until),
                registrations::served_at.eq(now),
            ))
            .prepare_once()
            .execute(&mut *atomic.connection().await?)
            .await
            .stored()?;
    }
    atomic.commit().await?;
    Ok(ids.into_iter().map(RegistrationId).collect())
}

/// Extends all leases of a worker.
pub(super) async fn renew(session: &Session, worker: &str, until: OffsetDateTime) -> Result<()> {
    let until = session.database_time(until).await?;
    let leased = || registrations::table.filter(registrations::worker.eq(worker));
    // Most calls find none, and do not wait for the write lock.
    let is_any: bool =
        diesel::select(exists(leased())).get_result(&mut *session.read().await?).await.stored()?;
    if !is_any {
        return Ok(());
    }
    let atomic = session.atomic_uncached().await?;
    let ids = leased().order(registrations::id).select(registrations::id);
    let ids: Vec<i64> = dialect::for_update!(ids).load(&mut *atomic.connection().await?).await.stored()?;
    diesel::update(registrations::table)
        .filter(columns::any_of(registrations::id.nullable(), &ids))
        .set(registrations::leased_until.eq(until))
        .prepare_once()
        .execute(&mut *atomic.connection().await?)
        .await
        .stored()?;
    atomic.commit().await
}

/// Ends all leases.
pub(super) async fn take_over(session: &Session) -> Result<u64> {
    let ended = diesel::update(registrations::table.filter(registrations::worker.is_not_null()))
        .set((registrations::worker.eq(None::<&str>), registrations::leased_until.eq(None::<OffsetDateTime>)))
        .execute(&mut *session.write_uncached().await?)
        .await
        .stored()?;
    Ok(ended as u64)
}

/// The columns of a health.
type HealthRow = (i64, Option<OffsetDateTime>, Option<OffsetDateTime>, Option<OffsetDateTime>);

/// The health of a registration that this worker leases, locked.
pub(super) async fn lock(session: &Session, worker: &str, id: RegistrationId) -> Result<Option<Health>> {
    let row = registrations::table.find(id.0).filter(registrations::worker.eq(worker)).select((
        registrations::failures,
        registrations::failing_since,
        registrations::succeeded_at,
        registrations::disabled_at,
    ));
    let row: Option<HealthRow> =
        dialect::for_update!(row).first(&mut *session.for_update().await?).await.optional().stored()?;
    Ok(row.map(|(failures, failing_since, succeeded_at, disabled_at)| Health {
        failures,
        failing_since,
        succeeded_at,
        disabled_at,
    }))
}

/// Ends the lease, if this worker has it.
pub(super) async fn release(session: &Session, worker: &str, id: RegistrationId) -> Result<()> {
    let own =
        registrations::table.find(id.0).filter(registrations::worker.eq(worker)).select(registrations::id);
    if !lock_row!(session, own) {
        return Ok(());
    }
    // A statement after the lock, not a subselect of the update: the relay adds deliveries under the same lock, and a
    // statement that waited for it would not see them. The registration would then never be due again.
    let next: Option<OffsetDateTime> = deliveries::table
        .filter(deliveries::registration_id.eq(id.0))
        .filter(pending())
        .order((deliveries::due_at, deliveries::id))
        .select(deliveries::due_at)
        .limit(1)
        .prepare_once()
        .get_result(&mut *session.for_update().await?)
        .await
        .optional()
        .stored()?;
    diesel::update(registrations::table.find(id.0))
        .set((
            registrations::due_at.eq(next),
            registrations::worker.eq(None::<&str>),
            registrations::leased_until.eq(None::<OffsetDateTime>),
        ))
        .prepare_once()
        .execute(&mut *session.for_update().await?)
        .await
        .stored()
        .map(drop)
}
