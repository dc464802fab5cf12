//! Reads of meetings: the table of meetings, then their components; and lists of them, by their start.

use crate::columns::{self, Condition, DataColumn, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::DieselResultExt;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::schema::meetings;
use crate::session::Session;
use crate::tables::component_contexts::with_components;
use crate::tables::listing::{ListBase, ListKind, ListMembers, ListedField, ListedTable, Listing};
use crate::tables::select::RecordSelect;
use crate::tables::texts::TextPart;
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentContext, MeetingId, OrganizationId, Page, ReadContext, Result, Translated, Viewer,
};
use civitas_meetings::{Audience, MeetingDetail, MeetingField, MeetingQuery, MeetingSummary};
use civitas_spaces::ComponentKind;
use diesel::prelude::*;
use time::OffsetDateTime;

/// The meetings.
pub(super) const MEETINGS: ListedTable =
    ListedTable { name: "meetings", order_column: "start_time", is_read_in_order: false };

/// The columns of a meeting to read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
pub(super) struct MeetingColumns {
    id: i64,
    pub(super) component_id: i64,
    title: JsonColumn<Translated>,
    description: JsonColumn<Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    extended_data: DataColumn,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl MeetingColumns {
    /// The meeting for reads.
    pub(super) fn detail(self, context: ComponentContext) -> MeetingDetail {
        MeetingDetail {
            id: MeetingId(self.id),
            title: self.title.0,
            description: self.description.0,
            start_time: self.start_time,
            end_time: self.end_time,
            extended_data: self.extended_data.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
            changed_at: self.updated_at.max(context.changed_at),
            context,
        }
    }
}

/// The visible meetings of a visible component (contract 06 §5.3). The first three conditions are those of the partial
/// indexes, exactly.
pub(in crate::tables) fn is_visible(viewer: Viewer) -> Vec<Condition<meetings::table>> {
    vec![
        Box::new(meetings::published_at.is_not_null().nullable()),
        Box::new(meetings::hidden_at.is_null().nullable()),
        Box::new(meetings::deleted_at.is_null().nullable()),
        Box::new(VisibilityRule::MeetingIsOpen(viewer)),
    ]
}

/// The rows of these meetings.
pub(super) async fn load(
    connection: &mut Conn,
    meetings: RecordSelect,
    bounds: RowReadLimits,
) -> Result<Vec<MeetingColumns>> {
    meetings
        .select(columns::all_columns::<MeetingColumns>())
        .load_page(connection, bounds)
        .await
        .map_db_error()
}

/// The meeting of this id, visible or not.
pub(super) fn select_by_id(organization: OrganizationId, id: MeetingId) -> RecordSelect {
    MEETINGS.records().filter(meetings::organization_id.eq(organization.0)).filter(meetings::id.eq(id.0))
}

/// The meetings of a page with their components.
pub(super) async fn load_details(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<MeetingColumns>,
) -> Result<Page<MeetingDetail>> {
    with_components(connection, organization, page, |facts| facts.component_id, MeetingColumns::detail).await
}

/// The meetings of a query that the viewer sees.
pub(super) struct MeetingList {
    base: ListBase,
    viewer: Viewer,
}

impl MeetingList {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &MeetingQuery,
    ) -> Result<Self> {
        let kind = ListKind { table: MEETINGS, component_kind: ComponentKind::Meetings, field };
        let query = (query.within, &query.filters[..], query.order);
        let base = ListBase::open(session, read_context, &kind, query).await?;
        Ok(Self { base, viewer: read_context.viewer })
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
        MeetingField::Component => ListedField::Component,
        MeetingField::SpaceId => ListedField::SpaceId,
        MeetingField::SpaceType => ListedField::SpaceType,
    }
}

impl ListMembers for MeetingList {
    fn base(&self) -> &ListBase {
        &self.base
    }

    fn unfiltered(&self, of_components: Condition<()>) -> RecordSelect {
        let meetings = MEETINGS.records().filter(of_components);
        is_visible(self.viewer).into_iter().fold(meetings, RecordSelect::filter)
    }
}

#[async_trait]
impl Listing for MeetingList {
    type Row = MeetingColumns;

    async fn load(&self, connection: &mut Conn, meetings: RecordSelect) -> Result<Vec<MeetingColumns>> {
        load(connection, meetings, self.base.bounds).await
    }
}

/// The columns of a meeting that a search reads.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
pub(super) struct MeetingSummaryRow {
    id: i64,
    pub(super) component_id: i64,
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

impl MeetingSummaryRow {
    /// The meeting as a search finds it.
    pub(super) fn model(self, context: ComponentContext) -> MeetingSummary {
        MeetingSummary {
            id: MeetingId(self.id),
            title: self.title.0,
            start_time: self.start_time,
            end_time: self.end_time,
            published_at: self.published_at,
            withdrawn_at: self.withdrawn_at,
            hidden_at: self.hidden_at,
            audience: Audience::from_flags(self.private, self.transparent),
            updated_at: self.updated_at,
            context,
        }
    }
}
