//! Maps errors to status and body (contract 01 §3). The only file with both [`Error`] and [`StatusCode`].

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, HeaderName, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use civitas_accounts::TokenError;
use civitas_application::RetryAfter;
use civitas_kernel::{Error, FieldError, Wording};
use serde::Serialize;
use utoipa::ToSchema;

/// The media type of every document.
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// When a client may try a write again while the deployment is read-only, in seconds.
const READ_ONLY_SECONDS: &str = "60";

/// The error of a request: from a domain crate, or from HTTP.
#[derive(Debug)]
pub(crate) enum ApiError {
    Error(Error),
    /// The body is not a JSON object, or not one that is accepted.
    Malformed,
    TooLarge,
    UnsupportedMediaType,
    NoRoute,
    /// The path exists and has no such method; the methods it has. Only the contract's one such operation answers
    /// this, others are [`Self::NoRoute`].
    MethodNotAllowed(&'static str),
    /// The path is in the contract and has no implementation.
    NoAction,
    NoCredentials,
    /// The bearer token of an introspection is not valid.
    Bearer(TokenError),
    /// A secondary host: the status, and the address at the primary host.
    Moved(StatusCode, String),
    /// The event after which a stream would continue is not stored any more.
    EventGone,
    /// The idempotency key of the request was used for another one.
    KeyReused,
    /// A request with the same idempotency key is being executed.
    KeyInUse,
}

impl From<RetryAfter> for ApiError {
    fn from(wait: RetryAfter) -> Self {
        Self::Error(Error::TooManyRequests(wait.seconds()))
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The body of every failure.
#[derive(Serialize, ToSchema)]
#[schema(as = error, title = "API error payload")]
pub(crate) struct ErrorBody<'a> {
    /// The kind of error, or a code of RFC 6749 from the token endpoints.
    error: &'a str,
    /// The description, for people.
    error_description: &'a str,
    /// One entry for each invalid member.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<ErrorDetail>, required = false)]
    error_details: &'a [FieldError],
    /// Only where the bearer token of an introspection is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
}

/// An invalid member.
#[derive(ToSchema)]
#[schema(as = error_detail)]
#[expect(dead_code, reason = "names the members of the document")]
pub(crate) struct ErrorDetail {
    /// Stable, for programs.
    code: String,
    /// The member of the request.
    field: String,
    /// The full sentence, for people.
    description: String,
}

impl ApiError {
    /// Its status, and the text of `error`.
    fn kind(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Error(error) => kind_of(error),
            Self::Malformed => (StatusCode::BAD_REQUEST, "400: Malformed JSON request"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "413: Payload too large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "415: Unsupported media type"),
            Self::NoRoute => (StatusCode::NOT_FOUND, "404: Route not found"),
            Self::MethodNotAllowed(_) => (StatusCode::METHOD_NOT_ALLOWED, "405: Method not allowed"),
            Self::NoAction => (StatusCode::NOT_FOUND, "404: Action not found"),
            Self::NoCredentials => (StatusCode::UNAUTHORIZED, "401: Unauthorized access"),
            Self::Bearer(_) => (StatusCode::UNAUTHORIZED, "invalid_token"),
            Self::Moved(status, _) => (*status, ""),
            Self::EventGone => (StatusCode::GONE, "410: Gone"),
            Self::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "422: Unprocessable entity"),
            Self::KeyInUse => (StatusCode::CONFLICT, "409: Conflict"),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.kind().0
    }

    pub(crate) fn body(&self) -> String {
        let details = if let Self::Error(error) = self { error.details() } else { &[] };
        let state = matches!(self, Self::Bearer(_)).then_some("unauthorized");
        let body = ErrorBody {
            error: self.kind().1,
            error_description: &self.description(),
            error_details: details,
            state,
        };
        serde_json::to_string(&body).unwrap_or_default()
    }

    fn description(&self) -> String {
        match self {
            Self::Error(error) => error.description().into_owned(),
            Self::Bearer(fault) => fault.description().to_owned(),
            Self::EventGone => "Event is no longer available".to_owned(),
            Self::KeyReused => "Idempotency-Key was used for another request".to_owned(),
            Self::KeyInUse => "A request with this Idempotency-Key is in progress".to_owned(),
            Self::NoCredentials => Error::Unauthenticated.description().into_owned(),
            other => other.kind().1.split_once(": ").map_or("", |(_, text)| text).to_owned(),
        }
    }

