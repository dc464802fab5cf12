//! Display conditions (contract 08 §1). The caller has locked the questionnaire, and sets the time of its last change.

use super::{QuestionAdministration, QuestionPartEdit};
use crate::{ConditionType, DisplayCondition, Form, FormQuestion};
use civitas_kernel::limits::{MAX_LINE_CHARS, translations_too_long};
use civitas_kernel::records::{AdminWithoutRules, Change, RecordAdministration};
use civitas_kernel::{DisplayConditionId, Error, FieldError, OrganizationId, QuestionId, Result, Wording};

/// The most display conditions of a question.
pub const MAX_CONDITIONS: usize = 50;

impl QuestionAdministration<'_> {
    /// Makes these changes of the conditions of a question. A condition that stays as it is stored is not checked: its
    /// option may have been deleted. Returns whether something changed.
    ///
    /// # Errors
    /// `Invalid` with all errors, of the fields `conditions[name][question]`, `[option]` and `[value]`; `NotFound` for a
    /// position without a condition.
    pub(super) async fn edit_conditions(
        &self,
        organization: OrganizationId,
        (id, form): (QuestionId, &Form),
        edits: &[QuestionPartEdit<usize, DisplayCondition>],
    ) -> Result<bool> {
        if edits.is_empty() {
            return Ok(false);
        }
        let stored = self.conditions.list_of_question(organization, id).await?;
        let added = edits.iter().filter(|edit| edit.id.is_none() && edit.value.is_some()).count();
        let removed = edits.iter().filter(|edit| edit.id.is_some() && edit.value.is_none()).count();
        if added > 0 && stored.len() + added > MAX_CONDITIONS + removed {
            let text = format!("Question has too many conditions (maximum is {MAX_CONDITIONS})");
            return Err(Error::invalid("conditions", "too_many", text));
        }
        let (mut has_changed, mut errors) = (false, Vec::new());
        for edit in edits {
            let value = edit.value.clone().map(|value| normal(DisplayCondition { question: id, ..value }));
            let before = match edit.id {
                Some(position) => Some(stored.get(position).ok_or(Error::NotFound)?),
                None => None,
            };
            if before.map(|(_, before)| before) == value.as_ref() {
                continue;
            }
            if let Some((member, code)) = value.as_ref().and_then(|value| check(form, id, value)) {
                let field = format!("conditions[{}][{member}]", edit.name).into();
                errors.push(FieldError { field, ..FieldError::new("", code, "Condition is invalid") });
                continue;
            }
            self.write(organization, before, value).await?;
            has_changed = true;
        }
        Error::unless_valid(Wording::InvalidRequest, errors).map(|()| has_changed)
    }

    async fn write(
        &self,
        organization: OrganizationId,
        before: Option<&(DisplayConditionId, DisplayCondition)>,
        after: Option<DisplayCondition>,
    ) -> Result<()> {
        match (before, after) {
            (Some((id, before)), Some(after)) => {
                let change = Change::new(before.clone(), after);
                AdminWithoutRules(self.conditions).change(organization, *id, &change).await
            }
            (Some((id, _)), None) => self.conditions.remove(organization, *id).await,
            (None, Some(after)) => {
                AdminWithoutRules(self.conditions).create(organization, &after).await.map(drop)
            }
            (None, None) => Ok(()),
        }
    }
}

/// The condition without members that its type does not have.
fn normal(condition: DisplayCondition) -> DisplayCondition {
    let has_option = matches!(condition.kind, ConditionType::Equal | ConditionType::NotEqual);
    DisplayCondition {
        option: condition.option.filter(|_| has_option),
        value: condition.value.filter(|_| condition.kind == ConditionType::Match),
        ..condition
    }
}

/// The member that is wrong, and the code of the error.
fn check(form: &Form, id: QuestionId, condition: &DisplayCondition) -> Option<(&'static str, &'static str)> {
    let Some(compared) = earlier(form, id).find(|question| question.id == condition.condition_question)
    else {
        return Some(("question", "inclusion"));
    };
    match condition.kind {
        ConditionType::Answered | ConditionType::NotAnswered => None,
        ConditionType::Equal | ConditionType::NotEqual => {
            let is_own =
                condition.option.is_some_and(|option| compared.options.iter().any(|own| own.id == option));
            (!is_own).then_some(("option", "inclusion"))
        }
        ConditionType::Match => match &condition.value {
            Some(value) if translations_too_long("value", "Value", value, MAX_LINE_CHARS).is_some() => {
                Some(("value", "too_long"))
            }
            Some(value) if value.iter().any(|(_, text)| !text.trim().is_empty()) => None,
            _ => Some(("value", "blank")),
        },
    }
}

/// The questions before this one that have answers. A question that is not in the form comes last.
fn earlier(form: &Form, id: QuestionId) -> impl Iterator<Item = &FormQuestion> {
    let before = form.questions().iter().take_while(move |question| question.id != id);
    before.filter(|question| !question.question.kind.is_presentation())
}

impl Form {
    /// The questions that a display condition of this question can compare: earlier ones that have answers. `None`: the
    /// question is new, and comes last.
    pub fn comparable(&self, id: Option<QuestionId>) -> Vec<&FormQuestion> {
        earlier(self, id.unwrap_or(QuestionId(0))).collect()
    }

    /// The questions with a condition that names this question, with the number of these conditions.
    pub fn conditions_on(&self, id: QuestionId) -> Vec<(&FormQuestion, usize)> {
        self.with_conditions(|condition| condition.condition_question == id)
    }

    /// The questions with a condition that names this option, with the number of these conditions.
    pub fn conditions_on_option(&self, id: civitas_kernel::AnswerOptionId) -> Vec<(&FormQuestion, usize)> {
        self.with_conditions(|condition| condition.option == Some(id))
    }

    fn with_conditions(&self, names: impl Fn(&DisplayCondition) -> bool) -> Vec<(&FormQuestion, usize)> {
        let number = |question: &FormQuestion| question.conditions.iter().filter(|one| names(one)).count();
        let found = self.questions().iter().map(|question| (question, number(question)));
        found.filter(|(_, number)| *number > 0).collect()
    }
}
