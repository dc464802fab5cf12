//! Meetings.

mod listing;
mod rows;

pub(super) use self::listing::visible;

use self::listing::{List, MEETINGS, Summary, details, load, this};
use self::rows::{Changeset, Row, register, with_registrations};
use crate::columns;
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::page_rows::PageBounds;
use crate::records::records;
use crate::schema::{meeting_registrations, meetings};
use crate::scoped::scoped;
use crate::session::Session;
use crate::tables::component_places::{self, with_components};
use crate::tables::listing as lists;
use crate::tables::planner::Checked;
use crate::tables::select::RecordSelect;
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, MeetingId, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within, filter,
};
use civitas_meetings::{
    Meeting, MeetingDetail, MeetingQuery, MeetingSearch, MeetingState, MeetingStore, MeetingSummary,
    MeetingTime,
};
use civitas_spaces::ComponentManifest;
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
        let page = lists::page(&list, self, page).await?;
        details(&mut *self.read().await?, read_context.organization, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: MeetingId,
        within: Within,
    ) -> Result<Option<MeetingDetail>> {
        let connection = &mut *self.read().await?;
        let found = this(read_context.organization, id);
        let found = visible(read_context.viewer).into_iter().fold(found, RecordSelect::filter);
        let found = load(connection, found, PageBounds::NONE).await?;
        let Some(facts) = found.into_iter().next() else { return Ok(None) };
        let (component, kind) = (ComponentId(facts.component_id), ComponentManifest::Meetings);
        let place = component_places::visible(connection, read_context, within, component, kind).await?;
        Ok(place.map(|place| facts.detail(place)))
    }

    async fn detail(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<MeetingDetail>> {
        let connection = &mut *self.read().await?;
        let items = load(connection, this(organization, id), PageBounds::NONE).await?;
        let page = details(connection, organization, Page::of(items, false)).await?;
        Ok(page.items.into_iter().next())
    }

    async fn search(
        &self,
        organization: OrganizationId,
        now: OffsetDateTime,
        search: &MeetingSearch,
        page: PageRequest,
    ) -> Result<Page<MeetingSummary>> {
        let connection = &mut *self.read_long().await?;
        let kind = ComponentManifest::Meetings;
        let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
        if components.is_empty() {
            return Ok(Page::of(Vec::new(), false));
        }
        // The conditions of a state are those of its partial index, exactly.
        let found = MEETINGS.records().filter(meetings::organization_id.eq(organization.0));
        let found = found.filter(meetings::deleted_at.is_null());
        let found = found.filter(components.contain_by_id::<()>(MEETINGS.name, Checked::Many));
        let found = match search.time {
            Some(MeetingTime::Upcoming) => found.filter(meetings::start_time.ge(now)),
            Some(MeetingTime::Past) => found.filter(meetings::start_time.lt(now)),
            None => found,
        };
        let mut found = match search.state {
            Some(MeetingState::Published) => found.filter(meetings::published_at.is_not_null()),
            Some(MeetingState::Unpublished) => found.filter(meetings::published_at.is_null()),
            Some(MeetingState::Withdrawn) => found.filter(meetings::withdrawn_at.is_not_null()),
            Some(MeetingState::Hidden) => found.filter(meetings::hidden_at.is_not_null()),
            None => found,
        };
        if let Some(words) = search.text.as_deref().and_then(filter::Condition::words) {
            found = found.filter(texts::found::<()>(MEETINGS.name, organization, TextPart::Title, &words)?);
        }
        let found = MEETINGS.order(found, search.direction, search.direction).on_page(page.into());
        let rows: Vec<Summary> =
            found.select(columns::of::<Summary>()).load(connection).await.map_db_error()?;
        let page = Page::cut(rows, page);
        with_components(connection, organization, page, |row| row.component_id, Summary::model).await
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
            .map_db_error()?;
        Ok(Page::cut(users, page).map(UserId))
    }
}
