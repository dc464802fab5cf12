//! Deliveries of webhooks, and leases of registrations.
//!
//! Locks: whoever locks several registrations does so in the order of their ids; whoever locks registrations and
//! deliveries locks the registrations first. Deletions and expiry skip deliveries that are locked.

mod log;
mod recording;

use super::webhook_registrations::{Row as RegistrationRow, rights};
use crate::columns::{self, EnumColumn, LenientColumn, UuidColumn};
use crate::engine::dialect::{self, GREATEST, IN_CORRELATED_ROWS};
use crate::engine::{Conn, Db, sql as sql_types};
use crate::insert::{insert_rows, inserted};
use crate::prepared::PrepareOnce;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::{api_clients, outbox, webhook_registrations as registrations};
use crate::session::{ExecuteExt, LoadRowsExt, Session, WorkKind, borrowed_connection, lock_row};
use async_trait::async_trait;
use civitas_kernel::{ClientId, EventName, OrganizationId, RegistrationId, Result, clock};
use civitas_webhooks::{
    DeliveryContent, DeliveryId, DeliveryOutcome, DeliveryQueue, DeliveryStatus, DueDelivery, NewDelivery,
    RegistrationHealth, WaitingRegistration, WebhookTarget,
};
use diesel::dsl::{case_when, exists, not, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use std::collections::HashMap;
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

struct NewRow<'a> {
    id: UuidColumn,
    registration_id: i64,
    organization_id: Option<i64>,
    event_id: Option<UuidColumn>,
    name: EnumColumn<EventName>,
    payload: Option<&'a str>,
    status: EnumColumn<DeliveryStatus>,
    attempts: i64,
    replayed_after: i64,
    due_at: OffsetDateTime,
    created_at: OffsetDateTime,
}

inserted! {
    NewRow<'_> as webhook_deliveries [
        id, registration_id, organization_id, event_id, name, payload, status, attempts, replayed_after,
        due_at, created_at
    ]
}

