//! Parameters of the published document: a client that was generated from it may send each of them to this server.

use super::{document, operation, operations, parameters};
use serde_json::{Value, json};
use std::collections::HashMap;

/// For each operation of the published document, its parameters: place and name, the type, and whether it is required.
const PUBLISHED: &str = include_str!("../../fixtures/client_parameters.json");

/// Parameters that the published document requires, and this one does not. Contract 12 lists the header as optional for
/// every operation, and the bodies of the others may have what is required (contract 01 §11.1, 07 B.6); clients that follow
/// the published document send them.
const OPTIONAL: [(&str, &str); 9] = [
    ("listJobs", "header Authorization"),
    ("deleteJob", "header Authorization"),
    ("attachmentsDirectUpload", "query filename"),
    ("attachmentsDirectUpload", "query byte_size"),
    ("attachmentsDirectUpload", "query checksum"),
    ("setComponentExtendedData", "query object_path"),
    ("setMeetingExtendedData", "query object_path"),
    ("setProposalExtendedData", "query object_path"),
    ("setSpaceExtendedData", "query object_path"),
];

/// The type of a schema: `integer`, `array of string`, ...
fn type_of(schema: &Value) -> String {
    let schema = match schema["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        Some(pointer) => document().pointer(pointer).expect("a schema"),
        None => schema,
    };
    match schema["type"].as_str() {
        Some("array") => format!("array of {}", type_of(&schema["items"])),
        Some(simple) => simple.to_owned(),
        None => format!("{schema}"),
    }
}

#[test]
fn each_parameter_of_the_published_document_is_accepted() {
    let published: Value = serde_json::from_str(PUBLISHED).unwrap();
    let mut count = 0;
    for (id, expected) in published.as_object().unwrap() {
        for (name, expected) in expected.as_object().unwrap() {
            let found = parameters(operation(id)).find(|found| {
                let place = found["in"].as_str().unwrap_or_default();
                name.split_once(' ') == Some((place, found["name"].as_str().unwrap_or_default()))
            });
            let found = found.unwrap_or_else(|| panic!("{id} has no parameter {name}"));
            assert_eq!(type_of(&found["schema"]), expected["type"].as_str().unwrap(), "{id} {name}");
            let is_required = found["required"] == true;
            let is_expected =
                expected["required"] == true && !OPTIONAL.contains(&(id.as_str(), name.as_str()));
            assert_eq!(is_required, is_expected, "{id} {name}");
            count += 1;
        }
    }
    assert!(count > 400, "only {count} parameters");
}

#[test]
fn a_parameter_of_a_path_has_one_schema_in_all_its_operations() {
    let mut known: HashMap<(&str, &str), &Value> = HashMap::new();
    for (verb, path, operation) in operations() {
        for parameter in parameters(operation).filter(|parameter| parameter["in"] == "path") {
            let place = (path.trim_end_matches("/sync"), parameter["name"].as_str().unwrap());
            let schema = known.entry(place).or_insert(&parameter["schema"]);
            assert_eq!(*schema, &parameter["schema"], "{verb} {path}");
        }
    }
    assert!(known.len() > 30, "only {} parameters", known.len());
}

#[test]
fn every_write_takes_an_idempotency_key_but_those_of_tokens_and_bytes() {
    let without = ["createToken", "introspectToken", "revokeToken", "uploadAttachmentBytes"];
    for (verb, path, operation) in operations() {
        let key = parameters(operation).find(|parameter| parameter["name"] == "Idempotency-Key");
        let id = operation["operationId"].as_str().unwrap();
        assert_eq!(key.is_some(), verb != "get" && !without.contains(&id), "{verb} {path}");
        if let Some(key) = key {
            let schema = json!({"type": "string", "pattern": "^[!-~]{1,255}$"});
            assert_eq!((&key["in"], &key["schema"]), (&json!("header"), &schema), "{verb} {path}");
            assert_ne!(key["required"], true, "{verb} {path}");
        }
    }
}
