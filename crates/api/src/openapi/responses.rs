//! The responses of an operation.

use super::reference;
use crate::reply::{EVENT_STREAM, NDJSON};
use crate::route::{RequiredAccess, Route};
use actix_web::http::{Method, StatusCode};
use civitas_kernel::{Access, RequiredAbilities};
use serde_json::{Map, Value, json};

/// The responses of a route: its success, and all possible errors.
pub(super) fn all(route: &Route, access: Option<Access>) -> Map<String, Value> {
    let mut all = failures(route, access);
    all.insert(
        if route.method == Method::GET { "301" } else { "308" }.to_owned(),
        json!({
            "description": "The host is a secondary one of its organization; the address is in `Location`",
            "headers": {"Location": header("The same address at the primary host")},
        }),
    );
    if reads(route) {
        let says = "Nothing changed since `If-None-Match` or `If-Modified-Since`";
        all.insert("304".to_owned(), json!({"description": says}));
    }
    all.insert(route.status.as_str().to_owned(), success(route));
    all
}

fn reads(route: &Route) -> bool {
    route.method == Method::GET && route.status == StatusCode::OK && !route.doc.is_stream
}

fn success(route: &Route) -> Value {
    let says = match route.status {
        StatusCode::CREATED => "Created",
        StatusCode::ACCEPTED => "Accepted: a job was stored",
        StatusCode::NO_CONTENT => "Done, without a body",
        StatusCode::FOUND => "The address is in `Location`",
        _ => "Done",
    };
    let mut response = json!({"description": says});
    if let Some(schema) = &route.doc.answer {
        response["content"]["application/json"]["schema"] = reference(schema);
    }
    if route.doc.is_stream {
        response["content"][EVENT_STREAM]["schema"]["type"] = json!("string");
        if route.doc.answer.is_some() {
            // OpenAPI 3.1 cannot describe a document on each line.
            response["content"][NDJSON] = json!({});
        }
    }
    if route.doc.has_location {
        response["headers"]["Location"] = header("The address of the result");
        if route.status == StatusCode::ACCEPTED {
            response["headers"]["Retry-After"] = header("In seconds");
        }
    }
    if reads(route) {
        response["headers"]["ETag"] =
            header("Changes whenever the body does; send it back in `If-None-Match`");
        response["headers"]["Last-Modified"] =
            header("When it last changed; send it back in `If-Modified-Since`");
    }
    if route.doc.is_list() {
        let number =
            |says: &str| json!({"description": says, "schema": {"type": "integer", "format": "int64"}});
        let headers = &mut response["headers"];
        headers["Link"] = header(
            "The addresses of the pages `first`, `prev` and `next`, and of `last` if all rows are counted (RFC 8288)",
        );
        headers["Per-Page"] = number("Rows on a page");
        headers["Total"] = number("All rows of the list, if they are counted");
        headers["Preference-Applied"] = header("`count=exact`, if all rows are counted");
    }
    response
}

fn header(says: &str) -> Value {
    json!({"description": says, "schema": {"type": "string"}})
}

fn failures(route: &Route, access: Option<Access>) -> Map<String, Value> {
    let named = |status| route.doc.failures.contains(&status);
    let takes_key = access.is_some() && route.writes();
    let has_record = named(404) || route.path.contains("{id}");
    let has_body = route.method != Method::GET;
    let needs_right =
        access.is_some_and(|a| a.scope.is_some() || !matches!(a.abilities, RequiredAbilities::Nothing));
    let is_limited = access.is_some() || route.takes_credentials() || named(429);
    let all = [
        (true, 400, "A parameter, the body or the state of the user is not what it must be"),
        (access.is_some() || named(401), 401, "No credentials, or invalid ones"),
        (needs_right || named(403), 403, "A scope or an ability is missing, or this may not be done"),
        (!has_record && route.required_access != RequiredAccess::Token, 404, "No organization has this host"),
        (has_record, 404, "There is no such record, or no organization has this host"),
        (takes_key, 409, "A request with the same Idempotency-Key is being executed"),
        (named(410), 410, "The last event is not stored any more"),
        (has_body, 413, "The body is too long"),
        (has_body, 415, "The content type of the body is not supported"),
        (
            takes_key || named(422),
            422,
            "The values do not fit together, or the Idempotency-Key was used for another request",
        ),
        (is_limited, 429, "Too many requests, streams or refused credentials"),
        (true, 500, "The service failed; the cause is in its log"),
        (true, 501, "Switched off for this organization"),
        (true, 503, "Too busy: try again"),
    ];
    let possible = all.into_iter().filter(|(is_possible, ..)| *is_possible);
    possible.map(|(_, status, says)| (status.to_string(), failure(status, says))).collect()
}

fn failure(status: u16, says: &str) -> Value {
    let mut response =
        json!({"description": says, "content": {"application/json": {"schema": reference("error")}}});
    match status {
        401 => response["headers"]["WWW-Authenticate"] = header("How to authenticate"),
        409 | 429 | 503 => response["headers"]["Retry-After"] = header("In seconds"),
        _ => {}
    }
    response
}
