//! Reads of meetings: the table of meetings, then their components.

use crate::columns::{self, Condition, DataColumn, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::meetings;
use crate::tables::component_places::{self, with_components};
use crate::tables::listing::ListedTable;
use crate::tables::select::Records;
use crate::visibility::Rule;
use civitas_kernel::{
    ComponentId, ComponentPlace, MeetingId, OrganizationId, Page, ReadContext, Result, Translated, Viewer,
    Within,
};
use civitas_meetings::MeetingDetail;
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use time::OffsetDateTime;

/// The meetings.
pub(super) const MEETINGS: ListedTable =
    ListedTable { name: "meetings", date: "start_time", is_read_in_order: false };

/// The columns of a meeting to read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
pub(super) struct Facts {
    id: i64,
    component_id: i64,
    title: JsonColumn<Translated>,
    description: JsonColumn<Translated>,
    start_time: OffsetDateTime,
    end_time: Option<OffsetDateTime>,
    extended_data: DataColumn,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl Facts {
    /// The meeting for reads.
    pub(super) fn detail(self, place: ComponentPlace) -> MeetingDetail {
        MeetingDetail {
            id: MeetingId(self.id),
            title: self.title.0,
            description: self.description.0,
            start_time: self.start_time,
            end_time: self.end_time,
            extended_data: self.extended_data.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
            changed_at: self.updated_at.max(place.changed_at),
            place,
        }
    }
}

/// The visible meetings of a visible component (contract 06 §5.3). The first three conditions are those of the partial
/// indexes, exactly.
pub(in crate::tables) fn shown(viewer: Viewer) -> Vec<Condition<meetings::table>> {
    vec![
        Box::new(meetings::published_at.is_not_null().nullable()),
        Box::new(meetings::hidden_at.is_null().nullable()),
        Box::new(meetings::deleted_at.is_null().nullable()),
        Box::new(Rule::MeetingIsOpen(viewer)),
    ]
}

/// The rows of these meetings.
pub(super) async fn load(connection: &mut Conn, meetings: Records, bounds: Bounds) -> Result<Vec<Facts>> {
    meetings.select(columns::of::<Facts>()).load_page(connection, bounds).await.stored()
}

/// The meeting of this id, visible or not.
fn this(organization: OrganizationId, id: MeetingId) -> Records {
    MEETINGS.records().filter(meetings::organization_id.eq(organization.0)).filter(meetings::id.eq(id.0))
}

/// The meeting of this id, if it is visible and inside.
pub(super) async fn visible(
    connection: &mut Conn,
    read_context: ReadContext,
    id: MeetingId,
    within: Within,
) -> Result<Option<MeetingDetail>> {
    let this = this(read_context.organization, id);
    let found = shown(read_context.viewer).into_iter().fold(this, Records::filter);
    let found = load(connection, found, Bounds::NONE).await?;
    let Some(facts) = found.into_iter().next() else { return Ok(None) };
    let (component, kind) = (ComponentId(facts.component_id), ComponentManifest::Meetings);
    let place = component_places::visible(connection, read_context, within, component, kind).await?;
    Ok(place.map(|place| facts.detail(place)))
}

/// The meetings of a page with their components.
pub(super) async fn details(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<Facts>,
) -> Result<Page<MeetingDetail>> {
    with_components(connection, organization, page, |facts| facts.component_id, Facts::detail).await
}

/// The meeting of this id, visible or not.
pub(super) async fn any(
    connection: &mut Conn,
    organization: OrganizationId,
    id: MeetingId,
) -> Result<Option<MeetingDetail>> {
    let items = load(connection, this(organization, id), Bounds::NONE).await?;
    let page = details(connection, organization, Page::of(items, false)).await?;
    Ok(page.items.into_iter().next())
}
