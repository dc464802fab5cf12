//! The schemas: those of the views and bodies that routes name, the fixed ones, and wrappers around them.

use super::{closed, components, in_words, reference, webhooks};
use crate::document::{NamedSchemas, add_schema};
use crate::error::ErrorBody;
use crate::reply::CollectionMeta;
use crate::resources::components::ComponentView;
use crate::route::Route;
use crate::shapes::{SpaceClassName, SpaceKindName, TimeZoneName};
use civitas_attachments::creatable_parent_names;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The types that no route names.
const SHARED: [fn(&mut NamedSchemas); 6] = [
    add_schema::<CollectionMeta>,
    add_schema::<ComponentView>,
    add_schema::<ErrorBody<'_>>,
    add_schema::<SpaceKindName>,
    add_schema::<SpaceClassName>,
    add_schema::<TimeZoneName>,
];
/// The members of bodies that may be null: removed, or as if absent (contract 01 §11.1, 03 §3.1, 07 A.6, 08 §5.2, §6.1).
/// Other optional members are absent, never null.
const NULLABLE: [(&str, &[&str]); 8] = [
    ("blog_post_create_payload", &["published_at"]),
    ("blog_post_update_payload", &["published_at"]),
    ("extended_data_body", &["object_path"]),
    ("extended_data_root_body", &["object_path"]),
    ("magic_link_create_body", &["redirect_url"]),
    ("question_create_body", &["description", "max_choices", "max_characters"]),
    ("question_update_body", &["description", "max_choices", "max_characters"]),
    ("questionnaire_answers_create_body", &["locale", "anonymous", "client_ip"]),
];
/// The one schema of answers to which members may be added.
const OPEN: &str = "meeting_attributes";
/// The largest whole number that tools in JavaScript read exactly (`Number.MAX_SAFE_INTEGER`).
const MAX_VALUE: i64 = (1 << 53) - 1;
/// Titles that do not follow from the name, and that no type has: unchanged for clients that were generated from
/// earlier documents.
const TITLES: [(&str, &str); 13] = [
    ("accountability_component", "Accountability component"),
    ("blog_component", "Blogs component"),
    ("budget_component", "Budget component"),
    ("creation_date", "Creation date"),
    ("debate_component", "Debates component"),
    ("edition_date", "Last Update Date"),
    ("locale", "Current locale"),
    ("meeting_component", "Meeting component"),
    ("other_component", "Generic Component"),
    ("rest_full_api_jobs_index_response", "API jobs index payload"),
    ("survey_component", "Survey component"),
    ("translated_prop", "Translated data"),
    ("WebhookDeliveryEnvelope", "Webhook delivery envelope"),
];

/// Adds all schemas to the fixed ones: those of the views and bodies of these routes with the schemas they refer to,
/// the components, the events, and the wrappers that routes mention by name: `x_item_response` has one `x`,
/// `x_index_response` a page of them.
pub(super) fn add_all(all: &mut Map<String, Value>, routes: &[&Route]) {
    let mut described = Vec::new();
    routes.iter().flat_map(|route| &route.doc.schemas).chain(&SHARED).for_each(|add| add(&mut described));
    let fixed: BTreeSet<String> = all.keys().cloned().collect();
    all.extend(described.into_iter().map(|(name, schema)| (name, json!(schema))));
    all["attachment_create_attributes"]["properties"]["attached_to_type"]["enum"] =
        creatable_parent_names().collect();
    components::add_all(all);
    webhooks::add_schemas(all);
    for name in routes.iter().filter_map(|route| route.doc.answer.as_ref()) {
        let wrapper = match (name.strip_suffix("_item_response"), name.strip_suffix("_index_response")) {
            (Some(one), _) => closed([("data", reference(one))]),
            (_, Some("rest_full_api_jobs")) => page_of("rest_full_api_job_summary"),
            (_, Some(one)) => page_of(one),
            _ => continue,
        };
        all.entry(name.clone()).or_insert(wrapper);
    }
    let bodies = bodies(all, routes);
    for (name, schema) in all {
        let (is_fixed, is_body) = (fixed.contains(name), bodies.contains(name));
        let nullable = NULLABLE.iter().find(|(body, _)| body == name).map_or(&[][..], |(_, names)| names);
        let rules = Rules {
            nullable: (!is_fixed).then_some(nullable),
            is_body,
            is_closed: !is_fixed && !is_body && name != OPEN,
        };
        rules.complete(schema);
        if let Some(members) = schema.as_object_mut() {
            members.entry("title").or_insert_with(|| json!(title(name)));
        }
    }
}

