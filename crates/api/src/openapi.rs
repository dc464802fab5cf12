//! Builds the OpenAPI document from the list of routes and the views (contract 12). [`document`] makes an operation of
//! each route, from its [`crate::OperationDoc`] and its required access. The schemas are those of the views and bodies that the routes
//! name, so a response always matches its description; `schemas` adds in one pass what types do not say. `fixed.json`
//! has what follows from no route and no type: the head, the groups, the four routes of the service, and bodies that are
//! read member by member. A new resource declares its routes; wrappers
//! like `space_item_response` are generated when a route names them.

mod components;
mod operations;
mod parameters;
mod responses;
mod schemas;
mod webhooks;

use crate::route::Route;
use civitas_application::SiteSettings;
use civitas_kernel::Locales;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// What follows from no route and no type.
const FIXED: &str = include_str!("openapi/fixed.json");

/// Builds the document of these routes, for a deployment with these languages and addresses. Routes without an id are
/// aliases and not included.
pub(crate) fn document(routes: &[Route], site: &SiteSettings) -> Value {
    let documented: Vec<&Route> = routes.iter().filter(|route| !route.id.is_empty()).collect();
    let mut document: Value = serde_json::from_str(FIXED).expect("the file is part of the program");
    document["servers"][0]["url"] = json!(site.base("{host}"));
    let schemas = &mut document["components"]["schemas"];
    schemas::add_all(schemas.as_object_mut().expect("a list by name"), &documented);
    name_locales(schemas, &site.locales);
    for route in &documented {
        let operation = operations::operation(route, &document["components"]["schemas"]);
        document["paths"][&route.path][route.method.as_str().to_ascii_lowercase()] = operation;
    }
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| !operations::is_inline(name, &documented));
    }
    webhooks::add_deliveries(&mut document);
    document
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at_checked(1).unwrap_or_default();
    first.to_ascii_uppercase() + rest
}

/// A name in words: `draft_proposals` is "Draft Proposals".
fn in_words(name: &str) -> String {
    name.split('_').map(capitalized).collect::<Vec<_>>().join(" ")
}

/// An object with these members only, all of which are required.
fn closed<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let (mut required, mut properties) = (Vec::new(), Map::new());
    for (name, schema) in members {
        required.push(name);
        properties.insert(name.to_owned(), schema);
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// One of these schemas, selected by `type`: (its value, the schema's name).
fn by_type(variants: &[(&str, &str)]) -> Value {
    let mapping: Map<String, Value> =
        variants.iter().map(|(value, name)| ((*value).to_owned(), reference(name)["$ref"].take())).collect();
    let mut names: Vec<&str> = variants.iter().map(|(_, name)| *name).collect();
    names.dedup();
    let one_of: Vec<Value> = names.into_iter().map(reference).collect();
    json!({"oneOf": one_of, "discriminator": {"propertyName": "type", "mapping": mapping}})
}

/// Replaces the standard languages in all schemas by those of the deployment: in the list of locales, and in each
/// object of texts by language.
fn name_locales(schema: &mut Value, locales: &Locales) {
    let standard: Vec<String> = Locales::standard().iter().map(|locale| locale.to_string()).collect();
    let is_standard = |names: &mut dyn Iterator<Item = &str>| names.eq(standard.iter().map(String::as_str));
    match schema {
        Value::Array(items) if is_standard(&mut items.iter().filter_map(Value::as_str)) => {
            *items = locales.iter().map(|locale| Value::from(locale.as_str())).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_locales(item, locales)),
        Value::Object(members) if standard.iter().all(|name| members.contains_key(name)) => {
            let text = members.values().next().cloned().unwrap_or_default();
            *members = locales.iter().map(|locale| (locale.to_string(), text.clone())).collect();
        }
        Value::Object(members) => members.values_mut().for_each(|member| name_locales(member, locales)),
        _ => {}
    }
}

/// Removes repeated words of lists: class names of this program and of an older product can have the same prefix.
pub(crate) fn unique_words(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(unique_words),
        Value::Object(members) => {
            if let Some(words) = members.get_mut("enum").and_then(Value::as_array_mut) {
                let mut known = HashSet::new();
                words.retain(|word| known.insert(word.to_string()));
            }
            members.values_mut().for_each(unique_words);
        }
        _ => {}
    }
}
