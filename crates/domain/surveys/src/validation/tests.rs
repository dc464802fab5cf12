//! The validation against an independent JSON Schema validator and a second evaluator of display conditions.

use super::*;
use crate::form::AnswerShape;
use crate::{
    AnswerOption, ConditionType, DisplayCondition, FormOption, FormQuestion, MatrixRow, Question,
    QuestionType, TextLanguages,
};
use civitas_kernel::testing::text;
use civitas_kernel::{AnswerOptionId, Locale, MatrixRowId, QuestionnaireId};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

const LANGUAGES: TextLanguages = TextLanguages { effective: Locale::EN, default: Locale::EN };
const DATA_TYPES: [QuestionType; 8] = [
    QuestionType::ShortAnswer,
    QuestionType::LongAnswer,
    QuestionType::SingleOption,
    QuestionType::MultipleOption,
    QuestionType::Sorting,
    QuestionType::Files,
    QuestionType::MatrixSingle,
    QuestionType::MatrixMultiple,
];

/// A question with as many options and rows; their ids begin with its own, times 100.
fn question(id: i64, kind: QuestionType, options: i64, rows: i64) -> FormQuestion {
    let number = |n: i64| id * 100 + n;
    let mut question = Question::new(QuestionnaireId(1), id, kind, text("Question"));
    if kind.has_rows() {
        let row = |n| MatrixRow {
            id: MatrixRowId(number(n)),
            reference: n.to_string(),
            position: n,
            body: text("Row"),
        };
        question.rows = (0..rows).map(row).collect();
    }
    let option = |n| FormOption {
        id: AnswerOptionId(number(n)),
        option: AnswerOption { question: QuestionId(id), body: text(&format!("Option {n}")) },
    };
    let options = if kind.has_options() { (0..options).map(option).collect() } else { Vec::new() };
    FormQuestion { id: QuestionId(id), question, options, conditions: Vec::new() }
}

prop_compose! {
    fn any_question(id: i64)(
        kind in select(&DATA_TYPES[..]),
        options in 0..4_i64,
        rows in 0..3_i64,
        mandatory: bool,
        max_choices in proptest::option::of(1..4_i64),
        max_characters in 0..6_i64,
    ) -> FormQuestion {
        let mut question = question(id, kind, options, rows);
        question.question.mandatory = mandatory;
        question.question.max_choices = max_choices.filter(|_| kind.has_options());
        if matches!(kind, QuestionType::ShortAnswer | QuestionType::LongAnswer) {
            question.question.max_characters = max_characters;
        }
        question
    }
}

/// A form without conditions.
fn any_form() -> impl Strategy<Value = Form> {
    (any_question(1), any_question(2), any_question(3)).prop_map(|(a, b, c)| Form::new(vec![a, b, c]))
}

/// One choice: of the question, of another one, and values of other types.
fn any_choice(id: i64) -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0..4_i64).prop_map(move |n| json!((id * 100 + n).to_string())),
        1 => Just(json!("999")),
        1 => Just(json!("0100")),
        1 => Just(json!("")),
        1 => Just(json!(true)),
    ]
}

/// Values for a question: sound ones, almost sound ones, and ones of any type.
fn any_value(id: i64) -> impl Strategy<Value = Value> {
    let rows = move || {
        let row = (0..4_i64).prop_map(move |n| (id * 100 + n).to_string());
        let chosen = prop_oneof![
            any_choice(id),
            proptest::collection::vec(any_choice(id), 0..4).prop_map(Value::Array)
        ];
        proptest::collection::btree_map(row, chosen, 0..4)
    };
    prop_oneof![
        3 => "[a-zé ]{0,8}".prop_map(Value::String),
        3 => any_choice(id),
        4 => proptest::collection::vec(any_choice(id), 0..5).prop_map(Value::Array),
        4 => rows().prop_map(|rows| json!(rows)),
        1 => Just(Value::Null),
        1 => Just(json!(7.5)),
        1 => (0..4_i64).prop_map(move |n| json!(id * 100 + n)),
    ]
}

/// The answers to some of the questions.
fn any_answers() -> impl Strategy<Value = Map<String, Value>> {
    let one = |id| proptest::option::weighted(0.8, any_value(id));
    (one(1), one(2), one(3)).prop_map(|(a, b, c)| {
        let all = [("1", a), ("2", b), ("3", c)];
        all.into_iter().filter_map(|(id, value)| Some((id.to_owned(), value?))).collect()
    })
}

/// Whether the JSON schema of a question accepts a value, or its absence.
fn schema_accepts(form: &Form, question: &FormQuestion, value: Option<&Value>) -> bool {
    let schema = json!(form.project(LANGUAGES).schema);
    let key = question.id.to_string();
    let one = json!({"type": "object", "properties": {&key: schema["properties"][&key]},
        "required": schema["required"].as_array().into_iter().flatten().filter(|id| **id == *key).collect::<Vec<_>>()});
    let instance = value.map_or(json!({}), |value| json!({key: value}));
    jsonschema::draft202012::new(&one).expect("a schema").is_valid(&instance)
}

