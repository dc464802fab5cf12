//! Reading questionnaires, questions, options and responses.

use crate::access::QuestionnaireAccess;
use crate::ports::read_questionnaire_filters;
use crate::{
    ANSWER_FIELDS, AnswerDetail, AnswerFiles, AnswerOption, AnswerOptionStore, FORM_FIELDS, Form,
    MANAGE_QUESTIONS, Question, QuestionStore, Questionnaire, QuestionnaireStore, READ_ANSWERS,
    READ_QUESTIONNAIRES, ResponseDetail, ResponseStore, SurveyLookup, SurveyStore,
};
use civitas_kernel::filter::{RawFilter, read_filters};
use civitas_kernel::{
    AnswerId, AnswerOptionId, ComponentContext, Ctx, Error, Page, PageRequest, QuestionId, QuestionnaireId,
    Result,
};
use time::OffsetDateTime;

/// A questionnaire as a viewer reads it, without its form.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionnaireDetail {
    /// Its id.
    pub id: QuestionnaireId,
    /// The questionnaire.
    pub questionnaire: Questionnaire,
    /// The component and space of the record it belongs to.
    pub context: ComponentContext,
}

impl QuestionnaireDetail {
    /// The latest change of the questionnaire, its component and its space.
    pub fn changed_at(&self) -> OffsetDateTime {
        self.questionnaire.updated_at.max(self.context.changed_at)
    }
}

/// A page of records of a questionnaire, with the time of the latest change of the questionnaire.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionnaireRecordPage<T> {
    /// The records.
    pub page: Page<T>,
    /// The latest change of the questionnaire.
    pub changed_at: OffsetDateTime,
}

/// Reads and writes questionnaires and what belongs to them.
pub struct Questionnaires<'a> {
    /// The store of surveys.
    pub surveys: &'a dyn SurveyStore,
    /// The store of questionnaires.
    pub questionnaires: &'a dyn QuestionnaireStore,
    /// The store of questions.
    pub questions: &'a dyn QuestionStore,
    /// The store of options.
    pub options: &'a dyn AnswerOptionStore,
    /// The store of responses.
    pub responses: &'a dyn ResponseStore,
    /// Reads users.
    pub lookup: &'a dyn SurveyLookup,
    /// The files of answers.
    pub files: &'a dyn AnswerFiles,
}

impl Questionnaires<'_> {
    pub(crate) fn readers(&self) -> QuestionnaireAccess<'_> {
        QuestionnaireAccess { questionnaires: self.questionnaires, lookup: self.lookup }
    }

    /// The visible questionnaires, last changed first, each with its form.
    ///
    /// # Errors
    /// `Unknown filter`, `Invalid value for filter`.
    pub async fn list(
        &self,
        ctx: &Ctx,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<Page<(QuestionnaireDetail, Form)>> {
        ctx.require(&READ_QUESTIONNAIRES)?;
        self.questionnaires.list(ctx.read_context(), &read_questionnaire_filters(filter)?, page).await
    }

    /// A questionnaire with its form.
    ///
    /// # Errors
    /// `NotFound` when it is not visible.
    pub async fn find(&self, ctx: &Ctx, id: QuestionnaireId) -> Result<(QuestionnaireDetail, Form)> {
        ctx.require(&READ_QUESTIONNAIRES)?;
        let found = self.readers().find(ctx, id).await?;
        Ok((found, self.questionnaires.form(ctx.organization, id).await?))
    }

    /// The questions of a questionnaire, in their order.
    ///
    /// # Errors
    /// `Unknown filter`, `Invalid value for filter`; `NotFound` when the questionnaire is not visible; `Forbidden` for a user who is no administrator.
    pub async fn questions(
        &self,
        ctx: &Ctx,
        questionnaire: QuestionnaireId,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<QuestionnaireRecordPage<(QuestionId, Question)>> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let filters = read_filters(FORM_FIELDS, filter)?;
        let changed_at = self.readers().find_administered(ctx, questionnaire).await?.changed_at();
        let page = self.questions.list(ctx.organization, questionnaire, &filters, page).await?;
        Ok(QuestionnaireRecordPage { page, changed_at })
    }

    /// A question, with the time of the latest change of its questionnaire.
    ///
    /// # Errors
    /// As [`Self::questions`].
    pub async fn question(&self, ctx: &Ctx, id: QuestionId) -> Result<(Question, OffsetDateTime)> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let question = self.questions.find(ctx.organization, id).await?.ok_or(Error::NotFound)?;
        let questionnaire = self.readers().find_administered(ctx, question.questionnaire).await?;
        Ok((question, questionnaire.changed_at()))
    }

    /// The options of a question, in the order of ids.
    ///
    /// # Errors
    /// As [`Self::questions`].
    pub async fn options(
        &self,
        ctx: &Ctx,
        question: QuestionId,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<QuestionnaireRecordPage<(AnswerOptionId, AnswerOption)>> {
        ctx.require(&MANAGE_QUESTIONS)?;
        let filters = read_filters(FORM_FIELDS, filter)?;
        let (_, changed_at) = self.question(ctx, question).await?;
        let page = self.options.list(ctx.organization, question, &filters, page).await?;
        Ok(QuestionnaireRecordPage { page, changed_at })
    }

    /// The answers to a questionnaire, newest first. A user who is no administrator sees their own.
    ///
    /// # Errors
    /// `Unknown filter`, `Invalid value for filter`; `NotFound` when the questionnaire is not visible.
    pub async fn answers(
        &self,
        ctx: &Ctx,
        questionnaire: QuestionnaireId,
        filter: &RawFilter,
        page: PageRequest,
    ) -> Result<QuestionnaireRecordPage<AnswerDetail>> {
        ctx.require(&READ_ANSWERS)?;
        let filters = read_filters(ANSWER_FIELDS, filter)?;
        let found = self.readers().find(ctx, questionnaire).await?;
        let user = self.readers().restricted_user(ctx, &found).await?;
        let page = self.responses.list_answers(ctx.organization, questionnaire, user, &filters, page).await?;
        Ok(QuestionnaireRecordPage { page, changed_at: found.changed_at() })
    }

    /// The response with an answer of this id.
    ///
    /// # Errors
    /// `NotFound` when its questionnaire is not visible, and when it is that of another user and the caller is no
    /// administrator.
    pub async fn response(&self, ctx: &Ctx, id: AnswerId) -> Result<ResponseDetail> {
        ctx.require(&READ_ANSWERS)?;
        let found = self.responses.find_by_answer(ctx.organization, id).await?;
        let (_, found) = found.ok_or(Error::NotFound)?;
        let questionnaire = self.readers().find(ctx, found.response.questionnaire).await?;
        let user = self.readers().restricted_user(ctx, &questionnaire).await?;
        if user.is_some() && user != found.response.user {
            return Err(Error::NotFound);
        }
        let changed_at = found.changed_at.max(questionnaire.changed_at());
        Ok(ResponseDetail { changed_at, ..found })
    }
}
