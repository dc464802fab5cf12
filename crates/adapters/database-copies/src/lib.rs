//! Copies and restores whole databases, for backups.
//!
//! [`Sqlite`] copies the file page by page, [`Postgres`] each table as text (`COPY`). Both read one snapshot: the copy
//! has what was committed when it began, and writers are not held up. [`Age`] encrypts copies.

mod age;
mod postgres;
mod sqlite;
mod text;

pub use age::{Age, Identities, is_recipient};
pub use postgres::{Access, Postgres};
pub use sqlite::Sqlite;
