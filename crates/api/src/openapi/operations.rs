//! The operation of a route.

use super::build::text;
use super::{parameters, responses, tags};
use crate::route::{Gate, Handler, Route};
use actix_web::http::{Method, StatusCode};
use civitas_kernel::{Ability, Access, Need, Scope};
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat};
use utoipa::openapi::{Content, Ref, RefOr, Required, Schema, SecurityRequirement};

/// The security scheme of service tokens.
pub(super) const SERVICE_TOKEN: &str = "credentialFlowBearer";
/// The security scheme of user tokens.
pub(super) const USER_TOKEN: &str = "resourceOwnerFlowBearer";

/// The method as written in the document. Only these four are documented; `HEAD` and `PATCH` are aliases.
pub(super) fn method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

/// The rights a route requires of the token; `None` where the token is not read.
pub(super) fn access(route: &Route) -> Option<Access> {
    match route.gate {
        Gate::Needs(access) => Some(access),
        Gate::Open | Gate::Token | Gate::NoAction => route.doc.bearer.then_some(Access::ANY_TOKEN),
    }
}

/// The operation of a route.
pub(super) fn operation(route: &Route) -> Operation {
    let access = access(route);
    OperationBuilder::new()
        .operation_id(Some(route.id))
        .tag(tags::name(&route.path))
        .summary(Some(route.doc.summary))
        .description(Some(description(route, access)))
        .parameters(Some(parameters::all(route, access.is_some())))
        .request_body(body(route))
        .responses(responses::all(route, access))
        .securities(Some(alternatives(route, access)))
        .build()
}

/// The body of a route: bytes of any type, or members as JSON. Forms with the same members are in the description only: a
/// generator of Python clients makes invalid code of two content types.
fn body(route: &Route) -> Option<RequestBody> {
    if let Handler::Bytes(_) = route.handler {
        let bytes = Content::new(Some(binary()));
        let body = RequestBodyBuilder::new().description(Some("The bytes of the file."));
        return Some(body.required(Some(Required::True)).content("*/*", bytes).build());
    }
    let members = Content::new(Some(Ref::from_schema_name(route.doc.body.as_ref()?)));
    let required = if route.doc.body_is_optional { Required::False } else { Required::True };
    let body = RequestBodyBuilder::new()
        .description(Some("Form encodings are read too, in bracket notation."))
        .required(Some(required))
        .content("application/json", members);
    Some(body.build())
}

fn binary() -> RefOr<Schema> {
    text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).into()
}

/// The alternatives of a route. The empty one is without bearer token.
fn alternatives(route: &Route, access: Option<Access>) -> Vec<SecurityRequirement> {
    let mut all = access.map(securities).unwrap_or_default();
    if route.doc.takes_credentials {
        all.push(SecurityRequirement::default());
    }
    all
}

/// A user token cannot carry the scope of the system, and a service token has no user (contract 02 §1.3).
fn securities(access: Access) -> Vec<SecurityRequirement> {
    let schemes: &[&str] = match (access.user, access.scope) {
        (true, _) => &[USER_TOKEN],
        (false, Some(Scope::System)) => &[SERVICE_TOKEN],
        (false, _) => &[SERVICE_TOKEN, USER_TOKEN],
    };
    let scopes = access.scope.map(Scope::as_str);
    schemes.iter().map(|scheme| SecurityRequirement::new(*scheme, scopes)).collect()
}

fn description(route: &Route, access: Option<Access>) -> String {
    let mut lines: Vec<String> = route.doc.note.into_iter().map(str::to_owned).collect();
    if route.status == StatusCode::ACCEPTED {
        lines.push("Answers with a job at once; `GET /jobs/{id}` shows its result.".to_owned());
    }
    lines.push(match access {
        Some(access) => rights(access),
        None => "No token is needed.".to_owned(),
    });
    lines.join("\n\n")
}

fn rights(access: Access) -> String {
    let token = match (access.user, access.scope) {
        (true, _) => "A user token",
        (false, Some(Scope::System)) => "A service token",
        (false, _) => "A token of either flow",
    };
    let scope = access.scope.map_or(String::new(), |scope| format!(" with the scope `{scope}`"));
    let list = |abilities: &[Ability], word: &str| {
        abilities.iter().map(|ability| format!("`{ability}`")).collect::<Vec<_>>().join(word)
    };
    let abilities = match access.need {
        Need::Nothing => String::new(),
        Need::All(all) => format!(", of a client that may {}", list(all, " and ")),
        Need::Any(any) => format!(", of a client that may {}", list(any, " or ")),
    };
    format!("{token}{scope}{abilities}.")
}
