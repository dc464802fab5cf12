//! The parameters of an operation: path, query, headers.

use super::reference;
use crate::document::{MEDIA_TYPE, ParameterType, QueryParameter};
use crate::route::{Route, UnreadBodies};
use serde_json::{Value, json};

/// The most values one list of a filter may have (contract 01 §6).
const MAX_VALUES: usize = 100;
/// The paths whose number of a record is a text in the published document; `/sync` is the same.
const ID_AS_TEXT: [&str; 6] = [
    "/attachments/{id}",
    "/components/{id}/extended_data",
    "/meetings/{id}/extended_data",
    "/organizations/{id}",
    "/proposals/{id}/extended_data",
    "/spaces/{manifest}/{id}/extended_data",
];
/// The pattern of a number of a record as a text. More digits can be larger than the largest number.
const ID: &str = "^[0-9]{1,18}$";
/// The pattern of an `Idempotency-Key`: visible ASCII (contract 01 §11c).
const IDEMPOTENCY_KEY: &str = "^[!-~]{1,255}$";

/// The parameters of a route.
pub(super) fn all(route: &Route, takes_bearer: bool) -> Vec<Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = names.map(|name| in_path(&route.path, name)).collect();
    all.extend(route.doc.query.iter().map(|parameter| in_query(&route.path, parameter)));
    // A magic link is opened without a token; one that is sent is ignored.
    if takes_bearer || route.id == "signInWithMagicLink" {
        all.push(in_header("Authorization", "`Bearer <ACCESS_TOKEN>`", &json!({"type": "string"})));
    }
    if route.doc.is_list() {
        let says = "`count=exact` counts all rows of the list: the number is in `Total`";
        all.push(in_header("Prefer", says, &json!({"type": "string"})));
    }
    if takes_bearer && route.writes() {
        let says = "Chosen by the client for each write: a repetition of the request gets the first answer, and has \
                    no effect";
        all.push(in_header("Idempotency-Key", says, &text(IDEMPOTENCY_KEY)));
    }
    if route.handler.unread == UnreadBodies::All {
        // OpenAPI leaves the type to the body, which is of any; generated clients without it send a JSON type.
        all.push(in_header("Content-Type", "The announced type", &text(MEDIA_TYPE)));
    }
    all
}

fn text(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

/// A path parameter. Ids are decimal numbers, except for the kinds of records with a UUID or a text.
fn in_path(path: &str, name: &str) -> Value {
    let is_of = |kinds: &[&str]| kinds.iter().any(|kind| path.starts_with(kind));
    let (schema, says) = match name {
        "id" if is_of(&["/jobs/", "/submission_requests/"]) => {
            (json!({"type": "string", "format": "uuid"}), "Its UUID")
        }
        "id" if is_of(&["/roles/", "/webhook_registrations/"]) => (json!({"type": "string"}), "Its id"),
        "id" if ID_AS_TEXT.contains(&path.trim_end_matches("/sync")) => (text(ID), "Its number"),
        "id" => (json!({"type": "integer", "format": "int64", "minimum": 0}), "Its number"),
        "manifest" => (reference("space_manifest"), "The kind of the space"),
        "event_type" => (json!({"type": "string"}), "The name of the event"),
        _ => (json!({"type": "string"}), "As it was handed out"),
    };
    json!({"name": name, "in": "path", "required": true, "description": says, "schema": schema})
}

fn in_header(name: &str, says: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": says, "schema": schema})
}

fn in_query(path: &str, QueryParameter { name, value_type, is_required }: &QueryParameter) -> Value {
    // Generated clients check the types of the published document (contract 12).
    let is_text = path.starts_with("/components/")
        && name.starts_with("filter[participatory_space_id_")
        && !name.contains("_not_");
    let mut schema = match value_type {
        ParameterType::Integer if is_text => text(ID),
        ParameterType::List(_) if is_text => list_of(&text(ID)),
        other => schema(other),
    };
    if *is_required && schema["type"] == "string" {
        // As in bodies: an empty text is missing.
        schema["minLength"] = json!(1);
    }
    json!({
        "name": name, "in": "query", "required": is_required, "description": description_of(name), "style": "form",
        "explode": true, "schema": schema,
    })
}

/// Some of these values.
fn list_of(one: &Value) -> Value {
    json!({"type": "array", "items": one, "maxItems": MAX_VALUES})
}

fn schema(value_type: &ParameterType) -> Value {
    match value_type {
        ParameterType::Text => json!({"type": "string"}),
        ParameterType::Filled => json!({"type": "string", "minLength": 1}),
        ParameterType::Pattern(pattern) => text(pattern),
        ParameterType::Integer => json!({"type": "integer", "format": "int64"}),
        ParameterType::Time => json!({"type": "string", "format": "date-time"}),
        ParameterType::Length => json!({"type": "integer", "format": "int64", "minimum": 1}),
        ParameterType::Page => json!({"type": "integer", "minimum": 1, "default": 1}),
        ParameterType::PageLength => json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 20}),
        ParameterType::Boolean => json!({"type": "boolean"}),
        ParameterType::Word(list) => json!({"type": "string", "enum": list}),
        ParameterType::Locales => json!({"type": "array", "items": reference("locale")}),
        ParameterType::Locale => reference("locale"),
        ParameterType::List(one) => list_of(&schema(one)),
    }
}

