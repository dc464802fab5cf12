//! Builds the OpenAPI document from the list of routes and the views (contract 12). [`document`] makes an operation of
//! each route, from its [`crate::Doc`] and its gate. The schemas are those of the views and bodies that the routes
//! name, so a response always matches its description. A new resource declares its routes, and adds its first path
//! segment to `tags`; wrappers like `space_item_response` are generated when a route names them.

mod bodies;
pub(crate) mod build;
mod components;
mod operations;
pub(crate) mod parameters;
mod responses;
mod schemas;
mod service;
mod shared;
mod tags;
mod titles;
mod tokens;
mod webhooks;

use crate::BASE;
use crate::route::Route;
use civitas_application::Site;
use civitas_kernel::Locales;
use operations::{SERVICE_TOKEN, USER_TOKEN};
use serde_json::{Value, json};
use std::collections::HashSet;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::server::{Server, ServerBuilder, ServerVariableBuilder};
use utoipa::openapi::{Components, ComponentsBuilder, Info, InfoBuilder, OpenApiBuilder};

/// The published version of the interface; the path has only its first two numbers (contract 01).
const VERSION: &str = "0.3.10";
/// Builds the document of these routes, for a deployment with these languages and addresses. Routes without an id are
/// aliases and not included.
pub(crate) fn document(routes: &[Route], site: &Site) -> Value {
    let documented: Vec<&Route> = routes.iter().filter(|route| !route.id.is_empty()).collect();
    let mut paths = service::paths();
    for route in &documented {
        let method = operations::method(&route.method);
        paths.add_path_operation(&route.path, vec![method], operations::operation(route));
    }
    let webhooks = webhooks::deliveries();
    let tags = tags::of(&[&paths, &webhooks]);
    let document = OpenApiBuilder::new()
        .info(info())
        .servers(Some(servers(site)))
        .components(Some(components(schemas::all(&documented))))
        .webhooks(Some(webhooks))
        .tags(Some(tags))
        .paths(paths)
        .build();
    let mut document = serde_json::to_value(document).expect("a document of plain values");
    for schema in document["components"]["schemas"].as_object_mut().into_iter().flatten() {
        titles::entitle(schema.0, schema.1);
        schemas::absent_not_null(schema.1);
    }
    bodies::allow_null(&mut document["components"]["schemas"]);
    name_locales(&mut document["components"]["schemas"], &site.locales);
    bodies::write_in_place(&mut document);
    bodies::add_form(&mut document);
    bodies::limit(&mut document);
    webhooks::refer(&mut document);
    document["info"]["contact"] = json!({"name": "Civitas"});
    document["info"]["license"] = json!({"name": "Apache License 2.0", "identifier": "Apache-2.0"});
    document
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

fn info() -> Info {
    let description = "A multi-tenant participatory-democracy platform behind a JSON interface. The host selects the \
                       organization. Writes answer 202 with a job, unless the path ends in `/sync`; reads are \
                       paginated and conditional. A request body may also come as \
                       `application/x-www-form-urlencoded` or `multipart/form-data` in bracket notation \
                       (`data[title]=..`, `data[list][]=..`).";
    InfoBuilder::new().title("Civitas").version(VERSION).description(Some(description)).build()
}

fn servers(site: &Site) -> [Server; 2] {
    let variable =
        |default, says| ServerVariableBuilder::new().default_value(default).description(Some(says)).build();
    [
        ServerBuilder::new()
            .url(site.base("{host}"))
            .description(Some("An organization"))
            .parameter("host", variable("www.example.org", "The host of the organization"))
            .build(),
        ServerBuilder::new()
            .url(format!("http://localhost:{{port}}{BASE}"))
            .description(Some("A service on this machine"))
            .parameter("port", variable("3000", "Where it listens"))
            .build(),
    ]
}

fn components(schemas: build::Schemas) -> Components {
    let bearer = |says| {
        let http = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT");
        SecurityScheme::Http(http.description(Some(says)).build())
    };
    ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme(
            SERVICE_TOKEN,
            bearer("A service token: `grant_type=client_credentials` at `/oauth/token`."),
        )
        .security_scheme(
            USER_TOKEN,
            bearer("A user token: `grant_type=password` (login or impersonation) at `/oauth/token`."),
        )
        .build()
}
