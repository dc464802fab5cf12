//! Questions: creation, change, order, deletion.

use super::{QuestionAdministration, QuestionPartEdit, faults, named};
use crate::{AnswerOption, DisplayCondition, Form, MAX_ROWS, Question};
use civitas_kernel::records::{
    AdminWithoutRules, Change, RecordAdministration, find_for_update, find_revision_for_update,
};
use civitas_kernel::{
    AnswerOptionId, Error, FieldError, Locale, OrganizationId, QuestionId, QuestionnaireId, Result,
    Translated, Wording,
};
use std::collections::HashSet;
use time::OffsetDateTime;

/// A question with the changes of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionEdit {
    /// The question with its rows. A new row has the id 0 and an empty reference. Its position has no effect.
    pub question: Question,
    /// Options to add, change and remove. Others stay.
    pub options: Vec<QuestionPartEdit<AnswerOptionId, Translated>>,
    /// Display conditions to add, change and remove, by their positions in the form, from 0. Others stay.
    pub conditions: Vec<QuestionPartEdit<usize, DisplayCondition>>,
}

/// Where a question moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionMove {
    /// Before the question before it.
    Up,
    /// After the question after it.
    Down,
}

impl QuestionAdministration<'_> {
    /// Adds a question after the last one, with options and conditions.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with `changed_meanwhile` when `seen` is not the revision of the questionnaire, and with the
    /// errors of the question, of `rows[index]`, of `options[name]` and of `conditions[name]`.
    pub async fn create(
        &self,
        organization: OrganizationId,
        seen: Option<&str>,
        edit: QuestionEdit,
        (locale, now): (Locale, OffsetDateTime),
    ) -> Result<QuestionId> {
        let questionnaire = edit.question.questionnaire;
        find_revision_for_update(self.questionnaires, organization, questionnaire, seen).await?;
        let form = self.questionnaires.form(organization, questionnaire).await?;
        let position = form.questions().last().map_or(0, |last| last.question.position.saturating_add(1));
        let mut question = with_references(Question { position, ..edit.question });
        question.reset_limits();
        check(&question, &edit.options, locale)?;
        let id = self.rules().add(organization, &question, locale).await?;
        self.edit_options(organization, (id, &question), &edit.options, locale).await?;
        self.edit_conditions(organization, (id, &form), &edit.conditions).await?;
        self.questionnaires.touch(organization, questionnaire, now).await?;
        Ok(id)
    }

    /// Changes a question with its rows, options and conditions. Returns whether something changed. Another type resets
    /// the limits that it does not have.
    ///
    /// # Errors
    /// As [`Self::create`]; `Invalid` with `locked` for another type once there are answers.
    pub async fn update(
        &self,
        organization: OrganizationId,
        (id, seen): (QuestionId, &str),
        edit: QuestionEdit,
        (locale, now): (Locale, OffsetDateTime),
    ) -> Result<bool> {
        let questionnaire = edit.question.questionnaire;
        find_revision_for_update(self.questionnaires, organization, questionnaire, Some(seen)).await?;
        let form = self.questionnaires.form(organization, questionnaire).await?;
        let before = form.question(id).ok_or(Error::NotFound)?.question.clone();
        let mut after = with_references(Question { position: before.position, ..edit.question });
        if after.kind != before.kind {
            after.reset_limits();
        }
        check(&after, &edit.options, locale)?;
        let change = Change::new(before, after);
        let mut has_changed = !change.is_empty();
        if has_changed {
            self.rules().store(organization, id, &change, locale).await?;
        }
        has_changed |= self.edit_options(organization, (id, &change.after), &edit.options, locale).await?;
        has_changed |= self.edit_conditions(organization, (id, &form), &edit.conditions).await?;
        if has_changed {
            self.questionnaires.touch(organization, questionnaire, now).await?;
        }
        Ok(has_changed)
    }

    /// Moves a question by one position. The first question stays when it moves up, the last one when it moves down.
    /// Returns whether it moved.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with `before_condition` when a question would come before the question that one of its
    /// conditions names.
    pub async fn reorder(
        &self,
        organization: OrganizationId,
        (questionnaire, id): (QuestionnaireId, QuestionId),
        direction: QuestionMove,
        now: OffsetDateTime,
    ) -> Result<bool> {
        find_for_update(self.questionnaires, organization, questionnaire).await?;
        let form = self.questionnaires.form(organization, questionnaire).await?;
        let index = form.questions().iter().position(|question| question.id == id).ok_or(Error::NotFound)?;
        let first = match direction {
            QuestionMove::Up => index.checked_sub(1),
            QuestionMove::Down => Some(index).filter(|index| index + 1 < form.questions().len()),
        };
        let Some(first) = first else { return Ok(false) };
        let (upper, lower) = (&form.questions()[first], &form.questions()[first + 1]);
        if lower.conditions.iter().any(|condition| condition.condition_question == upper.id) {
            let text = "A question cannot come before the question that its condition names";
            return Err(Error::invalid("position", "before_condition", text));
        }
        for (id, before, position) in swapped(&form, first) {
            let change = Change::new(before.clone(), Question { position, ..before.clone() });
            AdminWithoutRules(self.questions).change(organization, id, &change).await?;
        }
        self.questionnaires.touch(organization, questionnaire, now).await?;
        Ok(true)
    }

    /// Deletes a question with its options, rows, conditions and answers, the conditions of other questions that name it,
    /// and responses that have no answers then. Returns the question.
    ///
    /// # Errors
    /// `NotFound` when the questionnaire has no such question.
    pub async fn remove(
        &self,
        organization: OrganizationId,
        (questionnaire, id): (QuestionnaireId, QuestionId),
        now: OffsetDateTime,
    ) -> Result<Question> {
        find_for_update(self.questionnaires, organization, questionnaire).await?;
        let found = self.questions.find(organization, id).await?;
        let question = found.filter(|found| found.questionnaire == questionnaire).ok_or(Error::NotFound)?;
        self.rules().delete(organization, id, question.kind).await?;
        self.questionnaires.touch(organization, questionnaire, now).await?;
        Ok(question)
    }
}

