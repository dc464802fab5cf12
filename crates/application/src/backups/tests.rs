//! The use cases on a target in memory.

use super::ports::MockDatabaseCopier;
use super::{
    BackupLock, BackupManifest, BackupName, BackupSource, Backups, DatabaseCopy, RemovalResult,
    RestoreCheckMethod, RowCounts,
};
use crate::file_transfer::{FileDigests, FileTransfer, TransferResult};
use async_trait::async_trait;
use bytes::Bytes;
use civitas_attachments::{
    ByteStream, Checksum, FileContent, FileInspection, FileIntake, FileState, FileStore, ImageBytes,
    MockFileRegistry, ReceiveOutcome, ReceivedBody, StoredFile, StoredObject,
};
use civitas_kernel::{Error, FileId, Result};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-11-23 02:30:00 UTC);

/// Objects in memory.
#[derive(Default)]
struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Memory {
    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().keys().cloned().collect()
    }
}

#[async_trait]
impl FileStore for Memory {
    async fn put(&self, name: &str, mut content: FileContent) -> Result<()> {
        let mut bytes = Vec::new();
        content.file.rewind().and_then(|()| content.file.read_to_end(&mut bytes)).unwrap();
        self.0.lock().unwrap().insert(name.to_owned(), bytes);
        Ok(())
    }

    async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>> {
        let objects = self.0.lock().unwrap();
        let Some(bytes) = objects.get(name) else { return Ok(None) };
        let end = usize::try_from(range.end).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = Bytes::copy_from_slice(&bytes[..end]);
        Ok(Some(stream::iter([Ok(bytes)]).boxed()))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }

    fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>> {
        let objects = self.0.lock().unwrap();
        let below = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let found = objects.iter().filter(|(name, _)| name.starts_with(&below));
        let listed =
            found.map(|(name, bytes)| Ok(StoredObject { name: name.clone(), byte_size: bytes.len() as u64 }));
        stream::iter(listed.collect::<Vec<_>>()).boxed()
    }

    async fn remove_incomplete(&self, _: Duration) -> Result<u64> {
        Ok(0)
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }
}

/// Receives into temporary files.
struct Intake;

#[async_trait]
impl FileIntake for Intake {
    async fn receive(&self, mut bytes: ByteStream, limit: u64) -> Result<ReceiveOutcome> {
        let mut file = tempfile::tempfile().unwrap();
        let mut byte_size = 0;
        while let Some(chunk) = bytes.try_next().await? {
            file.write_all(&chunk).unwrap();
            byte_size += chunk.len() as u64;
        }
        if byte_size > limit {
            return Ok(ReceiveOutcome::TooLong);
        }
        Ok(ReceiveOutcome::Complete(ReceivedBody { content: FileContent { file, byte_size }, md5: [0; 16] }))
    }

    async fn inspect(&self, _: ReceivedBody, _: ImageBytes) -> Result<FileInspection> {
        Err(Error::internal("a backup inspects nothing"))
    }
}

fn copy() -> DatabaseCopy {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"rows").unwrap();
    DatabaseCopy {
        content: FileContent { file, byte_size: 4 },
        rows: RowCounts([("users".to_owned(), 2)].into()),
    }
}

/// A database whose copy has two rows. Without a proof it cannot be restored.
fn database(proof: Option<RestoreCheckMethod>) -> MockDatabaseCopier {
    let mut database = MockDatabaseCopier::new();
    database.expect_lock().returning(|| Ok(Some(Box::new(()) as BackupLock)));
    database.expect_engine().return_const("PostgreSQL");
    database.expect_copy().returning(|| Ok(copy()));
    database.expect_check().returning(move |copy| {
        assert_eq!((copy.content.byte_size, copy.rows.total()), (4, 2));
        proof.ok_or_else(|| Error::internal("the copy is damaged"))
    });
    database
}

/// One whose copy is restored.
fn sound() -> MockDatabaseCopier {
    database(Some(RestoreCheckMethod::Restored))
}

/// The rows of files with these names; the content of a file is its name.
fn registry(names: &'static [&'static str]) -> MockFileRegistry {
    let mut registry = MockFileRegistry::new();
    registry.expect_stored_after().returning(move |after, limit| {
        let after = after.map_or(0, |FileId(id)| id);
        let rows = names.iter().zip(1_i64..).filter(|(_, id)| *id > after);
        let rows = rows.map(|(name, id)| (FileId(id), file(name))).take(usize::try_from(limit).unwrap());
        Ok(rows.collect())
    });
    registry
}

