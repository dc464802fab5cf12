//! Reads bodies: JSON, forms and multipart, limited in size, time and depth (contract 01 §2).

use crate::error::ApiError;
use crate::form_body::{MAX_DEPTH, MAX_FIELDS, MembersResult, malformed_form_error, nest_pairs, parse_form};
use actix_multipart::Multipart;
use actix_web::HttpRequest;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING, UPGRADE,
};
use actix_web::web::{self, Bytes, BytesMut, Payload};
use civitas_application::BodyTimeout;
use civitas_kernel::{Error, read_json};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::runtime::Handle;

/// The longest body, in bytes, that is parsed on the thread of its connection.
pub(crate) const MAX_INLINE_BYTES: usize = 32 * 1024;

/// The time limit of a body that is read into memory. 1 MiB needs 17 KiB a second.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// A parsed body.
#[derive(Debug, Default)]
pub(crate) struct RequestBody {
    pub(crate) members: Map<String, Value>,
    /// Its length in bytes.
    pub(crate) bytes: usize,
}

/// Reads a body of at most `limit` bytes as an object. An empty body is an empty object.
pub(crate) async fn read(
    request: &HttpRequest,
    payload: Payload,
    limit: usize,
) -> Result<RequestBody, ApiError> {
    let collected = collect(request, payload, limit).await?;
    let bytes = collected.len();
    let members = if bytes == 0 { Map::new() } else { members(request, collected).await? };
    Ok(RequestBody { members, bytes })
}

async fn members(request: &HttpRequest, bytes: Bytes) -> MembersResult {
    if is_encoded(request.headers()) {
        return Err(ApiError::UnsupportedMediaType);
    }
    let media_type = request.headers().get(CONTENT_TYPE).map(|v| v.to_str().unwrap_or("?"));
    let media_type = media_type.map(|t| t.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    match media_type.as_deref() {
        None | Some("" | "application/json") => parsed(bytes, json).await,
        Some("application/x-www-form-urlencoded") => parsed(bytes, parse_form).await,
        Some("multipart/form-data") if bytes.len() <= MAX_INLINE_BYTES => {
            multipart(request.headers(), bytes).await
        }
        Some("multipart/form-data") => {
            let (headers, here) = (request.headers().clone(), Handle::current());
            on_separate_thread(move || here.block_on(multipart(&headers, bytes))).await
        }
        Some(_) => Err(ApiError::UnsupportedMediaType),
    }
}

async fn parsed(bytes: Bytes, parse: fn(&[u8]) -> MembersResult) -> MembersResult {
    if bytes.len() <= MAX_INLINE_BYTES {
        parse(&bytes)
    } else {
        on_separate_thread(move || parse(&bytes)).await
    }
}

/// Parses on a separate thread, because the thread of the connection serves other requests too.
async fn on_separate_thread(parse: impl FnOnce() -> MembersResult + Send + 'static) -> MembersResult {
    let outcome = web::block(parse).await;
    outcome.unwrap_or_else(|gone| Err(Error::Unavailable(gone.into()).into()))
}

/// The chunks of a body, with a maximum length and a minimum speed. A slow body holds only its connection.
pub(crate) struct PacedBody {
    payload: Payload,
    pace: BodyTimeout,
    received: u64,
    limit: u64,
    /// What is still to arrive; `None` for a chunked body.
    left: Option<u64>,
}

impl PacedBody {
    /// A body of at most `limit` bytes.
    pub(crate) fn new(headers: &HeaderMap, payload: Payload, pace: BodyTimeout, limit: u64) -> Self {
        // With `Upgrade: websocket` the HTTP library takes all that follows for the body.
        let has_none = headers.contains_key(UPGRADE) && !headers.contains_key(TRANSFER_ENCODING);
        let left = length(headers).or(has_none.then_some(0));
        Self { payload, pace, received: 0, limit, left }
    }

    /// The next chunk; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, ApiError>> {
        if self.left == Some(0) {
            return None;
        }
        Some(match self.pace.wait(self.payload.next()).await {
            Some(Some(Ok(mut chunk))) => {
                if let Some(left) = &mut self.left {
                    chunk.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= chunk.len() as u64;
                }
                let bytes = chunk.len() as u64;
                self.pace.received(bytes);
                self.received += bytes;
                if self.received <= self.limit { Ok(chunk) } else { Err(ApiError::TooLarge) }
            }
            Some(None) if self.left.is_none() => return None,
            Some(Some(Err(_)) | None) | None => Err(ApiError::Malformed),
        })
    }
}

