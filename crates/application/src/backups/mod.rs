//! Backups of a deployment: the database, and the files of attachments.
//!
//! A target has these objects:
//!
//! - `backups/NAME/database`: the copy of the database. `NAME` begins with the time at which the backup was begun.
//! - `backups/NAME/files.json`: the files of the backup by their names.
//! - `backups/NAME/manifest.json`: written last; a backup without it is incomplete.
//! - `files/FILE`: the files of attachments, each stored once for all backups: a file never changes.
//!
//! The port for the database is [`DatabaseCopier`]. The format, and why: `docs/decisions/0039-backups.md`.

mod manifest;
mod ports;
mod schedule;
#[cfg(test)]
mod tests;

pub use manifest::{BackupManifest, BackupName, RestoreCheckMethod, RowCounts};
pub use ports::{BackupLock, DatabaseCopier, DatabaseCopy};
pub use schedule::{TimeOfDay, is_due};

use crate::file_transfer::{
    FileDigest, FileDigests, FileTransfer, TransferResult, digest_in, digest_of, receive, store,
};
use bytes::Bytes;
use civitas_attachments::{FileContent, FileIntake, FileRegistry, FileStore, ReceiveOutcome};
use civitas_kernel::{Error, Result, clock};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufReader, Seek};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};
use tokio::task::spawn_blocking;

const DATABASE: &str = "database";
const FILES: &str = "files.json";
const MANIFEST: &str = "manifest.json";
/// How long an incomplete backup is kept: it may be one that is being made.
const INCOMPLETE: Duration = Duration::days(1);

/// The backups of a target.
pub struct Backups {
    /// All its objects.
    pub objects: Arc<dyn FileStore>,
    /// Those below `files/`, under their names there.
    pub files: Arc<dyn FileStore>,
    /// Has each object while it is checked.
    pub intake: Arc<dyn FileIntake>,
}

/// What a backup is made of.
pub struct BackupSource<'a> {
    /// The database.
    pub database: &'a dyn DatabaseCopier,
    /// The rows of the files of attachments.
    pub rows: &'a dyn FileRegistry,
    /// Their bytes.
    pub files: &'a dyn FileStore,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RemovalResult {
    /// Backups, complete or not.
    pub backups: u64,
    /// Files of attachments that no backup has any more.
    pub files: u64,
}

impl Backups {
    /// Makes a backup. Returns its manifest, and the number of files that no earlier one had. No other backup of the
    /// database is made while the guard exists.
    ///
    /// Files are copied before the database and again after it: the second time those that came meanwhile. A file that
    /// came and was removed within the time of the copy of the database is the only one that a backup can lack.
    ///
    /// # Errors
    /// `Conflict` while another backup of this database is made. `Internal` with a sentence when the copy cannot be made
    /// or restored. `Unavailable` when database or target do not answer, or the disk is full. The backup is then
    /// incomplete and never used.
    pub async fn make(
        &self,
        source: BackupSource<'_>,
        now: OffsetDateTime,
    ) -> Result<(BackupManifest, u64, BackupLock)> {
        let Some(guard) = source.database.lock().await? else {
            return Err(Error::Conflict("another backup of this database is being made".into()));
        };
        let name = BackupName::new(now)?;
        let (before, mut files) = self.copy_files(&source, self.known_files().await?).await?;
        let taken_at = clock::now();
        let copy = source.database.copy().await?;
        let proof = source.database.check(&copy).await?;
        let (after, later) = self.copy_files(&source, files.clone()).await?;
        files.extend(later);
        let database = self.store(&name.object(DATABASE), copy.content).await?;
        let manifest = BackupManifest {
            format: BackupManifest::FORMAT,
            civitas: env!("CARGO_PKG_VERSION").to_owned(),
            taken_at,
            engine: source.database.engine().to_owned(),
            database,
            rows: copy.rows,
            proof,
            list: self.store_json(&name.object(FILES), &files).await?,
            files: files.len() as u64,
            missing_files: after.missing,
            name,
        };
        self.store_json(&manifest.name.object(MANIFEST), &manifest).await?;
        Ok((manifest, before.copied + after.copied, guard))
    }

