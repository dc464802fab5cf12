//! Meetings.

mod listing;
mod rows;

pub(super) use self::listing::is_visible;

use self::listing::{MEETINGS, MeetingList, MeetingSummaryRow, load, load_details, select_by_id};
use self::rows::{Changeset, Row, register, with_registrations};
use crate::columns;
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::page_rows::RowReadLimits;
use crate::records::records;
use crate::schema::{meeting_registrations, meetings};
use crate::scoped::scoped;
use crate::session::Session;
use crate::tables::component_contexts::{self, with_components};
use crate::tables::listing as lists;
use crate::tables::planner::CheckedRows;
use crate::tables::select::RecordSelect;
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, LocationFilter, MeetingId, OrganizationId, Page, PageRequest, ReadContext, Result, UserId,
    filter,
};
use civitas_meetings::{
    Meeting, MeetingDetail, MeetingQuery, MeetingSearch, MeetingState, MeetingStore, MeetingSummary,
    MeetingTime,
};
use civitas_spaces::ComponentKind;
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
        let list = MeetingList::open(self, read_context, query).await?;
        let page = lists::page(&list, self, page).await?;
        load_details(&mut *self.read().await?, read_context.organization, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: MeetingId,
        within: LocationFilter,
    ) -> Result<Option<MeetingDetail>> {
        let connection = &mut *self.read().await?;
        let found = select_by_id(read_context.organization, id);
        let found = is_visible(read_context.viewer).into_iter().fold(found, RecordSelect::filter);
        let found = load(connection, found, RowReadLimits::NONE).await?;
        let Some(facts) = found.into_iter().next() else { return Ok(None) };
        let (component, kind) = (ComponentId(facts.component_id), ComponentKind::Meetings);
        let context =
            component_contexts::load_visible(connection, read_context, within, component, kind).await?;
        Ok(context.map(|context| facts.detail(context)))
    }

    async fn detail(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<MeetingDetail>> {
        let connection = &mut *self.read().await?;
        let items = load(connection, select_by_id(organization, id), RowReadLimits::NONE).await?;
        let page = load_details(connection, organization, Page::new(items, false)).await?;
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
        let kind = ComponentKind::Meetings;
        let components =
            VisibleComponents::load_of_kind(connection, organization, search.within, kind).await?;
        if components.is_empty() {
            return Ok(Page::new(Vec::new(), false));
        }
        // The conditions of a state are those of its partial index, exactly.
        let found = MEETINGS.records().filter(meetings::organization_id.eq(organization.0));
        let found = found.filter(meetings::deleted_at.is_null());
        let found = found.filter(components.contain_by_id::<()>(MEETINGS.name, CheckedRows::Many));
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
        if let Some(words) = search.text.as_deref().and_then(filter::FilterCondition::words) {
            found = found.filter(texts::matches_by_index::<()>(
                MEETINGS.name,
                organization,
                TextPart::Title,
                &words,
            )?);
        }
        let found = MEETINGS.order(found, search.direction, search.direction).on_page(page.into());
        let rows: Vec<MeetingSummaryRow> = found
            .select(columns::all_columns::<MeetingSummaryRow>())
            .load(connection)
            .await
            .map_db_error()?;
        let page = Page::from_fetched(rows, page);
        with_components(connection, organization, page, |row| row.component_id, MeetingSummaryRow::model)
            .await
    }

    async fn registered(
        &self,
        organization: OrganizationId,
        id: MeetingId,
        page: PageRequest,
    ) -> Result<Page<UserId>> {
        let own = rows_of(organization).filter(meetings::id.eq(id.0)).select(meetings::id);
        let users: Vec<i64> = meeting_registrations::table
            .filter(meeting_registrations::meeting_id.eq_any(own))
            .order(meeting_registrations::user_id)
            .limit(page.rows_to_fetch())
            .offset(page.offset())
            .select(meeting_registrations::user_id)
            .load(&mut *self.read().await?)
            .await
            .map_db_error()?;
        Ok(Page::from_fetched(users, page).map(UserId))
    }
}
