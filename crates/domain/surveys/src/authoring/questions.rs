//! Writing questions.

use super::{CreateQuestion, DestroyQuestion, QuestionDetail, UpdateQuestion};
use crate::{MANAGE_QUESTIONS, Questionnaires};
use async_trait::async_trait;
use civitas_kernel::records::Change;
use civitas_kernel::{CommandHandler, Ctx, Result};

#[async_trait]
impl CommandHandler<CreateQuestion> for Questionnaires<'_> {
    async fn handle(&self, ctx: &Ctx, command: CreateQuestion) -> Result<QuestionDetail> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let questionnaire = command.questionnaire;
        self.find_questionnaire_for_update(ctx, questionnaire).await?;
        let question = command.question();
        let id = self.rules().add(ctx.organization, &question, ctx.default_locale).await?;
        self.touch(ctx, questionnaire).await?;
        Ok(QuestionDetail { id, question })
    }
}

#[async_trait]
impl CommandHandler<UpdateQuestion> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateQuestion) -> Result<()> {
        command.check(&self.find_question(ctx, command.id).await?)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateQuestion) -> Result<QuestionDetail> {
        let id = command.id;
        let before = self.find_question_for_update(ctx, id).await?;
        command.check(&before)?;
        let change = Change::from_edit(before, ctx.now, |question| command.apply(question));
        if change.is_empty() {
            return Ok(QuestionDetail { id, question: change.after });
        }
        self.rules().store(ctx.organization, id, &change, ctx.default_locale).await?;
        self.touch(ctx, change.after.questionnaire).await?;
        Ok(QuestionDetail { id, question: change.after })
    }
}

#[async_trait]
impl CommandHandler<DestroyQuestion> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyQuestion) -> Result<()> {
        self.find_question(ctx, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, DestroyQuestion { id }: DestroyQuestion) -> Result<()> {
        let question = self.find_question_for_update(ctx, id).await?;
        self.rules().delete(ctx.organization, id, question.kind).await?;
        self.touch(ctx, question.questionnaire).await
    }
}