    /// Copies the files that the target does not have. Returns all.
    async fn copy_files(
        &self,
        source: &BackupSource<'_>,
        known: FileDigests,
    ) -> Result<(TransferResult, FileDigests)> {
        let (rows, intake) = (source.rows, &*self.intake);
        let transfer = FileTransfer { rows, intake, from: source.files, to: &*self.files, known };
        let mut files = FileDigests::new();
        let mut observe = |_: TransferResult, file: &str, digest: Option<&FileDigest>| {
            if let Some(digest) = digest {
                files.insert(file.to_owned(), digest.clone());
            } else {
                tracing::warn!(file, "a file is missing or damaged; the backup does not have it");
            }
        };
        let moved = transfer.run(&mut observe).await?;
        Ok((moved, files))
    }

    /// The files of the newest backup that the target still has. If its list cannot be read, there are none: each file of
    /// the target is then read.
    async fn known_files(&self) -> Result<FileDigests> {
        let listed = async { self.files_of(&self.find(None).await?).await };
        let Ok(mut known) = listed.await else { return Ok(FileDigests::new()) };
        let present = self.files.list("").map_ok(|object| (object.name, object.byte_size));
        let present: HashMap<String, u64> = present.try_collect().await?;
        known.retain(|file, digest| present.get(file) == Some(&digest.bytes));
        Ok(known)
    }

    /// The names of all backups in ascending order, and whether each is complete.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer.
    pub async fn names(&self) -> Result<BTreeMap<BackupName, bool>> {
        let mut found = BTreeMap::new();
        let mut listed = self.objects.list("backups");
        while let Some(object) = listed.try_next().await? {
            let mut segments = object.name.split('/').skip(1);
            let Some(backup) = segments.next().and_then(BackupName::parse) else { continue };
            *found.entry(backup).or_insert(false) |= segments.next() == Some(MANIFEST);
        }
        Ok(found)
    }

    /// The newest complete backup.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer.
    pub async fn newest(&self) -> Result<Option<BackupName>> {
        Ok(self.names().await?.into_iter().rfind(|(_, complete)| *complete).map(|(name, _)| name))
    }

    /// The manifest of a backup; without a name that of the newest complete one.
    ///
    /// # Errors
    /// `Internal` with a sentence when there is none, or it cannot be read. `Unavailable` when the target does not
    /// answer.
    pub async fn find(&self, name: Option<&BackupName>) -> Result<BackupManifest> {
        /// The length of the longest manifest, in bytes.
        const MAX_LENGTH: u64 = 16 << 20;
        let newest = if name.is_none() { self.newest().await? } else { None };
        let Some(name) = name.or(newest.as_ref()) else {
            return Err(Error::internal("there is no complete backup"));
        };
        let Some(stored) = self.objects.read(&name.object(MANIFEST), 0..MAX_LENGTH).await? else {
            return Err(Error::internal(format!("there is no complete backup {name}")));
        };
        BackupManifest::read(&stored.try_collect::<Vec<_>>().await?.concat())
    }

    /// The copy of the database.
    ///
    /// # Errors
    /// `Internal` with a sentence when it was made with another engine, is missing or damaged.
    pub async fn database(&self, manifest: &BackupManifest, engine: &str) -> Result<DatabaseCopy> {
        let made = &manifest.engine;
        if made != engine {
            return Err(Error::internal(format!(
                "the backup is of {made}, and the configured database is {engine}: restore it with {made}, then move \
                 with `civitas export` and `civitas import`"
            )));
        }
        let content = self.fetch(&manifest.name.object(DATABASE), &manifest.database).await?;
        Ok(DatabaseCopy { content, rows: manifest.rows.clone() })
    }

    /// Reads all files of a backup. Returns the number of those that are missing or damaged.
    ///
    /// # Errors
    /// `Internal` when their list is damaged. `Unavailable` when the target does not answer.
    pub async fn check_files(&self, manifest: &BackupManifest) -> Result<u64> {
        let mut missing = 0;
        for (file, digest) in self.files_of(manifest).await? {
            let found = digest_in(&*self.files, &file, digest.bytes).await?;
            missing += u64::from(found.as_ref() != Some(&digest));
        }
        Ok(missing)
    }

