//! Reads of meetings: the table of meetings, then their components.

use super::of;
use crate::columns::{self, Condition, DataColumn, EnumColumn, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::filter::{Column, holds};
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::{components, meetings, spaces};
use crate::tables::components::{OfSpace, of_space};
use crate::tables::pages::{By, Checked, OnPage, Rows};
use crate::tables::random_pages::{self, ById, Part};
use crate::tables::visible_components::VisibleComponents;
use crate::visibility::Rule;
use civitas_kernel::{
    ComponentId, Direction, MeetingId, Order, OrganizationId, Page, PageRequest, ReadContext, Result,
    SpaceManifest, SpaceRef, Translated, Viewer, Within,
};
use civitas_meetings::{MeetingDetail, MeetingField, MeetingFilter, MeetingQuery, Place};
use diesel::dsl::{InnerJoinQuerySource, IntoBoxed, Select};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use std::collections::HashMap;
use time::OffsetDateTime;

/// The ids of some meetings.
type Ids = IntoBoxed<'static, Select<meetings::table, meetings::id>, Db>;

/// The columns of a meeting to read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = meetings, check_for_backend(Db))]
struct Facts {
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

/// The columns of a component and its space to read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = components, check_for_backend(Db))]
struct Component {
    id: i64,
    name: JsonColumn<Translated>,
    updated_at: OffsetDateTime,
    #[diesel(select_expression = spaces::manifest)]
    space_manifest: EnumColumn<SpaceManifest>,
    #[diesel(select_expression = spaces::id)]
    space_id: i64,
    #[diesel(select_expression = spaces::updated_at)]
    space_changed_at: OffsetDateTime,
}

impl Facts {
    fn detail(self, component: &Component) -> MeetingDetail {
        MeetingDetail {
            id: MeetingId(self.id),
            title: self.title.0,
            description: self.description.0,
            start_time: self.start_time,
            end_time: self.end_time,
            extended_data: self.extended_data.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
            place: Place {
                component: ComponentId(component.id),
                name: component.name.0.clone(),
                space: SpaceRef { manifest: component.space_manifest.0, id: component.space_id },
            },
            changed_at: self.updated_at.max(component.updated_at).max(component.space_changed_at),
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

fn condition(filter: &MeetingFilter) -> Result<Condition<meetings::table>> {
    let column = match filter.field {
        MeetingField::ExtendedData => Column::Text(Box::new(meetings::extended_data_text.nullable())),
        MeetingField::Id => Column::Integer(Box::new(meetings::id.nullable())),
    };
    holds(column, &filter.condition)
}

/// The members of a list: the meetings of these components that satisfy the filters.
struct Members<'a> {
    read_context: ReadContext,
    visible: &'a VisibleComponents,
    query: &'a MeetingQuery,
    bounds: Bounds,
}

impl Members<'_> {
    fn ids(&self, checked: Checked) -> Result<Ids> {
        let organization = Box::new(meetings::organization_id.nullable());
        let component = Box::new(meetings::component_id.nullable());
        let mut ids = meetings::table.select(meetings::id).into_boxed::<Db>().filter(self.visible.contain(
            organization,
            component,
            checked,
        ));
        for condition in shown(self.read_context.viewer) {
            ids = ids.filter(condition);
        }
        for filter in &self.query.filters {
            ids = ids.filter(condition(filter)?);
        }
        Ok(ids)
    }

    /// Some members in random order.
    async fn shuffled(&self, connection: &mut Conn, rows: Rows) -> Result<Vec<Facts>> {
        let ids = random_pages::draw(self, connection, rows, &[]).await?;
        let these: Condition<meetings::table> = columns::any_of(meetings::id.nullable(), &ids);
        let found = meetings::table.filter(these).select(columns::of::<Facts>());
        let found: Vec<Facts> = found.load_page(connection, self.bounds).await.stored()?;
        Ok(random_pages::in_order_of(&ids, found, |facts| facts.id))
    }

    /// Some members in the order of their start.
    async fn by_start(&self, connection: &mut Conn, rows: Rows, direction: Direction) -> Result<Vec<Facts>> {
        let checked = if self.query.filters.is_empty() { rows.checked() } else { Checked::Many };
        let ids = self.ids(checked)?.order((By(meetings::start_time, direction), meetings::id));
        let found = meetings::table
            .filter(OnPage::of(Box::new(meetings::id.nullable()), ids, rows))
            .select(columns::of::<Facts>())
            .limit(rows.limit)
            .into_boxed::<Db>()
            .order((By(meetings::start_time, direction), meetings::id));
        found.load_page(connection, self.bounds).await.stored()
    }
}

impl ById for Members<'_> {
    type Ids = Ids;

    fn part(&self, part: Part) -> Result<Ids> {
        let id = || random_pages::id(Box::new(meetings::id.nullable()));
        let checked = if self.query.filters.is_empty() { Checked::Few } else { Checked::Many };
        let members = self.ids(checked)?;
        Ok(match part {
            Part::All => members.order(id().asc()),
            Part::Reversed => members.order(id().desc()),
            Part::From(from) => members.filter(id().ge(from)).order(id().asc()),
            Part::Before(to) => members.filter(id().lt(to)).order(id().asc()),
        })
    }
}

/// One page of a list: of the meetings of these components.
pub(super) async fn page(
    connection: &mut Conn,
    read_context: ReadContext,
    visible: &VisibleComponents,
    query: &MeetingQuery,
    page: PageRequest,
    bounds: Bounds,
) -> Result<Page<MeetingDetail>> {
    if visible.is_empty() {
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let members = Members { read_context, visible, query, bounds };
    let rows = match query.order {
        Order::Random => members.shuffled(connection, page.into()).await?,
        Order::Column(direction) => members.by_start(connection, page.into(), direction).await?,
    };
    let page = Page::cut(rows, page);
    let places = components_of(connection, read_context.organization, &page.items).await?;
    let items = page.items.into_iter().filter_map(|facts| {
        let component = places.get(&facts.component_id)?;
        Some(facts.detail(component))
    });
    Ok(Page { items: items.collect(), has_more: page.has_more })
}

/// Components with their spaces.
type Located = InnerJoinQuerySource<components::table, spaces::table, OfSpace>;

/// The components of these meetings, by id.
async fn components_of(
    connection: &mut Conn,
    organization: OrganizationId,
    meetings: &[Facts],
) -> Result<HashMap<i64, Component>> {
    let mut ids: Vec<i64> = meetings.iter().map(|facts| facts.component_id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let these: Condition<Located> = columns::any_of(components::id.nullable(), &ids);
    let rows: Vec<Component> = components::table
        .inner_join(spaces::table.on(of_space()))
        .filter(components::organization_id.eq(organization.0))
        .filter(these)
        .select(columns::of::<Component>())
        .load(connection)
        .await
        .stored()?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// The meeting of this id, if it is visible and inside.
pub(super) async fn visible(
    connection: &mut Conn,
    read_context: ReadContext,
    id: MeetingId,
    within: Within,
) -> Result<Option<MeetingDetail>> {
    let mut found = of(read_context.organization)
        .filter(meetings::id.eq(id.0))
        .select(columns::of::<Facts>())
        .into_boxed::<Db>();
    for condition in shown(read_context.viewer) {
        found = found.filter(condition);
    }
    if let Some(component) = within.component {
        found = found.filter(meetings::component_id.eq(component.0));
    }
    let found: Option<Facts> = found.first(connection).await.found()?;
    let Some(facts) = found else { return Ok(None) };
    let component: Option<Component> = components::table
        .inner_join(spaces::table.on(of_space()))
        .filter(components::organization_id.eq(read_context.organization.0))
        .filter(components::id.eq(facts.component_id))
        .filter(Rule::ComponentIsVisible(read_context.viewer))
        .filter(Rule::IsWithin(within))
        .select(columns::of::<Component>())
        .first(connection)
        .await
        .found()?;
    Ok(component.map(|component| facts.detail(&component)))
}

/// The meeting of this id, visible or not.
pub(super) async fn any(
    connection: &mut Conn,
    organization: OrganizationId,
    id: MeetingId,
) -> Result<Option<MeetingDetail>> {
    let found = of(organization).filter(meetings::id.eq(id.0)).select(columns::of::<Facts>());
    let found: Vec<Facts> = found.load(connection).await.stored()?;
    let places = components_of(connection, organization, &found).await?;
    let mut details = found.into_iter().filter_map(|facts| {
        let component = places.get(&facts.component_id)?;
        Some(facts.detail(component))
    });
    Ok(details.next())
}