fn file(name: &str) -> StoredFile {
    let mut checksum = Checksum::default();
    checksum.update(name.as_bytes());
    let (length, sha256) = checksum.finish();
    StoredFile {
        key: name.replace('/', ""),
        fault: None,
        object: name.to_owned(),
        filename: "a.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        byte_size: i64::try_from(length).unwrap(),
        sha256,
        thumbnail_bytes: None,
        state: FileState::Stored,
        created_at: NOW,
    }
}

fn store_of(names: &[&str]) -> Memory {
    let objects = names.iter().map(|name| ((*name).to_owned(), name.as_bytes().to_vec()));
    Memory(Mutex::new(objects.collect()))
}

/// A target without objects.
fn target() -> (Arc<Memory>, Arc<Memory>, Backups) {
    let (objects, files) = (Arc::new(Memory::default()), Arc::new(Memory::default()));
    let backups = Backups { objects: objects.clone(), files: files.clone(), intake: Arc::new(Intake) };
    (objects, files, backups)
}

async fn make(
    backups: &Backups,
    database: &MockDatabaseCopier,
    names: &'static [&'static str],
    files: &Memory,
    at: OffsetDateTime,
) -> Result<(BackupManifest, u64)> {
    let source = BackupSource { database, rows: &registry(names), files };
    backups.make(source, at).await.map(|(manifest, new, _)| (manifest, new))
}

#[tokio::test]
async fn a_backup_is_complete_only_after_its_copy_was_restored() {
    let ((_, _, backups), files) = (target(), store_of(&["A/1", "A/2"]));
    let error = make(&backups, &database(None), &["A/1", "A/2"], &files, NOW).await.unwrap_err();
    assert!(error.cause().unwrap().to_string().contains("damaged"));
    assert!(backups.find(None).await.is_err(), "nothing of it is used");
    assert_eq!(backups.newest().await.unwrap(), None);
    let (made, new) = make(&backups, &sound(), &["A/1", "A/2"], &files, NOW).await.unwrap();
    assert_eq!(
        (made.rows.total(), made.files, made.missing_files, made.proof),
        (2, 2, 0, RestoreCheckMethod::Restored)
    );
    assert_eq!(new, 0, "the first attempt copied them");
    assert_eq!(backups.newest().await.unwrap().as_ref().and_then(BackupName::begun_at), Some(NOW));
    assert_eq!(backups.find(None).await.unwrap(), made);
    assert_eq!(backups.check_files(&made).await.unwrap(), 0);
    assert_eq!(backups.database(&made, "PostgreSQL").await.unwrap().rows, made.rows);
    let other = backups.database(&made, "SQLite").await.unwrap_err();
    assert!(other.cause().unwrap().to_string().contains("the backup is of PostgreSQL"));
}

#[tokio::test]
async fn a_database_that_is_missing_or_damaged_is_named() {
    let (objects, _, backups) = target();
    let (made, _) = make(&backups, &sound(), &[], &Memory::default(), NOW).await.unwrap();
    let object = made.name.object("database");
    for bytes in [Some(&b"rowz"[..]), Some(b"row"), Some(b"rows!"), Some(b""), None] {
        objects.0.lock().unwrap().remove(&object);
        objects.0.lock().unwrap().extend(bytes.map(|bytes| (object.clone(), bytes.to_vec())));
        let error = backups.database(&made, "PostgreSQL").await.unwrap_err();
        assert!(error.cause().unwrap().to_string().contains("database is missing or damaged"));
    }
}

#[tokio::test]
async fn files_that_are_missing_or_damaged_at_the_source_are_counted() {
    let ((_, _, backups), files) = (target(), store_of(&["A/1"]));
    files.0.lock().unwrap().insert("A/2".to_owned(), b"X/2".to_vec());
    files.0.lock().unwrap().insert("A/4".to_owned(), Vec::new());
    let (made, new) = make(&backups, &sound(), &["A/1", "A/2", "A/3", "A/4"], &files, NOW).await.unwrap();
    assert_eq!((made.files, new, made.missing_files), (1, 1, 3));
}

