//! Resources, one file each: routes, bodies, views.

pub(crate) mod blogs;
pub(crate) mod components;
pub(crate) mod confirmations;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod extended_data;
pub(crate) mod jobs;
pub(crate) mod magic_links;
pub(crate) mod meetings;
pub(crate) mod oauth;
pub(crate) mod organizations;
pub(crate) mod proposals;
pub(crate) mod roles;
pub(crate) mod service;
pub(crate) mod spaces;
pub(crate) mod users;
pub(crate) mod votes;

use crate::pipeline::Request;
use civitas_kernel::{Error, Result};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// The newest of these times, and of the last time one of these lists lost something (contract 01 §8).
pub(crate) async fn newest(
    request: &Request,
    lists: &[&str],
    times: impl Iterator<Item = OffsetDateTime>,
) -> Result<OffsetDateTime> {
    let lost = request.ports().list_changes().newest(request.tenant.id, lists).await?;
    Ok(times.chain(lost).max().unwrap_or(OffsetDateTime::UNIX_EPOCH))
}

/// The `data` of a body: an object, which may be empty.
///
/// # Errors
/// As [`object`].
pub(crate) fn data(body: &Map<String, Value>) -> Result<&Map<String, Value>> {
    object(body, "data")
}

/// A required object, which may be empty.
///
/// # Errors
/// `MissingParameter` when it is absent or null; `Rejected` when it is something else.
pub(crate) fn object<'a>(
    members: &'a Map<String, Value>,
    name: &'static str,
) -> Result<&'a Map<String, Value>> {
    match members.get(name) {
        None | Some(Value::Null) => Err(Error::missing(name)),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(Error::rejected(format!("{name} must be an object"))),
    }
}

/// A required value, neither null nor an empty text.
///
/// # Errors
/// `MissingParameter`.
pub(crate) fn present<'a>(members: &'a Map<String, Value>, name: &'static str) -> Result<&'a Value> {
    let sent = members.get(name).filter(|v| !v.is_null() && v.as_str() != Some(""));
    sent.ok_or_else(|| Error::missing(name))
}

/// A required text.
///
/// # Errors
/// `MissingParameter`, `Rejected`.
pub(crate) fn text(members: &Map<String, Value>, name: &'static str) -> Result<String> {
    let text = present(members, name)?.as_str();
    text.map(str::to_owned).ok_or_else(|| Error::rejected(format!("{name} must be a string")))
}

/// A required whole number; digits in a text are accepted.
///
/// # Errors
/// `MissingParameter`, `Rejected`.
pub(crate) fn integer(members: &Map<String, Value>, name: &'static str) -> Result<i64> {
    let number = match present(members, name)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| Error::rejected(format!("{name} must be an integer")))
}
