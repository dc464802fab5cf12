//! Writing questionnaires, questions and options (contract 08 §4.4, §5).

mod commands;
mod options;
mod questions;

pub use commands::{
    CreateAnswerOption, CreateQuestion, DestroyAnswerOption, DestroyQuestion, NullableValue,
    UpdateAnswerOption, UpdateQuestion, UpdateQuestionnaire,
};

use crate::admin::QuestionWriter;
use crate::{AnswerOption, Form, MANAGE_QUESTIONS, Question, QuestionnaireDetail, Questionnaires};
use async_trait::async_trait;
use civitas_kernel::records::{AdminWithoutRules, Change, RecordAdministration, find_for_update};
use civitas_kernel::{AnswerOptionId, CommandHandler, Ctx, Error, QuestionId, QuestionnaireId, Result};

/// A question as the result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionDetail {
    /// Its id.
    pub id: QuestionId,
    /// The question.
    pub question: Question,
}

/// An option as the result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerOptionDetail {
    /// Its id.
    pub id: AnswerOptionId,
    /// The option.
    pub option: AnswerOption,
}

impl Questionnaires<'_> {
    /// The questionnaire, if the caller may change it.
    ///
    /// # Errors
    /// `NotFound` when it is not visible; `Forbidden` for a user who is no administrator.
    async fn find_administered(&self, ctx: &Ctx, id: QuestionnaireId) -> Result<QuestionnaireDetail> {
        ctx.require(&MANAGE_QUESTIONS)?;
        self.readers().find_administered(ctx, id).await
    }

    /// The questionnaire, locked until the transaction ends. Submissions and other changes of it wait.
    async fn find_questionnaire_for_update(
        &self,
        ctx: &Ctx,
        id: QuestionnaireId,
    ) -> Result<QuestionnaireDetail> {
        let found = self.find_administered(ctx, id).await?;
        let questionnaire = find_for_update(self.questionnaires, ctx.organization, id).await?;
        Ok(QuestionnaireDetail { questionnaire, ..found })
    }

    /// The question, if the caller may change its questionnaire.
    async fn find_question(&self, ctx: &Ctx, id: QuestionId) -> Result<Question> {
        self.question(ctx, id).await.map(|(question, _)| question)
    }

    /// The question, with its questionnaire locked until the transaction ends.
    async fn find_question_for_update(&self, ctx: &Ctx, id: QuestionId) -> Result<Question> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let question = self.questions.find(ctx.organization, id).await?.ok_or(Error::NotFound)?;
        self.find_questionnaire_for_update(ctx, question.questionnaire).await?;
        self.questions.find(ctx.organization, id).await?.ok_or(Error::NotFound)
    }

    fn rules(&self) -> QuestionWriter<'_> {
        QuestionWriter { questions: self.questions, options: self.options, files: self.files }
    }

    async fn touch(&self, ctx: &Ctx, id: QuestionnaireId) -> Result<()> {
        self.questionnaires.touch(ctx.organization, id, ctx.now).await
    }
}

#[async_trait]
impl CommandHandler<UpdateQuestionnaire> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateQuestionnaire) -> Result<()> {
        self.find_administered(ctx, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateQuestionnaire) -> Result<(QuestionnaireDetail, Form)> {
        let (id, has_title) = (command.id, command.title.is_some());
        let found = self.find_questionnaire_for_update(ctx, id).await?;
        let change =
            Change::from_edit(found.questionnaire, ctx.now, |questionnaire| command.apply(questionnaire));
        change.after.check(has_title.then_some(ctx.default_locale))?;
        AdminWithoutRules(self.questionnaires).change(ctx.organization, id, &change).await?;
        let form = self.questionnaires.form(ctx.organization, id).await?;
        Ok((QuestionnaireDetail { id, questionnaire: change.after, context: found.context }, form))
    }
}

#[cfg(test)]
mod tests;
