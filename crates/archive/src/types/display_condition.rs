//! `display_condition`: a condition for the display of a question.

use super::question::touch;
use super::{Field, ImportContext, OrganizationId, Ports, Result, Translated, async_trait};
use super::{Import, Imported, OrganizationKind, RecordKind, members, required};
use crate::error::RecordError;
use crate::refs::unknown;
use civitas_kernel::records::Records;
use civitas_kernel::{AnswerOptionId, DisplayConditionId, Error, QuestionId};
use civitas_surveys::{ConditionType, DisplayCondition, Question};

pub(super) struct DisplayConditions;

members! { DisplayConditions, "display_condition", OrganizationId, ConditionFields, |kind, condition: DisplayCondition| {
    question: parent(QuestionId),
    condition_question: parent(QuestionId),
    condition_type: custom(String, set_type, with(condition.kind.as_str())),
    answer_option: resolved(String, set_option, optional(condition.option.map(|option| option.to_string()))),
    value: optional(Translated),
    mandatory: flag(bool),
}}

fn condition_type(name: &str) -> Result<ConditionType, RecordError> {
    ConditionType::parse(name).ok_or_else(|| format!("condition_type {name:?} is not known").into())
}

fn set_type(fields: &mut ConditionFields, condition: &mut DisplayCondition) -> Imported {
    match &fields.condition_type {
        Field::Absent => {}
        Field::Null => return Err("condition_type cannot be null".into()),
        Field::Value(name) => condition.kind = condition_type(name)?,
    }
    Ok(())
}

/// Finds the option, which must be one of the condition question.
async fn set_option(
    import: &mut Import<'_, '_, DisplayConditions>,
    fields: &mut ConditionFields,
    condition: &mut DisplayCondition,
) -> Imported {
    match &fields.answer_option {
        Field::Absent => {}
        Field::Null => condition.option = None,
        Field::Value(reference) => {
            let id: AnswerOptionId = import.context.refs.resolve(import.owner, reference).await?;
            let option = import.context.ports.answer_options().find(import.owner, id).await?;
            if option.is_none_or(|option| option.question != condition.condition_question) {
                return Err(
                    format!("answer_option {reference:?} is not one of the condition question").into()
                );
            }
            condition.option = Some(id);
        }
    }
    Ok(())
}

/// The question of a required ref.
async fn question(
    import: &mut Import<'_, '_, DisplayConditions>,
    name: &str,
    reference: &Field<String>,
) -> Imported<(QuestionId, Question)> {
    let reference = required(name, reference)?;
    let id: QuestionId = import.context.refs.resolve(import.owner, &reference).await?;
    let found = import.context.ports.questions().find(import.owner, id).await?;
    Ok((id, found.ok_or_else(|| unknown("question", &reference))?))
}

impl OrganizationKind for DisplayConditions {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<DisplayCondition> {
        ports.display_conditions()
    }
}

#[async_trait]
impl RecordKind for DisplayConditions {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &ConditionFields,
    ) -> Imported<DisplayCondition> {
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

    fn check(&self, _: &ImportContext<'_>, condition: &mut DisplayCondition) -> Imported {
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
    ) -> Imported {
        if before.is_none() {
            return Ok(());
        }
        let found = import.context.ports.questions().find(import.owner, condition.question).await?;
        let question = found.ok_or(Error::NotFound)?;
        touch(import.context, import.owner, true, question.questionnaire).await
    }
}
