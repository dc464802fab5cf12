//! Deliveries of webhooks.
//!
//! Locks: whoever locks several registrations does so in the order of their ids; whoever locks registrations and
//! deliveries locks the registrations first. Deletions and expiry skip deliveries that are locked.

mod leases;
mod log;
mod recording;

use super::webhook_registrations::{Row as RegistrationRow, rights};
use crate::columns::{self, EnumColumn, Tolerant, UuidColumn};
use crate::engine::{Conn, Db, dialect, sql as sql_types};
use crate::insert::{insert_rows, inserted};
use crate::prepared::PrepareOnce;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::{api_clients, outbox, webhook_registrations as registrations};
use crate::session::{Rows, Run, Session, Work, on};
use async_trait::async_trait;
use civitas_kernel::{EventName, RegistrationId, Result, clock};
use civitas_webhooks::{
    Content, DeliveryId, DeliveryQueue, DeliveryStatus, DueDelivery, Health, NewDelivery, Outcome, Target,
    WaitingRegistration,
};
use diesel::dsl::{case_when, not, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
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
    NewRow<'_> as webhook_deliveries {
        id: sql_types::Uuid,
        registration_id: BigInt,
        organization_id: Nullable<BigInt>,
        event_id: Nullable<sql_types::Uuid>,
        name: Text,
        payload: Nullable<Text>,
        status: Text,
        attempts: BigInt,
        replayed_after: BigInt,
        due_at: sql_types::Moment,
        created_at: sql_types::Moment,
    }
}

impl<'a> NewRow<'a> {
    fn of(
        delivery: &'a NewDelivery,
        organization: Option<i64>,
        due_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Self {
        let (event, payload) = match &delivery.content {
            Content::Event(event, _) => (Some(UuidColumn(*event)), None),
            Content::Test(payload) => (None, Some(payload.as_str())),
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
    Tolerant<EnumColumn<EventName>>,
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
        .done_on(on(connection))
        .await
}

/// Locks these registrations, in the order of their ids. Returns those that exist, with their organizations.
async fn lock_registrations(connection: &mut Conn, ids: &[i64]) -> Result<Vec<(i64, Option<i64>)>> {
    let rows = registrations::table
        .filter(columns::any_of(registrations::id.nullable(), ids))
        .order(registrations::id)
        .select((registrations::id, registrations::organization_id));
    dialect::for_update!(rows).rows_from(on(connection)).await
}

impl Session {
    /// Gives up deliveries that cannot be read.
    async fn bury(&self, broken: &[(Uuid, String)], now: OffsetDateTime) -> Result<()> {
        if broken.is_empty() {
            return Ok(());
        }
        for (delivery, cause) in broken {
            tracing::error!(%delivery, cause, "a delivery is given up: its name cannot be read");
        }
        let ids: Vec<Uuid> = broken.iter().map(|(id, _)| *id).collect();
        diesel::update(deliveries::table)
            .filter(columns::any_uuid(deliveries::id.nullable(), &ids))
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
        let mut ids: Vec<i64> = new.iter().map(|delivery| delivery.registration.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let atomic = self.transaction().await?;
        // Locked, so that none of them is deleted, and none is released without its new deliveries.
        let locked = lock_registrations(&mut *atomic.connection().await?, &ids).await?;
        let organizations: HashMap<i64, Option<i64>> = locked.into_iter().collect();
        let now = clock::now();
        let rows: Vec<NewRow<'_>> = new
            .iter()
            .filter_map(|one| {
                let organization = *organizations.get(&one.registration.0)?;
                Some(NewRow::of(one, organization, one.due_at + offset, now))
            })
            .collect();
        insert_rows(&mut *atomic.connection().await?, &rows).await?;
        make_due(&mut *atomic.connection().await?, &ids, earliest + offset).await?;
        atomic.commit().await?;
        self.notify(Work::Deliveries);
        Ok(())
    }

    async fn waiting(&self, now: OffsetDateTime, each: i64) -> Result<Vec<WaitingRegistration>> {
        leases::waiting(self, now, each).await
    }

    async fn claim(
        &self,
        worker: &str,
        ids: &[RegistrationId],
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Vec<RegistrationId>> {
        leases::claim(self, worker, ids, now, until).await
    }

    async fn renew(&self, worker: &str, until: OffsetDateTime) -> Result<()> {
        leases::renew(self, worker, until).await
    }

    async fn take_over(&self) -> Result<u64> {
        leases::take_over(self).await
    }

    async fn target(&self, worker: &str, id: RegistrationId) -> Result<Option<Target>> {
        let row: Option<(RegistrationRow, String, String)> = registrations::table
            .inner_join(api_clients::table)
            .filter(registrations::id.eq(id.0))
            .filter(registrations::worker.eq(worker))
            .filter(api_clients::deleted_at.is_null())
            .filter(registrations::disabled_at.is_null())
            .filter(registrations::paused_at.is_null())
            .select((columns::of::<RegistrationRow>(), api_clients::scopes, api_clients::permissions))
            .first_from(self.read())
            .await?;
        Ok(row.map(|(row, scopes, permissions)| Target {
            registration: row.into_registration(),
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
            let except: Vec<Uuid> = except.iter().map(|id| id.0).collect();
            due = due.filter(not(columns::any_uuid(deliveries::id.nullable(), &except)));
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
        let (mut found, mut broken) = (Vec::new(), Vec::new());
        for row in rows {
            match due_delivery(row) {
                Ok(delivery) => found.push(delivery),
                Err(fault) => broken.push(fault),
            }
        }
        self.bury(&broken, now).await?;
        Ok(found)
    }

    async fn lock_leased(&self, worker: &str, id: RegistrationId) -> Result<Option<Health>> {
        leases::lock(self, worker, id).await
    }

    async fn record(
        &self,
        id: RegistrationId,
        outcomes: &[Outcome],
        health: &Health,
        now: OffsetDateTime,
    ) -> Result<()> {
        recording::record(self, id, outcomes, health, now).await
    }

    async fn release(&self, worker: &str, id: RegistrationId) -> Result<()> {
        leases::release(self, worker, id).await
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(Work::Deliveries, at_most).await;
    }
}