impl<'a> NewRow<'a> {
    fn new(
        delivery: &'a NewDelivery,
        organization: Option<i64>,
        due_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Self {
        let (event, payload) = match &delivery.content {
            DeliveryContent::Event(event, _) => (Some(UuidColumn(*event)), None),
            DeliveryContent::Test(payload) => (None, Some(payload.as_str())),
        };
        Self {
            id: UuidColumn(delivery.id.0),
            registration_id: delivery.registration.0,
            organization_id: organization,
            event_id: event,
            name: EnumColumn(delivery.name),
            payload,
            status: EnumColumn(DeliveryStatus::Pending),
            attempts: 0,
            replayed_after: 0,
            due_at,
            created_at: now,
        }
    }
}

/// The columns of a due delivery, with the body of its event.
type DueRow = (
    UuidColumn,
    Option<UuidColumn>,
    LenientColumn<EnumColumn<EventName>>,
    Option<String>,
    Option<String>,
    i64,
    i64,
);

/// The delivery; its id and the cause when its name cannot be read.
fn due_delivery(
    (id, event, name, own, of_event, attempts, replayed_after): DueRow,
) -> Result<DueDelivery, (Uuid, String)> {
    Ok(DueDelivery {
        id: DeliveryId(id.0),
        event: event.map(|event| event.0),
        name: name.0.map_err(|cause| (id.0, cause))?.0,
        is_test: own.is_some(),
        // One of both is there: a check of the table, and a foreign key.
        payload: own.or(of_event).unwrap_or_default(),
        attempts,
        replayed_after,
    })
}

/// The condition of the index `webhook_registrations_in_turn`.
const PENDING: &str = "due_at IS NOT NULL AND disabled_at IS NULL AND paused_at IS NULL";

/// The columns of a health.
type HealthRow = (i64, Option<OffsetDateTime>, Option<OffsetDateTime>, Option<OffsetDateTime>);

/// The condition of the partial indexes: a bound value would not match it.
fn pending() -> SqlLiteral<Bool> {
    sql("webhook_deliveries.status = 'pending'")
}

/// Makes registrations that are locked due at this time, if they are not due earlier.
async fn make_due(connection: &mut Conn, ids: &[i64], at: OffsetDateTime) -> Result<()> {
    type Moment = Nullable<sql_types::Moment>;
    let earlier = case_when(registrations::due_at.lt(at), registrations::due_at)
        .otherwise(Some(at).into_sql::<Moment>());
    diesel::update(registrations::table)
        .filter(columns::any_of(registrations::id.nullable(), ids))
        .set(registrations::due_at.eq(earlier))
        .prepare_once()
        .done_on(borrowed_connection(connection))
        .await
}

/// Locks these registrations, in the order of their ids. Returns those that exist, with their organizations.
async fn lock_registrations(connection: &mut Conn, ids: &[i64]) -> Result<Vec<(i64, Option<i64>)>> {
    let rows = registrations::table
        .filter(columns::any_of(registrations::id.nullable(), ids))
        .order(registrations::id)
        .select((registrations::id, registrations::organization_id));
    dialect::for_update!(rows).rows_from(borrowed_connection(connection)).await
}

impl Session {
    /// Gives up deliveries that cannot be read.
    async fn give_up_unreadable(&self, broken: &[(Uuid, String)], now: OffsetDateTime) -> Result<()> {
        if broken.is_empty() {
            return Ok(());
        }
        for (delivery, cause) in broken {
            tracing::error!(%delivery, cause, "a delivery is given up: its name cannot be read");
        }
        diesel::update(deliveries::table)
            .filter(columns::any_uuid(deliveries::id.nullable(), broken.iter().map(|(id, _)| *id)))
            .filter(pending())
            .set((
                deliveries::status.eq(EnumColumn(DeliveryStatus::Dead)),
                deliveries::reason.eq("its name cannot be read"),
                deliveries::ended_at.eq(now),
            ))
            .done_on(self.write())
            .await
    }
}

#[async_trait]
impl DeliveryQueue for Session {
    async fn add(&self, new: &[NewDelivery]) -> Result<()> {
        let Some(earliest) = new.iter().map(|delivery| delivery.due_at).min() else { return Ok(()) };
        let offset = self.database_time(earliest).await? - earliest;
        let ids = columns::distinct_ids(new.iter().map(|delivery| delivery.registration.0));
        let atomic = self.transaction().await?;
        // Locked, so that none of them is deleted, and none is released without its new deliveries.
        let locked = lock_registrations(&mut *atomic.connection().await?, &ids).await?;
        let organizations: HashMap<i64, Option<i64>> = locked.into_iter().collect();
        let now = clock::now();
        let rows: Vec<NewRow<'_>> = new
            .iter()
            .filter_map(|one| {
                let organization = *organizations.get(&one.registration.0)?;
                Some(NewRow::new(one, organization, one.due_at + offset, now))
            })
            .collect();
        insert_rows(&mut *atomic.connection().await?, &rows).await?;
        make_due(&mut *atomic.connection().await?, &ids, earliest + offset).await?;
        atomic.commit().await?;
        self.notify(WorkKind::Deliveries);
        Ok(())
    }

    async fn waiting(&self, now: OffsetDateTime, each: i64) -> Result<Vec<WaitingRegistration>> {
        // From one client with pending deliveries to the next by an index, then the first registrations of each: the cost
        // grows with the number of these clients, not with that of their registrations.
        let now = self.database_time(now).await?;
        let (begin, end) = IN_CORRELATED_ROWS;
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
            .bind::<sql_types::Moment, _>(now)
            .sql(" ORDER BY served_at NULLS FIRST, id LIMIT ")
            .bind::<BigInt, _>(each)
            .sql(&format!("{end} ORDER BY due.served_at NULLS FIRST, due.id"))
            .prepare_once()
            .rows_from(self.read())
            .await?;
        let registration = |(id, client, organization): (i64, i64, Option<i64>)| WaitingRegistration {
            id: RegistrationId(id),
            client: ClientId(client),
            organization: organization.map(OrganizationId),
        };
        Ok(rows.into_iter().map(registration).collect())
    }

