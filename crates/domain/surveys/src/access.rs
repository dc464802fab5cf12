//! Who may read and write questionnaires (contract 08 §2).

use crate::{QuestionnaireDetail, QuestionnaireStore, SurveyLookup};
use civitas_kernel::{
    Ability, Access, Ctx, Error, QuestionnaireId, RequiredAbilities, Result, Scope, UserId,
};

/// The rights to read questionnaires.
pub const READ_QUESTIONNAIRES: Access =
    Access::any_of(Scope::Surveys, &[Ability::QuestionnairesRead, Ability::SurveysRead]);
/// The rights to change questionnaires, and to read and change questions and options.
pub const MANAGE_QUESTIONS: Access = Access::either(Scope::Surveys, &[Ability::QuestionsManage]);
/// The rights to submit answers.
pub const SUBMIT_ANSWERS: Access = Access::either(Scope::Surveys, &[Ability::AnswersSubmit]);
/// The rights to read answers.
pub const READ_ANSWERS: Access = Access::either(Scope::Surveys, &[Ability::AnswersRead]);
/// The rights to delete responses.
pub const DESTROY_ANSWERS: Access = Access::either(Scope::Surveys, &[Ability::AnswersDestroy]);
/// The rights to read the state of a submission: its id is the capability.
pub const READ_SUBMISSIONS: Access =
    Access { scope: Some(Scope::Surveys), abilities: RequiredAbilities::Nothing, user: false };

/// Finds questionnaires, and checks what users may do with them.
#[derive(Clone, Copy)]
pub(crate) struct QuestionnaireAccess<'a> {
    pub(crate) questionnaires: &'a dyn QuestionnaireStore,
    pub(crate) lookup: &'a dyn SurveyLookup,
}

impl QuestionnaireAccess<'_> {
    /// The questionnaire.
    ///
    /// # Errors
    /// `NotFound` when it is not visible.
    pub(crate) async fn find(self, ctx: &Ctx, id: QuestionnaireId) -> Result<QuestionnaireDetail> {
        self.questionnaires.find_visible(ctx.read_context(), id).await?.ok_or(Error::NotFound)
    }

    /// The questionnaire, if the caller administers it.
    ///
    /// # Errors
    /// `NotFound` when it is not visible; `Forbidden` for a user who is no administrator.
    pub(crate) async fn find_administered(
        self,
        ctx: &Ctx,
        id: QuestionnaireId,
    ) -> Result<QuestionnaireDetail> {
        let found = self.find(ctx, id).await?;
        if self.restricted_user(ctx, &found).await?.is_some() { Err(Error::Forbidden) } else { Ok(found) }
    }

    /// The user of the token, unless they administer the organization or the space of the questionnaire. `None` for a
    /// service token.
    pub(crate) async fn restricted_user(
        self,
        ctx: &Ctx,
        questionnaire: &QuestionnaireDetail,
    ) -> Result<Option<UserId>> {
        let Some(user) = ctx.participant() else { return Ok(None) };
        let administers = ctx.viewer.is_admin()
            || self.lookup.administers(ctx.organization, user, questionnaire.context.space).await?;
        Ok((!administers).then_some(user))
    }
}
