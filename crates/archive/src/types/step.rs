//! `step`: a step of a participatory process.

use super::{
    Import, ImportContext, Imported, Moment, RecordKind, Translated, async_trait, members, required,
};
use civitas_kernel::SpaceRef;
use civitas_spaces::{Step, StepAdmin};

pub(super) struct Steps;

members! { Steps, "step", ports.steps(), StepFields, |kind, step: Step| {
    space: parent(SpaceRef),
    title: required(Translated),
    position: required(i64),
    active: flag(bool),
    starts_at: optional(Moment),
    ends_at: optional(Moment),
    updated_at: required(Moment),
}, |context| StepAdmin { spaces: context.ports.spaces(), steps: context.ports.steps() }}

#[async_trait]
impl RecordKind for Steps {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &StepFields) -> Imported<Step> {
        let space = import.required_ref("space", &fields.space).await?;
        let (title, position) = (required("title", &fields.title)?, required("position", &fields.position)?);
        let step = Step::new(space, title, position, import.context.options.now);
        step.check()?;
        Ok(step)
    }

    fn check(&self, _: &ImportContext<'_>, step: &mut Step) -> Imported {
        if step.position < 0 { Err("position must be 0 or more".into()) } else { Ok(()) }
    }
}
