//! Submitting answers, and deleting responses (contract 08 §6, §7).

use crate::digest;
use crate::{
    AnswerRow, CheckedAnswers, DESTROY_ANSWERS, QuestionnaireDetail, QuestionnaireParent, Questionnaires,
    Response, ResponseDetail, SUBMIT_ANSWERS, remove_response,
};
use async_trait::async_trait;
use civitas_kernel::{
    AnswerId, CommandHandler, Ctx, Error, QuestionId, QuestionnaireId, ResponseId, Result, UserId, commands,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::net::IpAddr;

/// Submits answers to a questionnaire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SubmitAnswers {
    /// The questionnaire.
    pub questionnaire: QuestionnaireId,
    /// The answers, by question id.
    pub answers: Map<String, Value>,
    /// Whether the response has no respondent.
    pub anonymous: bool,
    /// The respondent, if the body names one.
    pub user: Option<UserId>,
    /// The address of the respondent. Only its digest is stored.
    pub client_ip: Option<IpAddr>,
}

/// Deletes a response, with all its answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyResponse {
    /// An answer of the response.
    pub id: AnswerId,
}

commands! {
    SubmitAnswers: "forms/answers#create", SUBMIT_ANSWERS => ResponseDetail;
    DestroyResponse: "forms/questionnaire_responses#destroy", DESTROY_ANSWERS => ();
}

impl Questionnaires<'_> {
    /// The respondent (contract 08 §6.2).
    ///
    /// # Errors
    /// `Forbidden` for a user token with another user; `NotFound`, `User blocked` and `User required` for a service
    /// token.
    async fn respondent(
        &self,
        ctx: &Ctx,
        command: &SubmitAnswers,
        allows_anonymous: bool,
    ) -> Result<Option<UserId>> {
        if command.anonymous {
            return Ok(None);
        }
        match (ctx.participant(), command.user) {
            (Some(own), Some(named)) if named != own => Err(Error::Forbidden),
            (Some(own), _) => Ok(Some(own)),
            (None, Some(named)) => {
                let found = self.lookup.respondent(ctx.organization, named).await?.ok_or(Error::NotFound)?;
                if found.blocked { Err(Error::rejected("User blocked")) } else { Ok(Some(named)) }
            }
            (None, None) if allows_anonymous => Ok(None),
            (None, None) => Err(Error::rejected("User required")),
        }
    }

    /// Checks that the questionnaire accepts this submission now.
    ///
    /// # Errors
    /// `Invalid` with `anonymous_not_allowed`, or `closed`.
    async fn check_accepts(
        &self,
        ctx: &Ctx,
        found: &QuestionnaireDetail,
        user: Option<UserId>,
    ) -> Result<()> {
        if user.is_none() && !found.questionnaire.allows_anonymous() {
            return Err(Error::unprocessable(
                "anonymous",
                "anonymous_not_allowed",
                "Anonymous answers are not allowed",
            ));
        }
        let QuestionnaireParent::Survey(survey) = found.questionnaire.parent else { return Ok(()) };
        let survey = self.surveys.find(ctx.organization, survey).await?.ok_or(Error::NotFound)?;
        if survey.is_open(ctx.now) {
            return Ok(());
        }
        Err(Error::unprocessable("questionnaire", "closed", "Questionnaire is closed"))
    }

    /// The answers, with the errors of files that cannot be attached.
    async fn validate(&self, ctx: &Ctx, command: &SubmitAnswers) -> Result<CheckedAnswers> {
        let form = self.questionnaires.form(ctx.organization, command.questionnaire).await?;
        let mut checked = form.validate(&command.answers);
        let named: Vec<String> = checked.uploads().flat_map(|(_, uploads)| uploads.to_vec()).collect();
        if named.is_empty() {
            return Ok(checked);
        }
        let unusable = self.files.list_unusable_ids(ctx.organization, ctx.caller.client, &named).await?;
        // An upload can be attached once: the second question that names it cannot have it.
        let is_usable = |upload: &String| {
            !unusable.contains(upload) && named.iter().filter(|other| *other == upload).count() == 1
        };
        let refused: Vec<QuestionId> = checked
            .uploads()
            .filter(|(_, uploads)| !uploads.iter().all(is_usable))
            .map(|(question, _)| question)
            .collect();
        for question in refused {
            checked.refuse_files(&form, question);
        }
        Ok(checked)
    }

    /// Attaches the uploads to the stored answers.
    async fn attach(
        &self,
        ctx: &Ctx,
        uploads: &[(QuestionId, Vec<String>)],
        ids: &[(QuestionId, AnswerId)],
        response: &mut Response,
    ) -> Result<()> {
        for (question, uploads) in uploads {
            let Some((_, answer)) = ids.iter().find(|(of, _)| of == question) else { continue };
            let attached = self.files.attach(ctx.organization, ctx.caller.client, *answer, uploads).await?;
            let value: Value = attached.iter().map(ToString::to_string).collect();
            self.responses.set_value(ctx.organization, *answer, &value).await?;
            if let Some(row) = response.answers.iter_mut().find(|row| row.question == *question) {
                row.value = Some(value);
            }
        }
        Ok(())
    }

    /// The response with this answer, if the caller may delete it.
    ///
    /// # Errors
    /// `NotFound` when its questionnaire is not visible; `Forbidden` for a user who is no administrator.
    async fn find_to_destroy(&self, ctx: &Ctx, id: AnswerId) -> Result<ResponseId> {
        ctx.require(&DESTROY_ANSWERS)?;
        let found = self.responses.find_by_answer(ctx.organization, id).await?;
        let (response, found) = found.ok_or(Error::NotFound)?;
        self.readers().find_administered(ctx, found.response.questionnaire).await?;
        Ok(response)
    }
}

