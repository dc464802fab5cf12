//! `component`: a component of a space, with its settings.

use super::{ExtendedDataValue, Field, Map, Translated, Value, async_trait};
use super::{Import, Imported, Moment, RecordKind, members, required};
use civitas_application::ComponentAdmin;
use civitas_kernel::{SpaceRef, StepId};
use civitas_spaces::{Component, ComponentManifest};
use std::collections::BTreeMap;

pub(super) struct Components;

type Settings = Map<String, Value>;

members! { Components, "component", ports.components(), ComponentFields, |kind, component: Component| {
    space: parent(SpaceRef),
    manifest: fixed(ComponentManifest),
    name: required(Translated),
    published_at: optional(Moment),
    weight: required(i64),
    settings: filled(Settings),
    default_step_settings: filled(Settings),
    step_settings: resolved(
        BTreeMap<String, Settings>,
        set_step_settings,
        unless_empty(settings_by_ref(component))
    ),
    scope_id: optional(i64),
    deleted_at: optional(Moment),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Moment),
    updated_at: required(Moment),
}, |context| ComponentAdmin {
    components: context.ports.components(),
    states: context.ports.states(),
    votes: context.ports.votes(),
    locales: context.options.locales,
}}

/// Replaces the refs of steps by their ids. The steps must belong to the space of the component.
async fn set_step_settings(
    import: &mut Import<'_, '_, Components>,
    fields: &mut ComponentFields,
    component: &mut Component,
) -> Imported {
    let settings_by_ref = match std::mem::take(&mut fields.step_settings) {
        Field::Absent => return Ok(()),
        Field::Null => BTreeMap::new(),
        Field::Value(settings) => settings,
    };
    let mut settings_by_id = BTreeMap::new();
    for (reference, settings) in settings_by_ref {
        let id = import.context.refs.resolve(import.owner, &reference).await?;
        let step = import.context.ports.steps().find(import.owner, id).await?;
        if step.is_none_or(|step| step.space != component.space) {
            return Err(format!("step {reference:?} is not one of the component's space").into());
        }
        settings_by_id.insert(id, settings);
    }
    component.step_settings = settings_by_id;
    Ok(())
}

fn settings_by_ref(component: &Component) -> BTreeMap<String, &Settings> {
    component.step_settings.iter().map(|(step, settings)| (StepId::to_string(step), settings)).collect()
}

#[async_trait]
impl RecordKind for Components {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ComponentFields,
    ) -> Imported<Component> {
        let space = import.required_ref("space", &fields.space).await?;
        let (manifest, name) = (required("manifest", &fields.manifest)?, required("name", &fields.name)?);
        Ok(Component::new(space, manifest, name, import.context.options.now))
    }
}
