//! Parameters of the published document: a client that was generated from it may send each of them to this server.

use super::{document, operation, parameters};
use serde_json::Value;

/// For each operation of the published document, its parameters: place and name, the type, and whether it is required.
const PUBLISHED: &str = include_str!("../../fixtures/client_parameters.json");

/// Parameters that the published document requires, and this one does not. Contract 12 lists the header as optional for
/// every operation; clients that follow the published document send it.
const OPTIONAL: [(&str, &str); 2] =
    [("listJobs", "header Authorization"), ("deleteJob", "header Authorization")];

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
