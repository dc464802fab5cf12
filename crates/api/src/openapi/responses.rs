//! The responses of an operation.

use super::build::text;
use crate::reply::EVENT_STREAM;
use crate::route::{Gate, Route};
use actix_web::http::{Method, StatusCode};
use civitas_kernel::{Access, Need};
use std::collections::BTreeMap;
use utoipa::openapi::{Content, Header, Ref, Response, ResponseBuilder, Responses};

/// The responses of a route: its success, and all possible errors.
pub(super) fn all(route: &Route, access: Option<Access>) -> Responses {
    let mut all = BTreeMap::from([(route.status.as_str().to_owned(), success(route))]);
    all.insert(if route.method == Method::GET { "301" } else { "308" }.to_owned(), moved());
    if reads(route) {
        all.insert("304".to_owned(), not_modified());
    }
    for (status, says) in failures(route, access) {
        all.entry(status.to_string()).or_insert_with(|| failure(status, says));
    }
    all.into_iter().collect()
}

fn reads(route: &Route) -> bool {
    route.method == Method::GET && route.status == StatusCode::OK && !route.doc.is_stream
}

fn success(route: &Route) -> Response {
    let says = match route.status {
        StatusCode::CREATED => "Created",
        StatusCode::ACCEPTED => "Accepted: a job was stored",
        StatusCode::NO_CONTENT => "Done, without a body",
        StatusCode::FOUND => "The address is in `Location`",
        _ => "Done",
    };
    let mut response = ResponseBuilder::new().description(says);
    if let Some(schema) = &route.doc.answer {
        response = response.content("application/json", Content::new(Some(Ref::from_schema_name(schema))));
    }
    if route.doc.is_stream {
        response = response.content(EVENT_STREAM, Content::new(Some(text())));
    }
    if route.doc.has_location {
        response = response.header("Location", header("The address of the result"));
        if route.status == StatusCode::ACCEPTED {
            response = response.header("Retry-After", header("In seconds"));
        }
    }
    if reads(route) {
        response = validators().into_iter().fold(response, |r, (name, header)| r.header(name, header));
    }
    response.build()
}

fn header(says: &str) -> Header {
    let mut header = Header::new(text());
    header.description = Some(says.to_owned());
    header
}

fn validators() -> [(&'static str, Header); 2] {
    [("ETag", etag()), ("Last-Modified", header("When it last changed; send it back in `If-Modified-Since`"))]
}

pub(super) fn etag() -> Header {
    header("Changes whenever the body does; send it back in `If-None-Match`")
}

pub(super) fn not_modified() -> Response {
    ResponseBuilder::new().description("Nothing changed since `If-None-Match` or `If-Modified-Since`").build()
}

/// The host is a secondary one of an organization.
pub(super) fn moved() -> Response {
    ResponseBuilder::new()
        .description("The host is a secondary one of its organization; the address is in `Location`")
        .header("Location", header("The same address at the primary host"))
        .build()
}

fn failures(route: &Route, access: Option<Access>) -> Vec<(u16, &'static str)> {
    let named = |status| route.doc.failures.contains(&status);
    let mut failures = vec![
        (400, "A parameter, the body or the state of the user is not what it must be"),
        (500, "The service failed; the cause is in its log"),
        (501, "Switched off for this organization"),
        (503, "Too busy: try again"),
    ];
    if access.is_some() || named(401) {
        failures.push((401, "No credentials, or invalid ones"));
    }
    if access.is_some_and(|a| a.scope.is_some() || !matches!(a.need, Need::Nothing)) || named(403) {
        failures.push((403, "A scope or an ability is missing, or this may not be done"));
    }
    match (route.gate, named(404) || route.path.contains("{id}")) {
        (_, true) => failures.push((404, "There is no such record, or no organization has this host")),
        (Gate::Token, false) => {}
        (_, false) => failures.push((404, "No organization has this host")),
    }
    if route.method != Method::GET {
        failures.push((413, "The body is too long"));
        failures.push((415, "The content type of the body is not supported"));
    }
    if named(410) {
        failures.push((410, "The last event is not stored any more"));
    }
    if access.is_some() || route.doc.bearer || route.takes_credentials() || named(429) {
        failures.push((429, "Too many requests, streams or refused credentials"));
    }
    let takes_key = access.is_some() && route.writes();
    if takes_key {
        failures.push((409, "A request with the same Idempotency-Key is being executed"));
    }
    if named(422) || takes_key {
        failures.push((
            422,
            "The values do not fit together, or the Idempotency-Key was used for another request",
        ));
    }
    failures
}

fn failure(status: u16, says: &str) -> Response {
    let response = ResponseBuilder::new()
        .description(says)
        .content("application/json", Content::new(Some(Ref::from_schema_name("error"))));
    match status {
        401 => response.header("WWW-Authenticate", header("How to authenticate")).build(),
        409 | 429 | 503 => response.header("Retry-After", header("In seconds")).build(),
        _ => response.build(),
    }
}
