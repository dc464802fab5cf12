//! Stores of files for tests.

use async_trait::async_trait;
use bytes::Bytes;
use civitas_archive::FileServices;
use civitas_attachments::{ByteStream, FileContent, FileInspection, FileStore, ReceiveOutcome, StoredObject};
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_kernel::{Error, Result};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;
use tempfile::TempDir;

/// A store of files in a directory that is deleted with it.
pub struct Files {
    /// Stores the bytes of files.
    pub objects: FileStorage,
    /// Receives and inspects files.
    pub intake: DirectoryIntake,
    /// The directory of both.
    pub directory: TempDir,
}

impl Files {
    /// An empty store.
    ///
    /// # Panics
    /// When there is no temporary directory.
    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        Self {
            objects: FileStorage::open(&format!("file://{}/files", path.display()), []).expect("a store"),
            intake: DirectoryIntake::open(path.join("incoming")).expect("a directory"),
            directory,
        }
    }

    /// The same for an import.
    pub fn services(&self) -> FileServices<'_> {
        FileServices { objects: &self.objects, intake: &self.intake, directory: Some(self.directory.path()) }
    }
}

/// Receives bytes as a file, and inspects them.
///
/// # Panics
/// When the disk is full.
pub async fn inspected(files: &civitas_application::Files, bytes: Vec<u8>) -> FileInspection {
    let limit = bytes.len() as u64;
    let bytes = stream::iter([Ok(Bytes::from(bytes))]).boxed();
    let ReceiveOutcome::Complete(received) = files.receive(bytes, limit).await.expect("a file") else {
        panic!("the file is longer than its bytes")
    };
    files.inspect(received).await.expect("a file")
}

/// Objects in memory, for tests that do not look at files.
#[derive(Default)]
struct Memory(Mutex<HashMap<String, Vec<u8>>>);

impl Memory {
    fn objects(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.lock().expect("no test fails here")
    }
}

#[async_trait]
impl FileStore for Memory {
    async fn put(&self, name: &str, content: FileContent) -> Result<()> {
        let mut bytes = Vec::new();
        let mut file = content.file;
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(Error::internal)?;
        self.objects().insert(name.to_owned(), bytes);
        Ok(())
    }

    async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>> {
        let range = usize::try_from(range.start).expect("short")..usize::try_from(range.end).expect("short");
        let bytes = self.objects().get(name).map(|bytes| bytes[range].to_vec());
        Ok(bytes.map(|bytes| stream::iter([Ok(Bytes::from(bytes))]).boxed()))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        self.objects().remove(name);
        Ok(())
    }

    fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>> {
        let objects = self.objects();
        let found = objects.iter().filter(|(name, _)| name.starts_with(prefix));
        let listed =
            found.map(|(name, bytes)| Ok(StoredObject { name: name.clone(), byte_size: bytes.len() as u64 }));
        stream::iter(listed.collect::<Vec<_>>()).boxed()
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn remove_incomplete(&self, _: Duration) -> Result<u64> {
        Ok(0)
    }
}

/// Files in memory, one store for all tests of a process.
///
/// # Panics
/// When there is no temporary directory.
pub fn files_in_memory() -> FileServices<'static> {
    static OBJECTS: LazyLock<Memory> = LazyLock::new(Memory::default);
    static INTAKE: LazyLock<DirectoryIntake> = LazyLock::new(|| {
        DirectoryIntake::open(std::env::temp_dir().join("civitas-tests")).expect("a directory")
    });
    FileServices { objects: &*OBJECTS, intake: &*INTAKE, directory: None }
}
