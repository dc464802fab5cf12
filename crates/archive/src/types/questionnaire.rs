//! `questionnaire`: the questionnaire of a survey or a meeting.

use super::{
    Import, ImportResult, PatchField, RecordKind, Timestamp, Translated, async_trait, members, required,
};
use crate::refs::unknown_ref;
use civitas_kernel::{ComponentId, MeetingId, SurveyId};
use civitas_surveys::{Questionnaire, QuestionnaireParent};

pub(super) struct QuestionnaireRecordType;

members! { QuestionnaireRecordType, "questionnaire", ports.questionnaires(), QuestionnaireFields, |kind, questionnaire: Questionnaire| {
    survey: resolved(String, check_parent, with_optional(survey(questionnaire))),
    meeting: output(String, with_optional(meeting(questionnaire))),
    title: required(Translated),
    description: filled(Translated),
    tos: filled(Translated),
    salt: required(String),
    created_at: required(Timestamp),
    updated_at: required(Timestamp),
}}

fn survey(questionnaire: &Questionnaire) -> Option<String> {
    if let QuestionnaireParent::Survey(id) = questionnaire.parent { Some(id.to_string()) } else { None }
}

fn meeting(questionnaire: &Questionnaire) -> Option<String> {
    if let QuestionnaireParent::Meeting(id) = questionnaire.parent { Some(id.to_string()) } else { None }
}

/// The record that a questionnaire names, and its component; `None` if it names none.
async fn parent(
    import: &mut Import<'_, '_, QuestionnaireRecordType>,
    fields: &QuestionnaireFields,
) -> ImportResult<Option<(QuestionnaireParent, ComponentId)>> {
    let (ports, of) = (import.context.ports, import.owner);
    match (fields.survey.as_value(), fields.meeting.as_value()) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err("survey and meeting exclude each other".into()),
        (Some(reference), None) => {
            let id: SurveyId = import.context.refs.resolve(of, reference).await?;
            let survey =
                ports.surveys().find(of, id).await?.ok_or_else(|| unknown_ref("survey", reference))?;
            Ok(Some((QuestionnaireParent::Survey(id), survey.component)))
        }
        (None, Some(reference)) => {
            let id: MeetingId = import.context.refs.resolve(of, reference).await?;
            let meeting =
                ports.meetings().find(of, id).await?.ok_or_else(|| unknown_ref("meeting", reference))?;
            Ok(Some((QuestionnaireParent::Meeting(id), meeting.component)))
        }
    }
}

/// The survey or meeting of a questionnaire cannot change.
async fn check_parent(
    import: &mut Import<'_, '_, QuestionnaireRecordType>,
    fields: &mut QuestionnaireFields,
    questionnaire: &mut Questionnaire,
) -> ImportResult {
    match parent(import, fields).await? {
        Some((parent, _)) if parent != questionnaire.parent => Err("survey or meeting cannot change".into()),
        _ => Ok(()),
    }
}

#[async_trait]
impl RecordKind for QuestionnaireRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &QuestionnaireFields,
    ) -> ImportResult<Questionnaire> {
        let found = parent(import, fields).await?;
        let (parent, component) = found.ok_or("survey or meeting is required")?;
        let title = required("title", &fields.title)?;
        if matches!(fields.salt.as_value(), Some(salt) if salt.is_empty()) || fields.salt == PatchField::Null
        {
            return Err("salt must not be empty".into());
        }
        Ok(Questionnaire::new(parent, component, title, import.context.options.now))
    }
}
