//! The rules of questions and options, for the interface and for administrators. The caller has locked the
//! questionnaire, and sets the time of its last change.

use crate::{
    AnswerFiles, AnswerOption, AnswerOptionStore, MAX_OPTIONS, MAX_QUESTIONS, Question, QuestionStore,
    QuestionType,
};
use civitas_kernel::records::{AdminWithoutRules, Change, RecordAdministration};
use civitas_kernel::{AnswerOptionId, Error, Locale, OrganizationId, QuestionId, Result};

/// Writes questions and options by their rules.
#[derive(Clone, Copy)]
pub(crate) struct QuestionWriter<'a> {
    pub(crate) questions: &'a dyn QuestionStore,
    pub(crate) options: &'a dyn AnswerOptionStore,
    pub(crate) files: &'a dyn AnswerFiles,
}

impl QuestionWriter<'_> {
    /// Adds a question.
    ///
    /// # Errors
    /// Those of [`Question::check`]; `Invalid` with `too_many`.
    pub(crate) async fn add(
        &self,
        organization: OrganizationId,
        question: &Question,
        locale: Locale,
    ) -> Result<QuestionId> {
        question.check(locale)?;
        if self.questions.count(organization, question.questionnaire).await? >= MAX_QUESTIONS {
            return Err(full("questionnaire", "Questionnaire has too many questions", MAX_QUESTIONS));
        }
        AdminWithoutRules(self.questions).create(organization, question).await
    }

    /// Stores a change of a question.
    ///
    /// # Errors
    /// Those of [`Question::check`]; `Invalid` with `locked` for another type once there are answers.
    pub(crate) async fn store(
        &self,
        organization: OrganizationId,
        id: QuestionId,
        change: &Change<Question>,
        locale: Locale,
    ) -> Result<()> {
        change.after.check(locale)?;
        if change.after.kind != change.before.kind && self.questions.has_answers(organization, id).await? {
            return Err(Error::unprocessable(
                "question_type",
                "locked",
                "Question type cannot change once answers exist",
            ));
        }
        AdminWithoutRules(self.questions).change(organization, id, change).await
    }

    /// Deletes a question with the files of its answers.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub(crate) async fn delete(
        &self,
        organization: OrganizationId,
        id: QuestionId,
        kind: QuestionType,
    ) -> Result<()> {
        if kind == QuestionType::Files {
            let answers = self.questions.answers_with_files(organization, id).await?;
            self.files.detach(organization, &answers).await?;
        }
        self.questions.remove(organization, id).await
    }

    /// Adds an option.
    ///
    /// # Errors
    /// `Invalid` with `invalid` for a question without options; with `blank`, `too_long` and `too_many`.
    pub(crate) async fn add_option(
        &self,
        organization: OrganizationId,
        question: &Question,
        option: &AnswerOption,
        locale: Locale,
    ) -> Result<AnswerOptionId> {
        if !question.kind.has_options() {
            return Err(Error::invalid("question_id", "invalid", "Question does not have options"));
        }
        option.check(locale)?;
        if self.options.count(organization, option.question).await? >= MAX_OPTIONS {
            return Err(full("question_id", "Question has too many options", MAX_OPTIONS));
        }
        AdminWithoutRules(self.options).create(organization, option).await
    }

    /// Stores a change of an option. Returns whether it changes something.
    ///
    /// # Errors
    /// `Invalid` with `blank` and `too_long`.
    pub(crate) async fn change_option(
        &self,
        organization: OrganizationId,
        id: AnswerOptionId,
        change: &Change<AnswerOption>,
        locale: Locale,
    ) -> Result<bool> {
        change.after.check(locale)?;
        AdminWithoutRules(self.options).change(organization, id, change).await?;
        Ok(!change.is_empty())
    }
}

/// The error of a list that is full.
fn full(field: &'static str, what: &str, max: i64) -> Error {
    Error::invalid(field, "too_many", format!("{what} (maximum is {max})"))
}
