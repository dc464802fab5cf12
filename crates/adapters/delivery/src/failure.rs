//! Why an attempt got no answer.

use crate::answer;
use crate::guard::NameError;
use civitas_webhooks::{SendError, SendErrorKind};
use std::error::Error;
use std::io;
use std::iter::successors;

/// An error with a kind and a cause for people.
pub(crate) fn send_error(kind: SendErrorKind, cause: impl Into<String>) -> SendError {
    SendError { kind, cause: cause.into() }
}

/// The error of the HTTP client. The cause does not have the address, which may contain a token.
pub(crate) fn from_http_error(error: reqwest::Error) -> SendError {
    let error = error.without_url();
    let kind = kind_of(&error);
    let cause = match kind {
        SendErrorKind::Timeout if error.is_connect() => "no connection in time".to_owned(),
        SendErrorKind::Timeout => "no complete answer in time".to_owned(),
        _ => causes(&error).last().map(ToString::to_string).unwrap_or_default(),
    };
    send_error(kind, answer::printable_text(cause.as_bytes(), false))
}

fn kind_of(error: &reqwest::Error) -> SendErrorKind {
    if let Some(name) = causes(error).find_map(|cause| cause.downcast_ref::<NameError>()) {
        return name.kind();
    }
    if error.is_timeout() {
        return SendErrorKind::Timeout;
    }
    if error.is_builder() {
        return SendErrorKind::Refused;
    }
    if causes(error).any(<dyn Error>::is::<rustls::Error>) {
        return SendErrorKind::Tls;
    }
    if causes(error).any(is_malformed) {
        return SendErrorKind::Protocol;
    }
    SendErrorKind::Connection
}

/// Whether the answer, or a chunk of its body, is not HTTP.
fn is_malformed(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
        || cause.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
        })
}

/// The error and its causes; the last one happened first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |cause| match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        // `source` of an `io::Error` leaves out the error it contains.
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => (*cause).source(),
    })
}
