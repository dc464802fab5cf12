//! What backups need from outside.

use super::manifest::{RestoreCheckMethod, RowCounts};
use async_trait::async_trait;
use civitas_attachments::FileContent;
use civitas_kernel::Result;

/// A copy of a database.
#[derive(Debug)]
pub struct DatabaseCopy {
    /// A temporary file: of SQLite a database, of PostgreSQL a dump.
    pub content: FileContent,
    /// The rows that it has.
    pub rows: RowCounts,
}

/// As long as it exists, nobody else makes a backup of this database.
pub type BackupLock = Box<dyn Send + Sync>;

/// Copies and restores a whole database.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait DatabaseCopier: Send + Sync {
    /// The name of the engine. A copy is restored on the engine that made it.
    fn engine(&self) -> &'static str;

    /// Checks that the programs that copies need are installed.
    ///
    /// # Errors
    /// `Internal` with a sentence that says what to install. `Unavailable` when the database does not answer.
    async fn ready(&self) -> Result<()>;

    /// Excludes other backups of this database, also those of other processes, and removes what killed ones left outside
    /// the target. `None`: another one is being made.
    ///
    /// # Errors
    /// `Unavailable` when the database or the disk does not answer.
    async fn lock(&self) -> Result<Option<BackupLock>>;

    /// Copies the database as it is at one moment, while others write.
    ///
    /// # Errors
    /// As [`ready`](Self::ready); `Unavailable` when the disk is full.
    async fn copy(&self) -> Result<DatabaseCopy>;

    /// Restores a copy into a temporary database, and checks that it has the rows of the copy. The temporary database is
    /// removed. Where none can be created, it only reads the copy.
    ///
    /// # Errors
    /// As [`copy`](Self::copy); `Internal` with a sentence when the copy is damaged, or has other rows.
    async fn check(&self, copy: &DatabaseCopy) -> Result<RestoreCheckMethod>;

    /// Restores a copy into the database of the configuration, which must be empty.
    ///
    /// # Errors
    /// As [`check`](Self::check); `Internal` when the database is not empty.
    async fn restore(&self, copy: &DatabaseCopy) -> Result<()>;
}
