//! The log of deliveries, for administrators.

use super::recording::AttemptRow;
use super::{lock_registrations, make_due, pending};
use crate::columns::{self, Condition, EnumColumn, UuidColumn};
use crate::engine::Db;
use crate::engine::sql::Moment;
use crate::filter::{containing, like};
use crate::log_pages::log_page;
use crate::old_rows::{oldest, remove_oldest};
use crate::optional::filter_some;
use crate::schema::webhook_deliveries as deliveries;
use crate::schema::webhook_registrations as registrations;
use crate::schema::{api_clients, outbox, webhook_attempts};
use crate::session::{ExecuteExt, LoadModelsExt, LoadRowsExt, Session, WorkKind};
use crate::tables::webhook_registrations::Row as RegistrationRow;
use async_trait::async_trait;
use civitas_kernel::{
    EventName, LogPage, LogRequest, OrganizationId, Page, PageRequest, RegistrationId, Result,
};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryFigures, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryStatus,
    LoggedDelivery, RegistrationFilter, RegistrationReport, RegistrationState, ReplaySelection,
};
use diesel::dsl::{IntoBoxed, LeftJoin, count_star, sql};
use diesel::prelude::*;
use std::collections::HashMap;
use time::OffsetDateTime;

/// The most attempts of a delivery that are read.
const MAX_ATTEMPTS: i64 = 100;

/// A delivery as its row stores it, with the organization of its event.
#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries, check_for_backend(Db))]
struct Row {
    id: UuidColumn,
    registration_id: i64,
    event_id: Option<UuidColumn>,
    name: EnumColumn<EventName>,
    status: EnumColumn<DeliveryStatus>,
    attempts: i64,
    due_at: OffsetDateTime,
    created_at: OffsetDateTime,
    ended_at: Option<OffsetDateTime>,
    reason: Option<String>,
    #[diesel(select_expression = outbox::organization_id.nullable())]
    organization_of_event: Option<i64>,
}

impl From<Row> for LoggedDelivery {
    fn from(row: Row) -> Self {
        Self {
            id: DeliveryId(row.id.0),
            registration: RegistrationId(row.registration_id),
            organization: row.organization_of_event.map(OrganizationId),
            event: row.event_id.map(|id| id.0),
            name: row.name.0,
            status: row.status.0,
            attempts: row.attempts,
            due_at: row.due_at,
            created_at: row.created_at,
            ended_at: row.ended_at,
            reason: row.reason,
        }
    }
}

type Boxed<'a> = IntoBoxed<'a, deliveries::table, Db>;

/// The deliveries to replay. Those that a previous call replayed are pending, or ended after `now`.
fn to_replay<'a>(
    organization: Option<OrganizationId>,
    which: &ReplaySelection,
    now: OffsetDateTime,
) -> Boxed<'a> {
    let mut ended = deliveries::table.filter(deliveries::ended_at.lt(now)).into_boxed();
    if let Some(organization) = organization {
        let own: Condition<_> = columns::equals_unindexed(deliveries::organization_id, organization.0);
        ended = ended.filter(own);
    }
    match *which {
        ReplaySelection::One(id) => ended.filter(deliveries::id.eq(UuidColumn(id.0))),
        ReplaySelection::Range { registration, since, until } => ended
            .filter(deliveries::registration_id.eq(registration.0))
            .filter(deliveries::created_at.ge(since))
            .filter(deliveries::created_at.lt(until))
            .order((deliveries::created_at, deliveries::id)),
        ReplaySelection::Failed(registration) => ended
            .filter(deliveries::registration_id.eq(registration.0))
            .filter(deliveries::status.eq(EnumColumn(DeliveryStatus::Dead)))
            .order((deliveries::created_at, deliveries::id)),
    }
}

type Logged<'a> = IntoBoxed<'a, LeftJoin<deliveries::table, outbox::table>, Db>;

/// The deliveries of a filter, with their events. Organization, registration, status and event have indexes in the
/// order of the log; that of a registration is better than that of its organization.
fn matching<'a>(organization: Option<OrganizationId>, filter: &DeliveryFilter) -> Logged<'a> {
    let mut all = deliveries::table.left_join(outbox::table).into_boxed::<Db>();
    all = match (organization, filter.registration) {
        (Some(organization), None) => all.filter(deliveries::organization_id.eq(organization.0)),
        (Some(organization), Some(_)) => {
            let own: Condition<_> = columns::equals_unindexed(deliveries::organization_id, organization.0);
            all.filter(own)
        }
        (None, _) => all,
    };
    filter_some! {
        all;
        filter.registration => |registration| deliveries::registration_id.eq(registration.0),
        filter.status => |status| deliveries::status.eq(EnumColumn(status)),
        filter.event => |event| deliveries::name.eq(EnumColumn(event)),
        filter.client => |client| {
            let own = registrations::table.filter(registrations::api_client_id.eq(client.0));
            deliveries::registration_id.eq_any(own.select(registrations::id))
        },
        filter.from => |from| deliveries::created_at.ge(from),
        filter.to => |to| deliveries::created_at.lt(to),
    }
    all
}

