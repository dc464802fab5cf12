//! Copies files to another store, and compares a store with the rows of files. Both read rows in pages.

use crate::Store;
use bytes::Bytes;
use civitas_attachments::{ByteStream, Checksum, Content, FileIntake, FileStore, ReceiveOutcome, StoredFile};
use civitas_kernel::{Error, FileId, Result};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// The most rows of a page, and the most names that are looked up at once.
const BATCH: i64 = 200;
/// The end of the name of a thumbnail.
const THUMBNAIL: &str = ".thumbnail";

/// What a transfer did. Thumbnails count as objects of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Objects that were copied.
    pub copied: u64,
    /// Objects that the target had already, with the same bytes.
    pub skipped: u64,
    /// Objects that the source does not have, or has with other bytes than its row says.
    pub missing: u64,
    /// The bytes of the copied objects.
    pub bytes: u64,
}

/// A difference between a store and the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// An object without a row.
    Unknown(String),
    /// An object of a row that is absent, or shorter than its row says.
    Missing(String),
}

/// Copies all stored files. The source is never changed.
pub struct FileTransfer<'a> {
    /// The rows.
    pub store: &'a dyn Store,
    /// Has each object while it is checked.
    pub intake: &'a dyn FileIntake,
    /// The source.
    pub from: &'a dyn FileStore,
    /// The target.
    pub to: &'a dyn FileStore,
}

enum Copy {
    Copied(u64),
    Skipped,
    Missing,
}

impl FileTransfer<'_> {
    /// Copies what the target does not have. `observe` gets the state after each object, and the name of one that is
    /// missing.
    ///
    /// # Errors
    /// `Unavailable` when a store does not answer, or does not return what was stored. What was copied stays.
    pub async fn run(&self, observe: &mut (dyn FnMut(Moved, Option<&str>) + Send)) -> Result<Moved> {
        let (mut moved, mut after) = (Moved::default(), None);
        loop {
            let page = self.store.files().stored_after(after, BATCH).await?;
            let Some((last, _)) = page.last() else { return Ok(moved) };
            after = Some(*last);
            for (id, file) in page {
                for (object, length, sha256) in objects_of(&file) {
                    let copy = self.copy(&object, length, sha256).await?;
                    if matches!(copy, Copy::Missing) && !is_stored(self.store, id).await? {
                        // It was deleted meanwhile.
                        continue;
                    }
                    moved.add(&copy);
                    observe(moved, matches!(copy, Copy::Missing).then_some(&object));
                }
            }
        }
    }

    async fn copy(&self, object: &str, length: u64, sha256: Option<&str>) -> Result<Copy> {
        let expected = match sha256 {
            Some(sha256) => (length, sha256.to_owned()),
            None => match checksum_of(self.from, object, length).await? {
                Some(found) if found.0 == length => found,
                _ => return Ok(Copy::Missing),
            },
        };
        // An object that cannot be read is written again.
        if checksum_of(self.to, object, length).await.ok().flatten().as_ref() == Some(&expected) {
            return Ok(Copy::Skipped);
        }
        let Some(bytes) = self.from.read(object, 0..length + 1).await? else { return Ok(Copy::Missing) };
        match self.receive(bytes, length).await? {
            Some((content, found)) if found == expected => self.to.put(object, content).await?,
            _ => return Ok(Copy::Missing),
        }
        if checksum_of(self.to, object, length).await?.as_ref() == Some(&expected) {
            Ok(Copy::Copied(length))
        } else {
            Err(Error::Unavailable(format!("{object}: what was stored is not what is read").into()))
        }
    }

    /// The bytes in a temporary file, and their checksum; `None` for more than `limit`.
    async fn receive(&self, bytes: ByteStream, limit: u64) -> Result<Option<(Content, (u64, String))>> {
        let checksum = Arc::new(Mutex::new(Checksum::default()));
        let passed = checksum.clone();
        let bytes = bytes.inspect_ok(move |chunk: &Bytes| {
            passed.lock().unwrap_or_else(PoisonError::into_inner).update(chunk);
        });
        let ReceiveOutcome::Complete(received) = self.intake.receive(bytes.boxed(), limit).await? else {
            return Ok(None);
        };
        let checksum = checksum.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Some((received.content, checksum.finish())))
    }
}

