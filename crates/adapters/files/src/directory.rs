//! Objects as files in a directory.
//!
//! An object is first written to `.staging`, synchronized with the disk, and then renamed: readers see all of it or
//! nothing. What a killed process leaves is in `.staging` only, where [`DirectoryStore::remove_incomplete`] removes it. Names
//! of objects do not begin with a dot.

use crate::disk::{blocking, create_directory, disk_error};
use bytes::Bytes;
use civitas_attachments::{ByteStream, FileContent, StoredObject};
use civitas_kernel::{Error, Result};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

/// Where objects are written before they are complete.
const STAGING: &str = ".staging";
/// How much of a file is read at a time, in bytes.
const CHUNK: usize = 128 * 1024;
/// How many names of a list are read ahead.
const NAMES_AHEAD: usize = 64;

/// A directory with objects.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryStore {
    root: PathBuf,
}

impl DirectoryStore {
    /// Creates the directory where it is absent, for its owner only (mode 0700).
    pub fn open(root: PathBuf) -> Result<Self> {
        create_directory(&root.join(STAGING)).map_err(disk_error)?;
        Ok(Self { root })
    }

    /// A directory that exists and is only read.
    pub fn open_existing(root: PathBuf) -> Result<Self> {
        if root.is_dir() {
            Ok(Self { root })
        } else {
            Err(Error::Unavailable("there is no such directory".into()))
        }
    }

    pub async fn put(&self, name: &str, content: FileContent) -> Result<()> {
        let (root, name) = (self.root.clone(), name.to_owned());
        blocking(move || write(&root, &name, content)).await
    }

    pub async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>> {
        let path = self.root.join(name);
        let Some((file, length)) = blocking(move || open_at(&path, range)).await? else { return Ok(None) };
        Ok(Some(stream::try_unfold((file, length), next_chunk).boxed()))
    }

    pub async fn delete(&self, name: &str) -> Result<()> {
        let path = self.root.join(name);
        blocking(move || absent(std::fs::remove_file(path)).map(|_| ()).map_err(disk_error)).await
    }

    /// The objects below `prefix`, in no order.
    pub fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>> {
        let (root, at) = (self.root.clone(), self.root.join(prefix));
        let (sender, receiver) = mpsc::channel(NAMES_AHEAD);
        tokio::task::spawn_blocking(move || {
            if let Err(cause) = walk(&root, at, &sender) {
                // The receiver may be gone; then the error has no reader either.
                let _ = sender.blocking_send(Err(disk_error(cause)));
            }
        });
        stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|item| (item, receiver)))
            .boxed()
    }

    /// Removes what killed processes left: incomplete objects that nothing was written to for `age`. Returns how many.
    pub async fn remove_incomplete(&self, age: Duration) -> Result<u64> {
        let staging = self.root.join(STAGING);
        blocking(move || remove_older(&staging, age).map_err(disk_error)).await
    }
}

/// `None` for a file that does not exist.
fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(cause) => Err(cause),
    }
}

fn write(root: &Path, name: &str, mut content: FileContent) -> Result<()> {
    let target = root.join(name);
    let parent = target.parent().ok_or_else(|| Error::internal("an object without a directory"))?;
    // Mode 0600.
    let mut staged = NamedTempFile::new_in(root.join(STAGING)).map_err(disk_error)?;
    let mut copy = || {
        content.file.rewind()?;
        io::copy(&mut (&mut content.file).take(content.byte_size), staged.as_file_mut())
    };
    if copy().map_err(disk_error)? != content.byte_size {
        return Err(Error::internal("a temporary file is shorter than its length"));
    }
    let publish = || {
        staged.as_file().sync_all()?;
        if !parent.is_dir() {
            create_directory(parent)?;
            File::open(root)?.sync_all()?;
        }
        staged.persist(&target).map_err(|failed| failed.error)?;
        File::open(parent)?.sync_all()
    };
    publish().map_err(disk_error)
}

/// The file at the first byte of the range, and how many bytes of the range it has.
fn open_at(path: &Path, range: Range<u64>) -> Result<Option<(File, u64)>> {
    let open = || -> io::Result<Option<(File, u64)>> {
        let Some(mut file) = absent(File::open(path))? else { return Ok(None) };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(None);
        }
        let end = range.end.min(metadata.len());
        if range.start > end || (range.start == end && !range.is_empty()) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        file.seek(SeekFrom::Start(range.start))?;
        Ok(Some((file, end.saturating_sub(range.start))))
    };
    open().map_err(disk_error)
}

/// The next bytes, the file, and how many bytes are left.
type NextChunk = Option<(Bytes, (File, u64))>;

async fn next_chunk((mut file, left): (File, u64)) -> Result<NextChunk> {
    if left == 0 {
        return Ok(None);
    }
    blocking(move || {
        let mut chunk = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK)];
        let length = file.read(&mut chunk).map_err(disk_error)?;
        if length == 0 {
            return Err(disk_error(ErrorKind::UnexpectedEof.into()));
        }
        chunk.truncate(length);
        Ok(Some((Bytes::from(chunk), (file, left - length as u64))))
    })
    .await
}

/// Sends the objects below `at`. Ends early when the receiver is gone. Symbolic links are left out.
fn walk(root: &Path, at: PathBuf, to: &mpsc::Sender<Result<StoredObject>>) -> io::Result<()> {
    let mut open = vec![at];
    while let Some(directory) = open.pop() {
        let Some(entries) = absent(std::fs::read_dir(&directory))? else { continue };
        for entry in entries {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned) else {
                continue;
            };
            if name == STAGING {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file()
                && let Some(metadata) = absent(entry.metadata())?
                && to.blocking_send(Ok(StoredObject { name, byte_size: metadata.len() })).is_err()
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn remove_older(staging: &Path, age: Duration) -> io::Result<u64> {
    let mut removed = 0;
    for entry in std::fs::read_dir(staging)? {
        let entry = entry?;
        let Some(metadata) = absent(entry.metadata())? else { continue };
        // A time in the future is younger than any age.
        let unchanged_for = metadata.modified()?.elapsed().unwrap_or_default();
        if metadata.is_file() && unchanged_for >= age && absent(std::fs::remove_file(entry.path()))?.is_some()
        {
            removed += 1;
        }
    }
    Ok(removed)
}
