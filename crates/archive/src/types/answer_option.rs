//! `answer_option`: an option of a question. The order of the lines is the order of the options.

use super::question::touch;
use super::{Import, Imported, OrganizationKind, RecordKind, members, required};
use super::{OrganizationId, Ports, Result, Translated, async_trait};
use crate::refs::unknown;
use civitas_kernel::records::Records;
use civitas_kernel::{AnswerOptionId, Error, QuestionId};
use civitas_surveys::{AnswerOption, MAX_OPTIONS};

pub(super) struct AnswerOptions;

members! { AnswerOptions, "answer_option", OrganizationId, AnswerOptionFields, |kind, option: AnswerOption| {
    question: parent(QuestionId),
    body: required(Translated),
}}

impl OrganizationKind for AnswerOptions {
    fn records<'a>(&self, ports: &'a dyn Ports) -> &'a dyn Records<AnswerOption> {
        ports.answer_options()
    }
}

#[async_trait]
impl RecordKind for AnswerOptions {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &AnswerOptionFields,
    ) -> Imported<AnswerOption> {
        let (ports, of) = (import.context.ports, import.owner);
        let reference = required("question", &fields.question)?;
        let id: QuestionId = import.context.refs.resolve(of, &reference).await?;
        let question =
            ports.questions().find(of, id).await?.ok_or_else(|| unknown("question", &reference))?;
        if !question.kind.has_options() {
            return Err(format!("question {reference:?} does not have options").into());
        }
        if ports.answer_options().count(of, id).await? >= MAX_OPTIONS {
            return Err(format!("question {reference:?} has more than {MAX_OPTIONS} options").into());
        }
        Ok(AnswerOption { question: id, body: required("body", &fields.body)? })
    }

    async fn follow_up(
        &mut self,
        import: &mut Import<'_, '_, Self>,
        _: AnswerOptionId,
        before: Option<&AnswerOption>,
        option: &AnswerOption,
    ) -> Imported {
        if before.is_none() {
            return Ok(());
        }
        let found = import.context.ports.questions().find(import.owner, option.question).await?;
        let question = found.ok_or(Error::NotFound)?;
        touch(import.context, import.owner, true, question.questionnaire).await
    }
}
