//! The contexts of records of components: the component and space of each record.

use super::components::ComponentInSpace;
use super::components::{active_step, is_in_space, newest_step};
use super::visible_components::is_of_kind;
use crate::columns::{self, Condition, EnumColumn, Expr, JsonColumn};
use crate::engine::{Conn, Db, sql};
use crate::lookups::{ContextAccess, ContextKey};
use crate::schema::{components, spaces};
use crate::session::{LoadRowsExt, Session, borrowed_connection};
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_application::CurrentSettings;
use civitas_kernel::{
    ComponentContext, ComponentId, LocationFilter, OrganizationId, Page, ReadContext, Result, SpaceKind,
    SpaceRef, StepId, Translated, UserId,
};
use civitas_proposals::{ComponentLookup, ProposalContext};
use civitas_spaces::{Component, ComponentKind};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use time::OffsetDateTime;

/// The rules of proposals do not depend on the length of comments, which is a setting of the organization.
const ANY_LENGTH: i64 = 1000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = components, check_for_backend(Db))]
struct Row {
    id: i64,
    name: JsonColumn<Translated>,
    scope_id: Option<i64>,
    updated_at: OffsetDateTime,
    #[diesel(select_expression = spaces::manifest)]
    space_manifest: EnumColumn<SpaceKind>,
    #[diesel(select_expression = spaces::id)]
    space_id: i64,
    #[diesel(select_expression = spaces::scope_id)]
    space_scope_id: Option<i64>,
    #[diesel(select_expression = spaces::updated_at)]
    space_updated_at: OffsetDateTime,
}

impl From<Row> for ComponentContext {
    fn from(row: Row) -> Self {
        Self {
            component: ComponentId(row.id),
            name: row.name.0,
            scope_id: row.scope_id.or(row.space_scope_id),
            space: SpaceRef { kind: row.space_manifest.0, id: row.space_id },
            changed_at: row.updated_at.max(row.space_updated_at),
        }
    }
}

/// The columns of a [`RowWithRules`].
type WithRules = (
    <Row as Selectable<Db>>::SelectExpression,
    (components::settings, components::default_step_settings, components::step_settings),
    Expr<ComponentInSpace, BigInt>,
    Expr<ComponentInSpace, sql::Moment>,
    VisibilityRule,
);

/// A component of proposals with its space and rules.
#[derive(Queryable)]
struct RowWithRules {
    context: Row,
    settings: (JsonColumn<Settings>, JsonColumn<Settings>, JsonColumn<BTreeMap<StepId, Settings>>),
    active_step: Option<i64>,
    steps_changed_at: Option<OffsetDateTime>,
    participates: Option<bool>,
}

type Settings = Map<String, Value>;

impl From<RowWithRules> for ProposalContext {
    fn from(row: RowWithRules) -> Self {
        let ComponentContext { component: id, name, scope_id, space, changed_at } =
            ComponentContext::from(row.context);
        let (settings, default_step_settings, step_settings) = row.settings;
        let component = Component {
            settings: settings.0,
            default_step_settings: default_step_settings.0,
            step_settings: step_settings.0,
            ..Component::new(space, ComponentKind::Proposals, Translated::default(), changed_at)
        };
        Self {
            component: id,
            name,
            space,
            scope: scope_id,
            rules: CurrentSettings::new(&component, row.active_step.map(StepId), ANY_LENGTH).rules(),
            participates: row.participates.unwrap_or_default(),
            changed_at: row.steps_changed_at.map_or(changed_at, |at| changed_at.max(at)),
        }
    }
}

/// Reads these columns of components with these conditions.
macro_rules! read {
    ($columns:expr, $organization:expr, $conditions:expr, $connection:expr) => {{
        let mut rows = components::table
            .inner_join(spaces::table.on(is_in_space()))
            .filter(components::organization_id.eq($organization.0))
            .select($columns)
            .into_boxed::<Db>();
        for condition in $conditions {
            rows = rows.filter(condition);
        }
        rows.rows_from($connection).await?
    }};
}

async fn read(
    connection: &mut Conn,
    organization: OrganizationId,
    conditions: Vec<Condition<ComponentInSpace>>,
) -> Result<Vec<ComponentContext>> {
    let rows: Vec<Row> =
        read!(columns::all_columns::<Row>(), organization, conditions, borrowed_connection(connection));
    Ok(rows.into_iter().map(Into::into).collect())
}