/// `{"data": [..], "meta": ..}`
fn page_of(one: &str) -> Value {
    let list = json!({"type": "array", "items": reference(one)});
    closed([("data", list), ("meta", reference("collection_meta"))])
}

/// The names of the schemas of bodies and of their variants.
fn bodies(all: &Map<String, Value>, routes: &[&Route]) -> BTreeSet<String> {
    let named: BTreeSet<String> = routes.iter().filter_map(|route| route.doc.body.clone()).collect();
    let variants = named.iter().filter_map(|name| all[name]["oneOf"].as_array()).flatten();
    let targets = variants.filter_map(|variant| variant["$ref"].as_str()?.rsplit('/').next());
    let variants: Vec<String> = targets.map(str::to_owned).collect();
    named.into_iter().chain(variants).collect()
}

/// What a type does not say of its schema.
struct Rules<'a> {
    /// The optional members that may be null; all others are absent, never null (contract 01 §10). `None` for a schema
    /// that says it itself.
    nullable: Option<&'a [&'a str]>,
    /// A required text has a character at least, because an empty one is missing, and integers have the range that is
    /// exact everywhere; the server takes 64 bits.
    is_body: bool,
    /// Objects have no other members.
    is_closed: bool,
}

impl Rules<'_> {
    fn complete(&self, schema: &mut Value) {
        if let Some(parts) = schema.as_array_mut() {
            for part in parts {
                self.complete(part);
            }
        }
        let Some(members) = schema.as_object_mut() else { return };
        let required = members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if self.is_closed && members.get("properties").is_some_and(Value::is_object) {
            members.insert("additionalProperties".to_owned(), json!(false));
        }
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            self.complete_property(name, required.iter().any(|required| required == name), property);
        }
        if self.is_body && members.get("format").is_some_and(|format| format == "int64") {
            members.entry("minimum").or_insert(json!(-MAX_VALUE));
            members.entry("maximum").or_insert(json!(MAX_VALUE));
        }
        let inner = members.iter_mut().filter(|(name, _)| *name != "examples");
        inner.for_each(|(_, member)| self.complete(member));
    }

    fn complete_property(&self, name: &str, is_required: bool, property: &mut Value) {
        if let Some(nullable) = self.nullable.filter(|_| !is_required) {
            without_null(property);
            if nullable.contains(&name) {
                with_null(property);
            }
        }
        let is_open = |property: &Value| {
            let limits = ["enum", "format", "minLength"];
            property["type"] == "string" && limits.iter().all(|key| property.get(key).is_none())
        };
        if self.is_body && is_required && is_open(property) {
            property["minLength"] = json!(1);
        }
    }
}

fn without_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|name| name != "null");
        if let [one] = types.as_mut_slice() {
            property["type"] = one.take();
        }
    }
    let Some(variants) = property.get_mut("oneOf").and_then(Value::as_array_mut) else { return };
    variants.retain(|variant| variant["type"] != "null");
    if let [one] = variants.as_mut_slice() {
        let (mut one, description) = (one.take(), property["description"].take());
        if let (Value::String(_), Some(members)) = (&description, one.as_object_mut()) {
            members.entry("description").or_insert(description);
        }
        *property = one;
    }
}

fn with_null(property: &mut Value) {
    if property.get("$ref").is_some() {
        // Not `oneOf`: openapi-generator 7.9.0 makes a type of the null, which it does not write.
        *property = json!({"anyOf": [property, {"type": "null"}]});
    } else {
        property["type"] = json!([property["type"], "null"]);
    }
}

