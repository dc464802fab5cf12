//! Maps database errors to [`Error`].

use crate::engine;
use civitas_kernel::{Error, Result};
use diesel::QueryResult;
use diesel::result::DatabaseErrorKind as Kind;
use diesel::result::Error as Failure;
use diesel::result::OptionalExtension;

/// Converts results of Diesel.
pub(crate) trait DieselResultExt<T> {
    /// `Conflict` for two concurrent writers (a unique value taken, a deadlock), `Unavailable` when the database is
    /// unreachable or cannot write, `Timeout` when a statement took too long, `Internal` for the rest.
    fn map_db_error(self) -> Result<T>;
    /// The same, and `None` without a row.
    fn optional_row(self) -> Result<Option<T>>;
    /// The same, but this error when a unique value is taken.
    fn map_unique_violation(self, taken: impl FnOnce() -> Error) -> Result<T>;
}

impl<T> DieselResultExt<T> for QueryResult<T> {
    fn map_db_error(self) -> Result<T> {
        self.map_err(error_of)
    }

    fn optional_row(self) -> Result<Option<T>> {
        self.optional().map_db_error()
    }

    fn map_unique_violation(self, taken: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|failure| match failure {
            Failure::DatabaseError(Kind::UniqueViolation, _) => taken(),
            other => error_of(other),
        })
    }
}

/// The meaning of an engine's error without a kind of Diesel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCause {
    /// A conflict of two writers.
    Conflict,
    /// A fault of the machine: the database is unreachable, its disk is full or read-only.
    Machine,
    /// A statement was cancelled because it took too long.
    Timeout,
    /// A bug, or a broken database.
    Other,
}

fn error_of(failure: Failure) -> Error {
    let (kind, information) = match &failure {
        Failure::DatabaseError(kind, information) => (kind, information),
        // A COMMIT failed, and the ROLLBACK after it too: the first error is the cause.
        Failure::RollbackErrorOnCommit { commit_error, .. } => match commit_error.as_ref() {
            Failure::DatabaseError(kind, information) => (kind, information),
            _ => return Error::internal(failure),
        },
        Failure::DeserializationError(cause)
            if matches!(cause.downcast_ref(), Some(Error::AnswerTooLong)) =>
        {
            return Error::AnswerTooLong;
        }
        // The connection is broken: the database became unreachable during a transaction.
        Failure::BrokenTransactionManager => return Error::database(failure),
        _ => return Error::internal(failure),
    };
    let cause = match kind {
        Kind::UniqueViolation | Kind::SerializationFailure => ErrorCause::Conflict,
        Kind::ClosedConnection | Kind::UnableToSendCommand | Kind::ReadOnlyTransaction => ErrorCause::Machine,
        _ => engine::cause(information.message()),
    };
    match cause {
        ErrorCause::Conflict => Error::Conflict(failure.into()),
        ErrorCause::Machine => Error::database(failure),
        ErrorCause::Timeout => Error::Timeout(failure.into()),
        ErrorCause::Other => Error::internal(failure),
    }
}

/// Checks that an update changed one row.
///
/// # Errors
/// `NotFound` when there was no row.
pub(crate) fn require_changed(rows: usize) -> Result<()> {
    if rows == 0 { Err(Error::NotFound) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(message: &str) -> Failure {
        Failure::DatabaseError(Kind::Unknown, Box::new(message.to_owned()))
    }

    #[test]
    fn a_failed_commit_means_what_the_commit_said() {
        let failed = |message| Failure::RollbackErrorOnCommit {
            rollback_error: Box::new(unknown("no transaction is active")),
            commit_error: Box::new(unknown(message)),
        };
        let full = if cfg!(feature = "sqlite") { "database or disk is full" } else { "53100: no space left" };
        assert!(matches!(error_of(failed(full)), Error::Unavailable(_)));
        assert!(matches!(error_of(failed("no such table")), Error::Internal(_)));
        assert!(matches!(error_of(Failure::BrokenTransactionManager), Error::Unavailable(_)));
    }
}
