use super::*;
use crate::{AnswerOption, ConditionType, DisplayCondition, MatrixRow, Question};
use civitas_kernel::testing::text;
use civitas_kernel::{AnswerOptionId, Locale, MatrixRowId, QuestionId, QuestionnaireId};

const LANGUAGES: TextLanguages = TextLanguages { effective: Locale::FR, default: Locale::EN };

fn form() -> Form {
    let of = |id, kind| FormQuestion {
        id: QuestionId(id),
        question: Question::new(QuestionnaireId(1), id, kind, text("Q")),
        options: Vec::new(),
        conditions: Vec::new(),
    };
    let option = |question, id| FormOption {
        id: AnswerOptionId(id),
        option: AnswerOption { question: QuestionId(question), body: text("O") },
    };
    let condition = |kind, condition_question, option: Option<i64>, mandatory| DisplayCondition {
        question: QuestionId(3),
        condition_question: QuestionId(condition_question),
        kind,
        option: option.map(AnswerOptionId),
        value: None,
        mandatory,
    };
    let mut matrix = of(1, QuestionType::MatrixMultiple);
    let row = MatrixRow { id: MatrixRowId(31), reference: "r".to_owned(), position: 0, body: text("R") };
    matrix.question.rows = vec![row];
    matrix.options = vec![option(1, 11)];
    let mut many = of(2, QuestionType::MultipleOption);
    many.options = vec![option(2, 22), option(2, 21)];
    let mut last = of(3, QuestionType::ShortAnswer);
    last.conditions = vec![
        condition(ConditionType::NotAnswered, 1, None, true),
        condition(ConditionType::Answered, 2, None, false),
        condition(ConditionType::NotEqual, 2, Some(21), true),
        condition(ConditionType::Equal, 1, Some(11), true),
    ];
    Form::new(vec![last, many, matrix])
}

#[test]
fn mandatory_conditions_are_joined_with_and_and_the_others_are_left_out() {
    let ui = form().project(LANGUAGES).ui;
    let condition = &ui["elements"][2]["rule"]["condition"];
    assert_eq!(condition["type"], "AND");
    let schemas: Vec<&Value> =
        condition["conditions"].as_array().unwrap().iter().map(|one| &one["schema"]).collect();
    assert_eq!(
        schemas,
        [
            &json!({"not": {"minProperties": 1}}),
            &json!({"not": {"contains": {"const": "21"}}}),
            &json!({"not": {"additionalProperties": {"not": {"contains": {"const": "11"}}}}}),
        ]
    );
    assert_eq!(condition["conditions"][0]["failWhenUndefined"], false);
    assert_eq!(condition["conditions"][1]["failWhenUndefined"], true);
}

#[test]
fn properties_are_in_the_order_of_positions_and_not_of_ids() {
    let mut form = form();
    let text = Translated::from([(Locale::EN, "R".to_owned())]);
    let row = |id, position| MatrixRow {
        id: MatrixRowId(id),
        reference: "r".to_owned(),
        position,
        body: text.clone(),
    };
    form = Form::new(
        form.questions()
            .iter()
            .cloned()
            .map(|mut question| {
                question.question.position = -question.id.0;
                if question.id.0 == 1 {
                    question.question.rows = vec![row(31, 2), row(4, 3), row(100, 1)];
                }
                question
            })
            .collect(),
    );
    let schema = serde_json::to_string(&form.project(LANGUAGES).schema).unwrap();
    let positions =
        ["\"3\":", "\"2\":", "\"1\":", "\"100\":", "\"31\":", "\"4\":"].map(|key| schema.find(key).unwrap());
    assert!(positions.is_sorted(), "{schema}");
}

#[test]
fn options_are_in_the_order_of_ids_and_texts_fall_back() {
    let Projection { schema, ui } = form().project(LANGUAGES);
    let schema = json!(schema);
    assert_eq!(schema["properties"]["2"]["items"]["enum"], json!(["21", "22"]));
    assert_eq!(schema["properties"]["2"]["title"], "Q");
    assert_eq!(ui["elements"][0]["options"]["matrix"]["rows"][0]["translations"], json!({"en": "R"}));
}