/// The title of a schema without one: the listed one, else its name in words. `draft_proposal_item_response` is "Draft
/// Proposal Item Response".
fn title(name: &str) -> String {
    let listed = TITLES.iter().find(|(known, _)| *known == name);
    listed.map_or_else(|| in_words(name), |(_, title)| (*title).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::OperationDoc;
    use crate::error::ApiError;
    use crate::openapi::document;
    use crate::resources::spaces::SpaceView;
    use crate::route::{RequiredAccess, Routes};
    use actix_web::http::Method;
    use civitas_application::SiteSettings;

    fn completed(mut schema: Value, nullable: &[&str], is_body: bool) -> Value {
        Rules { nullable: Some(nullable), is_body, is_closed: false }.complete(&mut schema);
        schema
    }

    #[test]
    fn only_required_members_may_be_null() {
        let schema = json!({"type": "object", "required": ["next"], "properties": {
            "next": {"type": ["string", "null"]},
            "scope": {"type": ["integer", "null"]},
            "voted": {"oneOf": [{"type": "null"}, {"$ref": "#/x"}], "description": "own"},
        }});
        let expected = json!({
            "next": {"type": ["string", "null"]},
            "scope": {"type": "integer"},
            "voted": {"$ref": "#/x", "description": "own"},
        });
        assert_eq!(completed(schema, &[], false)["properties"], expected);
    }

    #[test]
    fn listed_members_may_be_null() {
        let variant = json!({"properties": {"description": {"$ref": "#/x"}, "max_choices": {"type": "integer"},
            "position": {"type": "integer"}}});
        let expected = json!({"description": {"anyOf": [{"$ref": "#/x"}, {"type": "null"}]},
            "max_choices": {"type": ["integer", "null"]}, "position": {"type": "integer"}});
        let schema = json!({"oneOf": [variant]});
        let nullable = completed(schema.clone(), &["description", "max_choices"], true);
        assert_eq!(nullable["oneOf"][0]["properties"], expected);
        assert_eq!(completed(schema.clone(), &[], true), schema);
    }

    #[test]
    fn an_integer_of_a_body_has_the_exact_range_and_keeps_its_own_limits() {
        let integer = || json!({"type": "integer", "format": "int64"});
        let properties = json!({"id": integer(), "list": {"oneOf": [integer()]}});
        let mut schema = json!({"required": ["id", "list"], "properties": properties});
        schema["properties"]["id"]["minimum"] = json!(0);
        assert_eq!(completed(schema.clone(), &[], false), schema);
        let schema = completed(schema, &[], true);
        let id = &schema["properties"]["id"];
        assert_eq!((&id["minimum"], &id["maximum"]), (&json!(0), &json!(9_007_199_254_740_991_i64)));
        assert_eq!(schema["properties"]["list"]["oneOf"][0]["minimum"], json!(-9_007_199_254_740_991_i64));
    }

    #[test]
    fn a_required_text_of_a_body_has_a_character() {
        let properties = json!({"kind": {"type": "string"}, "note": {"type": "string"}});
        let schema = json!({"required": ["kind"], "properties": properties});
        let role = &completed(schema, &[], true)["properties"];
        assert_eq!((&role["kind"]["minLength"], &role["note"]["minLength"]), (&json!(1), &Value::Null));
    }

    #[test]
    fn a_title_is_known_or_made_of_the_name() {
        assert_eq!(title("edition_date"), "Last Update Date");
        assert_eq!(title("draft_proposal_item_response"), "Draft Proposal Item Response");
    }

    /// The document of these operations, each with a body of that name.
    fn document_of(operations: &[(&'static str, &str)]) -> Value {
        let mut routes = Routes::default();
        for (id, body) in operations {
            let doc = OperationDoc::item::<SpaceView>("").with_named_body(body);
            routes.add_route(id, Method::POST, &format!("/{id}"), RequiredAccess::Open, doc, async |_| {
                Err(ApiError::NoRoute)
            });
        }
        document(&routes.list, &SiteSettings::default())
    }

    #[test]
    fn wrappers_come_when_they_are_named() {
        let document = document_of(&[("a", "revoke_body")]);
        let all = &document["components"]["schemas"];
        assert!(all["space_item_response"].is_object());
        assert!(all["proposal_item_response"].is_null(), "nobody named it");
    }

    #[test]
    fn inline_bodies_have_their_own_title_and_unused_schemas_are_removed() {
        let bodies =
            [("createRole", "revoke_body"), ("a", "revoke_body"), ("introspectToken", "introspect_body")];
        let document = document_of(&bodies);
        let schema = |id: &str| {
            let body = &document["paths"][format!("/{id}")]["post"]["requestBody"];
            body["content"]["application/json"]["schema"].clone()
        };
        let (role, token) = (schema("createRole"), schema("introspectToken"));
        assert!(role["title"].is_null() && role["properties"]["token"].is_object());
        assert_eq!(token["title"], "Introspect Token");
        let all = &document["components"]["schemas"];
        assert!(all["revoke_body"].is_object(), "another operation names it");
        assert!(all["introspect_body"].is_null());
    }
}
