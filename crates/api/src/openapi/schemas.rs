//! The schemas: those of the views and bodies that routes name, the shared types, and wrappers around them.

use super::build::{Schemas, add, closed};
use super::{components, shared, tokens, webhooks};
use crate::reply::CollectionMeta;
use crate::route::Route;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, Object, SchemaType};
use utoipa::openapi::{Ref, Schema};

/// Builds all schemas: those of the views and bodies of these routes with the schemas they refer to, the events, and
/// the wrappers that routes mention by name: `x_item_response` has one `x`, `x_index_response` a page of them.
pub(super) fn all(routes: &[&Route]) -> Schemas {
    let mut described = Vec::new();
    routes.iter().flat_map(|route| &route.doc.schemas).for_each(|add| add(&mut described));
    let mut all: Schemas = described.into_iter().collect();
    for add in
        [add::<CollectionMeta>, shared::add_all, components::add_all, tokens::add_all, webhooks::add_all]
    {
        add(&mut all);
    }
    add_answers(&mut all);
    for name in routes.iter().filter_map(|route| route.doc.answer.as_ref()) {
        let wrapper = match (name.strip_suffix("_item_response"), name.strip_suffix("_index_response")) {
            (Some(one), _) => document_of(one),
            (_, Some(one)) => page_of(one),
            _ => continue,
        };
        all.entry(name.clone()).or_insert_with(|| wrapper.into());
    }
    all
}

/// The answers that are not a document of one view.
fn add_answers(to: &mut Schemas) {
    for owner in ["organization_extended_data", "user_extended_data", "resource_extended_data"] {
        let value = Schema::Object(Object::builder().schema_type(SchemaType::AnyValue).build());
        to.insert(owner.to_owned(), closed().property("data", value).required("data").into());
    }
    // Not `oneOf`: tools compare the outer objects alone, which overlap.
    let cast = AnyOfBuilder::new()
        .description(Some("The vote, or with `include_proposal=true` its proposal."))
        .item(Ref::from_schema_name("vote_proposal_item_response"))
        .item(Ref::from_schema_name("proposal_item_response"));
    to.insert("vote_proposal_cast_response".to_owned(), cast.into());
    let jobs = page_of("rest_full_api_job_summary");
    to.insert("rest_full_api_jobs_index_response".to_owned(), jobs.into());
}

/// `{"data": ..}`
fn document_of(one: &str) -> Object {
    closed().property("data", Ref::from_schema_name(one)).required("data").build()
}

/// `{"data": [..], "meta": ..}`
fn page_of(one: &str) -> Object {
    let list = ArrayBuilder::new().items(Ref::from_schema_name(one));
    let meta = Ref::from_schema_name(CollectionMeta::name());
    closed().property("data", list).required("data").property("meta", meta).required("meta").build()
}

/// Removes null from the type of every member that is not required: optional members are absent, never null (contract
/// 01 §10).
pub(super) fn absent_not_null(schema: &mut Value) {
    if let Some(parts) = schema.as_array_mut() {
        parts.iter_mut().for_each(absent_not_null);
    }
    let Some(members) = schema.as_object_mut() else { return };
    let required = members.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &String| required.as_array().is_some_and(|names| names.iter().any(|n| n == name.as_str()));
    if let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) {
        for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
            without_null(property);
        }
    }
    members.values_mut().for_each(absent_not_null);
}

fn without_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type").filter(|t| t.is_array()) {
        let kept: Vec<Value> =
            types.as_array().into_iter().flatten().filter(|t| *t != "null").cloned().collect();
        *types = if let [one] = kept.as_slice() { one.clone() } else { Value::Array(kept) };
    }
    let Some(variants) = property.get_mut("oneOf").and_then(Value::as_array_mut) else { return };
    variants.retain(|variant| variant["type"] != "null");
    if let [one] = variants.as_slice() {
        let one = one.clone();
        let description = property.get("description").cloned();
        *property = one;
        if let (Some(description), Some(members)) = (description, property.as_object_mut()) {
            members.entry("description").or_insert(description);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Doc;
    use crate::error::ApiError;
    use crate::route::{Gate, Routes};
    use actix_web::http::Method;
    use serde_json::json;

    #[test]
    fn only_required_members_may_be_null() {
        let mut schema = json!({"type": "object", "required": ["next"], "properties": {
            "next": {"type": ["string", "null"]},
            "scope": {"type": ["integer", "null"]},
            "voted": {"oneOf": [{"type": "null"}, {"$ref": "#/x"}], "description": "own"},
        }});
        absent_not_null(&mut schema);
        let expected = json!({
            "next": {"type": ["string", "null"]},
            "scope": {"type": "integer"},
            "voted": {"$ref": "#/x", "description": "own"},
        });
        assert_eq!(schema["properties"], expected);
    }

    #[test]
    fn wrappers_come_when_they_are_named() {
        let mut routes = Routes::default();
        for answer in ["space_item_response", "space_index_response"] {
            let doc = Doc::new("", answer);
            routes.on("", Method::GET, "/spaces", Gate::Open, doc, async |_| Err(ApiError::NoRoute));
        }
        let all = all(&routes.list.iter().collect::<Vec<_>>());
        assert!(all.contains_key("space_item_response") && all.contains_key("space_index_response"));
        assert!(!all.contains_key("proposal_item_response"), "nobody named it");
    }
}
