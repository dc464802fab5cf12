//! Bodies and parameters: what the document says of them is what the server does.

use super::{KNOWN, document, operation, parameter, parameters};
use serde_json::{Value, json};

#[test]
fn closed_bodies_are_closed() {
    for id in [
        "createBlogPost",
        "updateBlogPost",
        "updateQuestionnaire",
        "createQuestions",
        "updateQuestion",
        "createAnswerOption",
        "updateAnswerOption",
        "createAnswers",
        "createWebhookRegistration",
        "updateWebhookRegistration",
    ] {
        let schema = &operation(id)["requestBody"]["content"]["application/json"]["schema"];
        let schema = target(schema);
        assert_eq!(schema["additionalProperties"], false, "{id}");
    }
    let types = |variant: usize| {
        let attributes = "/properties/data/properties/attributes/oneOf";
        let path = format!("{attributes}/{variant}/allOf/0/properties/question_type/enum");
        document()["components"]["schemas"]["question_create_body"].pointer(&path).cloned()
    };
    assert_eq!(types(1), Some(json!(["long_answer"])));
    assert_eq!(types(2), Some(json!(["short_answer", "files"])));
    let option = &document()["components"]["schemas"]["answer_option_create_body"]["properties"]["data"];
    assert_eq!(option["properties"]["id"], Value::Null, "an option that is added has no id");
    let question = &document()["components"]["schemas"]["question_update_body"]["properties"]["data"];
    let mut relationships = &question["properties"]["relationships"];
    for name in ["questionnaire", "data"] {
        assert_eq!(relationships["additionalProperties"], false, "relationships.{name}");
        relationships = &relationships["properties"][name];
    }
    assert_eq!(relationships["additionalProperties"], false, "the identifier");
}

/// The schema that a reference leads to.
fn target(schema: &Value) -> &'static Value {
    let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    document().pointer(target.expect("a reference")).expect("a schema")
}

#[test]
fn bodies_of_attachments_have_closed_variants_and_a_form() {
    for (id, required) in [("createAttachment", 5), ("updateAttachment", 0)] {
        let body = target(&operation(id)["requestBody"]["content"]["application/json"]["schema"]);
        let [flat, nested] = body["oneOf"].as_array().unwrap().as_slice() else { panic!("{body}") };
        let (flat, nested) = (target(flat), target(nested));
        assert_eq!(flat["required"].as_array().map_or(0, Vec::len), required, "{id}");
        let data = &nested["properties"]["data"];
        for closed in [flat, nested, data] {
            assert_eq!(closed["additionalProperties"], false, "{id}: {closed}");
        }
        assert_eq!(target(&data["properties"]["attributes"]), flat, "{id}");
        assert_eq!(nested["required"], json!(["data"]), "the variants do not overlap");
    }
    let content = &operation("createAttachment")["requestBody"]["content"];
    let parts = &content["multipart/form-data"]["schema"]["patternProperties"];
    assert_eq!(parts["^file$"]["format"], "binary");
    let kinds = parts["^attached_to_type$"]["enum"].as_array().unwrap();
    for kind in ["proposals", "Platform::Blogs::Post", "Decidim::Blogs::Post"] {
        assert!(kinds.contains(&json!(kind)), "{kind}");
    }
    assert!(!kinds.contains(&json!("Platform::Forms::Answer")));
}

#[test]
fn bodies_of_the_token_endpoints_have_what_the_server_reads() {
    let schemas = &document()["components"]["schemas"];
    assert!(schemas["password_grant_impersonate"]["properties"]["password"].is_object());
    let introspect = &operation("introspectToken")["requestBody"]["content"]["application/json"]["schema"];
    for name in ["client_id", "client_secret"] {
        assert!(introspect["properties"][name].is_object(), "{name}");
    }
    assert_ne!(operation("revokeToken")["requestBody"]["required"], true);
}

#[test]
fn an_upload_takes_bytes_of_any_type() {
    let content = operation("uploadAttachmentBytes")["requestBody"]["content"].as_object().unwrap();
    assert_eq!(content.keys().collect::<Vec<_>>(), ["*/*"]);
    assert_eq!(content["*/*"]["schema"]["format"], "binary");
}

/// The numbers that JavaScript does not read exactly, each with its place.
fn inexact_numbers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(all) => {
            all.iter().for_each(|(name, member)| inexact_numbers(member, &format!("{place}/{name}"), found));
        }
        Value::Array(items) => items.iter().for_each(|item| inexact_numbers(item, place, found)),
        Value::Number(number) if number.as_f64().is_none_or(|n| n.abs() >= 9_007_199_254_740_992.0) => {
            found.push(format!("{place}: {number}"));
        }
        _ => {}
    }
}

#[test]
fn every_number_is_exact_in_javascript() {
    let mut found = Vec::new();
    inexact_numbers(document(), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn texts_that_hold_numbers_paths_and_digests_have_patterns() {
    let pattern = |id: &str, name: &str| {
        let schema = &parameter(id, name)["schema"];
        let one = if schema["type"] == "array" { &schema["items"] } else { schema };
        assert_eq!(one["type"], "string", "{id} {name}");
        one["pattern"].as_str().map(str::to_owned)
    };
    for list in ["searchComponents", "listProposalComponents", "listBlogComponents"] {
        for end in ["eq]", "lt]", "gt]", "in][]"] {
            let name = format!("filter[participatory_space_id_{end}");
            assert_eq!(pattern(list, &name).as_deref(), Some("^[0-9]{1,18}$"), "{list} {name}");
        }
    }
    for end in ["eq]", "not_eq]", "lt]", "gt]", "in][]", "not_in][]"] {
        let name = format!("filter[voted_weight_{end}");
        assert_eq!(pattern("listProposals", &name).as_deref(), Some("^-?[0-9]{1,18}$"), "{name}");
    }
    assert_eq!(pattern("listProposals", "filter[voted_weight_start]"), None);
    assert!(pattern("attachmentsDirectUpload", "checksum").is_some());
    assert_eq!(parameter("attachmentsDirectUpload", "byte_size")["schema"]["minimum"], 1);
    for kind in ["Space", "Component", "Proposal", "Meeting"] {
        for id in [format!("set{kind}ExtendedData"), format!("set{kind}ExtendedDataAsync")] {
            assert_ne!(parameter(&id, "object_path")["required"], true, "{id}: the body may have it");
        }
    }
    for (id, required) in [("listAnswers", true), ("listAnswerOptions", true), ("listQuestionnaires", false)]
    {
        let found = parameters(operation(id)).any(|p| p["required"] == true && p["in"] == "query");
        assert_eq!(found, required, "{id}");
    }
}

#[test]
fn the_pattern_of_object_paths_is_the_rule_of_the_server() {
    let is_path = |schema: &str, path: &str| {
        let misfits = KNOWN.misfits_of(schema, &json!({"data": 1, "object_path": path}));
        misfits.is_empty()
    };
    let longest = vec!["k"; 50].join(".");
    for path in [".", "a", "a.b", "é.1 2", longest.as_str()] {
        assert!(is_path("extended_data_body", path) && is_path("extended_data_root_body", path), "{path}");
    }
    let longer = format!("{longest}.k");
    for path in ["..", ".a", "a.", "a..b", longer.as_str()] {
        assert!(!is_path("extended_data_body", path) && !is_path("extended_data_root_body", path), "{path}");
    }
    for blank in ["", " ", "\t\n"] {
        assert!(!is_path("extended_data_body", blank), "missing");
        assert!(is_path("extended_data_root_body", blank), "the root");
    }
}
