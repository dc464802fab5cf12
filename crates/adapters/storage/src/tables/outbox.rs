//! The outbox of events.

use crate::columns::{self, EnumColumn, LenientColumn, UuidColumn, columns};
use crate::engine::{Db, dialect};
use crate::insert::{insert_rows, inserted};
use crate::old_rows::remove_oldest;
use crate::prepared::PrepareOnce;
use crate::schema::{outbox, relay, webhook_deliveries};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, WorkKind};
use async_trait::async_trait;
use civitas_kernel::{Ability, Error, EventName, OrganizationId, Result, UserId};
use civitas_webhooks::{EventHead, EventPosition, Outbox, OutboxEvent, RelayedEvent, describes_user};
use diesel::dsl::{exists, sql, sql_query};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use std::time::Duration;
use time::OffsetDateTime;

columns! {
    /// An event as its row stores it.
    outbox as OutboxEvent;
    fields {
        id: uuid::Uuid,
        organization as organization_id: OrganizationId,
        name: EventName,
        payload: String,
        occurred_at: OffsetDateTime,
    }
}

inserted! { Changeset<'_> as outbox [id, organization_id, name, payload, occurred_at] }

/// An event with its position.
#[derive(Queryable, Selectable)]
#[diesel(table_name = outbox, check_for_backend(Db))]
struct RelayedRow {
    id: UuidColumn,
    organization_id: i64,
    name: LenientColumn<EnumColumn<EventName>>,
    payload: String,
    occurred_at: OffsetDateTime,
    position: Option<i64>,
}

impl RelayedRow {
    fn position(&self) -> EventPosition {
        EventPosition(self.position.unwrap_or_default())
    }

    /// The event; `None` if nobody knows its name.
    fn into_event(self) -> Option<RelayedEvent> {
        let position = self.position();
        let event = OutboxEvent {
            id: self.id.0,
            organization: OrganizationId(self.organization_id),
            name: self.name.0.ok()?.0,
            payload: self.payload,
            occurred_at: self.occurred_at,
        };
        Some(RelayedEvent { position, event })
    }
}

/// The events of an organization with one of these names after a position, at most `limit` of them. Reads one range of
/// the index `outbox_of_name` for each name: a condition on all names would sort all events after the position. The
/// values are numbers and names of the code, so that they can be part of the text.
fn with_names(
    organization: OrganizationId,
    names: &[EventName],
    after: EventPosition,
    limit: i64,
) -> SqlLiteral<Bool> {
    let range = |(n, name): (usize, &EventName)| {
        format!(
            "SELECT position FROM (SELECT position FROM outbox WHERE organization_id = {organization} \
             AND name = '{}' AND position > {} ORDER BY position LIMIT {limit}) AS range_{n}",
            name.as_str(),
            after.0
        )
    };
    let ranges: Vec<String> = names.iter().enumerate().map(range).collect();
    sql(&format!(
        "outbox.position IN (SELECT position FROM ({}) AS ranges ORDER BY position LIMIT {limit})",
        ranges.join(" UNION ALL ")
    ))
}

/// The number of events read by one query.
const PAGE: i64 = 200;

impl Session {
    /// The events that have the data of an account, at most `limit`.
    async fn events_of_user(
        &self,
        organization: OrganizationId,
        user: UserId,
        limit: usize,
    ) -> Result<Vec<uuid::Uuid>> {
        let (mut found, mut after) = (Vec::new(), uuid::Uuid::nil());
        loop {
            let page: Vec<(UuidColumn, String)> = outbox::table
                .filter(outbox::organization_id.eq(organization.0))
                .filter(outbox::name.eq_any([Ability::UserCreated, Ability::UserUpdated].map(EnumColumn)))
                .filter(outbox::payload.like(format!("%\"{user}\"%")))
                .filter(outbox::id.gt(UuidColumn(after)))
                .order(outbox::id)
                .limit(PAGE)
                .select((outbox::id, outbox::payload))
                .rows_from(self.read())
                .await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = last.0;
            let of_user = page.into_iter().filter(|(_, payload)| describes_user(payload, user));
            found.extend(of_user.map(|(id, _)| id.0).take(limit - found.len()));
            if found.len() == limit {
                return Ok(found);
            }
        }
    }
}

#[async_trait]
impl Outbox for Session {
    async fn append(&self, events: &[OutboxEvent]) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let atomic = self.transaction().await?;
        if let [one] = events {
            // The text of this statement is always the same, so that it stays prepared.
            diesel::insert_into(outbox::table)
                .values(Changeset::new(one))
                .run_on(atomic.connection())
                .await?;
        } else {
            let rows: Vec<_> = events.iter().map(Changeset::new).collect();
            insert_rows(&mut *atomic.connection().await?, &rows).await?;
        }
        atomic.commit().await?;
        self.notify(WorkKind::Events);
        Ok(())
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<uuid::Uuid>,
        limit: i64,
    ) -> Result<Vec<OutboxEvent>> {
        outbox::table
            .filter(outbox::organization_id.eq(organization.0))
            .filter(outbox::id.gt(UuidColumn(after.unwrap_or(uuid::Uuid::nil()))))
            .order(outbox::id)
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn has_unrelayed(&self) -> Result<bool> {
        let unrelayed = outbox::table.filter(outbox::position.is_null());
        diesel::select(exists(unrelayed)).value_from(self.read()).await
    }

    /// Positions are given under the lock of the one row of `relay`, to events whose transactions have committed. The
    /// lock ends with the commit of the positions. So a transaction that sees a position sees all lower ones, and a
    /// reader that continues after the last position it has seen misses no event. The events are read by a later
    /// statement than the lock: it sees the positions that the previous relay gave.
    async fn lock_unrelayed(&self, limit: i64) -> Result<Vec<EventHead>> {
        let lock = relay::table.find(1).select(relay::position);
        let locked: Option<i64> = dialect::skip_locked!(lock).first_from(self.for_update()).await?;
        if locked.is_none() {
            return Ok(Vec::new());
        }
        let rows: Vec<(UuidColumn, i64, LenientColumn<EnumColumn<EventName>>)> = outbox::table
            .filter(outbox::position.is_null())
            .order(outbox::id)
            .limit(limit)
            .select((outbox::id, outbox::organization_id, outbox::name))
            .rows_from(self.for_update())
            .await?;
        let (mut heads, mut broken) = (Vec::new(), Vec::new());
        for (id, organization, name) in rows {
            match name.0 {
                Ok(EnumColumn(name)) => {
                    heads.push(EventHead { id: id.0, organization: OrganizationId(organization), name });
                }
                Err(cause) => {
                    tracing::error!(event = %id.0, cause, "an event is left out: its name cannot be read");
                    broken.push(id.0);
                }
            }
        }
        // With a position it is not read again.
        self.assign_positions(&broken).await?;
        Ok(heads)
    }

    async fn assign_positions(&self, events: &[uuid::Uuid]) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let number = i64::try_from(events.len()).map_err(Error::internal)?;
        let last: i64 = diesel::update(relay::table.find(1))
            .set(relay::position.eq(relay::position + number))
            .returning(relay::position)
            .prepare_once()
            .value_from(self.for_update())
            .await?;
        sql_query(dialect::ASSIGN_EVENT_POSITIONS)
            .bind::<BigInt, _>(last - number)
            .bind::<dialect::UuidList, _>(dialect::uuids(events))
            .prepare_once()
            .done_on(self.for_update())
            .await
    }

    async fn last_position(&self) -> Result<EventPosition> {
        let last = relay::table.find(1).select(relay::position).limit(1);
        last.value_from(self.read()).await.map(EventPosition)
    }

    async fn position_of(
        &self,
        organization: OrganizationId,
        event: uuid::Uuid,
    ) -> Result<Option<EventPosition>> {
        let position: Option<Option<i64>> = outbox::table
            .find(UuidColumn(event))
            .filter(outbox::organization_id.eq(organization.0))
            .select(outbox::position)
            .first_from(self.read())
            .await?;
        Ok(position.flatten().map(EventPosition))
    }

    async fn relayed_after(&self, mut after: EventPosition, limit: i64) -> Result<Vec<RelayedEvent>> {
        loop {
            let rows: Vec<RelayedRow> = outbox::table
                .filter(outbox::position.gt(after.0))
                .order(outbox::position)
                .limit(limit)
                .select(columns::all_columns::<RelayedRow>())
                .rows_from(self.read())
                .await?;
            let last = rows.last().map(RelayedRow::position);
            let events: Vec<_> = rows.into_iter().filter_map(RelayedRow::into_event).collect();
            match last {
                // Nobody knows the names of all these events.
                Some(last) if events.is_empty() => after = last,
                _ => return Ok(events),
            }
        }
    }

    async fn relayed_of(
        &self,
        organization: OrganizationId,
        names: &[EventName],
        after: EventPosition,
        limit: i64,
    ) -> Result<Vec<RelayedEvent>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<RelayedRow> = outbox::table
            .filter(with_names(organization, names, after, limit))
            .order(outbox::position)
            .select(columns::all_columns::<RelayedRow>())
            .rows_from(self.read())
            .await?;
        Ok(rows.into_iter().filter_map(RelayedRow::into_event).collect())
    }

    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        // One lookup for each event: for `NOT EXISTS` a planner may read all deliveries.
        let delivery = || {
            webhook_deliveries::table
                .filter(webhook_deliveries::event_id.eq(outbox::id.nullable()))
                .select(webhook_deliveries::registration_id)
                .limit(1)
                .single_value()
        };
        let old = || {
            outbox::table
                .filter(outbox::occurred_at.lt(before))
                .filter(outbox::position.is_not_null())
                .filter(delivery().is_null())
        };
        Ok(remove_oldest!(self, outbox by uuid, old(), order outbox::occurred_at, limit))
    }

    async fn remove_of_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64> {
        let ids = self.events_of_user(organization, user, usize::try_from(limit).unwrap_or(0)).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let atomic = self.transaction().await?;
        let deliveries = columns::any_uuid(webhook_deliveries::event_id, ids.iter().copied());
        diesel::delete(webhook_deliveries::table.filter(deliveries)).run_on(atomic.connection()).await?;
        let removed = diesel::delete(outbox::table.filter(columns::any_uuid(outbox::id.nullable(), ids)))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(removed)
    }

    async fn wait(&self, at_most: Duration) {
        self.listen(WorkKind::Events, at_most).await;
    }
}
