//! The document replaces the published one for generators of clients (contract 12).

use super::{document, operation, operations, parameter};
use serde_json::{Value, json};

/// The tag and the title of the body of each operation in the published document.
const CLIENT_NAMES: &str = include_str!("../../fixtures/client_names.json");

fn resolved(schema: &Value) -> &Value {
    match schema["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        Some(pointer) => document().pointer(pointer).expect("a schema"),
        None => schema,
    }
}

#[test]
fn generated_clients_find_the_classes_they_know() {
    let names: Value = serde_json::from_str(CLIENT_NAMES).unwrap();
    for (id, known) in names.as_object().unwrap() {
        let operation = operation(id);
        assert_eq!(operation["tags"], json!([known["tag"]]), "{id}");
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(resolved(schema)["title"], known["body"], "{id}");
    }
    assert!(names.as_object().unwrap().len() > 70);
    for (verb, path, operation) in operations() {
        assert!(operation["operationId"].is_string(), "{verb} {path}");
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let (body, required) = (resolved(body), resolved(body)["required"].as_array());
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let member = &body["properties"][name];
            let is_text =
                member["type"] == "string" && member["enum"].is_null() && member["format"].is_null();
            assert!(!is_text || member["minLength"].is_number(), "{verb} {path} {name}");
        }
    }
}

#[test]
fn parameters_have_the_types_that_generated_clients_check() {
    for (id, name) in [
        ("getOrganization", "id"),
        ("showAttachment", "id"),
        ("setSpaceExtendedData", "id"),
        ("searchComponents", "filter[participatory_space_id_eq]"),
        ("listBlogComponents", "filter[participatory_space_id_gt]"),
    ] {
        let schema = &parameter(id, name)["schema"];
        assert_eq!(
            (&schema["type"], &schema["pattern"]),
            (&json!("string"), &json!("^[0-9]{1,18}$")),
            "{id}"
        );
    }
    for (id, name) in [("getProposal", "id"), ("searchSpaces", "filter[id_eq]")] {
        assert_eq!(parameter(id, name)["schema"]["type"], "integer", "{id}");
    }
    for name in ["page", "per_page", "filter[id_eq]", "filter[id_in][]"] {
        assert_ne!(parameter("showProposalComponent", name)["required"], json!(true), "{name}");
    }
    for (id, name) in [("getUserExtendedData", "object_path"), ("listQuestions", "filter[questionnaire_id]")]
    {
        assert_eq!(parameter(id, name)["required"], true, "{id}");
    }
}
