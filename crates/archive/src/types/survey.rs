//! `survey`: the record of a component that has a questionnaire.

use super::{Import, Imported, Moment, RecordKind, async_trait, members};
use civitas_kernel::ComponentId;
use civitas_spaces::ComponentManifest;
use civitas_surveys::Survey;

pub(super) struct Surveys;

members! { Surveys, "survey", ports.surveys(), SurveyFields, |kind, survey: Survey| {
    component: parent(ComponentId),
    starts_at: optional(Moment),
    ends_at: optional(Moment),
    deleted_at: optional(Moment),
    created_at: required(Moment),
    updated_at: required(Moment),
}}

#[async_trait]
impl RecordKind for Surveys {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &SurveyFields) -> Imported<Survey> {
        let component = import.component(&fields.component, ComponentManifest::Surveys, "surveys").await?;
        Ok(Survey::new(component, import.context.options.now))
    }
}
