//! Components of spaces.

use super::resources;
use crate::columns::{self, Condition, EnumColumn, Expr, JsonColumn, columns};
use crate::engine::{Conn, Db, dialect, sql};
use crate::filter::{FilterColumn, column_condition, translated};
use crate::list_pages::list_page;
use crate::records::records;
use crate::schema::{components, spaces, steps};
use crate::session::{LoadModelsExt, LoadRowsExt, Session};
use crate::tables::select::correlated;
use crate::tables::texts::{self, TextPart};
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_kernel::extended_data::{ExtendedDataValue, canonical_object};
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{
    ComponentId, Locales, OrganizationId, Page, PageRequest, ReadContext, Result, SpaceKind, SpaceRef,
    StepId, Translated,
};
use civitas_spaces::{
    Component, ComponentDetail, ComponentField, ComponentFilter, ComponentKind, ComponentStore,
    ComponentWithSpaceTitle, MAX_RECORDS_COUNTED,
};
use diesel::dsl::{self, And, Eq, InnerJoinQuerySource, case_when, count_star};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use time::OffsetDateTime;

columns! {
    /// A component as its row stores it.
    components as Component;
    id ComponentId;
    fields {
        kind as manifest: ComponentKind,
        name: Translated,
        published_at: Option<OffsetDateTime>,
        weight: i64,
        settings: Map<String, Value>,
        default_step_settings: Map<String, Value>,
        step_settings: BTreeMap<StepId, Map<String, Value>>,
        scope_id: Option<i64>,
        deleted_at: Option<OffsetDateTime>,
        extended_data: ExtendedDataValue,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
    nested {
        space: SpaceRef { kind as space_manifest: SpaceKind, id as space_id: i64 },
    }
    write_only { extended_data_text: String = |component| canonical_object(&component.extended_data) }
}

/// Components with their spaces.
pub(super) type ComponentInSpace = InnerJoinQuerySource<components::table, spaces::table, IsInSpace>;

/// The space a component belongs to.
pub(super) type IsInSpace =
    And<Eq<components::space_manifest, spaces::manifest>, Eq<components::space_id, spaces::id>>;

/// The space a component belongs to.
pub(super) fn is_in_space() -> IsInSpace {
    components::space_manifest.eq(spaces::manifest).and(components::space_id.eq(spaces::id))
}

/// The active step of the component's space. Requires `components`.
pub(super) fn active_step<QS: 'static>() -> Expr<QS, BigInt> {
    let active = steps::table
        .filter(steps::space_manifest.eq(components::space_manifest))
        .filter(steps::space_id.eq(components::space_id))
        .filter(steps::active)
        .select(steps::id);
    Box::new(correlated(active))
}

/// The latest change of a step of the component's space. Requires `components`.
pub(super) fn newest_step<QS: 'static>() -> Expr<QS, sql::Moment> {
    let newest = steps::table
        .filter(steps::space_manifest.eq(components::space_manifest))
        .filter(steps::space_id.eq(components::space_id))
        .order(steps::updated_at.desc())
        .limit(1)
        .select(steps::updated_at);
    Box::new(correlated(newest))
}

fn condition(
    filter: &ComponentFilter,
    organization: OrganizationId,
    locales: &Locales,
) -> Result<Condition<ComponentInSpace>> {
    let column = match filter.field {
        ComponentField::Kind => FilterColumn::Ascii(Box::new(components::manifest.nullable())),
        ComponentField::Id => FilterColumn::Integer(Box::new(components::id.nullable())),
        ComponentField::SpaceId => FilterColumn::Integer(Box::new(components::space_id.nullable())),
        ComponentField::SpaceType => FilterColumn::Ascii(class_of_space()),
        ComponentField::Name if matches!(filter.condition, FilterCondition::Words(_)) => {
            return texts::matches_by_index("components", organization, TextPart::Title, &filter.condition);
        }
        ComponentField::Name => translated!(components::name, locales),
        ComponentField::PublishedAt => FilterColumn::Time(Box::new(components::published_at)),
        ComponentField::CreatedAt => FilterColumn::Time(Box::new(components::created_at.nullable())),
        ComponentField::UpdatedAt => FilterColumn::Time(Box::new(components::updated_at.nullable())),
        ComponentField::ExtendedData => {
            FilterColumn::Text(Box::new(components::extended_data_text.nullable()))
        }
    };
    column_condition(column, &filter.condition)
}