impl Session {
    /// The figures of these registrations.
    async fn figures(&self, ids: &[i64]) -> Result<HashMap<i64, DeliveryFigures>> {
        let these = || columns::any_of(deliveries::registration_id.nullable(), ids);
        let counts: Vec<(i64, EnumColumn<DeliveryStatus>, i64)> = deliveries::table
            .filter(these())
            .group_by((deliveries::registration_id, deliveries::status))
            .select((deliveries::registration_id, deliveries::status, count_star()))
            .rows_from(self.read())
            .await?;
        let oldest: Vec<(i64, OffsetDateTime)> = deliveries::table
            .filter(these())
            .filter(pending())
            .group_by(deliveries::registration_id)
            .select((deliveries::registration_id, sql::<Moment>("min(webhook_deliveries.created_at)")))
            .rows_from(self.read())
            .await?;
        let mut figures: HashMap<i64, DeliveryFigures> = HashMap::new();
        for (id, status, count) in counts {
            let figures = figures.entry(id).or_default();
            match status.0 {
                DeliveryStatus::Pending => figures.pending = count,
                DeliveryStatus::Delivered => figures.delivered = count,
                DeliveryStatus::Dead => figures.dead = count,
                DeliveryStatus::Dropped => figures.dropped = count,
            }
        }
        for (id, oldest) in oldest {
            figures.entry(id).or_default().oldest_pending = Some(oldest);
        }
        Ok(figures)
    }
}

#[async_trait]
impl DeliveryLog for Session {
    async fn list(
        &self,
        organization: Option<OrganizationId>,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>> {
        let all = matching(organization, filter);
        // Without a filter by the primary key, which is in the same order. With one by `created_at`: by the primary key
        // a planner may read all deliveries to find the few that satisfy the filter.
        let all = if organization.is_none() && *filter == DeliveryFilter::default() {
            all.order(deliveries::id.desc())
        } else {
            all.order((deliveries::created_at.desc(), deliveries::id.desc()))
        };
        all.page_from::<Row, _>(page, self.read_long()).await
    }

    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &DeliveryFilter,
        page: LogRequest<DeliveryId>,
    ) -> Result<LogPage<LoggedDelivery>> {
        let all = matching(organization, filter);
        // Without a filter by the primary key, as `list`: ids sort by time. An index on `created_at` alone would be
        // taken for `expire`.
        let timeless = DeliveryFilter { from: None, to: None, ..*filter };
        let all = if organization.is_none() && timeless == DeliveryFilter::default() {
            log_page!(all, page, [deliveries::id], |id| UuidColumn(id.0))
        } else {
            log_page!(all, page, [deliveries::created_at, deliveries::id], |id| UuidColumn(id.0))
        };
        let rows: Vec<Row> = all.select(columns::all_columns::<Row>()).rows_from(self.read_long()).await?;
        Ok(LogPage::from_fetched(rows, &page).map(Into::into))
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: DeliveryId,
    ) -> Result<Option<LoggedDelivery>> {
        let mut one = deliveries::table
            .left_join(outbox::table)
            .filter(deliveries::id.eq(UuidColumn(id.0)))
            .into_boxed::<Db>();
        filter_some!(one; organization => |organization| deliveries::organization_id.eq(organization.0));
        one.model_from::<Row, _>(self.read()).await
    }

    async fn attempts(&self, id: DeliveryId) -> Result<Vec<DeliveryAttempt>> {
        let rows: Vec<AttemptRow> = webhook_attempts::table
            .filter(webhook_attempts::delivery_id.eq(UuidColumn(id.0)))
            .order(webhook_attempts::number.desc())
            .limit(MAX_ATTEMPTS)
            .select(columns::all_columns::<AttemptRow>())
            .rows_from(self.read())
            .await?;
        Ok(rows.into_iter().rev().map(Into::into).collect())
    }

