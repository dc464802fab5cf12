//! The components of proposals.

use super::components::{OfSpace, active_step, newest_step, of_space};
use crate::columns::{self, EnumColumn, Expr, JsonColumn};
use crate::engine::{Db, sql};
use crate::failure::Stored;
use crate::lookups::{PlaceKey, Seen};
use crate::schema::{components, spaces};
use crate::session::Session;
use crate::visibility::Rule;
use async_trait::async_trait;
use civitas_application::CurrentSettings;
use civitas_kernel::{
    ComponentId, OrganizationId, ReadContext, Result, SpaceManifest, SpaceRef, StepId, Translated, UserId,
    Within,
};
use civitas_proposals::{ComponentLookup, Place};
use civitas_spaces::{Component, ComponentManifest};
use diesel::dsl::InnerJoinQuerySource;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use time::OffsetDateTime;

/// The rules of proposals do not depend on the length of comments, which is a setting of the organization.
const ANY_LENGTH: i64 = 1000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = components, check_for_backend(Db))]
pub(super) struct Columns {
    id: i64,
    space_manifest: EnumColumn<SpaceManifest>,
    space_id: i64,
    name: JsonColumn<Translated>,
    settings: JsonColumn<Map<String, Value>>,
    default_step_settings: JsonColumn<Map<String, Value>>,
    step_settings: JsonColumn<BTreeMap<StepId, Map<String, Value>>>,
    scope_id: Option<i64>,
    updated_at: OffsetDateTime,
}

/// The row of a place.
#[derive(Queryable)]
pub(super) struct Row {
    pub(super) component: Columns,
    pub(super) space_scope: Option<i64>,
    pub(super) space_changed_at: OffsetDateTime,
    pub(super) active_step: Option<i64>,
    pub(super) steps_changed_at: Option<OffsetDateTime>,
    pub(super) participates: Option<bool>,
}

/// The columns of a [`Row`].
type Read<QS> = (
    <Columns as Selectable<Db>>::SelectExpression,
    spaces::scope_id,
    spaces::updated_at,
    Expr<QS, BigInt>,
    Expr<QS, sql::Moment>,
    Rule,
);

/// The columns of a [`Row`]. Requires `components` and `spaces`.
pub(super) fn read<QS: 'static>(reader: Option<UserId>) -> Read<QS> {
    let columns = columns::of::<Columns>();
    let participates = Rule::Participates(reader);
    (columns, spaces::scope_id, spaces::updated_at, active_step(), newest_step(), participates)
}

impl From<Row> for Place {
    fn from(row: Row) -> Self {
        let Columns { id, space_manifest, space_id, name, scope_id, updated_at, .. } = row.component;
        let space = SpaceRef { manifest: space_manifest.0, id: space_id };
        let component = Component {
            settings: row.component.settings.0,
            default_step_settings: row.component.default_step_settings.0,
            step_settings: row.component.step_settings.0,
            ..Component::new(space, ComponentManifest::Proposals, Translated::default(), updated_at)
        };
        let active_step = row.active_step.map(StepId);
        let changes = [Some(row.space_changed_at), row.steps_changed_at];
        Self {
            component: ComponentId(id),
            name: name.0,
            space,
            scope: scope_id.or(row.space_scope),
            rules: CurrentSettings::of(&component, active_step, ANY_LENGTH).rules(),
            participates: row.participates.unwrap_or_default(),
            changed_at: changes.into_iter().flatten().fold(updated_at, OffsetDateTime::max),
        }
    }
}

/// Components with their spaces.
type Located = InnerJoinQuerySource<components::table, spaces::table, OfSpace>;

/// These components, by id, visible or not. They are cached.
pub(super) async fn of_components(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<Place>>> {
    let key = |component| PlaceKey { organization, component, of: Seen::ByAnybody(reader) };
    let keys = ids.iter().map(|id| key(*id)).collect();
    let places = session.look_up_many(
        |lookups| &lookups.places,
        keys,
        async |missing| {
            let ids: Vec<i64> = missing.iter().map(|key: &PlaceKey| key.component).collect();
            let places = read_places(session, organization, reader, &ids).await?;
            Ok(places.into_iter().map(|(id, place)| (key(id), place)).collect())
        },
    );
    Ok(places.await?.into_iter().map(|(key, place)| (key.component, place)).collect())
}

async fn read_places(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<Place>>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = components::table
        .inner_join(spaces::table.on(of_space()))
        .filter(components::organization_id.eq(organization.0))
        .filter(columns::any_of(components::id.nullable(), ids))
        .select(read::<Located>(reader))
        .load(&mut *session.read().await?)
        .await
        .stored()?;
    Ok(rows.into_iter().map(|row| (row.component.id, Arc::new(row.into()))).collect())
}

/// The component of this id, if it is visible to the reader and inside this part of the organization. It is cached.
pub(super) async fn visible(
    session: &Session,
    read_context: ReadContext,
    within: Within,
    component: i64,
) -> Result<Option<Arc<Place>>> {
    let ReadContext { organization, viewer, .. } = read_context;
    let key = PlaceKey { organization, component, of: Seen::By(viewer) };
    let place = session.look_up(|lookups| &lookups.places, key, async {
        let row: Option<Row> = components::table
            .inner_join(spaces::table.on(of_space()))
            .filter(components::organization_id.eq(organization.0))
            .filter(components::id.eq(component))
            .filter(Rule::ComponentIsVisible(viewer))
            .select(read::<Located>(viewer.user()))
            .first(&mut *session.read().await?)
            .await
            .found()?;
        Ok(row.map(|row| Arc::new(row.into())))
    });
    Ok(place.await?.filter(|place| within.has(place.space, place.component)))
}

#[async_trait]
impl ComponentLookup for Session {
    async fn find(&self, read_context: ReadContext, component: ComponentId) -> Result<Option<Place>> {
        let row: Option<Row> = components::table
            .inner_join(spaces::table.on(of_space()))
            .filter(components::organization_id.eq(read_context.organization.0))
            .filter(components::id.eq(component.0))
            .filter(components::manifest.eq(EnumColumn(ComponentManifest::Proposals)))
            .filter(Rule::ComponentIsVisible(read_context.viewer))
            .select(read::<Located>(read_context.viewer.user()))
            .first(&mut *self.read().await?)
            .await
            .found()?;
        Ok(row.map(Into::into))
    }
}