/// Its id.
pub(super) fn id() -> Expr<ComponentInSpace, BigInt> {
    Box::new(components::id.nullable())
}

/// The number of its space.
pub(super) fn space_id() -> Expr<ComponentInSpace, BigInt> {
    Box::new(components::space_id.nullable())
}

/// The class name of the component's space.
pub(super) fn class_of_space() -> Expr<ComponentInSpace, Text> {
    let [first, second, third, last] = SpaceKind::ALL;
    let kind = |kind: SpaceKind| components::space_manifest.eq(EnumColumn(kind));
    let class = |kind: SpaceKind| kind.class().into_sql::<Text>();
    let classes = case_when(kind(first), class(first))
        .when(kind(second), class(second))
        .when(kind(third), class(third))
        .when(kind(last), class(last));
    Box::new(classes)
}

/// A component for reads, without its resources.
type ComponentColumns = (Row, JsonColumn<Translated>, OffsetDateTime, Option<i64>, Option<OffsetDateTime>);

/// The visible components of a reader that satisfy these filters, by id.
async fn load_visible(
    session: &Session,
    connection: &mut Conn,
    read_context: ReadContext,
    filters: &[ComponentFilter],
    page: PageRequest,
) -> Result<Page<ComponentDetail>> {
    let organization = read_context.organization;
    let all = || {
        components::table
            .inner_join(spaces::table.on(is_in_space()))
            .filter(components::organization_id.eq(organization.0))
            .filter(VisibilityRule::ComponentIsVisible(read_context.viewer))
            .select((
                columns::all_columns::<Row>(),
                spaces::title,
                spaces::updated_at,
                active_step::<ComponentInSpace>(),
                newest_step::<ComponentInSpace>(),
            ))
            .into_boxed::<Db>()
    };
    let page: Page<ComponentColumns> = list_page!(connection, page, session.bounds; all();
        filters, |filter| condition(filter, organization, session.locales()); components, components::id);
    let ids: Vec<_> = page.items.iter().map(|(row, ..)| (row.id, row.manifest.0)).collect();
    let mut resources = resources::load_for_components(connection, read_context, &ids).await?;
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

records! { scoped components: ComponentId => Component; }

#[async_trait]
impl ComponentStore for Session {
    async fn list(
        &self,
        read_context: ReadContext,
        kind: Option<ComponentKind>,
        filters: &[ComponentFilter],
        page: PageRequest,
    ) -> Result<Page<ComponentDetail>> {
        let mut filters = filters.to_vec();
        if let Some(kind) = kind {
            let condition = FilterCondition::Text(Comparison::Eq(kind.as_str().to_owned()));
            filters.push(ComponentFilter { field: ComponentField::Kind, condition });
        }
        load_visible(self, &mut *self.read_long().await?, read_context, &filters, page).await
    }

    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: ComponentId,
    ) -> Result<Option<ComponentDetail>> {
        let condition = FilterCondition::Integer(Comparison::Eq(id.0));
        let this = ComponentFilter { field: ComponentField::Id, condition };
        let (connection, one) = (&mut *self.read().await?, PageRequest::new(1, 1));
        Ok(load_visible(self, connection, read_context, &[this], one).await?.items.pop())
    }

    async fn titled(
        &self,
        read_context: ReadContext,
        kind: ComponentKind,
        limit: i64,
    ) -> Result<Vec<ComponentWithSpaceTitle>> {
        let rows: Vec<(Row, JsonColumn<Translated>)> = components::table
            .inner_join(spaces::table.on(is_in_space()))
            .filter(components::organization_id.eq(read_context.organization.0))
            .filter(VisibilityRule::ComponentIsVisible(read_context.viewer))
            .filter(components::manifest.eq(EnumColumn(kind)))
            .order(components::id)
            .limit(limit)
            .select((columns::all_columns::<Row>(), spaces::title))
            .rows_from(self.read())
            .await?;
        let titled = rows.into_iter().map(|(row, space_title)| {
            let (id, component) = row.into();
            ComponentWithSpaceTitle { id, component, space_title: space_title.0 }
        });
        Ok(titled.collect())
    }

    async fn list_in_space(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
        limit: i64,
    ) -> Result<Vec<(ComponentId, Component)>> {
        rows_of(organization)
            .filter(components::space_manifest.eq(EnumColumn(space.kind)))
            .filter(components::space_id.eq(space.id))
            .filter(components::deleted_at.is_null())
            .order((components::weight, components::manifest, components::id))
            .limit(limit)
            .models_from::<Row, _>(self.read())
            .await
    }

    async fn list_in_space_for_update(
        &self,
        organization: OrganizationId,
        space: SpaceRef,
    ) -> Result<Vec<(ComponentId, Component)>> {
        let rows = rows_of(organization)
            .filter(components::space_manifest.eq(EnumColumn(space.kind)))
            .filter(components::space_id.eq(space.id))
            .order(components::id);
        dialect::for_update!(rows).models_from::<Row, _>(self.for_update()).await
    }

    async fn count_in(
        &self,
        organization: OrganizationId,
        spaces: &[SpaceRef],
    ) -> Result<Vec<(SpaceRef, i64)>> {
        let rows: Vec<(EnumColumn<SpaceKind>, i64, i64)> = components::table
            .filter(columns::equals_unindexed(components::organization_id.nullable(), organization.0))
            .filter(components::space_manifest.eq_any(spaces.iter().map(|space| EnumColumn(space.kind))))
            .filter(components::space_id.eq_any(spaces.iter().map(|space| space.id)))
            .filter(components::deleted_at.is_null())
            .group_by((components::space_manifest, components::space_id))
            .select((components::space_manifest, components::space_id, count_star()))
            .rows_from(self.read())
            .await?;
        let counts = rows.into_iter().map(|(kind, id, count)| (SpaceRef { kind: kind.0, id }, count));
        Ok(counts.filter(|(space, _)| spaces.contains(space)).collect())
    }

    async fn count_records(
        &self,
        organization: OrganizationId,
        components: &[ComponentId],
    ) -> Result<Vec<(ComponentId, i64)>> {
        let ids: Vec<i64> = components.iter().map(|id| id.0).collect();
        let rows: Vec<(i64, i64)> = rows_of(organization)
            .filter(columns::any_of(components::id.nullable(), &ids))
            .select((components::id, records_of_component()))
            .rows_from(self.read())
            .await?;
        Ok(rows.into_iter().map(|(id, count)| (ComponentId(id), count)).collect())
    }
}

/// The number of records of a component that are not deleted, at most [`MAX_RECORDS_COUNTED`]. Requires `components`.
fn records_of_component() -> SqlLiteral<BigInt> {
    let counted = |table: &str, condition: &str| {
        format!(
            "(SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table}.component_id = components.id \
             AND {table}.deleted_at IS NULL{condition} LIMIT {MAX_RECORDS_COUNTED}) AS counted)"
        )
    };
    dsl::sql::<BigInt>(&format!(
        "CASE components.manifest WHEN 'proposals' THEN {} WHEN 'meetings' THEN {} WHEN 'blogs' THEN {} \
         WHEN 'surveys' THEN {} WHEN 'awesome_map' THEN 0 WHEN 'awesome_iframe' THEN 0 ELSE {} END",
        counted("proposals", " AND proposals.published_at IS NOT NULL"),
        counted("meetings", ""),
        counted("posts", ""),
        counted("surveys", ""),
        counted("entries", ""),
    ))
}
