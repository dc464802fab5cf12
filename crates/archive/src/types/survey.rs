//! `survey`: the record of a component that has a questionnaire.

use super::{Import, ImportResult, RecordKind, Timestamp, async_trait, members};
use civitas_kernel::ComponentId;
use civitas_spaces::ComponentKind;
use civitas_surveys::Survey;

pub(super) struct SurveyRecordType;

members! { SurveyRecordType, "survey", ports.surveys(), SurveyFields, |kind, survey: Survey| {
    component: parent(ComponentId),
    starts_at: optional(Timestamp),
    ends_at: optional(Timestamp),
    deleted_at: optional(Timestamp),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

#[async_trait]
impl RecordKind for SurveyRecordType {
    async fn create(&self, import: &mut Import<'_, '_, Self>, fields: &SurveyFields) -> ImportResult<Survey> {
        let component = import.component(&fields.component, ComponentKind::Surveys, "surveys").await?;
        Ok(Survey::new(component, import.context.options.now))
    }
}