    async fn replay(
        &self,
        organization: Option<OrganizationId>,
        which: &ReplaySelection,
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<u64> {
        let due = self.database_time(now).await?;
        let atomic = self.transaction().await?;
        let found: Vec<(UuidColumn, i64)> = to_replay(organization, which, now)
            .limit(limit)
            .select((deliveries::id, deliveries::registration_id))
            .rows_from(atomic.connection())
            .await?;
        let Some((_, registration)) = found.as_slice().first() else { return Ok(0) };
        // All are of one registration.
        let registration = [*registration];
        lock_registrations(&mut *atomic.connection().await?, &registration).await?;
        let replayed = diesel::update(deliveries::table)
            .filter(columns::any_uuid(deliveries::id.nullable(), found.iter().map(|(id, _)| id.0)))
            .filter(deliveries::ended_at.lt(now))
            .set((
                deliveries::status.eq(EnumColumn(DeliveryStatus::Pending)),
                deliveries::due_at.eq(due),
                deliveries::ended_at.eq(None::<OffsetDateTime>),
                deliveries::reason.eq(None::<&str>),
                deliveries::replayed_after.eq(deliveries::attempts),
            ))
            .run_on(atomic.connection())
            .await?;
        make_due(&mut *atomic.connection().await?, &registration, due).await?;
        atomic.commit().await?;
        self.notify(WorkKind::Deliveries);
        Ok(replayed)
    }

    async fn count_replayable(
        &self,
        organization: Option<OrganizationId>,
        which: &ReplaySelection,
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<i64> {
        let some = to_replay(organization, which, now).limit(limit).select(deliveries::organization_id);
        self.count_bounded(some).await
    }

    async fn registrations(
        &self,
        organization: Option<OrganizationId>,
        filter: &RegistrationFilter,
        page: PageRequest,
    ) -> Result<Page<RegistrationReport>> {
        let mut all = registrations::table
            .inner_join(api_clients::table)
            .filter(api_clients::deleted_at.is_null())
            .into_boxed::<Db>();
        filter_some! {
            all;
            organization => |organization| registrations::organization_id.eq(organization.0),
            filter.id => |id| registrations::id.eq(id.0),
            filter.client => |client| registrations::api_client_id.eq(client.0),
        }
        all = match filter.state {
            None => all,
            Some(RegistrationState::Active) => {
                all.filter(registrations::paused_at.is_null()).filter(registrations::disabled_at.is_null())
            }
            Some(RegistrationState::Paused) => all.filter(registrations::paused_at.is_not_null()),
            Some(RegistrationState::Disabled) => all.filter(registrations::disabled_at.is_not_null()),
        };
        if let Some(text) = &filter.text {
            let pattern = containing(text);
            let in_url: Condition<_> = like(Box::new(registrations::url.nullable()), &pattern);
            let in_name: Condition<_> = like(Box::new(api_clients::name.nullable()), &pattern);
            let in_one: Condition<_> = Box::new(in_url.or(in_name));
            all = all.filter(in_one);
        }
        let rows: Vec<(RegistrationRow, String)> = all
            .order(registrations::id)
            .limit(page.rows_to_fetch())
            .offset(page.offset())
            .select((columns::all_columns::<RegistrationRow>(), api_clients::uid))
            .rows_from(self.read())
            .await?;
        let page = Page::from_fetched(rows, page);
        let ids: Vec<i64> = page.items.iter().map(|(row, _)| row.id).collect();
        let mut figures = if ids.is_empty() { HashMap::new() } else { self.figures(&ids).await? };
        Ok(page.map(|(row, client_uid)| RegistrationReport {
            id: RegistrationId(row.id),
            figures: figures.remove(&row.id).unwrap_or_default(),
            registration: row.into_model(),
            client_uid,
        }))
    }

    async fn addresses(&self, ids: &[RegistrationId]) -> Result<Vec<(RegistrationId, String)>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let found: Vec<(i64, String)> = registrations::table
            .filter(columns::any_of(registrations::id.nullable(), &ids))
            .select((registrations::id, registrations::url))
            .rows_from(self.read())
            .await?;
        Ok(found.into_iter().map(|(id, url)| (RegistrationId(id), url)).collect())
    }

    async fn expire(&self, before: OffsetDateTime, now: OffsetDateTime, limit: i64) -> Result<u64> {
        let old = || deliveries::table.filter(pending()).filter(deliveries::created_at.lt(before));
        let Some((atomic, oldest)) = oldest!(
            self,
            old(),
            order deliveries::created_at,
            key deliveries::id => UuidColumn,
            limit limit
        ) else {
            return Ok(0);
        };
        let ended = diesel::update(deliveries::table)
            .filter(columns::any_uuid(deliveries::id.nullable(), oldest.into_iter().map(|id| id.0)))
            .set((
                deliveries::status.eq(EnumColumn(DeliveryStatus::Dead)),
                deliveries::reason.eq("it waited too long"),
                deliveries::ended_at.eq(now),
            ))
            .run_on(atomic.connection())
            .await?;
        atomic.commit().await?;
        Ok(ended)
    }

    async fn remove_ended(
        &self,
        states: &[DeliveryStatus],
        before: OffsetDateTime,
        limit: i64,
    ) -> Result<u64> {
        let states: Vec<_> = states.iter().copied().map(EnumColumn).collect();
        let old = || {
            let in_state = deliveries::status.eq_any(states.clone());
            deliveries::table.filter(deliveries::ended_at.lt(before)).filter(in_state)
        };
        Ok(remove_oldest!(self, deliveries by uuid, old(), order deliveries::ended_at, limit))
    }
}
