//! The projection of a form to JSON Forms: a JSON schema of its answers and a layout (contract 08 §4.3).

mod rules;

use crate::form::{Shape, TextLanguages};
use crate::{Form, FormOption, FormQuestion, QuestionType};
use civitas_kernel::Translated;
use serde_json::{Map, Value, json};

/// A form as clients display it.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// The JSON schema of the answers.
    pub schema: Value,
    /// The layout.
    pub ui: Value,
}

impl Form {
    /// The projection, with texts in these languages.
    pub fn project(&self, languages: TextLanguages) -> Projection {
        let properties: Map<String, Value> = self
            .data_questions()
            .map(|(question, shape)| (question.id.to_string(), property(question, shape, languages)))
            .collect();
        let required: Vec<String> = self
            .data_questions()
            .filter(|(question, _)| question.must_be_answered() && question.conditions.is_empty())
            .map(|(question, _)| question.id.to_string())
            .collect();
        let elements: Vec<Value> =
            self.questions().iter().map(|question| self.element(question, languages)).collect();
        Projection {
            schema: json!({"type": "object", "properties": properties, "required": required}),
            ui: json!({"type": "VerticalLayout", "elements": elements}),
        }
    }

    fn element(&self, question: &FormQuestion, languages: TextLanguages) -> Value {
        let label = languages.text(&question.question.body).unwrap_or_default();
        let mut element = match question.question.kind {
            QuestionType::Separator => json!({"type": "Group", "label": label, "elements": []}),
            QuestionType::TitleAndDescription => json!({"type": "Label", "text": label}),
            _ => json!({"type": "Control", "scope": scope(question), "label": label}),
        };
        let options = element_options(question);
        if !options.is_empty() {
            element["options"] = Value::Object(options);
        }
        if let Some(rule) = rules::of(self, question, languages) {
            element["rule"] = rule;
        }
        element
    }
}

fn scope(question: &FormQuestion) -> String {
    format!("#/properties/{}", question.id)
}

/// The schema of an answer.
fn property(question: &FormQuestion, shape: Shape<'_>, languages: TextLanguages) -> Value {
    let mut schema = match shape {
        Shape::Text { max } => with(json!({"type": "string"}), "maxLength", max),
        Shape::One { options } => choice(options),
        Shape::Many { options, max } => choices(options, max),
        Shape::Sorting { options } => {
            with(choices(options, Some(options.len())), "minItems", Some(options.len()))
        }
        Shape::MatrixSingle { rows, options } => {
            let rows =
                rows.iter().map(|row| (row.id.to_string(), titled(choice(options), &row.body, languages)));
            json!({"type": "object", "properties": rows.collect::<Map<_, _>>()})
        }
        Shape::MatrixMultiple { rows, options, max } => {
            let list = || choices(options, max);
            let rows = rows.iter().map(|row| (row.id.to_string(), titled(list(), &row.body, languages)));
            json!({"type": "object", "properties": rows.collect::<Map<_, _>>()})
        }
        Shape::Files => json!({"type": "array", "items": {"type": "string"}}),
    };
    schema["title"] = json!(languages.text(&question.question.body).unwrap_or_default());
    schema
}

fn titled(mut schema: Value, title: &Translated, languages: TextLanguages) -> Value {
    schema["title"] = json!(languages.text(title).unwrap_or_default());
    schema
}

fn with(mut schema: Value, name: &str, limit: Option<usize>) -> Value {
    if let Some(limit) = limit {
        schema[name] = json!(limit);
    }
    schema
}

/// One option. Without options there is no `enum`.
fn choice(options: &[FormOption]) -> Value {
    let mut schema = json!({"type": "string"});
    if !options.is_empty() {
        schema["enum"] = options.iter().map(|option| option.id.to_string()).collect();
    }
    schema
}

/// Some options.
fn choices(options: &[FormOption], max: Option<usize>) -> Value {
    with(json!({"type": "array", "items": choice(options), "uniqueItems": true}), "maxItems", max)
}

/// The member `options` of an element.
fn element_options(question: &FormQuestion) -> Map<String, Value> {
    let mut options = Map::new();
    let translated = |id: String, body: &Translated| json!({"id": id, "translations": body});
    if question.question.kind == QuestionType::LongAnswer {
        options.insert("multi".to_owned(), Value::Bool(true));
    }
    if question.question.kind.has_options() {
        let choices = question.options.iter();
        let choices = choices.map(|option| translated(option.id.to_string(), &option.option.body));
        options.insert("choices".to_owned(), choices.collect());
    }
    if question.question.kind.has_rows() {
        let rows = &question.question.rows;
        let first = rows.first().map(|row| row.id.to_string());
        let rows: Vec<Value> = rows.iter().map(|row| translated(row.id.to_string(), &row.body)).collect();
        options.insert("matrix".to_owned(), json!({"rowId": first, "rows": rows}));
    }
    options
}

#[cfg(test)]
mod tests;
