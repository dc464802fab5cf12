//! Leases of registrations.

use super::pending;
use crate::columns;
use crate::engine::dialect::{self, GREATEST, IN_EACH};
use crate::engine::sql::Moment;
use crate::prepared::PrepareOnce;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::webhook_registrations as registrations;
use crate::session::{Rows, Run, Session, lock_row};
use civitas_kernel::{ClientId, OrganizationId, RegistrationId, Result};
use civitas_webhooks::{Health, WaitingRegistration};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use time::OffsetDateTime;

/// The condition of the index `webhook_registrations_in_turn`.
const PENDING: &str = "due_at IS NOT NULL AND disabled_at IS NULL AND paused_at IS NULL";

/// The registrations that are due, at most `each` of one client, those that were served the longest ago first. It goes from
/// one client with pending deliveries to the next by an index, and reads the first ones of each: the cost grows with the
/// number of these clients, not with that of their registrations.
pub(super) async fn waiting(
    session: &Session,
    now: OffsetDateTime,
    each: i64,
) -> Result<Vec<WaitingRegistration>> {
    let now = session.database_time(now).await?;
    let (begin, end) = IN_EACH;
    let select = format!(
        "WITH RECURSIVE clients (id) AS (SELECT CAST(0 AS bigint) UNION ALL \
         SELECT (SELECT api_client_id FROM webhook_registrations WHERE {PENDING} AND api_client_id > clients.id \
         ORDER BY api_client_id LIMIT 1) FROM clients WHERE clients.id IS NOT NULL) \
         SELECT due.id, due.api_client_id, due.organization_id \
         FROM clients CROSS JOIN webhook_registrations AS due WHERE due.id {begin}\
         SELECT id FROM webhook_registrations WHERE {PENDING} AND api_client_id = clients.id \
         AND {GREATEST}(due_at, coalesce(leased_until, due_at)) <= "
    );
    let rows: Vec<(i64, i64, Option<i64>)> = sql::<(BigInt, BigInt, Nullable<BigInt>)>(&select)
        .bind::<Moment, _>(now)
        .sql(" ORDER BY served_at NULLS FIRST, id LIMIT ")
        .bind::<BigInt, _>(each)
        .sql(&format!("{end} ORDER BY due.served_at NULLS FIRST, due.id"))
        .prepare_once()
        .rows_from(session.read())
        .await?;
    let registration = |(id, client, organization): (i64, i64, Option<i64>)| WaitingRegistration {
        id: RegistrationId(id),
        client: ClientId(client),
        organization: organization.map(OrganizationId),
    };
    Ok(rows.into_iter().map(registration).collect())
}

/// Leases those of these registrations that are due and that nobody leases.
pub(super) async fn claim(
    session: &Session,
    worker: &str,
    ids: &[RegistrationId],
    now: OffsetDateTime,
    until: OffsetDateTime,
) -> Result<Vec<RegistrationId>> {
    let (now, until) = (session.database_time(now).await?, session.database_time(until).await?);
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let atomic = session.transaction().await?;
    let due = registrations::table
        .filter(columns::any_of(registrations::id.nullable(), &ids))
        .filter(registrations::due_at.le(now))
        .filter(registrations::disabled_at.is_null())
        .filter(registrations::paused_at.is_null())
        .filter(registrations::leased_until.is_null().or(registrations::leased_until.le(now)))
        .order(registrations::id)
        .select(registrations::id);
    let ids: Vec<i64> = dialect::skip_locked!(due).rows_from(atomic.connection()).await?;
    if !ids.is_empty() {
        diesel::update(registrations::table)
            .filter(columns::any_of(registrations::id.nullable(), &ids))
            .set((
                registrations::worker.eq(worker),
                registrations::leased_until.eq(until),
                registrations::served_at.eq(now),
            ))
            .prepare_once()
            .run_on(atomic.connection())
            .await?;
    }
    atomic.commit().await?;
    Ok(ids.into_iter().map(RegistrationId).collect())
}

/// Extends all leases of a worker.
pub(super) async fn renew(session: &Session, worker: &str, until: OffsetDateTime) -> Result<()> {
    let until = session.database_time(until).await?;
    let leased = || registrations::table.filter(registrations::worker.eq(worker));
    // Most calls find none, and do not wait for the write lock.
    let is_any: bool = diesel::select(exists(leased())).value_from(session.read()).await?;
    if !is_any {
        return Ok(());
    }
    let atomic = session.transaction().await?;
    let ids = leased().order(registrations::id).select(registrations::id);
    let ids: Vec<i64> = dialect::for_update!(ids).rows_from(atomic.connection()).await?;
    diesel::update(registrations::table)
        .filter(columns::any_of(registrations::id.nullable(), &ids))
        .set(registrations::leased_until.eq(until))
        .prepare_once()
        .run_on(atomic.connection())
        .await?;
    atomic.commit().await
}

/// Ends all leases.
pub(super) async fn take_over(session: &Session) -> Result<u64> {
    diesel::update(registrations::table.filter(registrations::worker.is_not_null()))
        .set((registrations::worker.eq(None::<&str>), registrations::leased_until.eq(None::<OffsetDateTime>)))
        .run_on(session.write())
        .await
        .map(|rows| rows as u64)
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
    let row: Option<HealthRow> = dialect::for_update!(row).first_from(session.for_update()).await?;
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
        .row_from(session.for_update())
        .await?;
    diesel::update(registrations::table.find(id.0))
        .set((
            registrations::due_at.eq(next),
            registrations::worker.eq(None::<&str>),
            registrations::leased_until.eq(None::<OffsetDateTime>),
        ))
        .prepare_once()
        .done_on(session.for_update())
        .await
}
