//! `step`: a phase of a participatory process.

use super::{Found, Import, ImportContext, Imported, Moment, PAGE, RecordKind, Rows, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use civitas_kernel::{SpaceRef, StepId};
use civitas_spaces::Step;

pub(super) struct Steps;

members! { Steps, "step", OrganizationId, StepFields, |kind, step: Step| {
    space: parent(SpaceRef),
    title: required(Translated),
    position: required(i64),
    active: flag(bool),
    starts_at: optional(Moment),
    ends_at: optional(Moment),
}}

#[async_trait]
impl RecordKind for Steps {
    type Id = StepId;

    async fn find(&self, ports: &dyn Ports, of: OrganizationId, id: StepId) -> Result<Option<Step>> {
        ports.steps().find(of, id).await
    }

    async fn page(&mut self, ports: &dyn Ports, of: OrganizationId, after: Option<StepId>) -> Rows<Self> {
        ports.steps().page_after(of, after, PAGE).await
    }

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

    async fn add(&mut self, import: &Import<'_, '_, Self>, step: &Step) -> Imported<StepId> {
        Ok(import.context.ports.steps().add(import.owner, step, step.announcements(None)).await?)
    }

    async fn save(&self, import: &Import<'_, '_, Self>, (id, old): &Found<Self>, step: Step) -> Imported {
        Ok(import.context.ports.steps().save(import.owner, *id, &step, step.announcements(Some(old))).await?)
    }
}
