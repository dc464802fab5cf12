//! Stores an object and reads it back; fetches one and checks it.

use crate::manifest::{Manifest, Name, Part};
use crate::ports::{Listed, Opening, Sealing, Target};
use bytes::Bytes;
use civitas_attachments::{Checksum, Content, FileIntake, FileStore, ReceiveOutcome};
use civitas_kernel::{Error, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::{StreamExt, TryStreamExt};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that are read at once from a local file.
const CHUNK: usize = 64 * 1024;

/// Runs `work` on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

/// A read or write of a temporary file failed.
pub(crate) fn disk_error(error: io::Error) -> Error {
    Error::Unavailable(error.into())
}

/// Bytes in a temporary file of this directory.
pub(crate) async fn content_of(directory: PathBuf, bytes: Vec<u8>) -> Result<Content> {
    blocking(move || {
        let write = || {
            let mut file = tempfile::tempfile_in(directory)?;
            file.write_all(&bytes)?;
            Ok(Content { file, byte_size: bytes.len() as u64 })
        };
        write().map_err(disk_error)
    })
    .await
}

/// The bytes of a small object.
pub(crate) async fn bytes_of(content: Content) -> Result<Vec<u8>> {
    blocking(move || {
        let mut content = content;
        let mut bytes = Vec::new();
        content.file.rewind().and_then(|()| content.file.read_to_end(&mut bytes)).map_err(disk_error)?;
        Ok(bytes)
    })
    .await
}

/// Compresses lines into a temporary file, one after the other.
pub(crate) struct LineWriter(GzEncoder<std::fs::File>);

impl LineWriter {
    pub(crate) fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(disk_error)?;
        Ok(Self(GzEncoder::new(file, Compression::default())))
    }

    pub(crate) fn write(&mut self, line: &str) -> Result<()> {
        writeln!(self.0, "{line}").map_err(disk_error)
    }

    pub(crate) fn finish(self) -> Result<Content> {
        let finish = || {
            let mut file = self.0.finish()?;
            let byte_size = file.stream_position()?;
            Ok(Content { file, byte_size })
        };
        finish().map_err(disk_error)
    }
}

/// Reads such lines.
pub(crate) fn lines_of(mut content: Content) -> Result<impl Iterator<Item = Result<String>>> {
    content.file.rewind().map_err(disk_error)?;
    let lines = io::BufRead::lines(BufReader::new(GzDecoder::new(content.file)));
    Ok(lines
        .map(|line| line.map_err(|error| Error::internal(format!("a list of files is damaged: {error}")))))
}

/// Length and SHA-256 of a temporary file.
pub(crate) async fn checksum_of(content: &Content) -> Result<(u64, String)> {
    let mut file = content.file.try_clone().map_err(disk_error)?;
    blocking(move || {
        let mut checksum = Checksum::default();
        let mut chunk = vec![0; CHUNK];
        file.rewind().map_err(disk_error)?;
        loop {
            match file.read(&mut chunk).map_err(disk_error)? {
                0 => return Ok(checksum.finish()),
                length => checksum.update(&chunk[..length]),
            }
        }
    })
    .await
}

/// Encrypts and stores a part of a backup, and reads it back.
pub(crate) async fn store_part(
    target: Target<'_>,
    sealing: &dyn Sealing,
    name: &Name,
    part: String,
    plain: Content,
) -> Result<Part> {
    let content = sealing.seal(plain).await?;
    let (bytes, sha256) = checksum_of(&content).await?;
    store_checked(target.objects, &name.object(&part), content, &(bytes, sha256.clone())).await?;
    Ok(Part { name: part, bytes, sha256 })
}

/// Stores bytes, and reads them back: `expected` is their length and SHA-256.
pub(crate) async fn store_checked(
    objects: &dyn FileStore,
    object: &str,
    content: Content,
    expected: &(u64, String),
) -> Result<()> {
    objects.put(object, content).await?;
    let mut checksum = Checksum::default();
    if let Some(mut stored) = objects.read(object, 0..expected.0 + 1).await? {
        while let Some(bytes) = stored.try_next().await? {
            checksum.update(&bytes);
        }
    }
    if &checksum.finish() == expected {
        return Ok(());
    }
    Err(Error::Unavailable(format!("{object}: what was stored is not what is read").into()))
}

/// Fetches an object into a temporary file. `None` when it is absent, or its bytes are others: `expected` is their
/// length and SHA-256.
pub(crate) async fn fetch(
    objects: &dyn FileStore,
    intake: &dyn FileIntake,
    object: &str,
    expected: (u64, &str),
) -> Result<Option<Content>> {
    let Some(bytes) = objects.read(object, 0..expected.0 + 1).await? else { return Ok(None) };
    let checksum = Arc::new(Mutex::new(Checksum::default()));
    let passed = checksum.clone();
    let bytes = bytes.inspect_ok(move |chunk: &Bytes| {
        passed.lock().unwrap_or_else(PoisonError::into_inner).update(chunk);
    });
    let ReceiveOutcome::Complete(received) = intake.receive(bytes.boxed(), expected.0).await? else {
        return Ok(None);
    };
    let (length, sha256) = checksum.lock().unwrap_or_else(PoisonError::into_inner).clone().finish();
    Ok((length == expected.0 && sha256 == expected.1).then_some(received.content))
}

/// Fetches and decrypts a part of a backup.
pub(crate) async fn fetch_part(
    target: Target<'_>,
    intake: &dyn FileIntake,
    opening: &dyn Opening,
    name: &Name,
    part: &Part,
) -> Result<Content> {
    let object = name.object(&part.name);
    match fetch(target.objects, intake, &object, (part.bytes, &part.sha256)).await? {
        Some(sealed) => opening.open(sealed).await,
        None => Err(Error::internal(format!("{object} is missing or damaged"))),
    }
}

/// The complete backups of a target by their names, and those without a manifest.
pub(crate) struct Names {
    pub complete: Vec<Name>,
    pub incomplete: Vec<Name>,
}

/// The names of all backups in ascending order.
pub(crate) async fn names(target: Target<'_>) -> Result<Names> {
    let mut found = std::collections::BTreeMap::new();
    let mut listed = target.names.list("backups");
    while let Some(Listed { name, .. }) = listed.try_next().await? {
        let mut segments = name.split('/').skip(1);
        let Some(backup) = segments.next().and_then(Name::parse) else { continue };
        let is_manifest = segments.next() == Some(Manifest::OBJECT);
        *found.entry(backup).or_insert(false) |= is_manifest;
    }
    let (complete, incomplete): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, complete)| *complete);
    let names = |found: Vec<(Name, bool)>| found.into_iter().map(|(name, _)| name).collect();
    Ok(Names { complete: names(complete), incomplete: names(incomplete) })
}

/// The manifest of a backup.
pub(crate) async fn manifest(target: Target<'_>, name: &Name) -> Result<Manifest> {
    /// The length of the longest manifest, in bytes.
    const LONGEST: u64 = 16 << 20;
    let object = name.object(Manifest::OBJECT);
    let Some(mut stored) = target.objects.read(&object, 0..LONGEST).await? else {
        return Err(Error::internal(format!("there is no complete backup {name}")));
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = stored.try_next().await? {
        bytes.extend_from_slice(&chunk);
    }
    Manifest::read(&bytes)
}
