//! `answer_option`: an option of a question. The order of the lines is the order of the options.

use super::question::touch_questionnaire_of_question;
use super::{Import, ImportResult, RecordKind, Translated, async_trait, members, required};
use crate::refs::unknown_ref;
use civitas_kernel::{AnswerOptionId, QuestionId};
use civitas_surveys::{AnswerOption, MAX_OPTIONS};

pub(super) struct AnswerOptionRecordType;

members! { AnswerOptionRecordType, "answer_option", ports.answer_options(), AnswerOptionFields, |kind, option: AnswerOption| {
    question: parent(QuestionId),
    body: required(Translated),
}}

#[async_trait]
impl RecordKind for AnswerOptionRecordType {
    async fn create(
        &self,
        import: &mut Import<'_, '_, Self>,
        fields: &AnswerOptionFields,
    ) -> ImportResult<AnswerOption> {
        let (ports, of) = (import.context.ports, import.owner);
        let reference = required("question", &fields.question)?;
        let id: QuestionId = import.context.refs.resolve(of, &reference).await?;
        let question =
            ports.questions().find(of, id).await?.ok_or_else(|| unknown_ref("question", &reference))?;
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
    ) -> ImportResult {
        touch_questionnaire_of_question(import.context, import.owner, before.is_some(), option.question).await
    }
}
