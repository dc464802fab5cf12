//! Writing answer options.

use super::{AnswerOptionDetail, CreateAnswerOption, DestroyAnswerOption, UpdateAnswerOption};
use crate::{AnswerOption, MANAGE_QUESTIONS, Questionnaires};
use async_trait::async_trait;
use civitas_kernel::records::Change;
use civitas_kernel::{AnswerOptionId, CommandHandler, Ctx, Error, QuestionnaireId, Result};

impl Questionnaires<'_> {
    /// The option.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    async fn find_option(&self, ctx: &Ctx, id: AnswerOptionId) -> Result<AnswerOption> {
        ctx.require(&MANAGE_QUESTIONS)?;
        self.options.find(ctx.organization, id).await?.ok_or(Error::NotFound)
    }

    /// The option, if the caller may change its questionnaire.
    async fn check_option(&self, ctx: &Ctx, id: AnswerOptionId) -> Result<()> {
        let option = self.find_option(ctx, id).await?;
        self.find_question(ctx, option.question).await.map(drop)
    }

    /// The option with its questionnaire, which is locked until the transaction ends.
    async fn find_option_to_change(
        &self,
        ctx: &Ctx,
        id: AnswerOptionId,
    ) -> Result<(AnswerOption, QuestionnaireId)> {
        let option = self.find_option(ctx, id).await?;
        let question = self.find_question_for_update(ctx, option.question).await?;
        Ok((self.find_option(ctx, id).await?, question.questionnaire))
    }
}

#[async_trait]
impl CommandHandler<CreateAnswerOption> for Questionnaires<'_> {
    async fn handle(&self, ctx: &Ctx, command: CreateAnswerOption) -> Result<AnswerOptionDetail> {
        let CreateAnswerOption { question: id, body } = command;
        let question = self.find_question_for_update(ctx, id).await?;
        let option = AnswerOption { question: id, body };
        let id = self.rules().add_option(ctx.organization, &question, &option, ctx.default_locale).await?;
        self.touch(ctx, question.questionnaire).await?;
        Ok(AnswerOptionDetail { id, option })
    }
}

#[async_trait]
impl CommandHandler<UpdateAnswerOption> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateAnswerOption) -> Result<()> {
        self.check_option(ctx, command.id).await
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateAnswerOption) -> Result<AnswerOptionDetail> {
        let UpdateAnswerOption { id, body } = command;
        let (before, questionnaire) = self.find_option_to_change(ctx, id).await?;
        let change = Change::from_edit(before, ctx.now, |option| option.body = body);
        if self.rules().change_option(ctx.organization, id, &change, ctx.default_locale).await? {
            self.touch(ctx, questionnaire).await?;
        }
        Ok(AnswerOptionDetail { id, option: change.after })
    }
}

#[async_trait]
impl CommandHandler<DestroyAnswerOption> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyAnswerOption) -> Result<()> {
        self.check_option(ctx, command.id).await
    }

    async fn handle(&self, ctx: &Ctx, DestroyAnswerOption { id }: DestroyAnswerOption) -> Result<()> {
        let (_, questionnaire) = self.find_option_to_change(ctx, id).await?;
        self.options.remove(ctx.organization, id).await?;
        self.touch(ctx, questionnaire).await
    }
}