/// The predicates of filters, the longer names first (contract 01 §6).
const PREDICATES: [(&str, &str); 14] = [
    ("_not_eq", "is another"),
    ("_not_in", "is none of these"),
    ("_eq", "is this"),
    ("_in", "is one of these"),
    ("_start", "begins so, in any case"),
    ("_matches", "is like this, in any case: `%` and `_` are wildcards, `\\` escapes"),
    ("_i_cont", "contains this, in any case, with or without accents"),
    ("_cont", "contains this, in any case, with or without accents"),
    ("_blank", "is empty (`true`) or is not (`false`)"),
    ("_present", "is not empty (`true`) or is (`false`)"),
    ("_lt", "is smaller"),
    ("_gt", "is larger"),
    ("_lteq", "is this or smaller"),
    ("_gteq", "is this or larger"),
];

fn description_of(name: &str) -> String {
    let filter = name.strip_prefix("filter[").and_then(|rest| rest.split_once(']')).map(|(key, _)| key);
    if let Some(key) = filter {
        if key == "extended_data_cont" {
            return "Only records whose extended data contains this part: `\"key\": \"value\"`. Needs the right to \
                    read them."
                .to_owned();
        }
        let found = PREDICATES.iter().find_map(|(end, says)| Some((key.strip_suffix(end)?, *says)));
        let (field, says) = found.unwrap_or((key, "is this"));
        return format!("Only where `{field}` {says}");
    }
    let says = match name {
        "page" => "Which page; what is no number from 1 means 1",
        "per_page" => "How many on a page; more than 100 means 100",
        "locales[]" => "The languages of translated texts; all when absent. `locales=en,fr` means the same",
        "locale" => {
            "The language of texts; by default that of `Accept-Language`, of the user, or of the organization"
        }
        "questionnaire_id" => "Means the same as `filter[questionnaire_id]`",
        "question_id" => "Means the same as `filter[question_id]`",
        "space_manifest" => "Only in spaces of this kind",
        "space_id" => "Only in the space of this number",
        "filename" => "The name of the file",
        "byte_size" => "The length of the file in bytes",
        "checksum" => "The MD5 of the file, in base64",
        "content_type" => "The media type of the file; by default `application/octet-stream`",
        "component_id" => "Only in this component",
        "order" => "What to sort by. `rand`, which some lists have, shuffles each time",
        "order_direction" => "`asc` when absent",
        "include_proposal" => "Answer with the proposal instead of the vote",
        "types[]" => "The names of events; all that the client holds the permission for when absent",
        "last_event_id" => {
            "Where the stream continues: after the event of this id. The header `Last-Event-ID` means the same"
        }
        "after" => {
            "Answers with stored events after the event of this id; all that are stored when empty. `next` of one answer is \
             `after` of the next one"
        }
        "format" => {
            "Answers with stored events: a JSON document, the default with `after`, or one event on each line"
        }
        "object_path" => "Where in the extended data: keys joined with dots; `.` is the root",
        _ => "",
    };
    says.to_owned()
}
