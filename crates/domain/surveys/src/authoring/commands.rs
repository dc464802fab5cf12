//! The commands.

use super::{AnswerOptionDetail, QuestionDetail};
use crate::question::QuestionLimit;
use crate::{Form, MANAGE_QUESTIONS, Question, QuestionType, Questionnaire, QuestionnaireDetail};
use civitas_kernel::{
    AnswerOptionId, Error, QuestionId, QuestionnaireId, Result, Translated, commands, set_given,
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
pub struct NullableValue<T> {
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
    pub description: Option<NullableValue<Translated>>,
    /// The most options of an answer, for types with options.
    pub max_choices: Option<NullableValue<i64>>,
    /// The most characters of an answer, for long answers; null for no limit.
    pub max_characters: Option<NullableValue<i64>>,
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

commands! {
    UpdateQuestionnaire: "forms/questionnaires#update", MANAGE_QUESTIONS => (QuestionnaireDetail, Form);
    CreateQuestion: "forms/questions#create", MANAGE_QUESTIONS => QuestionDetail;
    UpdateQuestion: "forms/questions#update", MANAGE_QUESTIONS => QuestionDetail;
    DestroyQuestion: "forms/questions#destroy", MANAGE_QUESTIONS => ();
    CreateAnswerOption: "forms/answer_options#create", MANAGE_QUESTIONS => AnswerOptionDetail;
    UpdateAnswerOption: "forms/answer_options#update", MANAGE_QUESTIONS => AnswerOptionDetail;
    DestroyAnswerOption: "forms/answer_options#destroy", MANAGE_QUESTIONS => ();
}

impl UpdateQuestionnaire {
    pub(super) fn apply(self, questionnaire: &mut Questionnaire) {
        set_given(&mut questionnaire.title, self.title);
        set_given(&mut questionnaire.description, self.description);
        set_given(&mut questionnaire.tos, self.tos);
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
            ("max_choices", self.max_choices.is_some(), QuestionLimit::Choice),
            ("max_characters", self.max_characters.is_some(), QuestionLimit::LongText),
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
        set_given(&mut question.position, self.position);
        set_given(&mut question.mandatory, self.mandatory);
        set_given(&mut question.body, self.body);
        set_given(&mut question.description, self.description.map(|new| new.value));
        set_given(&mut question.max_choices, self.max_choices.map(|new| new.value));
        set_given(&mut question.max_characters, self.max_characters.map(|new| new.value.unwrap_or(0)));
    }
}
