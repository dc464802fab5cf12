//! The store of files, on a directory and on a server with the S3 interface.

mod failures;
mod objects;

use civitas_attachments::{ByteStream, FileContent, FileStore, StoredObject};
use civitas_files::FileStorage;
use civitas_tests::ObjectServer;
use futures_util::TryStreamExt;
use std::io::{Seek, Write};
use tempfile::TempDir;

/// A store, and what it needs while it is used.
struct Place {
    name: &'static str,
    store: FileStorage,
    directory: Option<TempDir>,
    server: Option<ObjectServer>,
}

fn directory() -> Place {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store =
        FileStorage::open(&format!("file://{}/objects", directory.path().display()), []).expect("a store");
    Place { name: "directory", store, directory: Some(directory), server: None }
}

async fn bucket() -> Place {
    let server = ObjectServer::start().await;
    let store = FileStorage::open(&server.url("some/prefix"), server.settings()).expect("a store");
    Place { name: "bucket", store, directory: None, server: Some(server) }
}

async fn places() -> [Place; 2] {
    [directory(), bucket().await]
}

/// Bytes that differ from place to place, and with `seed`.
fn sample(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| u8::try_from((at * 31 + at / 257) % 251).unwrap_or_default() ^ seed).collect()
}

fn content(bytes: &[u8]) -> FileContent {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("space on the disk");
    file.rewind().expect("a first byte");
    FileContent { file, byte_size: bytes.len() as u64 }
}

async fn all(stream: ByteStream) -> Vec<u8> {
    stream.try_collect::<Vec<_>>().await.expect("all bytes").concat()
}

/// The bytes of an object; `None` when there is none.
async fn whole(store: &FileStorage, name: &str) -> Option<Vec<u8>> {
    match store.read(name, 0..u64::MAX / 2).await.expect("an answer") {
        Some(stream) => Some(all(stream).await),
        None => None,
    }
}

/// Names and lengths, sorted.
async fn listed(store: &FileStorage, prefix: &str) -> Vec<(String, u64)> {
    let objects: Vec<StoredObject> = store.list(prefix).try_collect().await.expect("all objects");
    let mut listed: Vec<_> = objects.into_iter().map(|object| (object.name, object.byte_size)).collect();
    listed.sort();
    listed
}
