//! The error type, by meaning. `api` maps it to status and body (contract 01 §3).

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A result with the one error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause that is logged and never shown.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why something did not happen.
#[derive(Debug)]
pub enum Error {
    /// No token, or none that counts.
    Unauthenticated,
    /// A right is missing. Never says which.
    Forbidden,
    /// There is no such record, or the caller may not know of it.
    NotFound,
    /// A rule or a value is violated; the text is the caller's.
    Rejected(Cow<'static, str>),
    /// A required parameter is absent.
    MissingParameter(Cow<'static, str>),
    /// Members do not hold what they must; each is named.
    Invalid {
        /// Under which label it is answered.
        wording: Wording,
        /// At least one.
        fields: Vec<FieldError>,
    },
    /// A failure in the words of RFC 6749, at the token endpoints only.
    OAuth {
        /// `invalid_client`, `invalid_scope`, ...
        code: &'static str,
        /// The text beside it.
        description: &'static str,
    },
    /// The interface or a feature is switched off for the organization.
    Disabled,
    /// Two writers met; the whole unit of work may be tried again.
    Conflict(BoxError),
    /// The service is overloaded, or the machine below it is at fault: the database is away, its disk is full or
    /// cannot be written. Try again later.
    Unavailable(BoxError),
    /// A statement took longer than it may. It may end in time later, or never.
    Timeout(BoxError),
    /// A bug or a broken deployment. The cause goes to the log.
    Internal(BoxError),
}

/// The label over a list of field errors; the sheets name one for each resource (contract 01 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// `400: Bad request`
    BadRequest,
    /// `400: Invalid request`
    InvalidRequest,
    /// `422: Unprocessable entity`
    Unprocessable,
}

/// One member that does not hold what it must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// Stable, for programs: `blank`, `too_short`, ...
    pub code: Cow<'static, str>,
    /// The member of the request.
    pub field: Cow<'static, str>,
    /// The full sentence, for people.
    pub description: String,
}

impl FieldError {
    /// One member, one reason.
    pub fn new(field: &'static str, code: &'static str, description: impl Into<String>) -> Self {
        Self { code: code.into(), field: field.into(), description: description.into() }
    }
}

impl Error {
    /// A rule or value is violated, with the words of the contract.
    pub fn rejected(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected(text.into())
    }

    /// A required parameter is absent.
    pub fn missing(name: impl Into<Cow<'static, str>>) -> Self {
        Self::MissingParameter(name.into())
    }

    /// Something that cannot happen has happened.
    pub fn internal(cause: impl Into<BoxError>) -> Self {
        Self::Internal(cause.into())
    }

    /// `Ok` when no member is wrong.
    pub fn unless_valid(wording: Wording, fields: Vec<FieldError>) -> Result<()> {
        if fields.is_empty() { Ok(()) } else { Err(Self::Invalid { wording, fields }) }
    }

    /// The `error_description` of the answer, and the `error_message` of a failed job.
    pub fn description(&self) -> Cow<'_, str> {
        match self {
            Self::Unauthenticated => "Unauthorized access".into(),
            Self::Forbidden => "Forbidden".into(),
            Self::NotFound => "Resource not found".into(),
            Self::Rejected(text) => text.as_ref().into(),
            Self::MissingParameter(name) => {
                format!("param is missing or the value is empty or invalid: {name}").into()
            }
            Self::Invalid { fields, .. } => {
                fields.iter().map(|f| f.description.as_str()).collect::<Vec<_>>().join(". ").into()
            }
            Self::OAuth { description, .. } => (*description).into(),
            Self::Disabled => "Not implemented".into(),
            Self::Conflict(_) | Self::Unavailable(_) | Self::Timeout(_) => "Service unavailable".into(),
            Self::Internal(_) => "Internal Server Error".into(),
        }
    }

    /// The `error_details` of the answer; empty when there are none.
    pub fn details(&self) -> &[FieldError] {
        match self {
            Self::Invalid { fields, .. } => fields,
            _ => &[],
        }
    }

    /// What the log should say and nobody else.
    pub fn cause(&self) -> Option<&(dyn std::error::Error + Send + Sync)> {
        match self {
            Self::Conflict(cause)
            | Self::Unavailable(cause)
            | Self::Timeout(cause)
            | Self::Internal(cause) => Some(cause.as_ref()),
            _ => None,
        }
    }

    /// Whether the same work may succeed when it is done again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Conflict(_) | Self::Unavailable(_) | Self::Timeout(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description())?;
        self.cause().map_or(Ok(()), |cause| write!(f, " ({cause})"))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_of_all_members_make_the_description() {
        let error = Error::Invalid {
            wording: Wording::InvalidRequest,
            fields: vec![
                FieldError::new("title", "blank", "Title cannot be blank"),
                FieldError::new("body", "blank", "Body cannot be blank"),
            ],
        };
        assert_eq!(error.description(), "Title cannot be blank. Body cannot be blank");
    }

    #[test]
    fn a_cause_is_for_the_log_only() {
        let error = Error::internal("no such table: votes");
        assert_eq!(error.description(), "Internal Server Error");
        assert!(error.to_string().contains("votes"));
    }
}