    async fn claim(
        &self,
        worker: &str,
        ids: &[RegistrationId],
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Vec<RegistrationId>> {
        let (now, until) = (self.database_time(now).await?, self.database_time(until).await?);
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let atomic = self.transaction().await?;
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

    async fn renew(&self, worker: &str, until: OffsetDateTime) -> Result<()> {
        let until = self.database_time(until).await?;
        let leased = || registrations::table.filter(registrations::worker.eq(worker));
        // Most calls find none, and do not wait for the write lock.
        let is_any: bool = diesel::select(exists(leased())).value_from(self.read()).await?;
        if !is_any {
            return Ok(());
        }
        let atomic = self.transaction().await?;
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

    async fn reclaim_all(&self) -> Result<u64> {
        diesel::update(registrations::table.filter(registrations::worker.is_not_null()))
            .set((
                registrations::worker.eq(None::<&str>),
                registrations::leased_until.eq(None::<OffsetDateTime>),
            ))
            .run_on(self.write())
            .await
    }

    async fn target(&self, worker: &str, id: RegistrationId) -> Result<Option<WebhookTarget>> {
        let row: Option<(RegistrationRow, String, String)> = registrations::table
            .inner_join(api_clients::table)
            .filter(registrations::id.eq(id.0))
            .filter(registrations::worker.eq(worker))
            .filter(api_clients::deleted_at.is_null())
            .filter(registrations::disabled_at.is_null())
            .filter(registrations::paused_at.is_null())
            .select((
                columns::all_columns::<RegistrationRow>(),
                api_clients::scopes,
                api_clients::permissions,
            ))
            .first_from(self.read())
            .await?;
        Ok(row.map(|(row, scopes, permissions)| WebhookTarget {
            registration: row.into_model(),
            rights: rights(&scopes, &permissions),
        }))
    }

    async fn due(
        &self,
        id: RegistrationId,
        now: OffsetDateTime,
        except: &[DeliveryId],
        limit: i64,
    ) -> Result<Vec<DueDelivery>> {
        let at = self.database_time(now).await?;
        let mut due = deliveries::table
            .left_join(outbox::table)
            .filter(deliveries::registration_id.eq(id.0))
            .filter(pending())
            .filter(deliveries::due_at.le(at))
            .into_boxed::<Db>();
        if !except.is_empty() {
            let except = columns::any_uuid(deliveries::id.nullable(), except.iter().map(|id| id.0));
            due = due.filter(not(except));
        }
        let rows: Vec<DueRow> = due
            .order((deliveries::due_at, deliveries::id))
            .limit(limit)
            .select((
                deliveries::id,
                deliveries::event_id,
                deliveries::name,
                deliveries::payload,
                outbox::payload.nullable(),
                deliveries::attempts,
                deliveries::replayed_after,
            ))
            .prepare_once()
            .rows_from(self.read())
            .await?;
        let (found, broken) = columns::split_readable(rows.into_iter().map(due_delivery));
        self.give_up_unreadable(&broken, now).await?;
        Ok(found)
    }

    async fn lock_leased(&self, worker: &str, id: RegistrationId) -> Result<Option<RegistrationHealth>> {
        let row = registrations::table.find(id.0).filter(registrations::worker.eq(worker)).select((
            registrations::failures,
            registrations::failing_since,
            registrations::succeeded_at,
            registrations::disabled_at,
        ));
        let row: Option<HealthRow> = dialect::for_update!(row).first_from(self.for_update()).await?;
        Ok(row.map(|(failures, failing_since, succeeded_at, disabled_at)| RegistrationHealth {
            failures,
            failing_since,
            succeeded_at,
            disabled_at,
        }))
    }

    async fn record(
        &self,
        id: RegistrationId,
        outcomes: &[DeliveryOutcome],
        health: &RegistrationHealth,
        now: OffsetDateTime,
    ) -> Result<()> {
        recording::record(self, id, outcomes, health, now).await
    }

    async fn release(&self, worker: &str, id: RegistrationId) -> Result<()> {
        let own = registrations::table
            .find(id.0)
            .filter(registrations::worker.eq(worker))
            .select(registrations::id);
        if !lock_row!(self, own) {
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
            .row_from(self.for_update())
            .await?;
        diesel::update(registrations::table.find(id.0))
            .set((
                registrations::due_at.eq(next),
                registrations::worker.eq(None::<&str>),
                registrations::leased_until.eq(None::<OffsetDateTime>),
            ))
            .prepare_once()
            .done_on(self.for_update())
            .await
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(WorkKind::Deliveries, at_most).await;
    }
}
