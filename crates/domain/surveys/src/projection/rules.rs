//! Display conditions as rules of JSON Forms. The display evaluation of the server is authoritative.

use crate::display::relevant_conditions;
use crate::form::{AnswerShape, TextLanguages};
use crate::{ConditionType, DisplayCondition, Form, FormQuestion};
use serde_json::{Value, json};

/// The rule of a question; `None` without conditions.
pub(super) fn question_rules(
    form: &Form,
    question: &FormQuestion,
    languages: TextLanguages,
) -> Option<Value> {
    let (relevant, all) = relevant_conditions(&question.conditions);
    let mut conditions: Vec<Value> =
        relevant.iter().map(|condition| one(form, condition, languages)).collect();
    let condition = match conditions.len() {
        0 => return None,
        1 => conditions.remove(0),
        _ => json!({"type": if all { "AND" } else { "OR" }, "conditions": conditions}),
    };
    Some(json!({"effect": "SHOW", "condition": condition}))
}

fn one(form: &Form, condition: &DisplayCondition, languages: TextLanguages) -> Value {
    let shape = form.question(condition.condition_question).and_then(FormQuestion::shape);
    let fails_when_undefined = condition.kind != ConditionType::NotAnswered;
    json!({
        "scope": format!("#/properties/{}", condition.condition_question),
        "schema": schema(condition, shape, languages),
        "failWhenUndefined": fails_when_undefined,
    })
}

fn schema(condition: &DisplayCondition, shape: Option<AnswerShape<'_>>, languages: TextLanguages) -> Value {
    let option = condition.option.map(|option| option.to_string());
    match (condition.kind, option) {
        (ConditionType::Answered, _) => answered(shape),
        (ConditionType::NotAnswered, _) => json!({"not": answered(shape)}),
        (ConditionType::Equal | ConditionType::NotEqual, None) => json!({"not": {}}),
        (ConditionType::Equal, Some(option)) => equal(&option, shape),
        (ConditionType::NotEqual, Some(option)) => json!({"not": equal(&option, shape)}),
        (ConditionType::Match, _) => {
            let value = condition.value.as_ref().and_then(|value| languages.text(value));
            json!({"pattern": escaped(value.unwrap_or_default())})
        }
    }
}

fn answered(shape: Option<AnswerShape<'_>>) -> Value {
    let name = match shape {
        Some(shape) if shape.is_list() => "minItems",
        Some(shape) if shape.is_object() => "minProperties",
        _ => "minLength",
    };
    json!({name: 1})
}

/// The option is the answer, in the list, or in a row.
fn equal(option: &str, shape: Option<AnswerShape<'_>>) -> Value {
    let is_row = |row: Value| json!({"not": {"additionalProperties": {"not": row}}});
    match shape {
        Some(AnswerShape::MatrixSingle { .. }) => is_row(json!({"const": option})),
        Some(AnswerShape::MatrixMultiple { .. }) => is_row(json!({"contains": {"const": option}})),
        Some(shape) if shape.is_list() => json!({"contains": {"const": option}}),
        _ => json!({"const": option}),
    }
}

/// The text as a regular expression that matches it literally.
///
/// JSON Forms compiles patterns with the flag `u`, which refuses to escape other characters than these.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\^$.|?*+()[]{}/".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_escaped_text_is_an_operator() {
        assert_eq!(escaped("a.b (c)"), r"a\.b \(c\)");
        assert_eq!(escaped("été"), "été");
    }

    #[test]
    fn characters_that_need_no_escape_have_none() {
        assert_eq!(escaped("Saint-Denis (A/B), 100 %"), r"Saint-Denis \(A\/B\), 100 %");
    }
}