impl Moved {
    fn add(&mut self, copy: &Copy) {
        match copy {
            Copy::Copied(bytes) => {
                self.copied += 1;
                self.bytes += bytes;
            }
            Copy::Skipped => self.skipped += 1,
            Copy::Missing => self.missing += 1,
        }
    }
}

/// The objects of a file: their names, lengths, and SHA-256 where the row has it.
fn objects_of(file: &StoredFile) -> impl Iterator<Item = (String, u64, Option<&str>)> {
    let whole = (file.object.clone(), file.byte_size.unsigned_abs(), Some(file.sha256.as_str()));
    let thumbnail = file.thumbnail_bytes.map(|bytes| (file.thumbnail_object(), bytes.unsigned_abs(), None));
    std::iter::once(whole).chain(thumbnail)
}

/// The length and SHA-256 of an object; of a longer one, of its first bytes and one more. `None` when it is absent.
async fn checksum_of(store: &dyn FileStore, object: &str, length: u64) -> Result<Option<(u64, String)>> {
    let Some(mut bytes) = store.read(object, 0..length + 1).await? else { return Ok(None) };
    let mut checksum = Checksum::default();
    while let Some(chunk) = bytes.try_next().await? {
        checksum.update(&chunk);
    }
    Ok(Some(checksum.finish()))
}

/// Whether the row still exists, and its bytes are not to be deleted.
async fn is_stored(store: &dyn Store, id: FileId) -> Result<bool> {
    let found = store.files().stored_after(Some(FileId(id.0 - 1)), 1).await?;
    Ok(found.first().is_some_and(|(found, _)| *found == id))
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FileCheck {
    /// The objects in the store.
    pub objects: u64,
    /// The rows of stored files.
    pub files: u64,
    /// Objects without a row.
    pub unknown: u64,
    /// Objects without a row that were deleted.
    pub deleted: u64,
    /// Objects of rows that are absent or too short.
    pub missing: u64,
}

impl FileCheck {
    /// Compares the objects of a store, whose names are `names`, with the rows, and reports each difference to
    /// `observe`. Deletes objects without a row if `delete_unknown`.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn run(
        (store, objects): (&dyn Store, &dyn FileStore),
        names: BoxStream<'_, Result<String>>,
        delete_unknown: bool,
        observe: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Self> {
        let mut check = Self::default();
        let mut batches = names.ready_chunks(usize::try_from(BATCH).unwrap_or(1));
        while let Some(batch) = batches.next().await {
            let batch = batch.into_iter().collect::<Result<Vec<String>>>()?;
            check.objects += batch.len() as u64;
            // A row is added before its bytes are stored: an object that is listed has its row already.
            let owners: Vec<String> = batch.iter().map(|name| owner(name).to_owned()).collect();
            let known = store.files().known_objects(&owners).await?;
            for name in batch.into_iter().filter(|name| !known.iter().any(|known| known == owner(name))) {
                check.unknown += 1;
                if delete_unknown {
                    objects.delete(&name).await?;
                    check.deleted += 1;
                }
                observe(Finding::Unknown(name));
            }
        }
        check.find_missing(store, objects, observe).await?;
        Ok(check)
    }

    /// Whether store and rows agree now.
    pub fn is_sound(&self) -> bool {
        self.missing == 0 && self.unknown == self.deleted
    }

    async fn find_missing(
        &mut self,
        store: &dyn Store,
        objects: &dyn FileStore,
        observe: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<()> {
        let mut after = None;
        loop {
            let page = store.files().stored_after(after, BATCH).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(*last);
            for (id, file) in page {
                self.files += 1;
                for (object, length, _) in objects_of(&file) {
                    if !has(objects, &object, length).await? && is_stored(store, id).await? {
                        self.missing += 1;
                        observe(Finding::Missing(object));
                    }
                }
            }
        }
    }
}

/// The object whose row an object belongs to.
fn owner(name: &str) -> &str {
    name.strip_suffix(THUMBNAIL).unwrap_or(name)
}

/// Whether the store has an object of at least this length.
async fn has(objects: &dyn FileStore, object: &str, length: u64) -> Result<bool> {
    let last = match objects.read(object, length.saturating_sub(1)..length).await {
        Ok(None) => return Ok(false),
        Ok(Some(mut bytes)) => bytes.try_next().await,
        Err(error) => Err(error),
    };
    match last {
        Ok(Some(_)) => Ok(true),
        // It is too short, if the store answers.
        Ok(None) | Err(_) => objects.read(object, 0..0).await.map(|_| false),
    }
}
