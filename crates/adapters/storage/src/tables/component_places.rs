//! The places of records of components: the component and space of each record.

use super::components::ComponentInSpace;
use super::components::{active_step, newest_step, of_space};
use super::visible_components::is_of_kind;
use crate::columns::{self, Condition, EnumColumn, Expr, JsonColumn};
use crate::engine::{Conn, Db, sql};
use crate::lookups::{PlaceAccess, PlaceKey};
use crate::schema::{components, spaces};
use crate::session::{LoadRowsExt, Session, borrowed};
use crate::visibility::VisibilityRule;
use async_trait::async_trait;
use civitas_application::CurrentSettings;
use civitas_kernel::{
    ComponentId, ComponentPlace, OrganizationId, Page, ReadContext, Result, SpaceManifest, SpaceRef, StepId,
    Translated, UserId, Within,
};
use civitas_proposals::{ComponentLookup, ProposalPlace};
use civitas_spaces::{Component, ComponentManifest};
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

/// The columns of a [`RowWithRules`].
type WithRules = (
    <Row as Selectable<Db>>::SelectExpression,
    (components::settings, components::default_step_settings, components::step_settings),
    Expr<ComponentInSpace, BigInt>,
    Expr<ComponentInSpace, sql::Moment>,
    VisibilityRule,
);

/// A place of proposals, with their rules.
#[derive(Queryable)]
struct RowWithRules {
    place: Row,
    settings: (JsonColumn<Settings>, JsonColumn<Settings>, JsonColumn<BTreeMap<StepId, Settings>>),
    active_step: Option<i64>,
    steps_changed_at: Option<OffsetDateTime>,
    participates: Option<bool>,
}

type Settings = Map<String, Value>;

impl From<RowWithRules> for ProposalPlace {
    fn from(row: RowWithRules) -> Self {
        let ComponentPlace { component: id, name, scope_id, space, changed_at } =
            ComponentPlace::from(row.place);
        let (settings, default_step_settings, step_settings) = row.settings;
        let component = Component {
            settings: settings.0,
            default_step_settings: default_step_settings.0,
            step_settings: step_settings.0,
            ..Component::new(space, ComponentManifest::Proposals, Translated::default(), changed_at)
        };
        Self {
            component: id,
            name,
            space,
            scope: scope_id,
            rules: CurrentSettings::of(&component, row.active_step.map(StepId), ANY_LENGTH).rules(),
            participates: row.participates.unwrap_or_default(),
            changed_at: row.steps_changed_at.map_or(changed_at, |at| changed_at.max(at)),
        }
    }
}

/// Reads these columns of components with these conditions.
macro_rules! read {
    ($columns:expr, $organization:expr, $conditions:expr, $connection:expr) => {{
        let mut rows = components::table
            .inner_join(spaces::table.on(of_space()))
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
) -> Result<Vec<ComponentPlace>> {
    let rows: Vec<Row> = read!(columns::of::<Row>(), organization, conditions, borrowed(connection));
    Ok(rows.into_iter().map(Into::into).collect())
}

/// The same with the rules of proposals.
async fn read_with_rules(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    conditions: Vec<Condition<ComponentInSpace>>,
) -> Result<Vec<ProposalPlace>> {
    let settings = (components::settings, components::default_step_settings, components::step_settings);
    let participates = VisibilityRule::Participates(reader);
    let place: WithRules = (columns::of::<Row>(), settings, active_step(), newest_step(), participates);
    let rows: Vec<RowWithRules> = read!(place, organization, conditions, session.read());
    Ok(rows.into_iter().map(Into::into).collect())
}

/// Whether it is this component.
fn is(component: ComponentId) -> Condition<ComponentInSpace> {
    Box::new(components::id.eq(component.0).nullable())
}

/// These components, by id, visible or not.
pub(super) async fn of_components(
    connection: &mut Conn,
    organization: OrganizationId,
    ids: Vec<i64>,
) -> Result<HashMap<i64, ComponentPlace>> {
    let ids = columns::distinct(ids);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let these = columns::any_of(components::id.nullable(), &ids);
    let places = read(connection, organization, vec![these]).await?;
    Ok(places.into_iter().map(|place| (place.component.0, place)).collect())
}

/// The rows of a page with their components, visible or not.
pub(super) async fn with_components<R, D>(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<R>,
    component_of: fn(&R) -> i64,
    detail: fn(R, ComponentPlace) -> D,
) -> Result<Page<D>> {
    let ids = page.items.iter().map(component_of).collect();
    let places = of_components(connection, organization, ids).await?;
    let items = page.items.into_iter().filter_map(|row| {
        let place = places.get(&component_of(&row))?.clone();
        Some(detail(row, place))
    });
    Ok(Page::of(items.collect(), page.has_more).with_total(page.total))
}

/// The component of this id, if it is visible to the reader, inside this part of the organization, and of this kind.
pub(super) async fn visible(
    connection: &mut Conn,
    read_context: ReadContext,
    within: Within,
    component: ComponentId,
    kind: ComponentManifest,
) -> Result<Option<ComponentPlace>> {
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
pub(super) async fn of_proposals(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<ProposalPlace>>> {
    let key = |component| PlaceKey { organization, component, access: PlaceAccess::ForReader(reader) };
    let keys = ids.iter().map(|id| key(*id)).collect();
    let places = session.look_up_many(
        |lookups| &lookups.places,
        keys,
        async |missing| {
            let ids: Vec<i64> = missing.iter().map(|key: &PlaceKey| key.component).collect();
            let these = columns::any_of(components::id.nullable(), &ids);
            let places = read_with_rules(session, organization, reader, vec![these]).await?;
            Ok(places.into_iter().map(|place| (key(place.component.0), Arc::new(place))).collect())
        },
    );
    Ok(places.await?.into_iter().map(|(key, place)| (key.component, place)).collect())
}

/// The component of this id with the rules of proposals, if it is visible to the reader and inside this part of the
/// organization. It is cached.
pub(super) async fn visible_of_proposals(
    session: &Session,
    read_context: ReadContext,
    within: Within,
    component: i64,
) -> Result<Option<Arc<ProposalPlace>>> {
    let ReadContext { organization, viewer, .. } = read_context;
    let key = PlaceKey { organization, component, access: PlaceAccess::VisibleTo(viewer) };
    let place = session.look_up(|lookups| &lookups.places, key, async {
        let conditions: Vec<Condition<ComponentInSpace>> =
            vec![is(ComponentId(component)), Box::new(VisibilityRule::ComponentIsVisible(viewer))];
        let found = read_with_rules(session, organization, viewer.user(), conditions).await?.pop();
        Ok(found.map(Arc::new))
    });
    Ok(place.await?.filter(|place| within.has(place.space, place.component)))
}

#[async_trait]
impl ComponentLookup for Session {
    async fn find(&self, read_context: ReadContext, component: ComponentId) -> Result<Option<ProposalPlace>> {
        let ReadContext { organization, viewer, .. } = read_context;
        let conditions: Vec<Condition<ComponentInSpace>> = vec![
            is(component),
            is_of_kind(ComponentManifest::Proposals),
            Box::new(VisibilityRule::ComponentIsVisible(viewer)),
        ];
        Ok(read_with_rules(self, organization, viewer.user(), conditions).await?.pop())
    }
}