#[async_trait]
impl CommandHandler<SubmitAnswers> for Questionnaires<'_> {
    async fn handle(&self, ctx: &Ctx, command: SubmitAnswers) -> Result<ResponseDetail> {
        ctx.require(&SUBMIT_ANSWERS)?;
        let found = self.readers().find(ctx, command.questionnaire).await?;
        let questionnaire = &found.questionnaire;
        let user = self.respondent(ctx, &command, questionnaire.allows_anonymous()).await?;
        self.check_accepts(ctx, &found, user).await?;
        if !self.questionnaires.lock_for_submission(ctx.organization, found.id).await? {
            return Err(Error::NotFound);
        }
        let checked = self.validate(ctx, &command).await?;
        let uploads: Vec<_> =
            checked.uploads().map(|(question, uploads)| (question, uploads.to_vec())).collect();
        let answers = checked.into_answers()?;
        if answers.is_empty() {
            return Err(Error::unprocessable(
                "questionnaire",
                "invalid",
                "Questionnaire has no questions to answer",
            ));
        }
        let digest = |address| digest::address_digest(&questionnaire.salt, address);
        let mut response = Response {
            client_ip: command.client_ip.map(digest),
            answers: answers
                .iter()
                .map(|(question, answer)| AnswerRow::new(*question, answer.as_ref()))
                .collect(),
            ..Response::new(found.id, questionnaire, user, ctx.now)
        };
        let stored = self.responses.add(ctx.organization, &response).await?;
        let ids = self.responses.answer_ids(ctx.organization, stored).await?;
        self.attach(ctx, &uploads, &ids, &mut response).await?;
        let first = ids.iter().map(|(_, id)| *id).min();
        let id = first.ok_or_else(|| Error::internal("a response without answers"))?;
        Ok(ResponseDetail { id, response, changed_at: ctx.now })
    }
}

#[async_trait]
impl CommandHandler<DestroyResponse> for Questionnaires<'_> {
    async fn check_enqueue(&self, ctx: &Ctx, command: &DestroyResponse) -> Result<()> {
        self.find_to_destroy(ctx, command.id).await.map(drop)
    }

    async fn handle(&self, ctx: &Ctx, DestroyResponse { id }: DestroyResponse) -> Result<()> {
        let response = self.find_to_destroy(ctx, id).await?;
        remove_response(self.responses, self.files, ctx.organization, response).await
    }
}

#[cfg(test)]
mod tests;
