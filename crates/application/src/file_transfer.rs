//! Copies files to another store, and compares a store with the rows of files. Both read rows in pages.

use civitas_attachments::{
    ByteStream, Checksum, FileContent, FileIntake, FileRegistry, FileStore, ReceiveOutcome, StoredFile,
};
use civitas_kernel::{Error, FileId, Result};
use futures_util::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use tokio::task::spawn_blocking;

/// The most rows of a page, and the most names that are looked up at once.
const BATCH: i64 = 200;
/// The bytes that are read at once from a temporary file.
const CHUNK: usize = 64 * 1024;
/// The end of the name of a thumbnail.
const THUMBNAIL: &str = ".thumbnail";

/// The length and SHA-256 of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Their number.
    pub bytes: u64,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
}

/// Objects by their names.
pub type FileDigests = BTreeMap<String, FileDigest>;

/// What a transfer did. Thumbnails count as objects of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TransferResult {
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
pub enum FileFinding {
    /// An object without a row.
    Unknown(String),
    /// An object of a row that is absent, or shorter than its row says.
    Missing(String),
}

/// Copies all stored files. The source is never changed.
pub struct FileTransfer<'a> {
    /// The rows.
    pub rows: &'a dyn FileRegistry,
    /// Has each object while it is checked.
    pub intake: &'a dyn FileIntake,
    /// The source.
    pub from: &'a dyn FileStore,
    /// The target.
    pub to: &'a dyn FileStore,
    /// Objects that the target is known to have. They are not read again.
    pub known: FileDigests,
}

enum Copy {
    Copied(FileDigest),
    Skipped(FileDigest),
    Missing,
}

impl FileTransfer<'_> {
    /// Copies what the target does not have. `observe` gets the state after each object, its name, and its bytes; `None` if
    /// it is missing.
    ///
    /// # Errors
    /// `Unavailable` when a store does not answer, or does not return what was stored. What was copied stays.
    pub async fn run(
        &self,
        observe: &mut (dyn FnMut(TransferResult, &str, Option<&FileDigest>) + Send),
    ) -> Result<TransferResult> {
        let (mut moved, mut after) = (TransferResult::default(), None);
        loop {
            let page = self.rows.stored_after(after, BATCH).await?;
            let Some((last, _)) = page.last() else { return Ok(moved) };
            after = Some(*last);
            for (id, file) in page {
                for (object, length, sha256) in objects_of(&file) {
                    let copy = self.copy(&object, length, sha256).await?;
                    if matches!(copy, Copy::Missing) && !is_stored(self.rows, id).await? {
                        // It was deleted meanwhile.
                        continue;
                    }
                    let digest = match &copy {
                        Copy::Copied(digest) => {
                            moved.copied += 1;
                            moved.bytes += digest.bytes;
                            Some(digest)
                        }
                        Copy::Skipped(digest) => {
                            moved.skipped += 1;
                            Some(digest)
                        }
                        Copy::Missing => {
                            moved.missing += 1;
                            None
                        }
                    };
                    observe(moved, &object, digest);
                }
            }
        }
    }

    async fn copy(&self, object: &str, length: u64, sha256: Option<&str>) -> Result<Copy> {
        let known = self.known.get(object).filter(|known| known.bytes == length);
        if let Some(known) = known.filter(|known| sha256.is_none_or(|sha256| sha256 == known.sha256)) {
            return Ok(Copy::Skipped(known.clone()));
        }
        let expected = match sha256 {
            Some(sha256) => FileDigest { bytes: length, sha256: sha256.to_owned() },
            None => match digest_in(self.from, object, length).await? {
                Some(found) if found.bytes == length => found,
                _ => return Ok(Copy::Missing),
            },
        };
        // An object that cannot be read is written again.
        if digest_in(self.to, object, length).await.ok().flatten().as_ref() == Some(&expected) {
            return Ok(Copy::Skipped(expected));
        }
        match receive(self.from, self.intake, object, length).await? {
            Some((content, found)) if found == expected => store(self.to, object, content, &found).await?,
            _ => return Ok(Copy::Missing),
        }
        Ok(Copy::Copied(expected))
    }
}

/// Reads an object, and one byte more than `length`. `None` when it is absent, or so short that the store cannot.
async fn open(store: &dyn FileStore, object: &str, length: u64) -> Result<Option<ByteStream>> {
    match store.read(object, 0..length + 1).await {
        Err(_) => store.read(object, 0..0).await.map(|_| None),
        opened => opened,
    }
}

/// The object in a temporary file; `None` when it is absent, or longer than `limit`.
pub(crate) async fn receive(
    from: &dyn FileStore,
    intake: &dyn FileIntake,
    object: &str,
    limit: u64,
) -> Result<Option<(FileContent, FileDigest)>> {
    let Some(bytes) = open(from, object, limit).await? else { return Ok(None) };
    let ReceiveOutcome::Complete(received) = intake.receive(bytes, limit).await? else { return Ok(None) };
    let digest = digest_of(&received.content).await?;
    Ok(Some((received.content, digest)))
}

