//! From the database's failures to ours.

use crate::engine;
use civitas_kernel::{Error, Result};
use diesel::QueryResult;
use diesel::result::DatabaseErrorKind as Kind;
use diesel::result::Error as Failure;

/// Diesel's results as ours.
pub(crate) trait Stored<T> {
    /// `Conflict` when two writers met (a unique value taken, a deadlock), `Unavailable` when the database is away
    /// or overloaded, `Internal` for the rest.
    fn stored(self) -> Result<T>;
    /// The same, but this refusal when a unique value is taken. On PostgreSQL the open transaction is lost with it:
    /// where work may go on, ask `ON CONFLICT DO NOTHING` instead.
    fn stored_unless_taken(self, refusal: impl Into<std::borrow::Cow<'static, str>>) -> Result<T>;
    /// The same, with a refusal of any kind.
    fn stored_unless(self, taken: impl FnOnce() -> Error) -> Result<T>;
}

impl<T> Stored<T> for QueryResult<T> {
    fn stored(self) -> Result<T> {
        self.map_err(meaning)
    }

    fn stored_unless_taken(self, refusal: impl Into<std::borrow::Cow<'static, str>>) -> Result<T> {
        self.stored_unless(|| Error::rejected(refusal))
    }

    fn stored_unless(self, taken: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|failure| match failure {
            Failure::DatabaseError(Kind::UniqueViolation, _) => taken(),
            other => meaning(other),
        })
    }
}

fn meaning(failure: Failure) -> Error {
    let Failure::DatabaseError(kind, information) = &failure else {
        return Error::internal(failure);
    };
    let message = information.message();
    match kind {
        Kind::UniqueViolation | Kind::SerializationFailure => Error::Conflict(failure.into()),
        Kind::ClosedConnection | Kind::UnableToSendCommand => Error::Unavailable(failure.into()),
        _ if engine::is_conflict(message) => Error::Conflict(failure.into()),
        _ if engine::is_away(message) => Error::Unavailable(failure.into()),
        _ => Error::internal(failure),
    }
}

/// The outcome of an update that must have met one row.
///
/// # Errors
/// `NotFound` when there was none.
pub(crate) fn changed(rows: usize) -> Result<()> {
    if rows == 0 { Err(Error::NotFound) } else { Ok(()) }
}
