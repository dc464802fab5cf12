//! The error type, by meaning. `api` maps it to status and body (contract 01 §3).

use crate::PageRequest;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A result with the error type of all crates.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause that is logged and never shown.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error, by meaning.
#[derive(Debug)]
pub enum Error {
    /// No token, or an invalid one.
    Unauthenticated,
    /// A right is missing. The text does not name it.
    Forbidden,
    /// There is no such record, or it is not visible to the caller.
    NotFound,
    /// A rule is violated or a value is invalid; the description is shown to the caller. Field and code are for the forms
    /// of the panel; both are empty where no form needs them.
    Rejected(Box<FieldError>),
    /// A required parameter is absent.
    MissingParameter(Cow<'static, str>),
    /// Members are invalid; each is listed.
    Invalid {
        /// The label of the answer.
        wording: Wording,
        /// At least one.
        fields: Vec<FieldError>,
    },
    /// An error with a code of RFC 6749, at the token endpoints only.
    OAuth {
        /// `invalid_client`, `invalid_scope`, ...
        code: &'static str,
        /// Its description.
        description: &'static str,
    },
    /// The interface or a feature is switched off for the organization.
    Disabled,
    /// The deployment is read-only, and the work would change something.
    ReadOnly,
    /// Another deployment answers the requests of the organization, or will do so.
    NotServed,
    /// The answer would be longer than [`PageRequest::MAX_BYTES`].
    AnswerTooLong,
    /// The caller is over its share or limit; in how many seconds it may try again.
    TooManyRequests(u64),
    /// A conflict of two writers; the whole unit of work may be tried again.
    Conflict(BoxError),
    /// The service is overloaded, or a fault of the machine: the database is unreachable, its disk is full or
    /// read-only. Try again later.
    Unavailable(BoxError),
    /// A statement exceeded its time limit. It may succeed later, or never.
    Timeout(BoxError),
    /// A bug or a broken deployment. The cause goes to the log.
    Internal(BoxError),
}

/// The cause of an [`Error::Unavailable`] that the database is to blame for, and no other service.
#[derive(Debug)]
struct DatabaseFault(BoxError);

impl fmt::Display for DatabaseFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DatabaseFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// The label of a list of field errors; the sheets name one for each resource (contract 01 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// `400: Bad request`
    BadRequest,
    /// `400: Invalid request`
    InvalidRequest,
    /// `422: Unprocessable entity`
    Unprocessable,
}

/// An invalid member.
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
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        code: &'static str,
        description: impl Into<String>,
    ) -> Self {
        Self { code: code.into(), field: field.into(), description: description.into() }
    }

    /// A member that is blank. `label` is the start of the sentence.
    pub fn blank(field: &'static str, label: &str) -> Self {
        Self::new(field, "blank", format!("{label} cannot be blank"))
    }
}

impl Error {
    /// A rule is violated or a value is invalid; `text` is that of the contract.
    pub fn rejected(text: impl Into<String>) -> Self {
        Self::rejected_field("", "", text)
    }

    /// As [`Error::rejected`], with the member that is invalid and the code of the reason.
    pub fn rejected_field(field: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::Rejected(Box::new(FieldError::new(field, code, text)))
    }

    /// A required parameter is absent.
    pub fn missing(name: impl Into<Cow<'static, str>>) -> Self {
        Self::MissingParameter(name.into())
    }

    /// A bug: an impossible state.
    pub fn internal(cause: impl Into<BoxError>) -> Self {
        Self::Internal(cause.into())
    }

    /// `Ok` without field errors.
    pub fn unless_valid(wording: Wording, fields: Vec<FieldError>) -> Result<()> {
        if fields.is_empty() { Ok(()) } else { Err(Self::Invalid { wording, fields }) }
    }

    /// One member of a request is invalid: `400: Invalid request`.
    pub fn invalid(field: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::Invalid { wording: Wording::InvalidRequest, fields: vec![FieldError::new(field, code, text)] }
    }

    /// One member of a request is well-formed and not allowed: `422: Unprocessable entity`.
    pub fn unprocessable(field: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::Invalid { wording: Wording::Unprocessable, fields: vec![FieldError::new(field, code, text)] }
    }

    /// The database is unreachable, full or read-only, or has no free connection.
    pub fn database(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable(Box::new(DatabaseFault(cause.into())))
    }

    /// Whether it was made by [`Error::database`].
    pub fn is_database_error(&self) -> bool {
        matches!(self, Self::Unavailable(cause) if cause.is::<DatabaseFault>())
    }

    /// The `error_description` of the answer, and the `error_message` of a failed job.
    pub fn description(&self) -> Cow<'_, str> {
        match self {
            Self::Unauthenticated => "Unauthorized access".into(),
            Self::Forbidden => "Forbidden".into(),
            Self::NotFound => "Resource not found".into(),
            Self::Rejected(error) => error.description.as_str().into(),
            Self::MissingParameter(name) => {
                format!("param is missing or the value is empty or invalid: {name}").into()
            }
            Self::Invalid { fields, .. } => {
                fields.iter().map(|f| f.description.as_str()).collect::<Vec<_>>().join(". ").into()
            }
            Self::OAuth { description, .. } => (*description).into(),
            Self::Disabled => "Not implemented".into(),
            Self::ReadOnly => "Service is read-only".into(),
            Self::AnswerTooLong => {
                format!("Answer exceeds {} bytes: use a smaller per_page", PageRequest::MAX_BYTES).into()
            }
            Self::TooManyRequests(_) => "Too many requests".into(),
            Self::NotServed | Self::Conflict(_) | Self::Unavailable(_) | Self::Timeout(_) => {
                "Service unavailable".into()
            }
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

    /// The cause, for the log only.
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
    fn a_fault_of_the_database_is_told_from_that_of_another_service() {
        let fault = Error::database("the disk is full");
        assert!(fault.is_database_error() && fault.is_transient());
        assert_eq!(fault.cause().map(ToString::to_string).as_deref(), Some("the disk is full"));
        assert!(!Error::Unavailable("no route".into()).is_database_error());
    }

    #[test]
    fn a_cause_is_for_the_log_only() {
        let error = Error::internal("no such table: votes");
        assert_eq!(error.description(), "Internal Server Error");
        assert!(error.to_string().contains("votes"));
    }
}