/// The questions whose position changes when the question at the index `first` and the one after it are exchanged:
/// these two where all positions differ.
fn swapped(form: &Form, first: usize) -> Vec<(QuestionId, &Question, i64)> {
    let mut order: Vec<usize> = (0..form.questions().len()).collect();
    order.swap(first, first + 1);
    let mut next = 0;
    let mut changed = Vec::new();
    for (old, index) in order.into_iter().enumerate() {
        let position = form.questions()[old].question.position.max(next);
        next = position.saturating_add(1);
        let question = &form.questions()[index];
        if question.question.position != position {
            changed.push((question.id, &question.question, position));
        }
    }
    changed
}

/// Gives new rows a reference that no other row of the question has.
fn with_references(mut question: Question) -> Question {
    let mut known: HashSet<String> = question.rows.iter().map(|row| row.reference.clone()).collect();
    let mut number = 0;
    for row in question.rows.iter_mut().filter(|row| row.reference.is_empty()) {
        row.reference = loop {
            number += 1;
            let reference = format!("row-{number}");
            if known.insert(reference.clone()) {
                break reference;
            }
        };
    }
    question
}

/// Checks a question with its rows, and the texts of its options.
fn check(
    question: &Question,
    options: &[QuestionPartEdit<AnswerOptionId, Translated>],
    locale: Locale,
) -> Result<()> {
    let mut errors = faults(question.check(locale))?;
    errors.extend(row_errors(question, locale));
    errors.extend(option_errors(options, locale)?);
    Error::unless_valid(Wording::InvalidRequest, errors)
}

/// The errors of the rows of a matrix, by their indexes.
fn row_errors(question: &Question, locale: Locale) -> Vec<FieldError> {
    if !question.kind.has_rows() {
        return Vec::new();
    }
    if question.rows.len() > MAX_ROWS {
        let text = format!("Question has too many rows (maximum is {MAX_ROWS})");
        return vec![FieldError::new("rows", "too_many", text)];
    }
    let mut errors = Vec::new();
    for (index, row) in question.rows.iter().enumerate() {
        let text = AnswerOption { question: QuestionId(0), body: row.body.clone() };
        if let Err(error) = text.check(locale) {
            errors.extend(named(error.details(), &format!("rows[{index}]")));
        }
    }
    errors
}

/// The errors of the texts of options.
fn option_errors(
    edits: &[QuestionPartEdit<AnswerOptionId, Translated>],
    locale: Locale,
) -> Result<Vec<FieldError>> {
    let mut errors = Vec::new();
    for edit in edits {
        let Some(body) = edit.value.clone() else { continue };
        let own = faults(AnswerOption { question: QuestionId(0), body }.check(locale))?;
        errors.extend(named(&own, &format!("options[{}]", edit.name)));
    }
    Ok(errors)
}
