//! Meetings.

mod listing;
mod reading;
mod rows;

pub(super) use self::reading::shown;

use self::listing::List;
use self::rows::{Changeset, Row, register, with_registrations};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::records::records;
use crate::schema::{meeting_registrations, meetings};
use crate::scoped::scoped;
use crate::session::Session;
use crate::tables::listing as lists;
use async_trait::async_trait;
use civitas_kernel::{
    MeetingId, Order, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within,
};
use civitas_meetings::{Meeting, MeetingDetail, MeetingQuery, MeetingSearch, MeetingStore, MeetingSummary};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

scoped! { meetings }

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
        let list = List::open(self, read_context, query).await?;
        let is_long = !query.filters.is_empty() || query.order == Order::Random || page.is_counted;
        let connection = &mut *self.read_page(page, is_long).await?;
        let page = lists::page(&list, connection, query.order, page).await?;
        reading::details(connection, read_context.organization, page).await
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
        listing::search(&mut *self.read_long().await?, organization, now, search, page).await
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
