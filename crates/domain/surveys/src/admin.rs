//! Administration of surveys, their questions and the responses to them. The caller checks permission. The interface
//! ([`crate::Questionnaires`]) applies the same rules. Use the stores of a transaction.

mod conditions;
mod options;
mod questions;
mod responses;
mod rules;
mod surveys;

pub use conditions::MAX_CONDITIONS;
pub use questions::{QuestionEdit, QuestionMove};
pub use responses::remove_response;
pub(crate) use rules::QuestionWriter;
pub use surveys::{SurveyAdministration, SurveyChange, SurveySettings};

use crate::{AnswerFiles, AnswerOptionStore, DisplayConditionStore, QuestionStore, QuestionnaireStore};
use civitas_kernel::{Error, FieldError, Result};

/// Administers questions with their rows, options and display conditions.
pub struct QuestionAdministration<'a> {
    /// The store of questionnaires.
    pub questionnaires: &'a dyn QuestionnaireStore,
    /// The store of questions.
    pub questions: &'a dyn QuestionStore,
    /// The store of options.
    pub options: &'a dyn AnswerOptionStore,
    /// The store of display conditions.
    pub conditions: &'a dyn DisplayConditionStore,
    /// The files of answers.
    pub files: &'a dyn AnswerFiles,
}

impl QuestionAdministration<'_> {
    fn rules(&self) -> QuestionWriter<'_> {
        QuestionWriter { questions: self.questions, options: self.options, files: self.files }
    }
}

/// A change of a part of a question: an option or a condition. Without `id` the part is new; without `value` it is
/// removed.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPartEdit<I, T> {
    /// The name of the part in errors: `options[205]` is the field of an error of the option `205`.
    pub name: String,
    /// The stored part.
    pub id: Option<I>,
    /// Its new value.
    pub value: Option<T>,
}

/// The errors of a check.
///
/// # Errors
/// Those without fields.
fn faults(checked: Result<()>) -> Result<Vec<FieldError>> {
    match checked {
        Ok(()) => Ok(Vec::new()),
        Err(Error::Invalid { fields, .. }) => Ok(fields),
        Err(other) => Err(other),
    }
}

/// The errors of a part of a question, under its name.
fn named(errors: &[FieldError], name: &str) -> impl Iterator<Item = FieldError> {
    errors.iter().map(move |error| FieldError { field: name.to_owned().into(), ..error.clone() })
}

#[cfg(test)]
mod tests;
