//! Schemas of request bodies. Generators of clients name classes and parameters after them, so some are written in place
//! with a title of their own, as in the published document (contract 12).

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The operations whose body is written in place, with its title.
const IN_PLACE: [(&str, Option<&str>); 13] = [
    ("createDraftProposal", Some("Create Draft Proposal Payload")),
    ("createRole", None),
    ("generateMagicLink", Some("Generate Magic Link Payload")),
    ("introspectToken", Some("Introspect Token")),
    ("attachmentsDirectUpload", None),
    ("setComponentExtendedData", None),
    ("setMeetingExtendedData", None),
    ("setOrganizationExtendedData", Some("User Extended Data Payload")),
    ("setProposalExtendedData", None),
    ("setSpaceExtendedData", None),
    ("setUserExtendedData", Some("User Extended Data Payload")),
    ("updateDraftProposal", Some("Update Draft Proposal Payload")),
    ("updateOrganization", Some("Update Organization Payload")),
];
/// The members of bodies that may be null: removed, or as if absent (contract 01 §11.1, 03 §3.1, 07 A.6, B.6, B.7,
/// 08 §5.2, §6.1). Other optional members are absent, never null.
const NULLABLE: [(&str, &[&str]); 11] = [
    ("attachment_create_attributes", &["attachment_collection_id"]),
    ("attachment_update_attributes", &["attachment_collection_id"]),
    ("attachment_direct_upload_body", &["content_type"]),
    ("blog_post_create_payload", &["published_at"]),
    ("blog_post_update_payload", &["published_at"]),
    ("extended_data_body", &["object_path"]),
    ("extended_data_root_body", &["object_path"]),
    ("magic_link_create_body", &["redirect_url"]),
    ("question_create_body", &["description", "max_choices", "max_characters"]),
    ("question_update_body", &["description", "max_choices", "max_characters"]),
    ("questionnaire_answers_create_body", &["locale", "anonymous", "client_ip"]),
];
/// The largest whole number that tools in JavaScript read exactly (`Number.MAX_SAFE_INTEGER`).
const LARGEST: i64 = (1 << 53) - 1;
/// Where schemas are.
const SCHEMAS: &str = "#/components/schemas/";

/// Writes the bodies of [`IN_PLACE`] in place, and removes schemas that nothing names then.
pub(super) fn write_in_place(document: &mut Value) {
    let mut moved = Vec::new();
    let schemas = document["components"]["schemas"].clone();
    for operation in operations(document) {
        let title = IN_PLACE.iter().find(|(id, _)| operation["operationId"] == *id);
        let (Some((_, title)), Some(schema)) = (title, body(operation)) else { continue };
        let Some(name) = named(schema) else { continue };
        *schema = schemas[&name].clone();
        if let Some(members) = schema.as_object_mut() {
            match title {
                Some(title) => drop(members.insert("title".to_owned(), json!(title))),
                None => drop(members.remove("title")),
            }
        }
        moved.push(name);
    }
    let text = document.to_string();
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        moved.retain(|name| !text.contains(&format!("\"{SCHEMAS}{name}\"")));
        for name in &moved {
            schemas.remove(name);
        }
    }
}

/// Adds the form with which a file is attached. Its parts are described by patterns: texts by language are parts like
/// `title[en]`, and openapi-generator imports a class of named parts that it does not write.
pub(super) fn add_form(document: &mut Value) {
    let parents =
        document["components"]["schemas"]["attachment_create_attributes"]["properties"]["attached_to_type"]
            .clone();
    let integer = json!({"type": "integer", "format": "int64"});
    let form = json!({
        "type": "object",
        "description": "The parts of a new attachment. Required are `file`, which has the name and the bytes of the file, \
                        `attached_to_type`, `attached_to_id`, and `title` and `description`: each one part, or one for \
                        each language, as `title[en]`.",
        "patternProperties": {
            "^file$": {"type": "string", "format": "binary"},
            "^attached_to_type$": parents,
            r"^(title|description)(\[[A-Za-z-]+\])?$": {"type": "string", "minLength": 1},
            "^(attached_to_id|weight|attachment_collection_id)$": integer,
        },
    });
    let create = operations(document).find(|operation| operation["operationId"] == "createAttachment");
    let body = create.and_then(|operation| operation.pointer_mut("/requestBody/content"));
    if let Some(content) = body.and_then(Value::as_object_mut) {
        content.insert("multipart/form-data".to_owned(), json!({"schema": form}));
    }
}

/// Sets the limits of all bodies. Required texts have a character at least: an empty one is missing. Integers have the
/// range that is exact everywhere; the server takes 64 bits.
pub(super) fn limit(document: &mut Value) {
    let mut names = BTreeSet::new();
    for operation in operations(document) {
        let contents = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
        for (_, content) in contents.into_iter().flatten() {
            match named(&content["schema"]) {
                Some(name) => drop(names.insert(name)),
                None => limit_schema(&mut content["schema"]),
            }
        }
    }
    for name in names {
        let schema = &mut document["components"]["schemas"][name];
        let variants: Vec<_> = schema["oneOf"].as_array().into_iter().flatten().filter_map(named).collect();
        limit_schema(schema);
        for variant in variants {
            limit_schema(&mut document["components"]["schemas"][variant]);
        }
    }
}

/// The name of the schema that a reference leads to.
fn named(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.strip_prefix(SCHEMAS).map(str::to_owned)
}

fn limit_schema(schema: &mut Value) {
    fill(schema);
    bound(schema);
}