fn server_accepts(form: &Form, question: &FormQuestion, sent: &Map<String, Value>) -> bool {
    let field = format!("answers.{}", question.id);
    let errors = form.validate(sent).into_answers().err();
    errors.is_none_or(|error| error.details().iter().all(|error| error.field != field))
}

/// Where the server accepts what the schema refuses (contract 08 §6.3), or refuses what the schema accepts.
fn may_differ(question: &FormQuestion, value: Option<&Value>) -> Option<bool> {
    let value = value?;
    let is_mandatory = question.must_be_answered();
    if answer::is_unanswered(value) {
        // Null, an empty text, list or object is unanswered, which a schema does not say.
        return Some(!is_mandatory);
    }
    let shape = question.shape()?;
    let rows = value.as_object().filter(|_| shape.is_object());
    if let Some(rows) = rows {
        let known = |row: &String| question.question.rows.iter().any(|other| other.id.to_string() == *row);
        if !rows.keys().all(known) {
            return Some(false); // A schema allows further members.
        }
        let chosen = rows.values().filter(|row| !answer::is_unanswered(row)).count();
        if is_mandatory && chosen < question.question.rows.len() {
            return Some(false);
        }
        if rows.values().any(|row| answer::is_unanswered(row) || is_lenient(row)) {
            // An empty row has no choice; one option may come without its list, or as an integer.
            return Some(strictly(question, shape, value));
        }
    }
    if is_lenient(value) && !matches!(shape, AnswerShape::Text { .. }) {
        return Some(strictly(question, shape, value));
    }
    // Without options a schema has no `enum`; no option can be chosen.
    (question.question.kind.has_options() && question.options.is_empty()).then_some(false)
}

/// A bare text or integer, or a list with integers.
fn is_lenient(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Number(_) => true,
        Value::Array(items) => items.iter().any(Value::is_number),
        _ => false,
    }
}

/// The verdict of the schema on the value in its strict form: options as text, in a list where there may be several;
/// empty rows left out.
fn strictly(question: &FormQuestion, shape: AnswerShape<'_>, value: &Value) -> bool {
    let form = Form::new(vec![question.clone()]);
    let text = |value: &Value| value.as_i64().map_or_else(|| value.clone(), |id| json!(id.to_string()));
    let list = |value: &Value| -> Value {
        value.as_array().map_or_else(|| json!([text(value)]), |items| items.iter().map(text).collect())
    };
    let strict = match shape {
        AnswerShape::Many { .. } | AnswerShape::Sorting { .. } | AnswerShape::Files if !value.is_object() => {
            if matches!(shape, AnswerShape::Files) && !value.is_string() && !value.is_array() {
                return false;
            }
            if matches!(shape, AnswerShape::Files) {
                value.as_array().map_or(json!([value]), |v| json!(v))
            } else {
                list(value)
            }
        }
        AnswerShape::One { .. } => text(value),
        AnswerShape::MatrixSingle { .. } | AnswerShape::MatrixMultiple { .. } if value.is_object() => {
            let rows = value.as_object().into_iter().flatten();
            let rows = rows.filter(|(_, row)| !answer::is_unanswered(row)).map(|(id, row)| {
                let is_many = matches!(shape, AnswerShape::MatrixMultiple { .. });
                (id.clone(), if is_many { list(row) } else { text(row) })
            });
            Value::Object(rows.collect())
        }
        _ => value.clone(),
    };
    let is_empty_choice = question.options.is_empty() && question.question.kind.has_options();
    let has_choice = !answer::is_unanswered(&strict);
    schema_accepts(&form, question, Some(&strict)) && !(is_empty_choice && has_choice)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn schema_and_server_agree_except_where_the_contract_says_so(form in any_form(), sent in any_answers()) {
        for question in form.questions() {
            let value = sent.get(&question.id.to_string());
            let expected = may_differ(question, value);
            let expected = expected.unwrap_or_else(|| {
                let repeated = matches!(question.shape(), Some(AnswerShape::Files))
                    && value.and_then(Value::as_array).is_some_and(|items| {
                        items.iter().enumerate().any(|(position, item)| items[..position].contains(item))
                    });
                schema_accepts(&form, question, value) && !repeated
            });
            prop_assert_eq!(server_accepts(&form, question, &sent), expected, "{:?} {:?}", question, value);
        }
    }

    #[test]
    fn accepted_answers_are_read_back_and_accepted_again(form in any_form(), sent in any_answers()) {
        let Ok(answers) = form.validate(&sent).into_answers() else { return Ok(()) };
        prop_assert_eq!(answers.len(), 3, "one row for each displayed question");
        let read_back: Map<String, Value> = answers.iter().map(|(id, answer)| {
            let value = crate::AnswerRow::new(*id, answer.as_ref()).read_back();
            let is_one = form.question(*id).is_some_and(|q| q.question.kind == QuestionType::SingleOption);
            (id.to_string(), if is_one { value.get(0).cloned().unwrap_or_default() } else { value })
        }).collect();
        let again = form.validate(&read_back).into_answers();
        let is_upload = |answer: &Option<Answer>| matches!(answer, Some(Answer::Uploads(_)));
        if !answers.iter().any(|(_, answer)| is_upload(answer)) {
            prop_assert_eq!(again.unwrap(), answers);
        }
    }

    #[test]
    fn display_follows_the_rules_read_naively(form in conditional_form(), sent in any_answers()) {
        let displayed: Vec<QuestionId> = form.validate(&sent).answers.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(displayed, naively_displayed(&form, &sent));
    }
}

