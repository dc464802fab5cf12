//! `component`: a component of a space, with its settings.

use super::{ExtendedDataValue, Map, PatchField, Translated, Value, async_trait};
use super::{Import, ImportResult, RecordKind, Timestamp, members, required};
use civitas_application::ComponentAdministration;
use civitas_kernel::{SpaceRef, StepId};
use civitas_spaces::{Component, ComponentKind};
use std::collections::BTreeMap;

pub(super) struct ComponentRecordType;

type Settings = Map<String, Value>;

members! { ComponentRecordType, "component", ports.components(), ComponentFields, |kind, component: Component| {
    space: parent(SpaceRef),
    manifest: fixed(ComponentKind, kind),
    name: required(Translated),
    published_at: optional(Timestamp),
    weight: required(i64),
    settings: filled(Settings),
    default_step_settings: filled(Settings),
    step_settings: resolved(
        BTreeMap<String, Settings>,
        set_step_settings,
        with_non_empty(settings_by_ref(component))
    ),
    scope_id: optional(i64),
    deleted_at: optional(Timestamp),
    extended_data: filled(ExtendedDataValue),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}, |context| ComponentAdministration {
    components: context.ports.components(),
    states: context.ports.states(),
    votes: context.ports.votes(),
    locales: context.options.locales,
}}

/// Replaces the refs of steps by their ids. The steps must belong to the space of the component.
async fn set_step_settings(
    import: &mut Import<'_, '_, ComponentRecordType>,
    fields: &mut ComponentFields,
    component: &mut Component,
) -> ImportResult {
    let settings_by_ref = match std::mem::take(&mut fields.step_settings) {
        PatchField::Absent => return Ok(()),
        PatchField::Null => BTreeMap::new(),
        PatchField::Value(settings) => settings,
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
impl RecordKind for ComponentRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ComponentFields,
    ) -> ImportResult<Component> {
        let space = import.required_ref("space", &fields.space).await?;
        let (kind, name) = (required("manifest", &fields.manifest)?, required("name", &fields.name)?);
        Ok(Component::new(space, kind, name, import.context.options.now))
    }
}
