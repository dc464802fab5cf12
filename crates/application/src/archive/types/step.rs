//! `step`: a phase of a participatory process.

use super::super::export::{ExportError, PAGE, Row, Sink, every};
use super::super::failure::Fault;
use super::super::import::{Import, Put};
use super::super::members::{Moment, fixed, maybe, need, set};
use super::super::record::Record;
use super::super::refs::space_id;
use super::RecordType;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::{Field, OrganizationId, StepId, Translated};
use civitas_spaces::Step;
use serde::Deserialize;

pub(super) struct Steps;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StepRecord {
    space: Field<String>,
    title: Field<Translated>,
    position: Field<i64>,
    active: Field<bool>,
    starts_at: Field<Moment>,
    ends_at: Field<Moment>,
}

impl StepRecord {
    async fn begin(&self, import: &mut Import<'_>, organization: OrganizationId) -> Result<Step, Fault> {
        let space = import.refs.space(organization, &need("space", &self.space)?).await?;
        let (title, position) = (need("title", &self.title)?, need("position", &self.position)?);
        let step = Step { space, title, position, active: false, starts_at: None, ends_at: None };
        step.check()?;
        Ok(step)
    }

    async fn apply(
        self,
        import: &mut Import<'_>,
        organization: OrganizationId,
        step: &mut Step,
    ) -> Result<(), Fault> {
        if let Some(space) = self.space.as_value() {
            let space = import.refs.space(organization, space).await?;
            fixed("space", &Field::Value(space), &step.space)?;
        }
        set("title", self.title, &mut step.title)?;
        set("position", self.position, &mut step.position)?;
        set("active", self.active, &mut step.active)?;
        maybe(self.starts_at, &mut step.starts_at);
        maybe(self.ends_at, &mut step.ends_at);
        if step.position < 0 { Err("position must be 0 or more".into()) } else { Ok(()) }
    }
}

#[async_trait]
impl RecordType for Steps {
    fn name(&self) -> &'static str {
        "step"
    }

    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault> {
        let organization = record.home()?;
        let said: StepRecord = record.members()?;
        let store = import.ports.steps();
        let before = match record.seen_as(StepId) {
            Some(id) => store.find(organization, id).await?.map(|step| (id, step)),
            None => None,
        };
        let mut step = match &before {
            Some((_, step)) => step.clone(),
            None => said.begin(import, organization).await?,
        };
        said.apply(import, organization, &mut step).await?;
        match before {
            None => Ok(Put::created(store.add(organization, &step, step.announcements(None)).await?)),
            Some((id, old)) if old == step => Ok(Put::unchanged(id)),
            Some((id, old)) => {
                store.save(organization, id, &step, step.announcements(Some(&old))).await?;
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
        let page = |after| ports.steps().after(organization, after, PAGE);
        every(page, |id, step| {
            sink.write(
                &Row::of(organization, self.name(), id)
                    .with("space", space_id(step.space))
                    .with("title", step.title)
                    .with("position", step.position)
                    .unless_empty("active", step.active)
                    .time("starts_at", step.starts_at)
                    .time("ends_at", step.ends_at),
            )
        })
        .await
    }
}
