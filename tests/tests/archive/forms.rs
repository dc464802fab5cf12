//! Questionnaires and their responses in archives.

use crate::archive::{CITY, pairs, read};
use civitas_application::Store;
use civitas_archive::{ExportOptions, demo_archive, export};
use civitas_kernel::OrganizationId;
use civitas_tests::{databases, export_services};
use serde_json::Value;

/// A questionnaire with a matrix, after [`CITY`].
const POLL: &str = r#"
{"type": "component", "ref": "polls", "organization": "city", "space": "streets", "manifest": "surveys", "name": {"en": "Polls"}}
{"type": "survey", "ref": "s", "organization": "city", "component": "polls"}
{"type": "questionnaire", "ref": "q", "organization": "city", "survey": "s", "title": {"en": "Poll"}, "salt": "pepper"}
{"type": "question", "ref": "why", "organization": "city", "questionnaire": "q", "position": 1, "question_type": "short_answer", "body": {"en": "Why?"}}
{"type": "question", "ref": "rate", "organization": "city", "questionnaire": "q", "position": 0, "question_type": "matrix_single", "body": {"en": "Rate"}, "matrix_rows": [{"ref": "r1", "position": 1, "body": {"en": "R1"}}, {"ref": "r0", "position": 0, "body": {"en": "R0"}}]}
{"type": "answer_option", "ref": "good", "organization": "city", "question": "rate", "body": {"en": "Good"}}
{"type": "answer_option", "ref": "bad", "organization": "city", "question": "rate", "body": {"en": "Bad"}}
{"type": "display_condition", "ref": "c", "organization": "city", "question": "why", "condition_question": "rate", "condition_type": "equal", "answer_option": "bad"}
{"type": "questionnaire_response", "ref": "a", "organization": "city", "questionnaire": "q", "user": "nora", "answers": {"rate": {"r0": "bad", "r1": "good"}, "why": "Rain"}, "client_ip_digest": "d", "created_at": "2026-03-01T10:00:00Z"}
"#;

/// Lines that follow [`POLL`], and below each why it is refused.
const REFUSED: &str = r#"
{"type": "questionnaire", "ref": "x", §, "survey": "s", "meeting": "kickoff", "title": {}}
questionnaire "x": survey and meeting exclude each other
{"type": "questionnaire", "ref": "q", §, "meeting": "kickoff"}
questionnaire "q": survey or meeting cannot change
{"type": "questionnaire", "ref": "x", §, "survey": "s", "title": {}, "salt": ""}
questionnaire "x": salt must not be empty
{"type": "question", "ref": "why", §, "position": -1}
question "why": position must be 0 or more
{"type": "question", "ref": "why", §, "max_choices": 0}
question "why": max_choices must be 1 or more
{"type": "question", "ref": "why", §, "matrix_rows": [{"ref": "r", "position": 0, "body": {}}]}
question "why": only questions with a matrix have matrix_rows
{"type": "question", "ref": "rate", §, "matrix_rows": [{"ref": "r", "position": 0, "body": {}}, {"ref": "r", "position": 0, "body": {}}]}
question "rate": matrix_rows name "r" twice
{"type": "answer_option", "ref": "x", §, "question": "why", "body": {}}
answer_option "x": question "why" does not have options
{"type": "display_condition", "ref": "x", §, "question": "why", "condition_question": "why", "condition_type": "answered"}
display_condition "x": condition_question must be another question of the questionnaire
{"type": "display_condition", "ref": "x", §, "question": "why", "condition_question": "rate", "condition_type": "maybe"}
display_condition "x": condition_type "maybe" is not known
{"type": "display_condition", "ref": "x", §, "question": "rate", "condition_question": "why", "condition_type": "equal", "answer_option": "bad"}
display_condition "x": answer_option "bad" is not one of the condition question
{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "user": "nora", "answers": {"why": "A"}}
questionnaire_response "x": the user has already answered the questionnaire
{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "answers": {"why": 1}}
questionnaire_response "x": answers: why: Answer is invalid
{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "answers": {"rate": {"r9": "bad"}}}
questionnaire_response "x": row "r9" is not known
{"type": "questionnaire_response", "ref": "x", §, "questionnaire": "q", "answers": {}}
questionnaire_response "x": answers must not be empty
{"type": "questionnaire_response", "ref": "a", §, "user": "luis"}
questionnaire_response "a": user cannot change
"#;

