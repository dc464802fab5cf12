//! Responses: the stored answers of one submission.

use crate::{Answer, Questionnaire, digest};
use civitas_kernel::records::Entity;
use civitas_kernel::{AnswerId, Error, QuestionId, QuestionnaireId, ResponseId, UserId};
use serde_json::Value;
use time::OffsetDateTime;

/// The stored answer to one displayed question.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRow {
    /// The question.
    pub question: QuestionId,
    /// The text, of questions that ask for one.
    pub body: Option<String>,
    /// The ids of options or attachments, as they are read back (contract 08 §4.3).
    pub value: Option<Value>,
}

impl AnswerRow {
    /// The row of an answer. Files have no value before they are attached.
    pub fn new(question: QuestionId, answer: Option<&Answer>) -> Self {
        Self {
            question,
            body: answer.and_then(Answer::text).map(str::to_owned),
            value: answer.and_then(Answer::choices),
        }
    }

    /// The answer as it is read back; null when unanswered.
    pub fn read_back(&self) -> Value {
        match (&self.value, &self.body) {
            (Some(value), _) => value.clone(),
            (None, Some(body)) => Value::String(body.clone()),
            (None, None) => Value::Null,
        }
    }
}

/// A response: the rows of one submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The questionnaire.
    pub questionnaire: QuestionnaireId,
    /// The respondent; `None` for an anonymous one.
    pub user: Option<UserId>,
    /// Unique in the questionnaire: the digest of the respondent, or a random text.
    pub session_token: String,
    /// The digest of the respondent's address.
    pub client_ip: Option<String>,
    /// When it was submitted.
    pub created_at: OffsetDateTime,
    /// Its answers, in the order of the questions at the time of the submission.
    pub answers: Vec<AnswerRow>,
}

impl Response {
    /// A response without answers. Its session token is the digest of the respondent, or a random text.
    pub fn new(
        id: QuestionnaireId,
        questionnaire: &Questionnaire,
        user: Option<UserId>,
        now: OffsetDateTime,
    ) -> Self {
        let token = |user| digest::user_digest(&questionnaire.salt, user);
        Self {
            questionnaire: id,
            user,
            session_token: user.map_or_else(digest::random_digest, token),
            client_ip: None,
            created_at: now,
            answers: Vec::new(),
        }
    }
}

impl Entity for Response {
    type Id = ResponseId;

    fn key_taken_error() -> Error {
        already_answered_error()
    }
}

/// A response of the questionnaire by the same respondent exists.
pub fn already_answered_error() -> Error {
    Error::unprocessable("questionnaire", "already_answered", "Questionnaire has already been answered")
}

/// A stored response as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseDetail {
    /// The lowest id of its answers.
    pub id: AnswerId,
    /// The response.
    pub response: Response,
    /// The latest change of the response or of its questionnaire.
    pub changed_at: OffsetDateTime,
}

/// A stored answer in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerDetail {
    /// Its id.
    pub id: AnswerId,
    /// The questionnaire.
    pub questionnaire: QuestionnaireId,
    /// The answer.
    pub row: AnswerRow,
    /// When it was submitted.
    pub created_at: OffsetDateTime,
}
