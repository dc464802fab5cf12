//! Meetings.

mod reading;
mod rows;

use self::rows::{AT_ONCE, Changeset, Row, register, registrations_of};
use crate::columns::{self, EnumColumn};
use crate::engine::Conn;
use crate::failure::{Stored, changed};
use crate::schema::{components, meetings, users};
use crate::session::{Session, lock_row};
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, Error, MeetingId, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within,
};
use civitas_meetings::{Meeting, MeetingDetail, MeetingLookup, MeetingQuery, MeetingStore};
use civitas_spaces::ComponentManifest;
use diesel::dsl::{Eq, Filter, exists};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use std::collections::BTreeSet;

type Scoped = Filter<meetings::table, Eq<meetings::organization_id, i64>>;

/// The meetings of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    meetings::table.filter(meetings::organization_id.eq(organization.0))
}

/// These rows with who is registered.
async fn with_registrations(connection: &mut Conn, rows: Vec<Row>) -> Result<Vec<(MeetingId, Meeting)>> {
    let mut registrations = registrations_of(connection, rows.iter().map(|row| row.id).collect()).await?;
    let meetings = rows.into_iter().map(|row| {
        let registered = registrations.remove(&row.id).unwrap_or_default();
        (MeetingId(row.id), row.into_model(registered))
    });
    Ok(meetings.collect())
}

async fn one(connection: &mut Conn, organization: OrganizationId, id: MeetingId) -> Result<Option<Meeting>> {
    let rows: Vec<Row> = of(organization)
        .filter(meetings::id.eq(id.0))
        .select(columns::of::<Row>())
        .load(connection)
        .await
        .stored()?;
    Ok(with_registrations(connection, rows).await?.pop().map(|(_, meeting)| meeting))
}

#[async_trait]
impl MeetingStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        query: &MeetingQuery,
        page: PageRequest,
    ) -> Result<Page<MeetingDetail>> {
        reading::page(&mut *self.read().await?, read_context, query, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: MeetingId,
        within: Within,
    ) -> Result<Option<MeetingDetail>> {
        reading::visible(&mut *self.read().await?, read_context, id, within).await
    }

    async fn find(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<Meeting>> {
        one(&mut *self.read().await?, organization, id).await
    }

    async fn find_for_update(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<Meeting>> {
        let row = of(organization).filter(meetings::id.eq(id.0)).select(meetings::id);
        if lock_row!(self, row) { MeetingStore::find(self, organization, id).await } else { Ok(None) }
    }

    async fn add(&self, organization: OrganizationId, meeting: &Meeting) -> Result<MeetingId> {
        let atomic = self.atomic().await?;
        let mut connection = atomic.connection().await?;
        let id: i64 = diesel::insert_into(meetings::table)
            .values((meetings::organization_id.eq(organization.0), Changeset::of(meeting)))
            .returning(meetings::id)
            .get_result(&mut *connection)
            .await
            .stored()?;
        let id = MeetingId(id);
        register(&mut connection, organization, id, &meeting.registrations).await?;
        drop(connection);
        atomic.commit().await?;
        Ok(id)
    }

    async fn save(&self, organization: OrganizationId, id: MeetingId, meeting: &Meeting) -> Result<()> {
        let atomic = self.atomic().await?;
        let mut connection = atomic.connection().await?;
        let before = one(&mut connection, organization, id).await?.ok_or(Error::NotFound)?;
        diesel::update(of(organization).filter(meetings::id.eq(id.0)))
            .set(Changeset::of(meeting))
            .execute(&mut *connection)
            .await
            .stored()
            .and_then(changed)?;
        if before.registrations != meeting.registrations {
            register(&mut connection, organization, id, &meeting.registrations).await?;
        }
        drop(connection);
        if before.is_lost_by(meeting) {
            atomic.touch_list(organization, "meetings").await?;
        }
        atomic.commit().await
    }

    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<MeetingId>,
        limit: i64,
    ) -> Result<Vec<(MeetingId, Meeting)>> {
        let connection = &mut *self.read().await?;
        let rows: Vec<Row> = of(organization)
            .filter(meetings::id.gt(after.map_or(i64::MIN, |id| id.0)))
            .order(meetings::id)
            .limit(limit)
            .select(columns::of::<Row>())
            .load(connection)
            .await
            .stored()?;
        with_registrations(connection, rows).await
    }
}

#[async_trait]
impl MeetingLookup for Session {
    async fn holds_meetings(&self, organization: OrganizationId, component: ComponentId) -> Result<bool> {
        let found = components::table
            .filter(components::organization_id.eq(organization.0))
            .filter(components::id.eq(component.0))
            .filter(components::manifest.eq(EnumColumn(ComponentManifest::Meetings)))
            .filter(components::deleted_at.is_null());
        diesel::select(exists(found)).get_result(&mut *self.read().await?).await.stored()
    }

    async fn knows(&self, organization: OrganizationId, people: &BTreeSet<UserId>) -> Result<bool> {
        let connection = &mut *self.read().await?;
        let people: Vec<i64> = people.iter().map(|user| user.0).collect();
        for some in people.chunks(AT_ONCE) {
            let known: i64 = users::table
                .filter(users::organization_id.eq(organization.0))
                .filter(users::id.eq_any(some))
                .count()
                .get_result(connection)
                .await
                .stored()?;
            if usize::try_from(known) != Ok(some.len()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