prop_compose! {
    fn any_condition(question: i64)(
        target in 1..question,
        kind in select(&ConditionType::ALL[..]),
        option in proptest::option::weighted(0.9, 0..4_i64),
        value in "[OoPp0-3 ]{1,2}",
        mandatory: bool,
    ) -> DisplayCondition {
        DisplayCondition {
            question: QuestionId(question),
            condition_question: QuestionId(target),
            kind,
            option: option.map(|n| AnswerOptionId(target * 100 + n)),
            value: Some(text(&value)),
            mandatory,
        }
    }
}

fn conditional_form() -> impl Strategy<Value = Form> {
    let conditions = |id| proptest::collection::vec(any_condition(id), 0..3);
    (any_question(1), any_question(2), any_question(3), conditions(2), conditions(3)).prop_map(
        |(first, second, third, of_second, of_third)| {
            let second = FormQuestion { conditions: of_second, ..second };
            let third = FormQuestion { conditions: of_third, ..third };
            Form::new(vec![first, second, third])
        },
    )
}

/// The displayed questions, by the sentences of contract 08 §6.4.
fn naively_displayed(form: &Form, sent: &Map<String, Value>) -> Vec<QuestionId> {
    let mut shown: Vec<QuestionId> = Vec::new();
    for question in form.questions() {
        let mut mandatory = Vec::new();
        let mut others = Vec::new();
        for condition in &question.conditions {
            let target = form.question(condition.condition_question).unwrap();
            let value = sent.get(&target.id.to_string()).filter(|_| shown.contains(&target.id));
            let answer = value.and_then(|value| target.read_answer(value).ok().flatten());
            let holds = naively_holds(condition, target, answer.as_ref());
            if condition.mandatory { mandatory.push(holds) } else { others.push(holds) }
        }
        let is_shown = if mandatory.is_empty() {
            others.is_empty() || others.contains(&true)
        } else {
            !mandatory.contains(&false)
        };
        if is_shown {
            shown.push(question.id);
        }
    }
    shown
}

fn naively_holds(condition: &DisplayCondition, target: &FormQuestion, answer: Option<&Answer>) -> bool {
    let chosen = answer.map(Answer::options).unwrap_or_default();
    let includes = condition.option.map(|option| chosen.contains(&option));
    match (condition.kind, answer) {
        (ConditionType::Answered, answer) => answer.is_some(),
        (ConditionType::NotAnswered, answer) => answer.is_none(),
        (_, None) => false,
        (ConditionType::Equal, Some(_)) => includes == Some(true),
        (ConditionType::NotEqual, Some(_)) => includes == Some(false),
        (ConditionType::Match, Some(answer)) => {
            let needle =
                condition.value.as_ref().and_then(|value| value.get(Locale::EN)).unwrap().to_lowercase();
            let options = target.options.iter().filter(|option| chosen.contains(&option.id));
            let mut texts: Vec<String> =
                options.map(|option| option.option.body.get(Locale::EN).unwrap().to_lowercase()).collect();
            texts.extend(answer.text().map(str::to_lowercase));
            texts.iter().any(|text| text.contains(&needle))
        }
    }
}

#[test]
fn errors_are_in_the_order_of_questions_with_unknown_keys_last() {
    let mandatory = |question: FormQuestion| FormQuestion {
        question: Question { mandatory: true, ..question.question },
        ..question
    };
    let form = Form::new(vec![
        mandatory(question(2, QuestionType::ShortAnswer, 0, 0)),
        mandatory(question(1, QuestionType::SingleOption, 2, 0)),
        question(3, QuestionType::Separator, 0, 0),
    ]);
    let sent = json!({"3": "x", "9": 1, "1": ["100", "101"]});
    let error = form.validate(sent.as_object().unwrap()).into_answers().unwrap_err();
    let found: Vec<_> =
        error.details().iter().map(|error| (error.field.as_ref(), error.code.as_ref())).collect();
    let expected = [
        ("answers.1", "invalid"),
        ("answers.2", "blank"),
        ("answers.3", "inclusion"),
        ("answers.9", "inclusion"),
    ];
    assert_eq!(found, expected);
    assert!(error.description().starts_with("Answer is invalid. Answer cannot be blank"));
}

#[test]
fn a_question_that_cannot_be_answered_need_not_be() {
    let mut choice = question(1, QuestionType::Sorting, 0, 0);
    let mut matrix = question(2, QuestionType::MatrixSingle, 2, 0);
    (choice.question.mandatory, matrix.question.mandatory) = (true, true);
    let form = Form::new(vec![choice, matrix]);
    assert!(form.validate(&Map::new()).into_answers().is_ok());
    assert_eq!(json!(form.project(LANGUAGES).schema)["required"], json!([]));
}
