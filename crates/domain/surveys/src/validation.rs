//! Validates the answers of a submission: either all rows to store, or all errors in the order of the questions
//! (contract 08 §6.3).

use crate::answer::{self, AnswerError};
use crate::display::{self, AnswersByQuestion};
use crate::{Answer, Form, FormQuestion};
use civitas_kernel::{Error, FieldError, QuestionId, Result, Wording};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// The answers of a submission.
#[derive(Debug, Clone, Default)]
pub struct CheckedAnswers {
    /// The displayed data questions in their order, with their answers; `None`: unanswered.
    pub answers: Vec<(QuestionId, Option<Answer>)>,
    /// The errors, by the position of the question in the form; unknown keys come last.
    faults: BTreeMap<usize, Vec<FieldError>>,
}

impl Form {
    /// Validates the submitted answers, by question id. Answers to questions that are not displayed are ignored.
    pub fn validate(&self, sent: &Map<String, Value>) -> CheckedAnswers {
        let mut checked = CheckedAnswers::default();
        let read: Vec<_> = self
            .questions()
            .iter()
            .map(|question| {
                let value = sent.get(&question.id.to_string()).unwrap_or(&Value::Null);
                question.shape().map(|shape| (shape, value, answer::read(shape, value)))
            })
            .collect();
        let mut answered = AnswersByQuestion::new();
        for (position, (question, read)) in self.questions().iter().zip(&read).enumerate() {
            let Some((shape, value, read)) = read else { continue };
            if !display::is_displayed(self, question, &answered) {
                continue;
            }
            let answer = read.as_ref().ok().and_then(Option::as_ref);
            let outcome = read.as_ref().map_err(|fault| *fault);
            let outcome = outcome.and_then(|read| answer::check(question, *shape, value, read.as_ref()));
            if let Err(fault) = outcome {
                checked.add_fault(position, question.id, fault);
            }
            if let Some(answer) = answer {
                answered.insert(question.id, answer);
            }
            checked.answers.push((question.id, answer.cloned()));
        }
        let known: HashSet<String> =
            self.data_questions().map(|(question, _)| question.id.to_string()).collect();
        let unknown = sent.keys().filter(|key| !known.contains(*key));
        let strange: Vec<FieldError> = unknown.map(|key| foreign(key)).collect();
        if !strange.is_empty() {
            checked.faults.insert(usize::MAX, strange);
        }
        checked
    }
}

impl FormQuestion {
    /// Reads a submitted value without the rules on its size: its type, its options and rows. `None`: unanswered.
    ///
    /// # Errors
    /// `Rejected` for another value, and for a question that has no answer.
    pub fn read_answer(&self, sent: &Value) -> Result<Option<Answer>> {
        let shape = self.shape().ok_or_else(|| Error::rejected("Question has no answer"))?;
        answer::read(shape, sent).map_err(|fault| Error::rejected(fault.wording().1))
    }
}

/// The error of a key that is not a data question.
fn foreign(key: &str) -> FieldError {
    let description = "Question is not included in the list".to_owned();
    FieldError { code: "inclusion".into(), field: format!("answers.{key}").into(), description }
}

impl CheckedAnswers {
    fn add_fault(&mut self, position: usize, question: QuestionId, fault: AnswerError) {
        let (code, description) = fault.wording();
        let field = format!("answers.{question}").into();
        let error = FieldError { code: code.into(), field, description: description.to_owned() };
        self.faults.entry(position).or_default().push(error);
    }

    /// Adds the error of a question whose files cannot be attached.
    pub(crate) fn refuse_files(&mut self, form: &Form, question: QuestionId) {
        let position = form.questions().iter().position(|other| other.id == question);
        self.add_fault(position.unwrap_or(usize::MAX), question, AnswerError::Invalid);
    }

    /// The signed ids of uploads, by question.
    pub(crate) fn uploads(&self) -> impl Iterator<Item = (QuestionId, &[String])> {
        self.answers.iter().filter_map(|(question, answer)| match answer {
            Some(Answer::Uploads(uploads)) => Some((*question, uploads.as_slice())),
            _ => None,
        })
    }

    /// # Errors
    /// `Invalid` with all errors.
    pub fn into_answers(self) -> Result<Vec<(QuestionId, Option<Answer>)>> {
        let fields = self.faults.into_values().flatten().collect();
        Error::unless_valid(Wording::Unprocessable, fields).map(|()| self.answers)
    }
}

#[cfg(test)]
mod tests;
