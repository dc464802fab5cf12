//! `step`: a phase of a participatory process.

use super::{Import, ImportContext, Imported, Moment, OrganizationKind, RecordKind, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::SpaceRef;
use civitas_kernel::records::{RecordAdmin, Records};
use civitas_spaces::{Step, StepAdmin};

pub(super) struct Steps;

members! { Steps, "step", OrganizationId, StepFields, |kind, step: Step| {
    space: parent(SpaceRef),
    title: required(Translated),
    position: required(i64),
    active: flag(bool),
    starts_at: optional(Moment),
    ends_at: optional(Moment),
}}

impl OrganizationKind for Steps {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Step> {
        ports.steps()
    }

    fn admin<'a>(&self, context: &ImportContext<'a>) -> Box<dyn RecordAdmin<Step> + 'a> {
        let ports = context.ports;
        Box::new(StepAdmin { spaces: ports.spaces(), steps: ports.steps() })
    }
}

#[async_trait]
impl RecordKind for Steps {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &StepFields) -> Imported<Step> {
        let space = import.context.refs.resolve(import.owner, &required("space", &fields.space)?).await?;
        let (title, position) = (required("title", &fields.title)?, required("position", &fields.position)?);
        let step = Step { space, title, position, active: false, starts_at: None, ends_at: None };
        step.check()?;
        Ok(step)
    }

    fn check(&self, _: &ImportContext<'_>, step: &mut Step) -> Imported {
        if step.position < 0 { Err("position must be 0 or more".into()) } else { Ok(()) }
    }
}
