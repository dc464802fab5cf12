//! Lists of meetings, by their start: those of a viewer, and the search by administrators.

use super::reading::{Facts, MEETINGS, load, shown};
use crate::columns::{self, Condition, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::filter::{Column, contains, holds, translated};
use crate::page_rows::Bounds;
use crate::schema::meetings;
use crate::tables::component_places::with_components;
use crate::tables::listing::{ListedTable, Listing, Members};
use crate::tables::planner::Checked;
use crate::tables::select::Records;
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentPlace, Locales, MeetingId, OrganizationId, Page, PageRequest, Result, Translated, Viewer,
};
use civitas_meetings::{
    Audience, MOST_SEARCHED, MeetingField, MeetingFilter, MeetingQuery, MeetingSearch, MeetingState,
    MeetingSummary, MeetingTime,
};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The meetings of these components that the viewer sees and that satisfy the filters.
pub(super) struct List<'a> {
    pub(super) viewer: Viewer,
    pub(super) components: VisibleComponents,
    pub(super) query: &'a MeetingQuery,
    pub(super) bounds: Bounds,
}

fn satisfies(filter: &MeetingFilter) -> Result<Condition<meetings::table>> {
    let column = match filter.field {
        MeetingField::ExtendedData => Column::Text(Box::new(meetings::extended_data_text.nullable())),
        MeetingField::Id => Column::Integer(Box::new(meetings::id.nullable())),
    };
    holds(column, &filter.condition)
}

impl Members for List<'_> {
    fn table(&self) -> ListedTable {
        MEETINGS
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn dated(&self, checked: Checked) -> Result<Records> {
        let checked = if self.query.filters.is_empty() { checked } else { Checked::Many };
        let mut found = MEETINGS.records().filter(self.components.contain_records(MEETINGS.name, checked));
        for condition in shown(self.viewer) {
            found = found.filter(condition);
        }
        for filter in &self.query.filters {
            found = found.filter(satisfies(filter)?);
        }
        Ok(found)
    }
}

#[async_trait]
impl Listing for List<'_> {
    type Row = Facts;

    async fn load(&self, connection: &mut Conn, meetings: Records) -> Result<Vec<Facts>> {
        load(connection, meetings, self.bounds).await
    }
}

/// The columns of a meeting that a search reads.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
struct Summary {
    id: i64,
    component_id: i64,
    title: JsonColumn<Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    published_at: Option<OffsetDateTime>,
    private: bool,
    transparent: bool,
    withdrawn_at: Option<OffsetDateTime>,
    hidden_at: Option<OffsetDateTime>,
    updated_at: OffsetDateTime,
}

impl Summary {
    fn model(self, place: ComponentPlace) -> MeetingSummary {
        MeetingSummary {
            id: MeetingId(self.id),
            title: self.title.0,
            start_time: self.start_time,
            end_time: self.end_time,
            published_at: self.published_at,
            withdrawn_at: self.withdrawn_at,
            hidden_at: self.hidden_at,
            audience: Audience::of(self.private, self.transparent),
            updated_at: self.updated_at,
            place,
        }
    }
}

/// One page of a search. `locales` are the languages whose titles are searched. The conditions of a state are those of its
/// partial index, exactly.
pub(super) async fn search(
    connection: &mut Conn,
    organization: OrganizationId,
    now: OffsetDateTime,
    search: &MeetingSearch,
    page: PageRequest,
    locales: &Locales,
) -> Result<Page<MeetingSummary>> {
    let kind = ComponentManifest::Meetings;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let found = MEETINGS.records().filter(meetings::organization_id.eq(organization.0));
    let found = found.filter(meetings::deleted_at.is_null());
    let found = found.filter(components.contain_records_by_id(MEETINGS.name, Checked::Many));
    let found = match search.time {
        Some(MeetingTime::Upcoming) => found.filter(meetings::start_time.ge(now)),
        Some(MeetingTime::Past) => found.filter(meetings::start_time.lt(now)),
        None => found,
    };
    let found = match search.state {
        Some(MeetingState::Published) => found.filter(meetings::published_at.is_not_null()),
        Some(MeetingState::Unpublished) => found.filter(meetings::published_at.is_null()),
        Some(MeetingState::Withdrawn) => found.filter(meetings::withdrawn_at.is_not_null()),
        Some(MeetingState::Hidden) => found.filter(meetings::hidden_at.is_not_null()),
        None => found,
    };
    let has_text = |text: &str| contains::<meetings::table>(translated!(meetings::title, locales), text);
    let has_text = search.text.as_deref().map(has_text).transpose()?;
    let found =
        MEETINGS.order(found, search.direction, search.direction).searched(has_text, MOST_SEARCHED, page);
    let found = found.select(columns::of::<Summary>());
    let rows: Vec<Summary> = found.load(connection).await.stored()?;
    let page = Page::cut(rows, page);
    with_components(connection, organization, page, |row| row.component_id, Summary::model).await
}
