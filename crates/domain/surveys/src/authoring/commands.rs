//! The commands.

use super::{AnswerOptionDetail, QuestionDetail};
use crate::question::Variant;
use crate::{Form, MANAGE_QUESTIONS, Question, QuestionType, Questionnaire, QuestionnaireDetail};
use civitas_kernel::{
    Access, AnswerOptionId, Command, Error, QuestionId, QuestionnaireId, Result, Translated,
};
use serde::{Deserialize, Serialize};

/// Changes the texts of a questionnaire. Each given member replaces the stored one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateQuestionnaire {
    /// The questionnaire.
    pub id: QuestionnaireId,
    /// The new title.
    pub title: Option<Translated>,
    /// The new description.
    pub description: Option<Translated>,
    /// The new terms of service.
    pub tos: Option<Translated>,
}

/// Adds a question to a questionnaire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreateQuestion {
    /// The questionnaire.
    pub questionnaire: QuestionnaireId,
    /// Its position.
    pub position: i64,
    /// Whether it must be answered.
    pub mandatory: bool,
    /// Its type: no presentation type.
    pub kind: QuestionType,
    /// Its text.
    pub body: Translated,
    /// A text below it.
    pub description: Option<Translated>,
    /// The most options of an answer, for types with options.
    pub max_choices: Option<i64>,
    /// The most characters of an answer, for long answers; `None` for no limit.
    pub max_characters: Option<i64>,
}

/// A member that may be null: its new value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replacement<T> {
    /// The value; `None` for null.
    pub value: Option<T>,
}

/// Changes a question. Each given member replaces the stored one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateQuestion {
    /// The question.
    pub id: QuestionId,
    /// Its questionnaire, if the body names one: it cannot change.
    pub questionnaire: Option<QuestionnaireId>,
    /// The new position.
    pub position: Option<i64>,
    /// Whether it must be answered.
    pub mandatory: Option<bool>,
    /// The new type: no presentation type.
    pub kind: Option<QuestionType>,
    /// The new text.
    pub body: Option<Translated>,
    /// The new text below it.
    pub description: Option<Replacement<Translated>>,
    /// The most options of an answer, for types with options.
    pub max_choices: Option<Replacement<i64>>,
    /// The most characters of an answer, for long answers; null for no limit.
    pub max_characters: Option<Replacement<i64>>,
}

/// Deletes a question with its options and answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyQuestion {
    /// The question.
    pub id: QuestionId,
}

/// Adds an option to a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreateAnswerOption {
    /// The question.
    pub question: QuestionId,
    /// Its text.
    pub body: Translated,
}

/// Changes the text of an option.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UpdateAnswerOption {
    /// The option.
    pub id: AnswerOptionId,
    /// The new text.
    pub body: Translated,
}

/// Deletes an option.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DestroyAnswerOption {
    /// The option.
    pub id: AnswerOptionId,
}

macro_rules! commands {
    ($($command:ident = $key:literal -> $Output:ty;)+) => {$(
        impl Command for $command {
            const KEY: &'static str = $key;
            const ACCESS: Access = MANAGE_QUESTIONS;
            type Output = $Output;
        }
    )+};
}

commands! {
    UpdateQuestionnaire = "forms/questionnaires#update" -> (QuestionnaireDetail, Form);
    CreateQuestion = "forms/questions#create" -> QuestionDetail;
    UpdateQuestion = "forms/questions#update" -> QuestionDetail;
    DestroyQuestion = "forms/questions#destroy" -> ();
    CreateAnswerOption = "forms/answer_options#create" -> AnswerOptionDetail;
    UpdateAnswerOption = "forms/answer_options#update" -> AnswerOptionDetail;
    DestroyAnswerOption = "forms/answer_options#destroy" -> ();
}

impl UpdateQuestionnaire {
    pub(super) fn apply(self, questionnaire: &mut Questionnaire) {
        if let Some(title) = self.title {
            questionnaire.title = title;
        }
        if let Some(description) = self.description {
            questionnaire.description = description;
        }
        if let Some(tos) = self.tos {
            questionnaire.tos = tos;
        }
    }
}

impl CreateQuestion {
    pub(super) fn question(self) -> Question {
        Question {
            description: self.description,
            mandatory: self.mandatory,
            max_choices: self.max_choices,
            max_characters: self.max_characters.unwrap_or(0),
            ..Question::new(self.questionnaire, self.position, self.kind, self.body)
        }
    }
}

impl UpdateQuestion {
    /// Checks the members that depend on the stored question.
    ///
    /// # Errors
    /// `Rejected` for another questionnaire, and for a limit that the resulting type does not have.
    pub(super) fn check(&self, question: &Question) -> Result<()> {
        if self.questionnaire.is_some_and(|given| given != question.questionnaire) {
            return Err(Error::rejected("relationships.questionnaire does not match"));
        }
        let variant = self.kind.unwrap_or(question.kind).variant();
        for (name, is_given, of) in [
            ("max_choices", self.max_choices.is_some(), Variant::Choice),
            ("max_characters", self.max_characters.is_some(), Variant::LongText),
        ] {
            if is_given && variant != of {
                return Err(Error::rejected(format!("Unknown key: data.attributes.{name}")));
            }
        }
        Ok(())
    }

    pub(super) fn apply(self, question: &mut Question) {
        if let Some(kind) = self.kind.filter(|kind| *kind != question.kind) {
            question.kind = kind;
            question.reset_limits();
        }
        if let Some(position) = self.position {
            question.position = position;
        }
        if let Some(mandatory) = self.mandatory {
            question.mandatory = mandatory;
        }
        if let Some(body) = self.body {
            question.body = body;
        }
        if let Some(Replacement { value }) = self.description {
            question.description = value;
        }
        if let Some(Replacement { value }) = self.max_choices {
            question.max_choices = value;
        }
        if let Some(Replacement { value }) = self.max_characters {
            question.max_characters = value.unwrap_or(0);
        }
    }
}
