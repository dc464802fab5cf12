//! Writing questions.

use super::{Authoring, CreateQuestion, DestroyQuestion, QuestionDetail, UpdateQuestion, full};
use crate::response::refused;
use crate::{MANAGE_QUESTIONS, MAX_QUESTIONS, QuestionType};
use async_trait::async_trait;
use civitas_kernel::records::{Change, Plain, RecordAdmin};
use civitas_kernel::{Ctx, Handle, Result};

#[async_trait]
impl Handle<CreateQuestion> for Authoring<'_> {
    async fn handle(&self, ctx: &Ctx, command: CreateQuestion) -> Result<QuestionDetail> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let questionnaire = command.questionnaire;
        self.find_to_change(ctx, questionnaire).await?;
        let question = command.question();
        question.check(ctx.default_locale)?;
        if self.questions.count(ctx.organization, questionnaire).await? >= MAX_QUESTIONS {
            return Err(full("questionnaire", "Questionnaire has too many questions", MAX_QUESTIONS));
        }
        let id = Plain(self.questions).create(ctx.organization, &question).await?;
        self.touch(ctx, questionnaire).await?;
        Ok(QuestionDetail { id, question })
    }
}

#[async_trait]
impl Handle<UpdateQuestion> for Authoring<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &UpdateQuestion) -> Result<()> {
        command.check(&self.find_question(ctx, command.id).await?)
    }

    async fn handle(&self, ctx: &Ctx, command: UpdateQuestion) -> Result<QuestionDetail> {
        let id = command.id;
        let before = self.find_question_to_change(ctx, id).await?;
        command.check(&before)?;
        let change = Change::of(before, ctx.now, |question| command.apply(question));
        if change.is_empty() {
            return Ok(QuestionDetail { id, question: change.after });
        }
        change.after.check(ctx.default_locale)?;
        if change.after.kind != change.before.kind && self.questions.has_answers(ctx.organization, id).await?
        {
            return Err(refused("question_type", "locked", "Question type cannot change once answers exist"));
        }
        Plain(self.questions).change(ctx.organization, id, &change).await?;
        self.touch(ctx, change.after.questionnaire).await?;
        Ok(QuestionDetail { id, question: change.after })
    }
}

#[async_trait]
impl Handle<DestroyQuestion> for Authoring<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyQuestion) -> Result<()> {
        self.find_question(ctx, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, DestroyQuestion { id }: DestroyQuestion) -> Result<()> {
        let question = self.find_question_to_change(ctx, id).await?;
        if question.kind == QuestionType::Files {
            let answers = self.questions.answers_with_files(ctx.organization, id).await?;
            self.files.detach(ctx.organization, &answers).await?;
        }
        self.questions.remove(ctx.organization, id).await?;
        self.touch(ctx, question.questionnaire).await
    }
}
