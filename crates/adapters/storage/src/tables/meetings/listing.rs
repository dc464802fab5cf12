//! Lists of meetings, by their start: those of a viewer, and the search by administrators.

use super::reading::{Facts, MEETINGS, load, shown};
use crate::columns::{self, Condition, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::page_rows::Bounds;
use crate::schema::meetings;
use crate::session::Session;
use crate::tables::component_places::with_components;
use crate::tables::listing::{FilterCondition, ListedField, ListedTable, Listing, Members};
use crate::tables::planner::Checked;
use crate::tables::select::Records;
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::{PlaceColumn, VisibleComponents};
use async_trait::async_trait;
use civitas_kernel::{
    ComponentPlace, Locales, MeetingId, Order, OrganizationId, Page, PageRequest, ReadContext, Result,
    Translated, filter,
};
use civitas_meetings::{
    Audience, MeetingField, MeetingFilter, MeetingQuery, MeetingSearch, MeetingState, MeetingSummary,
    MeetingTime,
};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The meetings of a query that the viewer sees.
pub(super) struct List<'a> {
    read_context: ReadContext,
    components: VisibleComponents,
    query: &'a MeetingQuery,
    locales: Locales,
    bounds: Bounds,
}

impl<'a> List<'a> {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &'a MeetingQuery,
    ) -> Result<Self> {
        let kind = ComponentManifest::Meetings;
        let places =
            query.filters.iter().filter_map(|filter| field(filter.field).of_place(&filter.condition));
        let places = places.collect::<Result<_>>()?;
        let components =
            VisibleComponents::load_filtered(session, read_context, query.within, kind, places).await?;
        let (locales, bounds) = (session.locales().clone(), session.bounds);
        Ok(Self { read_context, components, query, locales, bounds })
    }
}

/// What a field compares.
fn field(field: MeetingField) -> ListedField {
    match field {
        MeetingField::Id => ListedField::Number("id"),
        MeetingField::ExtendedData => ListedField::Text("extended_data_text"),
        MeetingField::CreatedAt => ListedField::IndexedTime("created_at"),
        MeetingField::UpdatedAt => ListedField::IndexedTime("updated_at"),
        MeetingField::StartTime => ListedField::IndexedTime("start_time"),
        MeetingField::PublishedAt => ListedField::Time("published_at"),
        MeetingField::EndTime => ListedField::Time("end_time"),
        MeetingField::Title => ListedField::Translated("title", TextPart::Title),
        MeetingField::Description => ListedField::Translated("description", TextPart::Body),
        MeetingField::SearchText => ListedField::Searched(TextPart::Either),
        MeetingField::Component => ListedField::Place(PlaceColumn::Component),
        MeetingField::SpaceId => ListedField::Place(PlaceColumn::SpaceId),
        MeetingField::SpaceType => ListedField::Place(PlaceColumn::SpaceType),
    }
}

impl Members for List<'_> {
    fn table(&self) -> ListedTable {
        MEETINGS.sorted(self.query.order)
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn unfiltered(&self, of_components: Condition<()>) -> Records {
        let meetings = MEETINGS.records().filter(of_components);
        shown(self.read_context.viewer).into_iter().fold(meetings, Records::filter)
    }

    fn filters(&self) -> Result<Vec<FilterCondition>> {
        let condition =
            |filter: &MeetingFilter| field(filter.field).condition(self, &self.locales, &filter.condition);
        let conditions = self.query.filters.iter().map(condition);
        conditions.filter_map(Result::transpose).collect()
    }

    fn is_sorted(&self) -> bool {
        matches!(self.query.order, Order::By(_))
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

/// One page of a search. The conditions of a state are those of its partial index, exactly.
pub(super) async fn search(
    connection: &mut Conn,
    organization: OrganizationId,
    now: OffsetDateTime,
    search: &MeetingSearch,
    page: PageRequest,
) -> Result<Page<MeetingSummary>> {
    let kind = ComponentManifest::Meetings;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page::of(Vec::new(), false));
    }
    let found = MEETINGS.records().filter(meetings::organization_id.eq(organization.0));
    let found = found.filter(meetings::deleted_at.is_null());
    let found = found.filter(components.contain_records_by_id(MEETINGS.name, Checked::Many));
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
    let found = found.select(columns::of::<Summary>());
    let rows: Vec<Summary> = found.load(connection).await.stored()?;
    let page = Page::cut(rows, page);
    with_components(connection, organization, page, |row| row.component_id, Summary::model).await
}
