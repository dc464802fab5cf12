//! Errors: answers that are no success, failed jobs, connections.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Method, StatusCode, Url};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// The result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered with an error or a redirect.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// The job failed. Nothing was stored.
    #[error("job {id} failed: {class}: {message}")]
    JobFailed {
        /// The id of the job.
        id: Uuid,
        /// A stable name: `BadRequest`, `Forbidden`, `NotFound`, `ValidationError`, …
        class: String,
        /// The `error_description` of the synchronous endpoint.
        message: String,
        /// Which values are invalid.
        details: Vec<ErrorDetail>,
    },
    /// The job did not end in time. It may still end later.
    #[error("job {0} did not end in time")]
    JobTimeout(Uuid),
    /// The answer has no header `Total`: it is no list.
    #[error("the answer has no total")]
    NoTotal,
    /// The address of the server or the path cannot be used.
    #[error("{0} is not an address of a server")]
    Address(String),
    /// No answer: the connection failed or took too long.
    #[error(transparent)]
    Connection(#[from] reqwest::Error),
    /// The answer has another shape than the type it is decoded to.
    #[error("the answer has another shape: {0}")]
    Decode(#[source] serde_json::Error),
    /// The body of the request cannot be written as JSON.
    #[error("the body cannot be written: {0}")]
    Encode(#[source] serde_json::Error),
}

impl Error {
    /// The answer that is no success; `None` for other errors.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }

    /// The status of the answer; `None` for other errors.
    pub fn status(&self) -> Option<StatusCode> {
        self.api().map(|error| error.status)
    }
}

/// An answer that is no success (contract 01 §3).
#[derive(Debug, Clone, thiserror::Error)]
#[error("{method} {url}: {error}{separator}{description}", separator = if description.is_empty() { "" } else { ": " })]
#[non_exhaustive]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// A short name: `404: Resource not found`, `invalid_client`.
    pub error: String,
    /// What is wrong, for people.
    pub description: String,
    /// Which values are invalid.
    pub details: Vec<ErrorDetail>,
    /// When to try again (429 and 503).
    pub retry_after: Option<Duration>,
    /// The method of the request.
    pub method: Method,
    /// The address of the request.
    pub url: Url,
}

/// An invalid value of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDetail {
    /// What is wrong, for programs: `blank`, `too_long`.
    pub code: String,
    /// The member.
    pub field: String,
    /// What is wrong, for people.
    pub description: String,
}

/// The body of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    error: String,
    error_description: String,
    error_details: Vec<ErrorDetail>,
}

impl ApiError {
    /// The error of an answer. A body of another shape is ignored.
    pub(crate) fn read(
        method: Method,
        url: Url,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let body: Body = serde_json::from_slice(body).unwrap_or_default();
        let error = if body.error.is_empty() { status.to_string() } else { body.error };
        let (description, details) = (body.error_description, body.error_details);
        Self { status, error, description, details, retry_after: retry_after(headers), method, url }
    }
}

/// The header `Retry-After` in seconds; `None` when it is absent or a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn read(status: StatusCode, headers: &HeaderMap, body: &str) -> ApiError {
        let url = Url::parse("https://city.example/api/rest_full/v0.3/proposals/9").unwrap();
        ApiError::read(Method::GET, url, status, headers, body.as_bytes())
    }

    #[test]
    fn an_error_has_the_members_of_the_body() {
        let body = r#"{"error": "422: Unprocessable", "error_description": "No.", "extra": 1,
            "error_details": [{"code": "blank", "field": "title", "description": "can't be blank"}]}"#;
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
        let error = read(StatusCode::UNPROCESSABLE_ENTITY, &headers, body);
        assert_eq!((error.error.as_str(), error.description.as_str()), ("422: Unprocessable", "No."));
        assert_eq!((error.details[0].code.as_str(), error.details[0].field.as_str()), ("blank", "title"));
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
        assert!(error.to_string().ends_with("/proposals/9: 422: Unprocessable: No."), "{error}");
    }

    #[test]
    fn a_body_of_another_shape_leaves_the_status() {
        for body in ["", "<html>", "[]", r#"{"error": 1}"#] {
            let error = read(StatusCode::BAD_GATEWAY, &HeaderMap::new(), body);
            assert_eq!((error.error.as_str(), error.retry_after), ("502 Bad Gateway", None), "{body}");
        }
    }
}