    /// Removes backups that are older than `keep` (`None`: none), but the newest complete one, and files that no backup
    /// has. Call it while no backup is made: after one, with its guard.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer while backups are found and removed. An error while files are found
    /// and removed is logged. No file is removed when the list of a backup that stays cannot be read.
    pub async fn remove_old(&self, keep: Option<Duration>, now: OffsetDateTime) -> Result<RemovalResult> {
        let (names, newest) = (self.names().await?, self.newest().await?);
        let is_old = |name: &BackupName, complete: bool| {
            let age = if complete { keep } else { Some(INCOMPLETE) };
            let begun = name.begun_at().filter(|_| newest.as_ref() != Some(name));
            age.zip(begun).is_some_and(|(age, begun)| begun < now - age)
        };
        let (old, kept): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|(name, complete)| is_old(name, *complete));
        let mut removed = RemovalResult::default();
        if old.is_empty() {
            return Ok(removed);
        }
        // Lists are read before anything is removed. If one cannot be read, all files stay.
        let used = async {
            let mut used = HashSet::new();
            for (name, _) in kept.into_iter().filter(|(_, complete)| *complete) {
                used.extend(self.files_of(&self.find(Some(&name)).await?).await?.into_keys());
            }
            Ok::<_, Error>(used)
        };
        let used = used.await;
        for (name, _) in old {
            // What is left without a manifest is an incomplete backup.
            self.objects.delete(&name.object(MANIFEST)).await?;
            let mut listed = self.objects.list(&format!("backups/{name}"));
            while let Some(object) = listed.try_next().await? {
                self.objects.delete(&object.name).await?;
            }
            removed.backups += 1;
        }
        let files = async {
            let (used, mut files) = (used?, 0);
            let mut listed = self.files.list("");
            while let Some(object) = listed.try_next().await? {
                if !used.contains(&object.name) {
                    self.files.delete(&object.name).await?;
                    files += 1;
                }
            }
            Ok::<u64, Error>(files)
        };
        removed.files = files.await.unwrap_or_else(|error| {
            let cause = error.cause().map_or_else(|| error.to_string(), ToString::to_string);
            tracing::warn!(
                cause,
                "files of backups stay: those that no backup has cannot be found or removed"
            );
            0
        });
        Ok(removed)
    }

    async fn files_of(&self, manifest: &BackupManifest) -> Result<FileDigests> {
        let content = self.fetch(&manifest.name.object(FILES), &manifest.list).await?;
        let read = move || {
            let mut file = content.file;
            file.rewind()?;
            serde_json::from_reader(BufReader::new(file)).map_err(io::Error::from)
        };
        spawn_blocking(read).await.map_err(Error::internal)?.map_err(Error::internal)
    }

    async fn store(&self, object: &str, content: FileContent) -> Result<FileDigest> {
        let digest = digest_of(&content).await?;
        store(&*self.objects, object, content, &digest).await?;
        Ok(digest)
    }

    async fn store_json(&self, object: &str, value: &(impl Serialize + Sync)) -> Result<FileDigest> {
        let bytes = Bytes::from(serde_json::to_vec_pretty(value).map_err(Error::internal)?);
        match self.intake.receive(stream::iter([Ok(bytes)]).boxed(), u64::MAX).await? {
            ReceiveOutcome::Complete(received) => self.store(object, received.content).await,
            ReceiveOutcome::TooLong => Err(Error::internal("longer than every limit")),
        }
    }

    /// Fetches an object of a backup.
    ///
    /// # Errors
    /// `Internal` when it is absent or has other bytes.
    async fn fetch(&self, object: &str, digest: &FileDigest) -> Result<FileContent> {
        match receive(&*self.objects, &*self.intake, object, digest.bytes).await? {
            Some((content, found)) if found == *digest => Ok(content),
            _ => Err(Error::internal(format!("{object} is missing or damaged"))),
        }
    }
}