/// The same with the rules of proposals.
async fn read_with_rules(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    conditions: Vec<Condition<ComponentInSpace>>,
) -> Result<Vec<ProposalContext>> {
    let settings = (components::settings, components::default_step_settings, components::step_settings);
    let participates = VisibilityRule::Participates(reader);
    let context: WithRules =
        (columns::all_columns::<Row>(), settings, active_step(), newest_step(), participates);
    let rows: Vec<RowWithRules> = read!(context, organization, conditions, session.read());
    Ok(rows.into_iter().map(Into::into).collect())
}

/// Whether it is this component.
fn is(component: ComponentId) -> Condition<ComponentInSpace> {
    Box::new(components::id.eq(component.0).nullable())
}

/// These components, by id, visible or not.
pub(super) async fn load_for_components(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: Vec<i64>,
) -> Result<HashMap<i64, ComponentContext>> {
    let ids = columns::distinct_ids(ids);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let these = columns::any_of(components::id.nullable(), &ids);
    let contexts = read(connection, organization, vec![these]).await?;
    Ok(contexts.into_iter().map(|context| (context.component.0, context)).collect())
}

/// The rows of a page with their components, visible or not.
pub(super) async fn with_components<R, D>(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<R>,
    component_of: fn(&R) -> i64,
    detail: fn(R, ComponentContext) -> D,
) -> Result<Page<D>> {
    let ids = page.items.iter().map(component_of).collect();
    let contexts = load_for_components(connection, organization, ids).await?;
    let items = page.items.into_iter().filter_map(|row| {
        let context = contexts.get(&component_of(&row))?.clone();
        Some(detail(row, context))
    });
    Ok(Page::new(items.collect(), page.has_more).with_total(page.total))
}

/// The component of this id, if it is visible to the reader, inside this part of the organization, and of this kind.
pub(super) async fn load_visible(
    connection: &mut Conn,
    read_context: ReadContext,
    within: LocationFilter,
    component: ComponentId,
    kind: ComponentKind,
) -> Result<Option<ComponentContext>> {
    if within.component.is_some_and(|id| id != component) {
        return Ok(None);
    }
    let conditions: Vec<Condition<ComponentInSpace>> = vec![
        is(component),
        is_of_kind(kind),
        Box::new(VisibilityRule::ComponentIsVisible(read_context.viewer)),
        Box::new(VisibilityRule::IsWithin(within)),
    ];
    Ok(read(connection, read_context.organization, conditions).await?.pop())
}

/// These components with the rules of proposals, by id, visible or not. They are cached.
pub(super) async fn load_for_proposals(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<ProposalContext>>> {
    let key = |component| ContextKey { organization, component, access: ContextAccess::ForReader(reader) };
    let keys = ids.iter().map(|id| key(*id)).collect();
    let contexts = session.look_up_many(
        |lookups| &lookups.contexts,
        keys,
        async |missing| {
            let ids: Vec<i64> = missing.iter().map(|key: &ContextKey| key.component).collect();
            let these = columns::any_of(components::id.nullable(), &ids);
            let contexts = read_with_rules(session, organization, reader, vec![these]).await?;
            Ok(contexts.into_iter().map(|context| (key(context.component.0), Arc::new(context))).collect())
        },
    );
    Ok(contexts.await?.into_iter().map(|(key, context)| (key.component, context)).collect())
}

/// The component of this id with the rules of proposals, if it is visible to the reader and inside this part of the
/// organization. It is cached.
pub(super) async fn load_visible_for_proposals(
    session: &Session,
    read_context: ReadContext,
    within: LocationFilter,
    component: i64,
) -> Result<Option<Arc<ProposalContext>>> {
    let ReadContext { organization, viewer, .. } = read_context;
    let key = ContextKey { organization, component, access: ContextAccess::VisibleTo(viewer) };
    let context = session.look_up(|lookups| &lookups.contexts, key, async {
        let conditions: Vec<Condition<ComponentInSpace>> =
            vec![is(ComponentId(component)), Box::new(VisibilityRule::ComponentIsVisible(viewer))];
        let found = read_with_rules(session, organization, viewer.user(), conditions).await?.pop();
        Ok(found.map(Arc::new))
    });
    Ok(context.await?.filter(|context| within.includes(context.space, context.component)))
}

#[async_trait]
impl ComponentLookup for Session {
    async fn find(
        &self,
        read_context: ReadContext,
        component: ComponentId,
    ) -> Result<Option<ProposalContext>> {
        let ReadContext { organization, viewer, .. } = read_context;
        let conditions: Vec<Condition<ComponentInSpace>> = vec![
            is(component),
            is_of_kind(ComponentKind::Proposals),
            Box::new(VisibilityRule::ComponentIsVisible(viewer)),
        ];
        Ok(read_with_rules(self, organization, viewer.user(), conditions).await?.pop())
    }
}
