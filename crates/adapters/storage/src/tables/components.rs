//! Components of spaces.

use super::resources;
use crate::columns::{self, Condition, EnumColumn, Expr, JsonColumn, columns};
use crate::correlated::Correlated;
use crate::engine::{Conn, Db, sql};
use crate::failure::Stored;
use crate::filter::{Column, holds, translated};
use crate::records::records;
use crate::schema::{components, spaces, steps};
use crate::session::Session;
use crate::visibility::Rule;
use async_trait::async_trait;
use civitas_kernel::extended_data::canonical_object;
use civitas_kernel::{
    ComponentId, Locales, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceManifest, SpaceRef,
    StepId, Translated,
};
use civitas_spaces::{
    Component, ComponentDetail, ComponentField, ComponentFilter, ComponentManifest, ComponentStore,
};
use diesel::dsl::{And, Eq, Filter, InnerJoinQuerySource, case_when};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use time::OffsetDateTime;

columns! {
    /// A component as its row stores it.
    components as Component;
    id ComponentId;
    fields {
        manifest: ComponentManifest,
        name: Translated,
        published_at: Option<OffsetDateTime>,
        weight: i64,
        settings: Map<String, Value>,
        default_step_settings: Map<String, Value>,
        step_settings: BTreeMap<StepId, Map<String, Value>>,
        scope_id: Option<i64>,
        deleted_at: Option<OffsetDateTime>,
        extended_data: Map<String, Value>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    nested {
        space: SpaceRef { manifest as space_manifest: SpaceManifest, id as space_id: i64 },
    }
    write_only { extended_data_text: String = |component| canonical_object(&component.extended_data) }
}

type Scoped = Filter<components::table, Eq<components::organization_id, i64>>;

/// The components of one organization; the only access to the table.
fn of(organization: OrganizationId) -> Scoped {
    components::table.filter(components::organization_id.eq(organization.0))
}

/// The space a component belongs to.
pub(super) type OfSpace =
    And<Eq<components::space_manifest, spaces::manifest>, Eq<components::space_id, spaces::id>>;

/// The space a component belongs to.
pub(super) fn of_space() -> OfSpace {
    components::space_manifest.eq(spaces::manifest).and(components::space_id.eq(spaces::id))
}

/// The active step of the component's space. Requires `components`.
pub(super) fn active_step<QS: 'static>() -> Expr<QS, BigInt> {
    let active = steps::table
        .filter(steps::space_manifest.eq(components::space_manifest))
        .filter(steps::space_id.eq(components::space_id))
        .filter(steps::active)
        .select(steps::id);
    Box::new(Correlated(active))
}

/// The latest change of a step of the component's space. Requires `components`.
pub(super) fn newest_step<QS: 'static>() -> Expr<QS, sql::Moment> {
    let newest = steps::table
        .filter(steps::space_manifest.eq(components::space_manifest))
        .filter(steps::space_id.eq(components::space_id))
        .order(steps::updated_at.desc())
        .limit(1)
        .select(steps::updated_at);
    Box::new(Correlated(newest))
}

/// Components with their spaces.
type Located = InnerJoinQuerySource<components::table, spaces::table, OfSpace>;

fn condition(filter: &ComponentFilter, locales: &Locales) -> Result<Condition<Located>> {
    let column = match filter.field {
        ComponentField::Manifest => Column::Text(Box::new(components::manifest.nullable())),
        ComponentField::Id => Column::Integer(Box::new(components::id.nullable())),
        ComponentField::SpaceId => Column::Integer(Box::new(components::space_id.nullable())),
        ComponentField::SpaceType => Column::Text(class_of_space()),
        ComponentField::Name => translated!(components::name, locales),
        ComponentField::ExtendedData => Column::Text(Box::new(components::extended_data_text.nullable())),
    };
    holds(column, &filter.condition)
}

/// The class name of the component's space.
fn class_of_space() -> Expr<Located, Text> {
    let [first, second, third, last] = SpaceManifest::ALL;
    let kind = |manifest: SpaceManifest| components::space_manifest.eq(EnumColumn(manifest));
    let class = |manifest: SpaceManifest| manifest.class().into_sql::<Text>();
    let classes = case_when(kind(first), class(first))
        .when(kind(second), class(second))
        .when(kind(third), class(third))
        .when(kind(last), class(last));
    Box::new(classes)
}

/// A component for reads, without its resources.
type Found = (Row, JsonColumn<Translated>, OffsetDateTime, Option<i64>, Option<OffsetDateTime>);

/// The visible components of a reader that also satisfy these conditions, by id.
async fn visible(
    connection: &mut Conn,
    read_context: ReadContext,
    conditions: Vec<Condition<Located>>,
    page: PageRequest,
) -> Result<Page<ComponentDetail>> {
    let mut rows = components::table
        .inner_join(spaces::table.on(of_space()))
        .filter(components::organization_id.eq(read_context.organization.0))
        .filter(Rule::ComponentIsVisible(read_context.viewer))
        .select((
            columns::of::<Row>(),
            spaces::title,
            spaces::updated_at,
            active_step::<Located>(),
            newest_step::<Located>(),
        ))
        .into_boxed::<Db>();
    for condition in conditions {
        rows = rows.filter(condition);
    }
    let rows: Vec<Found> = rows
        .order(components::id)
        .limit(page.fetch())
        .offset(page.offset())
        .load(connection)
        .await
        .stored()?;
    let page = Page::cut(rows, page);
    let ids: Vec<_> = page.items.iter().map(|(row, ..)| (row.id, row.manifest.0)).collect();
    let mut resources = resources::of_components(connection, read_context, &ids).await?;
    Ok(page.map(|(row, space_title, space_at, active_step, steps_at)| {
        let resources = resources.remove(&row.id).unwrap_or_default();
        let (id, component) = row.into();
        let newest = [Some(space_at), steps_at, resources.changed_at].into_iter().flatten().max();
        ComponentDetail {
            id,
            space_title: space_title.0,
            active_step: active_step.map(StepId),
            resources: resources.first,
            resource_count: resources.count,
            changed_at: component.updated_at.max(newest.unwrap_or(component.updated_at)),
            component,
        }
    }))
}

records! { components: ComponentId => Component; }

#[async_trait]
impl ComponentStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        manifest: Option<ComponentManifest>,
        filters: &[ComponentFilter],
        page: PageRequest,
    ) -> Result<Page<ComponentDetail>> {
        let mut conditions = Vec::new();
        if let Some(manifest) = manifest {
            let of_kind: Condition<Located> =
                Box::new(components::manifest.eq(EnumColumn(manifest)).nullable());
            conditions.push(of_kind);
        }
        for filter in filters {
            conditions.push(condition(filter, self.locales())?);
        }
        visible(&mut *self.read().await?, read_context, conditions, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ComponentId,
    ) -> Result<Option<ComponentDetail>> {
        let this: Condition<Located> = Box::new(components::id.eq(id.0).nullable());
        let one = PageRequest { page: 1, per_page: 1 };
        Ok(visible(&mut *self.read().await?, read_context, vec![this], one).await?.items.pop())
    }
}
