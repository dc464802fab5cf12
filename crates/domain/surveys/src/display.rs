//! Which questions are displayed (contract 08 §6.4).

use crate::{Answer, ConditionType, DisplayCondition, Form, FormQuestion};
use civitas_kernel::text::{fold_case, nfc};
use civitas_kernel::{QuestionId, Translated};
use std::collections::HashMap;

/// The answers to the displayed questions so far. A question that is not in it is not displayed, or has no answer.
pub(crate) type AnswersByQuestion<'a> = HashMap<QuestionId, &'a Answer>;

/// The conditions that count, and whether all of them must hold: the mandatory ones, if there is one; else one of them
/// all.
pub(crate) fn relevant_conditions(conditions: &[DisplayCondition]) -> (Vec<&DisplayCondition>, bool) {
    let mandatory: Vec<_> = conditions.iter().filter(|condition| condition.mandatory).collect();
    if mandatory.is_empty() { (conditions.iter().collect(), false) } else { (mandatory, true) }
}

/// Whether a question is displayed after these answers to earlier questions.
pub(crate) fn is_displayed(form: &Form, question: &FormQuestion, answered: &AnswersByQuestion<'_>) -> bool {
    let (relevant, all) = relevant_conditions(&question.conditions);
    let holds = |condition: &&DisplayCondition| {
        let target = form.question(condition.condition_question);
        let answer = answered.get(&condition.condition_question).copied();
        target.is_some_and(|target| holds(condition, target, answer))
    };
    if all { relevant.iter().all(holds) } else { relevant.is_empty() || relevant.iter().any(holds) }
}

fn holds(condition: &DisplayCondition, target: &FormQuestion, answer: Option<&Answer>) -> bool {
    let Some(answer) = answer else { return condition.kind == ConditionType::NotAnswered };
    let chooses =
        |wanted: bool| condition.option.is_some_and(|option| answer.options().contains(&option) == wanted);
    match condition.kind {
        ConditionType::Answered => true,
        ConditionType::NotAnswered => false,
        ConditionType::Equal => chooses(true),
        ConditionType::NotEqual => chooses(false),
        ConditionType::Match => matches(condition, target, answer),
    }
}

/// Whether the text, or the text of a chosen option in any language, contains the value in any language, ignoring case.
fn matches(condition: &DisplayCondition, target: &FormQuestion, answer: &Answer) -> bool {
    let values = condition.value.iter().flat_map(Translated::iter);
    let values: Vec<String> = values.map(|(_, value)| fold_case(&nfc(value))).collect();
    let contains = |text: &str| {
        let text = fold_case(&nfc(text));
        values.iter().any(|value| text.contains(value))
    };
    let chosen = answer.options();
    let mut options = target.options.iter().filter(|option| chosen.contains(&option.id));
    answer.text().is_some_and(contains)
        || options.any(|option| option.option.body.iter().any(|(_, text)| contains(text)))
}