    /// The answer. A failure is logged here, once, with its cause.
    pub(crate) fn respond(&self) -> HttpResponse {
        if let Self::Moved(status, to) = self {
            return HttpResponse::build(*status).insert_header(("Location", to.as_str())).finish();
        }
        if let Self::Error(error) = self
            && let Some(cause) = error.cause()
        {
            tracing::error!(%cause, "the request failed");
        }
        let mut response = HttpResponse::build(self.status());
        if let Self::Error(Error::OAuth { .. }) = self {
            response.insert_header((CACHE_CONTROL, "no-store")).insert_header((PRAGMA, "no-cache"));
        }
        let header: Option<(HeaderName, String)> = match self {
            Self::Error(Error::Unauthenticated) | Self::Bearer(_) => {
                Some((WWW_AUTHENTICATE, r#"Bearer error="invalid_token""#.to_owned()))
            }
            Self::Error(Error::OAuth { code: "invalid_client", .. }) => {
                Some((WWW_AUTHENTICATE, r#"Basic realm="oauth""#.to_owned()))
            }
            Self::NoCredentials => Some((WWW_AUTHENTICATE, "Bearer".to_owned())),
            Self::MethodNotAllowed(methods) => Some((ALLOW, (*methods).to_owned())),
            Self::Error(Error::TooManyRequests(seconds)) => Some((RETRY_AFTER, seconds.to_string())),
            Self::Error(Error::ReadOnly) => Some((RETRY_AFTER, READ_ONLY_SECONDS.to_owned())),
            Self::KeyInUse
            | Self::Error(
                Error::NotServed | Error::Unavailable(_) | Error::Conflict(_) | Error::Timeout(_),
            ) => Some((RETRY_AFTER, "1".to_owned())),
            _ => None,
        };
        if let Some(header) = header {
            response.insert_header(header);
        }
        response.content_type(JSON).body(self.body())
    }
}

fn kind_of(error: &Error) -> (StatusCode, &'static str) {
    match error {
        Error::Unauthenticated => (StatusCode::UNAUTHORIZED, "401: Unauthorized access"),
        Error::Forbidden => (StatusCode::FORBIDDEN, "403: Forbidden"),
        Error::NotFound => (StatusCode::NOT_FOUND, "404: Resource not found"),
        Error::Rejected(_) | Error::AnswerTooLong => (StatusCode::BAD_REQUEST, "400: Bad request"),
        Error::MissingParameter(_) => (StatusCode::BAD_REQUEST, "400: Required parameter missing"),
        Error::Invalid { wording, .. } => match wording {
            Wording::BadRequest => (StatusCode::BAD_REQUEST, "400: Bad request"),
            Wording::InvalidRequest => (StatusCode::BAD_REQUEST, "400: Invalid request"),
            Wording::Unprocessable => (StatusCode::UNPROCESSABLE_ENTITY, "422: Unprocessable entity"),
        },
        Error::OAuth { code, .. } => match *code {
            "invalid_client" => (StatusCode::UNAUTHORIZED, code),
            "unauthorized_client" => (StatusCode::FORBIDDEN, code),
            _ => (StatusCode::BAD_REQUEST, code),
        },
        Error::Disabled => (StatusCode::NOT_IMPLEMENTED, "501: Not implemented"),
        Error::TooManyRequests(_) => (StatusCode::TOO_MANY_REQUESTS, "429: Too many requests"),
        Error::ReadOnly
        | Error::NotServed
        | Error::Conflict(_)
        | Error::Unavailable(_)
        | Error::Timeout(_) => (StatusCode::SERVICE_UNAVAILABLE, "503: Service unavailable"),
        Error::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Server error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::MessageBody;
    use serde_json::{Value, json};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// Counts the lines of the log.
    #[derive(Clone, Default)]
    struct LineCounter(Arc<AtomicUsize>);

    impl Subscriber for LineCounter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_refused_write_and_a_request_to_a_moved_organization_are_no_errors_in_the_log() {
        for (error, seconds, lines) in [
            (Error::ReadOnly, "60", 0),
            (Error::NotServed, "1", 0),
            (Error::Unavailable("no connection".into()), "1", 1),
        ] {
            let log = LineCounter::default();
            let response = tracing::subscriber::with_default(log.clone(), || ApiError::from(error).respond());
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers().get(RETRY_AFTER).unwrap(), seconds);
            assert_eq!(log.0.load(Ordering::Relaxed), lines);
        }
    }

    fn answer(refusal: impl Into<ApiError>) -> (u16, Value) {
        let response = refusal.into().respond();
        let status = response.status().as_u16();
        let bytes = response.into_body().try_into_bytes().unwrap();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn a_refusal_has_a_label_a_sentence_and_nothing_else() {
        let expected = json!({"error": "404: Route not found", "error_description": "Route not found"});
        assert_eq!(answer(ApiError::NoRoute), (404, expected));
        let expected = json!({"error": "413: Payload too large", "error_description": "Payload too large"});
        assert_eq!(answer(ApiError::TooLarge), (413, expected));
        let expected = json!({"error": "410: Gone", "error_description": "Event is no longer available"});
        assert_eq!(answer(ApiError::EventGone), (410, expected));
        let expected = json!({"error": "429: Too many requests", "error_description": "Too many requests"});
        assert_eq!(answer(Error::TooManyRequests(1)), (429, expected));
    }

    #[test]
    fn a_cause_is_never_disclosed() {
        let expected = json!({"error": "Server error", "error_description": "Internal Server Error"});
        assert_eq!(answer(Error::internal("no such table: votes")), (500, expected));
    }

    #[test]
    fn wrong_members_are_listed() {
        let fields = vec![FieldError::new("title", "blank", "Title cannot be blank")];
        let (status, body) = answer(Error::Invalid { wording: Wording::Unprocessable, fields });
        assert_eq!((status, body["error"].as_str()), (422, Some("422: Unprocessable entity")));
        let expected = json!([{"code": "blank", "field": "title", "description": "Title cannot be blank"}]);
        assert_eq!(body["error_details"], expected);
    }
}
