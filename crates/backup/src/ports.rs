//! What backups need from outside.

use crate::contents::Contents;
use crate::manifest::Engine;
use async_trait::async_trait;
use civitas_attachments::{Content, FileStore};
use civitas_kernel::Result;
use futures_util::stream::BoxStream;

/// A copy of a database in temporary files.
#[derive(Debug)]
pub struct DatabaseCopy {
    /// The versions of the schema that were applied.
    pub schema: Vec<String>,
    /// The parts by name, compressed.
    pub parts: Vec<(String, Content)>,
    /// What the database had at the time of the copy.
    pub contents: Contents,
}

/// As long as it exists, nobody else makes a backup of this database.
pub type Guard = Box<dyn Send + Sync>;

/// Copies and restores a whole database.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait DatabaseCopies: Send + Sync {
    /// The engine of the database.
    fn engine(&self) -> Engine;

    /// Excludes other backups of this database, also those of other processes. `None`: one is being made.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn lock(&self) -> Result<Option<Guard>>;

    /// Removes what killed backups left outside the target. Called while the guard exists.
    ///
    /// # Errors
    /// `Unavailable` when the database or the disk does not answer.
    async fn remove_leftovers(&self) -> Result<()>;

    /// Copies the database as it is at one moment, while others write.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer, or the disk is full.
    async fn copy(&self) -> Result<DatabaseCopy>;

    /// Restores a copy into a temporary database, checks it with the means of the engine, and returns what it has. The
    /// temporary database is removed.
    ///
    /// # Errors
    /// `Internal` with a sentence when the copy is damaged. `Unavailable` when the database does not answer, or the disk
    /// is full.
    async fn check(&self, copy: &DatabaseCopy) -> Result<Contents>;

    /// Restores a copy into the database of the configuration, which must be empty. It stays empty unless it gets
    /// exactly `copy.contents`.
    ///
    /// # Errors
    /// As [`check`](Self::check); `Internal` when the database is not empty.
    async fn restore(&self, copy: &DatabaseCopy) -> Result<()>;
}

/// Encrypts the objects of a backup.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait Sealing: Send + Sync {
    /// Who can decrypt; empty: nothing is encrypted.
    fn recipients(&self) -> Vec<String>;

    /// Encrypts bytes.
    ///
    /// # Errors
    /// `Unavailable` when the disk is full.
    async fn seal(&self, plain: Content) -> Result<Content>;
}

/// Decrypts the objects of a backup.
#[async_trait]
pub trait Opening: Send + Sync {
    /// Decrypts bytes.
    ///
    /// # Errors
    /// `Internal` with a sentence when the bytes are damaged, or for other recipients. `Unavailable` when the disk is
    /// full.
    async fn open(&self, sealed: Content) -> Result<Content>;
}

/// No encryption.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

#[async_trait]
impl Sealing for Plain {
    fn recipients(&self) -> Vec<String> {
        Vec::new()
    }

    async fn seal(&self, plain: Content) -> Result<Content> {
        Ok(plain)
    }
}

#[async_trait]
impl Opening for Plain {
    async fn open(&self, sealed: Content) -> Result<Content> {
        Ok(sealed)
    }
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Lists the objects of a store.
pub trait Listing: Send + Sync {
    /// The objects whose names begin with these segments, in no order. A store without them has an empty list.
    fn list(&self, prefix: &str) -> BoxStream<'static, Result<Listed>>;
}

/// Where backups are.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Their objects.
    pub objects: &'a dyn FileStore,
    /// The list of these objects.
    pub names: &'a dyn Listing,
}
