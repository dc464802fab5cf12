//! Operations of the document, with the ids of records of the city in paths and examples.

use civitas_application::SiteSettings;
use civitas_tests::service::{BASE, CITIES, SYSTEM_CLIENTS, Service};
use serde_json::{Value, json};

/// Records of the city that [`CITIES`] does not have.
const MORE: &str = r#"
{"type": "post", "ref": "item", "organization": "city", "component": "news", "title": {"en": "Item"}, "body": {"en": "B"}, "author": "maryadmin", "published_at": "2026-02-01T08:00:00Z"}
{"type": "attachment_collection", "ref": "plans", "organization": "city", "attached_to": {"type": "proposal", "ref": "p1"}, "name": {"en": "Plans"}}
{"type": "attachment", "ref": "plan", "organization": "city", "attached_to": {"type": "proposal", "ref": "p1"}, "title": {"en": "Plan"}, "collection": "plans", "data": "aGVsbG8gd29ybGQK", "filename": "plan.txt"}
{"type": "proposal", "ref": "norasdraft", "organization": "city", "component": "ideas", "title": {"en": "Draft"}, "body": {"en": "B"}, "authors": ["norablum"], "api_client": "full"}
{"type": "webhook_registration", "ref": "hook", "organization": "city", "api_client": "full", "url": "https://hooks.example/civitas", "subscriptions": ["proposal_creation.succeeded"], "signing_secret": "a-signing-secret-of-the-city"}
"#;

/// The archive of the targets that speak HTTP.
pub fn archive() -> String {
    [CITIES, include_str!("../../fixtures/forms.ndjson"), SYSTEM_CLIENTS, MORE.trim_start()].concat()
}

/// An operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The verb in capitals.
    pub method: String,
    /// The path with its base, filled with ids.
    pub path: String,
    /// The names of its query parameters.
    pub parameters: Vec<String>,
    /// The example of its body, filled with ids.
    pub body: Option<Value>,
    /// Which of the server's tokens may use it.
    pub token: usize,
}

/// The id of a record of the city, for a first segment of a path.
fn id_of(service: &Service, segment: &str, path: &str) -> String {
    let (kind, reference) = match segment {
        "draft_proposals" => ("proposal", "norasdraft"),
        "proposals" => ("proposal", "p1"),
        "vote_proposals" => ("vote", "v1"),
        "components" if path.contains("blog") => ("component", "news"),
        "components" => ("component", "ideas"),
        "spaces" if path.contains("assemblies") => ("space", "council"),
        "spaces" if path.contains("conferences") => ("space", "days"),
        "spaces" if path.contains("initiatives") => ("space", "petition"),
        "spaces" => ("space", "streets"),
        "meetings" => ("meeting", "day"),
        "blogs" => ("post", "item"),
        "attachments" => ("attachment", "plan"),
        "questionnaires" => ("questionnaire", "poll"),
        "questions" => ("question", "text"),
        "answer_options" => ("answer_option", "bus"),
        "questionnaire_responses" => ("questionnaire_response", "r1"),
        "organizations" => ("organization", "city"),
        "webhook_registrations" => ("webhook_registration", "hook"),
        _ => return "00000000-0000-4000-8000-000000000000".to_owned(),
    };
    service.id(kind, reference).to_string()
}

/// Ids of the city in an example.
fn fill(service: &Service, path: &str, name: &str, value: &mut Value) {
    let component = if path.starts_with("/blogs") { "news" } else { "ideas" };
    let id = match name {
        "component_id" => Some(service.id("component", component)),
        "proposal_id" | "attached_to_id" => Some(service.id("proposal", "p1")),
        "user_id" => Some(service.id("user", "luisortega")),
        "resource_id" => Some(service.id("space", "council")),
        _ => None,
    };
    match value {
        Value::Object(members) => {
            for (name, member) in &mut *members {
                fill(service, path, name, member);
            }
            if members.contains_key("answers") {
                let question = service.id("question", "text").to_string();
                members.insert("answers".to_owned(), json!({question: "By tram"}));
            }
            if name == "questionnaire" {
                let id = service.id("questionnaire", "poll").to_string();
                members.insert("data".to_owned(), json!({"id": id, "type": "questionnaires"}));
            }
        }
        value => {
            if let Some(id) = id {
                *value = json!(id);
            }
        }
    }
}

/// All operations of the document below its base.
pub fn operations(service: &Service) -> Vec<Operation> {
    let document: Value =
        serde_json::from_str(&civitas_api::openapi(&SiteSettings::default())).expect("JSON");
    let mut operations = Vec::new();
    for (template, item) in document["paths"].as_object().expect("paths") {
        for (verb, operation) in item.as_object().expect("operations") {
            let first = template.split('/').nth(1).unwrap_or_default();
            let path = template.replace("{manifest}", "assemblies");
            let id = if path.contains('{') { id_of(service, first, &path) } else { String::new() };
            let segments = path.split('/').map(|part| if part.starts_with('{') { id.as_str() } else { part });
            let path = format!("{BASE}{}", segments.collect::<Vec<_>>().join("/"));
            let reference =
                operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str();
            let schema = reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?));
            let mut body = schema.and_then(|schema| schema["examples"].get(0)).cloned();
            if let Some(body) = &mut body {
                fill(service, template, "", body);
                if let Some(own) = body.pointer_mut("/data/id") {
                    *own = json!(id);
                }
                // The host stays: all other requests need it.
                for member in ["host", "available_locales"] {
                    body["data"].as_object_mut().map(|data| data.remove(member));
                }
            }
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let parameters = parameters.filter(|p| p["in"] == "query").filter_map(|p| p["name"].as_str());
            let token = match first {
                "organizations" => 2,
                "me" | "draft_proposals" | "vote_proposals" | "answers" | "proposals" => 0,
                _ => 1,
            };
            let (method, parameters) = (verb.to_ascii_uppercase(), parameters.map(str::to_owned).collect());
            operations.push(Operation { method, path, parameters, body, token });
        }
    }
    operations
}