#[tokio::test]
async fn while_another_backup_is_made_none_begins() {
    let mut busy = MockDatabaseCopier::new();
    busy.expect_lock().returning(|| Ok(None));
    let outcome = make(&target().2, &busy, &[], &Memory::default(), NOW).await;
    assert!(matches!(outcome, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn a_file_that_the_target_lost_is_stored_again_and_others_are_not_read() {
    let ((_, stored, backups), files) = (target(), store_of(&["A/1", "A/2"]));
    make(&backups, &sound(), &["A/1", "A/2"], &files, NOW).await.unwrap();
    stored.0.lock().unwrap().remove("A/1");
    // Of the same length: only reading it would tell.
    stored.0.lock().unwrap().insert("A/2".to_owned(), b"bad".to_vec());
    let (made, new) = make(&backups, &sound(), &["A/1", "A/2"], &files, NOW).await.unwrap();
    assert_eq!((made.files, new), (2, 1));
    assert_eq!(backups.check_files(&made).await.unwrap(), 1, "the drill reads it");
}

#[tokio::test]
async fn files_are_restored_once_and_damaged_ones_are_not_written() {
    let ((_, stored, backups), files) = (target(), store_of(&["A/1", "A/2"]));
    make(&backups, &sound(), &["A/1", "A/2"], &files, NOW).await.unwrap();
    let (to, rows) = (Memory::default(), registry(&["A/1", "A/2"]));
    let restored = async || {
        let known = FileDigests::new();
        let transfer = FileTransfer { rows: &rows, intake: &Intake, from: &*stored, to: &to, known };
        let TransferResult { copied, skipped, missing, .. } = transfer.run(&mut |_, _, _| {}).await.unwrap();
        (copied, skipped, missing)
    };
    assert_eq!(restored().await, (2, 0, 0));
    assert_eq!(restored().await, (0, 2, 0));
    to.0.lock().unwrap().clear();
    stored.0.lock().unwrap().insert("A/1".to_owned(), b"bad".to_vec());
    assert_eq!(restored().await, (1, 0, 1));
}

#[tokio::test]
async fn old_backups_go_with_the_files_that_no_other_backup_has() {
    let ((objects, stored, backups), files) = (target(), store_of(&["A/1", "A/2"]));
    for (names, days) in [(&["A/1"][..], 40), (&["A/1", "A/2"], 20), (&["A/2"], 10)] {
        make(&backups, &sound(), names, &files, NOW - time::Duration::days(days)).await.unwrap();
    }
    let run = async |days| backups.remove_old(Some(time::Duration::days(days)), NOW).await.unwrap();
    assert_eq!(run(30).await, RemovalResult { backups: 1, files: 0 }, "the second one has the file too");
    assert_eq!(run(15).await, RemovalResult { backups: 1, files: 1 });
    assert_eq!(run(1).await, RemovalResult::default(), "the newest one stays");
    assert_eq!((objects.names().len(), stored.names()), (3, vec!["A/2".to_owned()]));
}

#[tokio::test]
async fn an_incomplete_backup_is_removed_after_a_day() {
    let (objects, _, backups) = target();
    let names = [
        "backups/20261122T023100Z-00000000/database",
        "backups/20261122T022900Z-00000000/database",
        "backups/notes.txt",
    ];
    objects.0.lock().unwrap().extend(names.map(|name| (name.to_owned(), Vec::new())));
    assert_eq!(backups.remove_old(None, NOW).await.unwrap().backups, 1);
    assert_eq!(objects.names(), ["backups/20261122T023100Z-00000000/database", "backups/notes.txt"]);
}

#[tokio::test]
async fn no_file_is_removed_while_a_list_or_manifest_cannot_be_read() {
    for (part, content) in
        [("files.json", "damaged"), ("manifest.json", r#"{"format": 1, "civitas": "0.1.0"}"#)]
    {
        let ((objects, stored, backups), files) = (target(), store_of(&["A/1"]));
        make(&backups, &sound(), &["A/1"], &files, NOW - time::Duration::days(40)).await.unwrap();
        make(&backups, &sound(), &[], &files, NOW).await.unwrap();
        let newest = objects.names().into_iter().rfind(|name| name.ends_with(part)).unwrap();
        objects.0.lock().unwrap().insert(newest, content.as_bytes().to_vec());
        let removed = backups.remove_old(Some(time::Duration::days(30)), NOW).await.unwrap();
        assert_eq!(removed, RemovalResult { backups: 1, files: 0 }, "{part}");
        assert_eq!((objects.names().len(), stored.names()), (3, vec!["A/1".to_owned()]), "{part}");
    }
}
