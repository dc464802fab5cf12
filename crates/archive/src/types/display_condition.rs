//! `display_condition`: a condition for the display of a question.

use super::question::touch_questionnaire_of_question;
use super::{
    Import, ImportContext, ImportResult, PatchField, RecordKind, Translated, async_trait, members, required,
};
use crate::refs::unknown_ref;
use civitas_kernel::{AnswerOptionId, DisplayConditionId, QuestionId};
use civitas_surveys::{ConditionType, DisplayCondition, Question};

pub(super) struct DisplayConditionRecordType;

members! { DisplayConditionRecordType, "display_condition", ports.display_conditions(), ConditionFields, |kind, condition: DisplayCondition| {
    question: parent(QuestionId),
    condition_question: parent(QuestionId),
    condition_type: custom(String, set_type, with(condition.kind.as_str())),
    answer_option: resolved(String, set_option, with_optional(condition.option.map(|option| option.to_string()))),
    value: optional(Translated),
    mandatory: flag(bool),
}}

fn condition_type(name: &str) -> ImportResult<ConditionType> {
    ConditionType::parse(name).ok_or_else(|| format!("condition_type {name:?} is not known").into())
}

fn set_type(fields: &mut ConditionFields, condition: &mut DisplayCondition) -> ImportResult {
    match &fields.condition_type {
        PatchField::Absent => {}
        PatchField::Null => return Err("condition_type cannot be null".into()),
        PatchField::Value(name) => condition.kind = condition_type(name)?,
    }
    Ok(())
}

/// Finds the option, which must be one of the condition question.
async fn set_option(
    import: &mut Import<'_, '_, DisplayConditionRecordType>,
    fields: &mut ConditionFields,
    condition: &mut DisplayCondition,
) -> ImportResult {
    let given =
        import.context.refs.resolve_field::<AnswerOptionId>(import.owner, &fields.answer_option).await?;
    if let (Some(id), Some(reference)) = (given.as_value(), fields.answer_option.as_value()) {
        let option = import.context.ports.answer_options().find(import.owner, *id).await?;
        if option.is_none_or(|option| option.question != condition.condition_question) {
            return Err(format!("answer_option {reference:?} is not one of the condition question").into());
        }
    }
    given.apply(&mut condition.option);
    Ok(())
}

/// The question of a required ref.
async fn question(
    import: &mut Import<'_, '_, DisplayConditionRecordType>,
    name: &str,
    reference: &PatchField<String>,
) -> ImportResult<(QuestionId, Question)> {
    let reference = required(name, reference)?;
    let id: QuestionId = import.context.refs.resolve(import.owner, &reference).await?;
    let found = import.context.ports.questions().find(import.owner, id).await?;
    Ok((id, found.ok_or_else(|| unknown_ref("question", &reference))?))
}

#[async_trait]
impl RecordKind for DisplayConditionRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ConditionFields,
    ) -> ImportResult<DisplayCondition> {
        let (id, shown) = question(import, "question", &fields.question).await?;
        let (other, compared) = question(import, "condition_question", &fields.condition_question).await?;
        let kind = condition_type(&required("condition_type", &fields.condition_type)?)?;
        if id == other || shown.questionnaire != compared.questionnaire {
            return Err("condition_question must be another question of the questionnaire".into());
        }
        Ok(DisplayCondition {
            question: id,
            condition_question: other,
            kind,
            option: None,
            value: None,
            mandatory: false,
        })
    }

    fn check(&self, _: &ImportContext<'_>, condition: &mut DisplayCondition) -> ImportResult {
        if condition.kind == ConditionType::Match && condition.value.is_none() {
            return Err("value is required for match".into());
        }
        Ok(())
    }

    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        _: DisplayConditionId,
        before: Option<&DisplayCondition>,
        condition: &DisplayCondition,
    ) -> ImportResult {
        touch_questionnaire_of_question(import.context, import.owner, before.is_some(), condition.question)
            .await
    }
}
