//! The projection of a form to JSON Forms: a JSON schema of its answers and a layout (contract 08 §4.3).

mod rules;
mod schema;

pub use schema::Schema;

use crate::form::{AnswerShape, TextLanguages};
use crate::{Form, FormOption, FormQuestion, QuestionType};
use civitas_kernel::Translated;
use serde_json::{Map, Value, json};

/// A form as clients display it.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// The JSON schema of the answers.
    pub schema: Schema,
    /// The layout.
    pub ui: Value,
}

impl Form {
    /// The projection, with texts in these languages.
    pub fn project(&self, languages: TextLanguages) -> Projection {
        let properties = self
            .data_questions()
            .map(|(question, shape)| (question.id.to_string(), property(question, shape, languages)));
        let required: Vec<String> = self
            .data_questions()
            .filter(|(question, _)| question.must_be_answered() && question.conditions.is_empty())
            .map(|(question, _)| question.id.to_string())
            .collect();
        let elements: Vec<Value> =
            self.questions().iter().map(|question| self.element(question, languages)).collect();
        Projection {
            schema: Schema::object(properties).with("required", required),
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
        if let Some(rule) = rules::question_rules(self, question, languages) {
            element["rule"] = rule;
        }
        element
    }
}

fn scope(question: &FormQuestion) -> String {
    format!("#/properties/{}", question.id)
}

/// The schema of an answer.
fn property(question: &FormQuestion, shape: AnswerShape<'_>, languages: TextLanguages) -> Schema {
    let title = |schema: Schema, body| schema.with("title", languages.text(body).unwrap_or_default());
    let schema = match shape {
        AnswerShape::Text { max } => Schema::of_type("string").with("maxLength", max),
        AnswerShape::One { options } => choice(options),
        AnswerShape::Many { options, max } => choices(options, max),
        AnswerShape::Sorting { options } => {
            choices(options, Some(options.len())).with("minItems", options.len())
        }
        AnswerShape::MatrixSingle { rows, options } => {
            Schema::object(rows.iter().map(|row| (row.id.to_string(), title(choice(options), &row.body))))
        }
        AnswerShape::MatrixMultiple { rows, options, max } => {
            let list = || choices(options, max);
            Schema::object(rows.iter().map(|row| (row.id.to_string(), title(list(), &row.body))))
        }
        AnswerShape::Files => Schema::of_type("array").with("items", json!({"type": "string"})),
    };
    title(schema, &question.question.body)
}

/// One option. Without options there is no `enum`.
fn choice(options: &[FormOption]) -> Schema {
    let ids = || options.iter().map(|option| option.id.to_string()).collect::<Vec<_>>();
    Schema::of_type("string").with("enum", (!options.is_empty()).then(ids))
}

/// Some options.
fn choices(options: &[FormOption], max: Option<usize>) -> Schema {
    let list = Schema::of_type("array").with("items", json!(choice(options))).with("uniqueItems", true);
    list.with("maxItems", max)
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