#[tokio::test]
async fn lines_that_do_not_fit_are_refused() {
    for database in databases().await {
        let store = &*database.store;
        read(store, &format!("{CITY}{POLL}"), false).await.unwrap();
        for (line, reason) in pairs(REFUSED) {
            let error = read(store, &line, false).await.expect_err(&line);
            assert_eq!(error.to_string(), format!("line 1: {reason}"));
        }
    }
}

#[tokio::test]
async fn a_questionnaire_imported_again_is_unchanged_and_rows_keep_their_ids() {
    let moved = r#"{"type": "question", "ref": "rate", "organization": "city", "matrix_rows": [{"ref": "r1", "position": 0, "body": {"en": "R1"}}, {"ref": "r0", "position": 1, "body": {"en": "R0"}}]}"#;
    for database in databases().await {
        let store = &*database.store;
        let archive = format!("{CITY}{POLL}");
        let report = read(store, &archive, false).await.unwrap();
        let again = read(store, &archive, false).await.unwrap();
        assert_eq!(again.to_json()["updated"], serde_json::json!({}));
        assert_eq!(again.to_json()["created"], serde_json::json!({}));
        let city = OrganizationId(report.refs["city"]["organization"]["city"]);
        let rows = async || {
            let questions = store.questions().page_after(city, None, 10).await.unwrap();
            let matrix = questions.into_iter().find(|(_, question)| !question.rows.is_empty()).unwrap().1;
            matrix.rows.into_iter().map(|row| (row.reference, row.id)).collect::<Vec<_>>()
        };
        let before = rows().await;
        assert_eq!(read(store, moved, false).await.unwrap().updated["question"], 1);
        let after = rows().await;
        assert_eq!(after, before.into_iter().rev().collect::<Vec<_>>());
        let response = store.responses().page_after(city, None, 10).await.unwrap()[0].0;
        let first = store.responses().answer_ids(city, response).await.unwrap()[0].1;
        assert_eq!(report.refs["city"]["questionnaire_response"]["a"], first.0, "the number clients see");
    }
}

/// The lines of these types of an export, with values by name instead of ids.
async fn answers(store: &dyn Store) -> Vec<Value> {
    let mut written = Vec::new();
    export(store, export_services(), &ExportOptions::default(), &mut written).await.unwrap();
    let lines = String::from_utf8(written).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["type"] == "questionnaire_response")
        .map(|line| line["answers"].clone())
        .collect()
}

#[tokio::test]
async fn an_export_imports_with_the_same_questionnaires_and_responses() {
    for database in databases().await {
        let store = &*database.store;
        read(store, demo_archive(), false).await.unwrap();
        let mut written = Vec::new();
        export(store, export_services(), &ExportOptions::default(), &mut written).await.unwrap();
        let exported = String::from_utf8(written).unwrap();
        let Some(other) = civitas_tests::Database::fresh(database.engine).await else { continue };
        let report = read(&*other.store, &exported, false).await.unwrap();
        assert_eq!((report.created["question"], report.created["questionnaire_response"]), (11, 3));
        let (first, second) = (answers(store).await, answers(&*other.store).await);
        assert_eq!(first.len(), second.len());
        for (one, other) in first.iter().zip(&second) {
            let texts = |answers: &Value| {
                let values = answers.as_object().unwrap().values();
                values.filter(|value| value.is_string()).cloned().collect::<Vec<_>>()
            };
            assert_eq!(texts(one), texts(other));
        }
    }
}
