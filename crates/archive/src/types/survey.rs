//! `survey`: the record of a component that has a questionnaire.

use super::{Import, Imported, Moment, OrganizationKind, RecordKind, members};
use super::{OrganizationId, Ports, Result, async_trait};
use civitas_kernel::ComponentId;
use civitas_kernel::records::Records;
use civitas_spaces::ComponentManifest;
use civitas_surveys::Survey;

pub(super) struct Surveys;

members! { Surveys, "survey", OrganizationId, SurveyFields, |kind, survey: Survey| {
    component: parent(ComponentId),
    starts_at: optional(Moment),
    ends_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

impl OrganizationKind for Surveys {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<Survey> {
        ports.surveys()
    }
}

#[async_trait]
impl RecordKind for Surveys {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &SurveyFields) -> Imported<Survey> {
        let manifest = ComponentManifest::Surveys;
        let component =
            import.context.refs.component_for(import.owner, &fields.component, manifest, "surveys").await?;
        Ok(Survey::new(component, import.context.options.now))
    }
}
