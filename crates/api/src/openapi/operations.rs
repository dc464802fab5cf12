//! The operation of a route.

use super::{parameters, responses, tags};
use crate::route::{Gate, Route};
use actix_web::http::{Method, StatusCode};
use civitas_kernel::{Ability, Access, Need, Scope};
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{Content, Ref, Required, SecurityRequirement};

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
        .request_body(route.doc.body.as_ref().map(|schema| body(schema, route.doc.body_is_optional)))
        .responses(responses::all(route, access))
        .securities(Some(access.map(securities).unwrap_or_default()))
        .build()
}

fn body(schema: &str, is_optional: bool) -> RequestBody {
    RequestBodyBuilder::new()
        .description(Some("Form encodings are read too, in bracket notation."))
        .required(Some(if is_optional { Required::False } else { Required::True }))
        .content("application/json", Content::new(Some(Ref::from_schema_name(schema))))
        .build()
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
        lines.push("Answers with a job at once; `GET /jobs/{id}` tells how it ended.".to_owned());
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
