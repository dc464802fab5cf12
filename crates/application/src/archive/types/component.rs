//! `component`: a component of a space, with its settings.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fill, fixed, maybe, need, set};
use super::super::record::Record;
use super::super::refs::{space_id, unknown};
use super::RecordType;
use crate::{ComponentAdmin, Ports};
use async_trait::async_trait;
use civitas_kernel::{ComponentId, Field, OrganizationId, StepId, Translated};
use civitas_spaces::{Component, ComponentManifest};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) struct Components;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ComponentRecord {
    space: Field<String>,
    manifest: Field<ComponentManifest>,
    name: Field<Translated>,
    published_at: Field<Moment>,
    weight: Field<i64>,
    settings: Field<Map<String, Value>>,
    default_step_settings: Field<Map<String, Value>>,
    step_settings: Field<BTreeMap<String, Map<String, Value>>>,
    scope_id: Field<i64>,
    deleted_at: Field<Moment>,
    extended_data: Field<Map<String, Value>>,
    created_at: Field<Moment>,
    updated_at: Field<Moment>,
}

impl ComponentRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Component, Fault> {
        let space = import.refs.space(organization, &need("space", &self.space)?).await?;
        let (manifest, name) = (need("manifest", &self.manifest)?, need("name", &self.name)?);
        Ok(Component::new(space, manifest, name, import.options.now))
    }

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        component: &mut Component,
    ) -> Result<(), Fault> {
        if let Some(space) = self.space.as_value() {
            let space = import.refs.space(organization, space).await?;
            fixed("space", &Field::Value(space), &component.space)?;
        }
        fixed("manifest", &self.manifest, &component.manifest)?;
        set("name", self.name, &mut component.name)?;
        maybe(self.published_at, &mut component.published_at);
        set("weight", self.weight, &mut component.weight)?;
        fill(self.settings, &mut component.settings);
        fill(self.default_step_settings, &mut component.default_step_settings);
        match self.step_settings {
            Field::Absent => {}
            Field::Null => component.step_settings.clear(),
            Field::Value(said) => {
                component.step_settings = by_step(import, organization, component, said).await?;
            }
        }
        maybe(self.scope_id, &mut component.scope_id);
        maybe(self.deleted_at, &mut component.deleted_at);
        fill(self.extended_data, &mut component.extended_data);
        set("created_at", self.created_at, &mut component.created_at)?;
        set("updated_at", self.updated_at, &mut component.updated_at)
    }
}

/// The component of this ref, which must be of this kind; `what` is what such a component holds.
pub(super) async fn component_for(
    import: &mut Import<'_>,
    organization: OrganizationId,
    reference: &str,
    manifest: ComponentManifest,
    what: &str,
) -> Result<ComponentId, Fault> {
    let id = import.refs.component(organization, reference).await?;
    let component = import.ports.components().find(organization, id).await?;
    let component = component.ok_or_else(|| unknown("component", reference))?;
    if component.manifest == manifest {
        Ok(id)
    } else {
        Err(format!("component {reference:?} does not hold {what}").into())
    }
}

/// Settings by the refs of steps, made settings by the steps of the component's own space.
async fn by_step(
    import: &mut Import<'_>,
    organization: OrganizationId,
    component: &Component,
    said: BTreeMap<String, Map<String, Value>>,
) -> Result<BTreeMap<StepId, Map<String, Value>>, Fault> {
    let mut settings = BTreeMap::new();
    for (reference, values) in said {
        let id = import.refs.step(organization, &reference).await?;
        let step = import.ports.steps().find(organization, id).await?;
        if step.is_none_or(|step| step.space != component.space) {
            return Err(format!("step {reference:?} is not one of the component's space").into());
        }
        settings.insert(id, values);
    }
    Ok(settings)
}

#[async_trait]
impl RecordType for Components {
    fn name(&self) -> &'static str {
        "component"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: ComponentRecord = record.members()?;
        let restamped = !said.updated_at.is_absent();
        let store = import.ports.components();
        let before = match record.seen_as(ComponentId) {
            Some(id) => store.find(organization, id).await?.map(|component| (id, component)),
            None => None,
        };
        let mut component = match &before {
            Some((_, component)) => component.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut component).await?;
        let admin = ComponentAdmin { components: store, votes: import.ports.votes() };
        match before {
            None => Ok(Put::created(admin.create(organization, &component).await?)),
            Some((id, old)) if old == component => Ok(Put::unchanged(id)),
            Some((id, old)) => {
                if !restamped {
                    component.updated_at = import.options.now;
                }
                admin.change(organization, id, &old, &component).await?;
                import.minimums.clear();
                Ok(Put::updated(id))
            }
        }
    }

    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError> {
        let page = |after| ports.components().after(organization, after, PAGE);
        every(page, |id, component| {
            let by_step =
                component.step_settings.into_iter().map(|(step, values)| (step.to_string(), values));
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("space", space_id(component.space))
                    .with("manifest", component.manifest)
                    .with("name", component.name)
                    .time("published_at", component.published_at)
                    .with("weight", component.weight)
                    .unless_empty("settings", component.settings)
                    .unless_empty("default_step_settings", component.default_step_settings)
                    .unless_empty("step_settings", by_step.collect::<BTreeMap<_, _>>())
                    .some("scope_id", component.scope_id)
                    .time("deleted_at", component.deleted_at)
                    .unless_empty("extended_data", component.extended_data)
                    .stamps(component.created_at, component.updated_at),
            )
        })
        .await
    }
}