/// Stores bytes, and reads them back.
pub(crate) async fn store(
    to: &dyn FileStore,
    object: &str,
    content: FileContent,
    digest: &FileDigest,
) -> Result<()> {
    to.put(object, content).await?;
    if digest_in(to, object, digest.bytes).await?.as_ref() == Some(digest) {
        return Ok(());
    }
    Err(Error::Unavailable(format!("{object}: what was stored is not what is read").into()))
}

/// Of a temporary file.
pub(crate) async fn digest_of(content: &FileContent) -> Result<FileDigest> {
    let unavailable = |error: std::io::Error| Error::Unavailable(error.into());
    let mut file = content.file.try_clone().map_err(unavailable)?;
    let read = spawn_blocking(move || -> std::io::Result<(u64, String)> {
        let (mut checksum, mut chunk) = (Checksum::default(), vec![0; CHUNK]);
        file.rewind()?;
        loop {
            match file.read(&mut chunk)? {
                0 => return Ok(checksum.finish()),
                length => checksum.update(&chunk[..length]),
            }
        }
    });
    let (bytes, sha256) = read.await.map_err(Error::internal)?.map_err(unavailable)?;
    Ok(FileDigest { bytes, sha256 })
}

/// Of an object; of a longer one, of its first bytes and one more. `None` when it is absent.
pub(crate) async fn digest_in(
    store: &dyn FileStore,
    object: &str,
    length: u64,
) -> Result<Option<FileDigest>> {
    let Some(mut bytes) = open(store, object, length).await? else { return Ok(None) };
    let mut checksum = Checksum::default();
    while let Some(chunk) = bytes.try_next().await? {
        checksum.update(&chunk);
    }
    let (bytes, sha256) = checksum.finish();
    Ok(Some(FileDigest { bytes, sha256 }))
}

/// The objects of a file: their names, lengths, and SHA-256 where the row has it.
fn objects_of(file: &StoredFile) -> impl Iterator<Item = (String, u64, Option<&str>)> {
    let whole = (file.object.clone(), file.byte_size.unsigned_abs(), Some(file.sha256.as_str()));
    let thumbnail = file.thumbnail_bytes.map(|bytes| (file.thumbnail_object(), bytes.unsigned_abs(), None));
    std::iter::once(whole).chain(thumbnail)
}

/// Whether the row still exists, and its bytes are not to be deleted.
async fn is_stored(rows: &dyn FileRegistry, id: FileId) -> Result<bool> {
    let found = rows.stored_after(Some(FileId(id.0 - 1)), 1).await?;
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
    /// Compares the objects of a store with the rows, and reports each difference to `observe`. Deletes objects without a row if `delete_unknown`.
    pub async fn run(
        (rows, objects): (&dyn FileRegistry, &dyn FileStore),
        delete_unknown: bool,
        observe: &mut (dyn FnMut(FileFinding) + Send),
    ) -> Result<Self> {
        let mut check = Self::default();
        let names = objects.list("").map_ok(|object| object.name);
        let mut batches = names.ready_chunks(usize::try_from(BATCH).unwrap_or(1));
        while let Some(batch) = batches.next().await {
            let batch = batch.into_iter().collect::<Result<Vec<String>>>()?;
            check.objects += batch.len() as u64;
            // A row is added before its bytes are stored: an object that is listed has its row already.
            let owners: Vec<String> = batch.iter().map(|name| owner(name).to_owned()).collect();
            let known = rows.known_objects(&owners).await?;
            for name in batch.into_iter().filter(|name| !known.iter().any(|known| known == owner(name))) {
                check.unknown += 1;
                if delete_unknown {
                    objects.delete(&name).await?;
                    check.deleted += 1;
                }
                observe(FileFinding::Unknown(name));
            }
        }
        check.find_missing(rows, objects, observe).await?;
        Ok(check)
    }

    /// Whether store and rows agree now.
    pub fn is_sound(&self) -> bool {
        self.missing == 0 && self.unknown == self.deleted
    }

    async fn find_missing(
        &mut self,
        rows: &dyn FileRegistry,
        objects: &dyn FileStore,
        observe: &mut (dyn FnMut(FileFinding) + Send),
    ) -> Result<()> {
        let mut after = None;
        loop {
            let page = rows.stored_after(after, BATCH).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = Some(*last);
            for (id, file) in page {
                self.files += 1;
                for (object, length, _) in objects_of(&file) {
                    if !has(objects, &object, length).await? && is_stored(rows, id).await? {
                        self.missing += 1;
                        observe(FileFinding::Missing(object));
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
