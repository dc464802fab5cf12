//! `step`: a step of a participatory process.

use super::{
    Import, ImportContext, ImportResult, RecordKind, Timestamp, Translated, async_trait, members, required,
};
use civitas_kernel::SpaceRef;
use civitas_spaces::{Step, StepAdministration};

pub(super) struct StepRecordType;

members! { StepRecordType, "step", ports.steps(), StepFields, |kind, step: Step| {
    space: parent(SpaceRef),
    title: required(Translated),
    position: required(i64),
    active: flag(bool),
    starts_at: optional(Timestamp),
    ends_at: optional(Timestamp),
    updated_at: required(Timestamp),
}, |context| StepAdministration { spaces: context.ports.spaces(), steps: context.ports.steps() }}

#[async_trait]
impl RecordKind for StepRecordType {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &StepFields) -> ImportResult<Step> {
        let space = import.required_ref("space", &fields.space).await?;
        let (title, position) = (required("title", &fields.title)?, required("position", &fields.position)?);
        let step = Step::new(space, title, position, import.context.options.now);
        step.check()?;
        Ok(step)
    }

    fn check(&self, _: &ImportContext<'_>, step: &mut Step) -> ImportResult {
        if step.position < 0 { Err("position must be 0 or more".into()) } else { Ok(()) }
    }
}
