//! One file a resource: its routes, its bodies, its views.

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
pub(crate) mod service;
pub(crate) mod spaces;
pub(crate) mod users;
pub(crate) mod votes;

use crate::front::Request;
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
/// `MissingParameter` when it is absent or null; `Rejected` when it is something else.
pub(crate) fn data(body: &Map<String, Value>) -> Result<&Map<String, Value>> {
    match body.get("data") {
        None | Some(Value::Null) => Err(Error::missing("data")),
        Some(Value::Object(data)) => Ok(data),
        Some(_) => Err(Error::rejected("data must be an object")),
    }
}

/// A required whole number; digits in a text are accepted.
///
/// # Errors
/// `MissingParameter`, `Rejected`.
pub(crate) fn integer(members: &Map<String, Value>, name: &'static str) -> Result<i64> {
    let sent = members.get(name).filter(|v| !v.is_null() && v.as_str() != Some(""));
    let number = match sent.ok_or_else(|| Error::missing(name))? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| Error::rejected(format!("{name} must be an integer")))
}
