//! The schemas: those of the views, the shared types, and wrappers around them.

use super::{components, shared, tokens, webhooks, writes};
use crate::reply::CollectionMeta;
use crate::resources::blogs::BlogView;
use crate::resources::drafts::DraftView;
use crate::resources::jobs::{Accepted, JobDetail, JobSummary};
use crate::resources::magic_links::MagicLinkView;
use crate::resources::meetings::MeetingView;
use crate::resources::oauth::TokenView;
use crate::resources::organizations::OrganizationView;
use crate::resources::proposals::ProposalView;
use crate::resources::roles::RoleView;
use crate::resources::spaces::SpaceView;
use crate::resources::users::UserView;
use crate::resources::votes::VoteView;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder};
use utoipa::openapi::{Discriminator, Ref, RefOr, Schema, Type};

/// Schemas by name.
pub(super) type Schemas = BTreeMap<String, RefOr<Schema>>;

/// The views, and what is described without one.
const VIEWS: &[fn(&mut Schemas)] = &[
    add::<CollectionMeta>,
    add::<OrganizationView>,
    add::<SpaceView>,
    add::<ProposalView>,
    add::<DraftView>,
    add::<VoteView>,
    add::<MeetingView>,
    add::<BlogView>,
    add::<UserView>,
    add::<RoleView>,
    add::<Accepted>,
    add::<JobSummary>,
    add::<JobDetail>,
    add::<TokenView>,
    add::<MagicLinkView>,
    shared::add_all,
    components::add_all,
];

/// Every schema: the views with what they are made of, the bodies, the events, and the wrappers that routes mention
/// by name: `x_item_response` holds one `x`, `x_index_response` a page of them.
pub(super) fn all(mentioned: impl Iterator<Item = &'static str>) -> Schemas {
    let mut all = Schemas::new();
    for add in VIEWS {
        add(&mut all);
    }
    tokens::add_all(&mut all);
    writes::add_all(&mut all);
    webhooks::add_all(&mut all);
    all.insert("rest_full_api_jobs_index_response".to_owned(), page_of(&JobSummary::name()).into());
    for name in mentioned {
        if all.contains_key(name) {
            continue;
        }
        if let Some(one) = name.strip_suffix("_item_response") {
            all.insert(name.to_owned(), document_of(one).into());
        } else if let Some(one) = name.strip_suffix("_index_response") {
            all.insert(name.to_owned(), page_of(one).into());
        }
    }
    all
}

/// Adds the schema of a type, and those it is made of.
pub(super) fn add<T: ToSchema>(to: &mut Schemas) {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    to.extend(parts);
    to.insert(T::name().into_owned(), T::schema());
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

/// An object without other keys.
pub(super) fn closed() -> ObjectBuilder {
    let nothing_else = AdditionalProperties::<Schema>::FreeForm(false);
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(nothing_else))
}

/// Any text.
pub(super) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Any whole number.
pub(super) fn any_integer() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer)
}

/// One of these words.
pub(super) fn words(list: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    text().enum_values(Some(list))
}

/// One of these schemas, told apart by `type`: (its value, the schema's name).
pub(super) fn by_type(variants: &[(&str, &str)]) -> OneOfBuilder {
    let target = |name: &str| format!("#/components/schemas/{name}");
    let mapping = variants.iter().map(|(value, name)| ((*value).to_owned(), target(name)));
    let mut names: Vec<&str> = variants.iter().map(|(_, name)| *name).collect();
    names.dedup();
    let one_of = names.into_iter().fold(OneOfBuilder::new(), |o, n| o.item(Ref::from_schema_name(n)));
    one_of.discriminator(Some(Discriminator::with_mapping("type", mapping)))
}

/// What is optional in this interface is absent, never null (contract 01 §10): takes the null out of every member
/// that is not required.
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
        let all = all(["space_item_response", "space_index_response"].into_iter());
        assert!(all.contains_key("space_item_response") && all.contains_key("space_index_response"));
        assert!(!all.contains_key("proposal_item_response"), "nobody named it");
    }
}
