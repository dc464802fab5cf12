//! The places of records of components: the component and space of each record.

use super::components::{OfSpace, of_space};
use crate::columns::{self, Condition, EnumColumn, JsonColumn};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::schema::{components, spaces};
use crate::visibility::Rule;
use civitas_kernel::{
    ComponentId, ComponentPlace, OrganizationId, ReadContext, Result, SpaceManifest, SpaceRef, Translated,
    Within,
};
use civitas_spaces::ComponentManifest;
use diesel::dsl::InnerJoinQuerySource;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use std::collections::HashMap;
use time::OffsetDateTime;

#[derive(Queryable, Selectable)]
#[diesel(table_name = components, check_for_backend(Db))]
struct Row {
    id: i64,
    name: JsonColumn<Translated>,
    scope_id: Option<i64>,
    updated_at: OffsetDateTime,
    #[diesel(select_expression = spaces::manifest)]
    space_manifest: EnumColumn<SpaceManifest>,
    #[diesel(select_expression = spaces::id)]
    space_id: i64,
    #[diesel(select_expression = spaces::scope_id)]
    space_scope_id: Option<i64>,
    #[diesel(select_expression = spaces::updated_at)]
    space_updated_at: OffsetDateTime,
}

impl From<Row> for ComponentPlace {
    fn from(row: Row) -> Self {
        Self {
            component: ComponentId(row.id),
            name: row.name.0,
            scope_id: row.scope_id.or(row.space_scope_id),
            space: SpaceRef { manifest: row.space_manifest.0, id: row.space_id },
            changed_at: row.updated_at.max(row.space_updated_at),
        }
    }
}

/// Components with their spaces.
type Located = InnerJoinQuerySource<components::table, spaces::table, OfSpace>;

async fn read(
    connection: &mut Conn,
    organization: OrganizationId,
    conditions: Vec<Condition<Located>>,
) -> Result<Vec<ComponentPlace>> {
    let mut rows = components::table
        .inner_join(spaces::table.on(of_space()))
        .filter(components::organization_id.eq(organization.0))
        .select(columns::of::<Row>())
        .into_boxed::<Db>();
    for condition in conditions {
        rows = rows.filter(condition);
    }
    let rows: Vec<Row> = rows.load(connection).await.stored()?;
    Ok(rows.into_iter().map(Into::into).collect())
}

/// These components, by id, visible or not.
pub(super) async fn of_components(
    connection: &mut Conn,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<HashMap<i64, ComponentPlace>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let these = columns::any_of(components::id.nullable(), &ids);
    let places = read(connection, organization, vec![these]).await?;
    Ok(places.into_iter().map(|place| (place.component.0, place)).collect())
}

/// The component of this id, if it is visible to the reader, inside this part of the organization, and of this kind.
pub(super) async fn visible(
    connection: &mut Conn,
    read_context: ReadContext,
    within: Within,
    component: ComponentId,
    manifest: ComponentManifest,
) -> Result<Option<ComponentPlace>> {
    if within.component.is_some_and(|id| id != component) {
        return Ok(None);
    }
    let conditions: Vec<Condition<Located>> = vec![
        Box::new(components::id.eq(component.0).nullable()),
        Box::new(components::manifest.eq(EnumColumn(manifest)).nullable()),
        Box::new(Rule::ComponentIsVisible(read_context.viewer)),
        Box::new(Rule::IsWithin(within)),
    ];
    Ok(read(connection, read_context.organization, conditions).await?.pop())
}