/// A header as text.
pub(crate) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The announced length of a body; `None` for a chunked one.
pub(crate) fn length(headers: &HeaderMap) -> Option<u64> {
    header_text(headers, &CONTENT_LENGTH)?.parse().ok()
}

async fn collect(request: &HttpRequest, payload: Payload, limit: usize) -> Result<Bytes, ApiError> {
    let limit = limit as u64;
    if length(request.headers()).is_some_and(|length| length > limit) {
        return Err(ApiError::TooLarge);
    }
    let mut body =
        PacedBody::new(request.headers(), payload, BodyTimeout::for_whole_body(BODY_TIMEOUT), limit);
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.next().await {
        bytes.extend_from_slice(&chunk?);
    }
    Ok(bytes.freeze())
}

/// Whether a body has a content coding other than `identity`. None is understood.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    let values =
        headers.get_all(CONTENT_ENCODING).flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    values
        .map(<[u8]>::trim_ascii)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

pub(crate) fn is_multipart(request: &HttpRequest) -> bool {
    let media_type = header_text(request.headers(), &CONTENT_TYPE).unwrap_or_default();
    media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data")
}

fn json(bytes: &[u8]) -> MembersResult {
    let text = std::str::from_utf8(bytes).map_err(|_| ApiError::Malformed)?;
    match read_json(text) {
        Ok(Value::Object(object))
            if object.iter().all(|(key, value)| has_no_nul(key) && is_storable(value, 2)) =>
        {
            Ok(object)
        }
        Err(number) if number.is_data() => Err(Error::rejected(number.to_string()).into()),
        _ => Err(ApiError::Malformed),
    }
}

/// Checks depth, and that there is no NUL: PostgreSQL cannot store it.
fn is_storable(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => has_no_nul(text),
        Value::Array(items) => depth <= MAX_DEPTH && items.iter().all(|v| is_storable(v, depth + 1)),
        Value::Object(members) => {
            depth <= MAX_DEPTH && members.iter().all(|(key, v)| has_no_nul(key) && is_storable(v, depth + 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn has_no_nul(text: &str) -> bool {
    !text.contains('\0')
}

async fn multipart(headers: &HeaderMap, bytes: Bytes) -> MembersResult {
    let body = stream::once(async move { Ok::<_, actix_web::error::PayloadError>(bytes) });
    let mut parts = Multipart::new(headers, body.boxed_local());
    let mut pairs = Vec::new();
    while let Some(mut part) = parts.try_next().await.map_err(|_| malformed_form_error())? {
        let name = part.name().map(str::to_owned).ok_or_else(malformed_form_error)?;
        let mut text = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(|_| malformed_form_error())? {
            text.extend_from_slice(&chunk);
        }
        if pairs.len() == MAX_FIELDS {
            return Err(ApiError::TooLarge);
        }
        pairs.push(Some((name, String::from_utf8(text).map_err(|_| malformed_form_error())?)));
    }
    nest_pairs(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_may_nest_a_hundred_deep_and_no_deeper() {
        let nest = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
        json(nest(100).as_bytes()).unwrap();
        assert!(json(nest(101).as_bytes()).is_err());
        assert!(json(nest(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_object_or_holds_a_nul_is_malformed() {
        for bad in ["[]", "1", "nul", "{\"a\":\"\\u0000\"}", "{\"a\\u0000\":1}", "{\"a\":[\"\\u0000\"]}"] {
            assert!(json(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(json(b"{\"a\":\"\xff\"}").is_err(), "no UTF-8");
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused_by_name() {
        let refused = json(b"{\"a\":[18446744073709551617]}").unwrap_err();
        let ApiError::Error(Error::Rejected(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.description,
            "Number cannot be stored exactly, send it as text: 18446744073709551617"
        );
    }
}
