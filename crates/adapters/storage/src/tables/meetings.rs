//! Meetings.

mod reading;
mod rows;
mod search;

pub(super) use self::reading::shown;

use self::rows::{Changeset, Row, register, registrations_of};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::records::records;
use crate::schema::{meeting_registrations, meetings};
use crate::scoped::scoped;
use crate::session::Session;
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    MeetingId, Order, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within,
};
use civitas_meetings::{Meeting, MeetingDetail, MeetingQuery, MeetingSearch, MeetingStore, MeetingSummary};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

scoped! { meetings }

/// These rows with their registered users.
async fn with_registrations(connection: &mut Conn, rows: Vec<Row>) -> Result<Vec<(MeetingId, Meeting)>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut registrations = registrations_of(connection, &ids).await?;
    let meetings = rows.into_iter().map(|row| {
        let registered = registrations.remove(&row.id).unwrap_or_default();
        (MeetingId(row.id), row.into_model(registered))
    });
    Ok(meetings.collect())
}

/// Writes the registered users, if they change.
async fn write_registrations(
    connection: &mut Conn,
    organization: OrganizationId,
    id: MeetingId,
    before: Option<&Meeting>,
    after: &Meeting,
) -> Result<()> {
    if before.is_some_and(|before| before.registrations == after.registrations) {
        return Ok(());
    }
    register(connection, organization, id, &after.registrations).await
}

/// Writes the registered users of new meetings.
async fn register_all(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: &[MeetingId],
    meetings: &[Meeting],
) -> Result<()> {
    for (id, meeting) in ids.iter().zip(meetings) {
        if !meeting.registrations.is_empty() {
            register(connection, organization, *id, &meeting.registrations).await?;
        }
    }
    Ok(())
}

records! {
    meetings: MeetingId => Meeting;
    read with_registrations;
    write write_registrations;
    many plain then register_all;
}

#[async_trait]
impl MeetingStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        query: &MeetingQuery,
        page: PageRequest,
    ) -> Result<Page<MeetingDetail>> {
        let visible =
            VisibleComponents::load(self, read_context, query.within, Some(ComponentManifest::Meetings))
                .await?;
        let is_long = !query.filters.is_empty() || query.order == Order::Random;
        let connection = &mut *self.read_page(page, is_long).await?;
        reading::page(connection, read_context, &visible, query, page, self.bounds).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: MeetingId,
        within: Within,
    ) -> Result<Option<MeetingDetail>> {
        reading::visible(&mut *self.read().await?, read_context, id, within).await
    }

    async fn detail(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<MeetingDetail>> {
        reading::any(&mut *self.read().await?, organization, id).await
    }

    async fn search(
        &self,
        organization: OrganizationId,
        now: OffsetDateTime,
        search: &MeetingSearch,
        page: PageRequest,
    ) -> Result<Page<MeetingSummary>> {
        let locales = self.locales();
        search::page(&mut *self.read_long().await?, organization, now, search, page, locales).await
    }

    async fn registered(
        &self,
        organization: OrganizationId,
        id: MeetingId,
        page: PageRequest,
    ) -> Result<Page<UserId>> {
        let own = of(organization).filter(meetings::id.eq(id.0)).select(meetings::id);
        let users: Vec<i64> = meeting_registrations::table
            .filter(meeting_registrations::meeting_id.eq_any(own))
            .order(meeting_registrations::user_id)
            .limit(page.fetch())
            .offset(page.offset())
            .select(meeting_registrations::user_id)
            .load(&mut *self.read().await?)
            .await
            .stored()?;
        Ok(Page::cut(users, page).map(UserId))
    }
}
