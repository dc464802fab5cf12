mod authoring;
mod reading;
mod submitting;
mod together;

use civitas_tests::service::{Answer, CITIES, Client, Service};
use serde_json::{Value, json};

/// Questionnaires of surveys and meetings of `city.test`.
const FORMS: &str = include_str!("../../fixtures/forms.ndjson");

pub(crate) async fn services() -> Vec<Service> {
    Service::on_both_engines_with(&format!("{CITIES}{FORMS}"), &[]).await
}

/// The id of a question, an option or another record, as text.
fn id(service: &Service, kind: &str, name: &str) -> String {
    service.id(kind, name).to_string()
}

/// The path of a questionnaire.
fn questionnaire(service: &Service, name: &str) -> String {
    format!("/questionnaires/{}", id(service, "questionnaire", name))
}

/// The ids of the rows of a question, in their order, from the projection.
fn rows(shown: &Value, question: &str) -> Vec<String> {
    let rows = shown["attributes"]["schema"]["properties"][question]["properties"].as_object().unwrap();
    let element = shown["attributes"]["ui"]["elements"].as_array().unwrap().iter();
    let scope = format!("#/properties/{question}");
    let element = element.clone().find(|element| element["scope"] == *scope).unwrap();
    let listed = element["options"]["matrix"]["rows"].as_array().unwrap();
    let ids: Vec<String> = listed.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), rows.len());
    ids
}

/// A submission.
fn submission(questionnaire: &str, answers: &Value, meta: &Value) -> Value {
    json!({"meta": meta, "data": {"type": "questionnaire_response", "attributes": {"answers": answers},
        "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": questionnaire}}}}})
}

/// Answers to the poll that are accepted.
async fn sound(service: &Service, client: &Client) -> Value {
    let shown = client.get(&questionnaire(service, "poll")).await.is(200).data().clone();
    let grid = id(service, "question", "grid");
    let rows = rows(&shown, &grid);
    let (good, bad) = (id(service, "answer_option", "good"), id(service, "answer_option", "bad"));
    let mut answers = json!({});
    answers[id(service, "question", "text")] = json!("By tram");
    answers[id(service, "question", "one")] = json!(id(service, "answer_option", "bike"));
    answers[&grid] = json!({&rows[0]: good, &rows[1]: bad});
    answers
}

async fn submit(service: &Service, client: &Client, answers: &Value, meta: &Value) -> Answer {
    client.post("/answers/sync", &submission(&id(service, "questionnaire", "poll"), answers, meta)).await
}
