//! An export equals the import, on both engines.

use crate::archive::{CITY, read};
use civitas_application::Store;
use civitas_archive::{ExportOptions, demo_archive, export};
use civitas_tests::{databases, export_services};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

async fn write(store: &dyn Store, options: &ExportOptions) -> String {
    let mut output = Vec::new();
    export(store, export_services(), options, &mut output).await.expect("an archive");
    String::from_utf8(output).expect("UTF-8")
}

/// The place of each record among those of its type, by type and ref.
fn places_of(records: &[Map<String, Value>]) -> HashMap<(String, String), String> {
    let mut places = HashMap::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for record in records {
        let kind = record["type"].as_str().expect("a text").to_owned();
        let count = counts.entry(kind.clone()).or_default();
        *count += 1;
        places.insert((kind, record["ref"].as_str().expect("a text").to_owned()), format!("#{count}"));
    }
    places
}

/// The refs of the questions whose answers are texts.
fn text_questions(records: &[Map<String, Value>]) -> HashSet<String> {
    let is_text = |record: &&Map<String, Value>| {
        record["type"] == "question"
            && record["question_type"].as_str().is_some_and(|kind| kind.ends_with("_answer"))
    };
    records.iter().filter(is_text).filter_map(|record| record["ref"].as_str().map(str::to_owned)).collect()
}

/// What the other engine's ids may not change: each ref becomes the place of its record among those of its type.
fn anonymous(archive: &str) -> Vec<Value> {
    let records: Vec<Map<String, Value>> =
        archive.lines().map(|l| serde_json::from_str(l).expect("a record")).collect();
    let places = places_of(&records);
    let place = |kind: &str, reference: &Value| match reference.as_str() {
        Some(text) => Value::from(places[&(kind.to_owned(), text.to_owned())].as_str()),
        None => reference.clone(),
    };
    let texts = text_questions(&records);
    let renamed = |mut record: Map<String, Value>| {
        let kind = record["type"].as_str().expect("a text").to_owned();
        for (name, value) in &mut record {
            match name.as_str() {
                "ref" => *value = place(&kind, value),
                "organization" | "space" | "component" | "proposal" | "user" | "api_client" | "survey"
                | "meeting" | "questionnaire" | "question" | "answer_option" => {
                    *value = place(name, value);
                }
                "collection" => *value = place("attachment_collection", value),
                "attached_to" => {
                    let kind = value["type"].as_str().expect("a text").to_owned();
                    value["ref"] = place(&kind, &value["ref"]);
                }
                "condition_question" => *value = place("question", value),
                "answers" => {
                    let answers = value.as_object().expect("an object").iter();
                    let answers = answers.map(|(question, answer)| {
                        let answer = if texts.contains(question) {
                            answer.clone()
                        } else {
                            with_options(answer, &|option| place("answer_option", option))
                        };
                        let question = place("question", &Value::from(question.as_str()));
                        (question.as_str().expect("a text").to_owned(), answer)
                    });
                    *value = answers.collect::<Map<_, _>>().into();
                }
                "author" => *value = place("user", value),
                "authors" | "registrations" => {
                    value.as_array_mut().expect("a list").iter_mut().for_each(|a| *a = place("user", a));
                }
                "step_settings" => {
                    let by_step = value.as_object().expect("an object").iter();
                    let by_place = by_step.map(|(step, values)| {
                        let place = place("step", &Value::from(step.as_str()));
                        (place.as_str().expect("a text").to_owned(), values.clone())
                    });
                    *value = by_place.collect::<Map<_, _>>().into();
                }
                _ => {}
            }
        }
        Value::Object(record)
    };
    records.into_iter().map(renamed).collect()
}

/// An answer with other names of its options: one, a list, or those of rows.
fn with_options(answer: &Value, rename: &dyn Fn(&Value) -> Value) -> Value {
    match answer {
        Value::String(_) => rename(answer),
        Value::Array(options) => options.iter().map(rename).collect(),
        Value::Object(rows) => {
            let rows = rows.iter().map(|(row, chosen)| (row.clone(), with_options(chosen, rename)));
            Value::Object(rows.collect())
        }
        other => other.clone(),
    }
}

#[tokio::test]
async fn what_is_exported_imports_into_the_other_engine_and_exports_the_same() {
    let from = databases().await;
    let mut to = databases().await;
    to.reverse();
    for (source, target) in from.iter().zip(&to) {
        // Another organization before it, so that its ids are others in the target.
        read(&*source.store, CITY, false).await.unwrap();
        let extra = concat!(
            r#"{"type": "user", "ref": "tom_baker", "organization": "riverbend", "password": "tulips-1"}"#,
            "\n",
            r#"{"type": "user", "ref": "gone", "organization": "riverbend", "nickname": "tom_baker", "#,
            r#""email": "tom.baker@riverbend.example", "name": "Tom", "deleted_at": "2026-11-01T00:00:00Z"}"#,
        );
        read(&*source.store, &format!("{}\n{extra}", demo_archive()), false).await.unwrap();
        let only =
            ExportOptions { organization: Some("localhost".into()), with_secrets: true, with_ids: false };
        let first = write(&*source.store, &only).await;
        let report = read(&*target.store, &first, false).await.unwrap();
        assert!(report.secrets.is_empty());
        let second = write(&*target.store, &only).await;
        assert_eq!(anonymous(&first), anonymous(&second));
        assert!(first.contains("client_secret_hash") && first.contains("$argon2id$"));
    }
}

#[tokio::test]
async fn an_export_without_secrets_has_none_and_everything_else() {
    let wide = r#"
{"type": "system_admin", "ref": "root", "email": "Root@city.example", "password": "tulips-1"}
{"type": "api_client", "ref": "ops", "organization": null, "client_id": "ops-client", "name": "Operations", "scopes": ["system"], "client_secret": "s3cret"}
"#;
    for database in databases().await {
        let store = &*database.store;
        read(store, &format!("{wide}{CITY}"), false).await.unwrap();
        let plain = write(store, &ExportOptions::default()).await;
        assert!(!plain.contains("password") && !plain.contains("secret"), "{plain}");
        assert!(plain.contains("root@city.example") && plain.contains("ops-client"));
        let own =
            ExportOptions { organization: Some("city.example".into()), with_secrets: true, with_ids: false };
        let own = write(store, &own).await;
        assert!(own.contains("client_secret_hash"));
        assert!(!own.contains("root@city.example") && !own.contains("ops-client"));
        let nowhere = ExportOptions {
            organization: Some("nowhere.example".into()),
            with_secrets: false,
            with_ids: false,
        };
        let error = export(store, export_services(), &nowhere, Vec::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "no organization has the host nowhere.example");
    }
}