/// Adds the range up to [`LARGEST`] to the integers of a schema.
fn bound(schema: &mut Value) {
    if let Some(parts) = schema.as_array_mut() {
        parts.iter_mut().for_each(bound);
        return;
    }
    let Some(members) = schema.as_object_mut() else { return };
    if members.get("format").is_some_and(|format| format == "int64") {
        members.entry("minimum").or_insert(json!(-LARGEST));
        members.entry("maximum").or_insert(json!(LARGEST));
    }
    members.iter_mut().filter(|(name, _)| *name != "examples").for_each(|(_, member)| bound(member));
}

fn fill(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        let is_required = required.iter().any(|required| required == name);
        if is_required && property["type"] == "string" && is_open(property.as_object()) {
            property["minLength"] = json!(1);
        }
        fill(property);
    }
}

/// Whether a text is neither one of a list nor of a format.
fn is_open(schema: Option<&Map<String, Value>>) -> bool {
    schema
        .is_some_and(|members| ["enum", "format", "minLength"].iter().all(|key| !members.contains_key(*key)))
}

/// Adds null to the types of the members of [`NULLABLE`].
pub(super) fn allow_null(schemas: &mut Value) {
    for (schema, names) in NULLABLE {
        if let Some(schema) = schemas.get_mut(schema) {
            add_null(schema, names);
        }
    }
}

fn add_null(schema: &mut Value, names: &[&str]) {
    if let Some(parts) = schema.as_array_mut() {
        for part in parts {
            add_null(part, names);
        }
        return;
    }
    let Some(members) = schema.as_object_mut() else { return };
    let properties = members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, property) in properties.filter(|(name, _)| names.contains(&name.as_str())) {
        if property.get("$ref").is_some() {
            // Not `oneOf`: openapi-generator 7.9.0 makes a type of the null, which it does not write.
            *property = json!({"anyOf": [property, {"type": "null"}]});
        } else {
            property["type"] = json!([property["type"], "null"]);
        }
    }
    for member in members.values_mut() {
        add_null(member, names);
    }
}

fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten().map(|(_, operation)| operation))
}

/// The schema of the JSON body of an operation.
fn body(operation: &mut Value) -> Option<&mut Value> {
    operation.pointer_mut("/requestBody/content/application~1json/schema")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let content = |name: &str| json!({"content": {"application/json": {"schema": {"$ref": format!("{SCHEMAS}{name}")}}}});
        let role = json!({"title": "Role", "type": "object", "required": ["kind"], "properties": {
            "kind": {"type": "string"}, "note": {"type": "string"}}});
        json!({
            "paths": {"/roles": {
                "post": {"operationId": "createRole", "requestBody": content("role")},
                "put": {"operationId": "updateRole", "requestBody": content("role")},
                "get": {"operationId": "updateDraftProposal", "requestBody": content("draft")},
            }},
            "components": {"schemas": {"role": role, "draft": {"title": "Draft"}}},
        })
    }

    #[test]
    fn bodies_in_place_have_their_own_title_and_unused_schemas_are_removed() {
        let mut document = document();
        write_in_place(&mut document);
        let at = |pointer: &str| document.pointer(pointer).cloned();
        let schema = "/requestBody/content/application~1json/schema";
        assert_eq!(at(&format!("/paths/~1roles/post{schema}/title")), None);
        assert!(at(&format!("/paths/~1roles/post{schema}/properties/kind")).is_some());
        let title = at(&format!("/paths/~1roles/get{schema}/title"));
        assert_eq!(title, Some(json!("Update Draft Proposal Payload")));
        assert!(at("/components/schemas/role").is_some(), "another operation names it");
        assert_eq!(at("/components/schemas/draft"), None);
    }

    #[test]
    fn listed_members_may_be_null() {
        let variant = json!({"properties": {"description": {"$ref": "#/x"}, "max_choices": {"type": "integer"},
            "position": {"type": "integer"}}});
        let mut schemas =
            json!({"question_create_body": {"oneOf": [variant]}, "other": {"oneOf": [variant]}});
        allow_null(&mut schemas);
        let expected = json!({"description": {"anyOf": [{"$ref": "#/x"}, {"type": "null"}]},
            "max_choices": {"type": ["integer", "null"]}, "position": {"type": "integer"}});
        assert_eq!(schemas["question_create_body"]["oneOf"][0]["properties"], expected);
        assert_eq!(schemas["other"]["oneOf"][0], variant);
    }

    #[test]
    fn an_integer_has_the_exact_range_and_keeps_its_own_limits() {
        let integer = || json!({"type": "integer", "format": "int64"});
        let mut schema = json!({"properties": {"id": integer(), "list": {"oneOf": [integer()]}}});
        schema["properties"]["id"]["minimum"] = json!(0);
        bound(&mut schema);
        let id = &schema["properties"]["id"];
        assert_eq!((&id["minimum"], &id["maximum"]), (&json!(0), &json!(9_007_199_254_740_991_i64)));
        assert_eq!(schema["properties"]["list"]["oneOf"][0]["minimum"], json!(-9_007_199_254_740_991_i64));
    }

    #[test]
    fn a_required_text_has_a_character() {
        let mut document = document();
        limit(&mut document);
        let role = &document["components"]["schemas"]["role"]["properties"];
        assert_eq!((&role["kind"]["minLength"], &role["note"]["minLength"]), (&json!(1), &Value::Null));
    }
}
