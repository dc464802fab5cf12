//! The use cases on a target in memory.

use crate::ports::MockDatabaseCopies;
use crate::{
    Backup, Contents, DatabaseCopy, Engine, Guard, Listed, Listing, Made, Plain, Removed, Restore, Retention,
    Source, Table, Target,
};
use async_trait::async_trait;
use bytes::Bytes;
use civitas_attachments::{
    ByteStream, Checksum, Content, FileIntake, FileState, FileStore, Inspected, MockFileRegistry,
    ReceiveOutcome, Received, StoredFile,
};
use civitas_kernel::{Error, FileId, Result};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::sync::Mutex;
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

    fn target(&self) -> Target<'_> {
        Target { objects: self, names: self }
    }

    /// The number of objects whose names begin like this.
    fn count(&self, prefix: &str) -> usize {
        self.names().iter().filter(|name| name.starts_with(prefix)).count()
    }
}

#[async_trait]
impl FileStore for Memory {
    async fn put(&self, name: &str, mut content: Content) -> Result<()> {
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

    async fn remove_incomplete(&self, _: Duration) -> Result<u64> {
        Ok(0)
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }
}

impl Listing for Memory {
    fn list(&self, prefix: &str) -> BoxStream<'static, Result<Listed>> {
        let objects = self.0.lock().unwrap();
        let below = format!("{prefix}/");
        let found = objects.iter().filter(|(name, _)| name.starts_with(&below));
        let listed = found.map(|(name, bytes)| Ok(Listed { name: name.clone(), bytes: bytes.len() as u64 }));
        stream::iter(listed.collect::<Vec<_>>()).boxed()
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
        Ok(ReceiveOutcome::Complete(Received { content: Content { file, byte_size }, md5: [0; 16] }))
    }

    async fn inspect(&self, _: Received) -> Result<Inspected> {
        Err(Error::internal("a backup inspects nothing"))
    }
}

fn contents(rows: u64) -> Contents {
    let table = Table { rows, sha256: "ab".to_owned() };
    Contents { tables: [("users".to_owned(), table)].into(), ..Contents::default() }
}

fn copy(rows: u64) -> DatabaseCopy {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"rows").unwrap();
    let parts = vec![("users.copy.gz".to_owned(), Content { file, byte_size: 4 })];
    DatabaseCopy { schema: vec!["1".to_owned()], parts, contents: contents(rows) }
}

/// A database whose copy has two rows, and whose restored copy has this number.
fn database(restored: u64) -> MockDatabaseCopies {
    let mut database = MockDatabaseCopies::new();
    database.expect_lock().returning(|| Ok(Some(Box::new(()) as Guard)));
    database.expect_remove_leftovers().returning(|| Ok(()));
    database.expect_engine().return_const(Engine::Postgresql);
    database.expect_copy().returning(|| Ok(copy(2)));
    database.expect_check().returning(move |_| Ok(contents(restored)));
    database
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

async fn make(
    target: &Memory,
    database: &MockDatabaseCopies,
    names: &'static [&'static str],
    files: &Memory,
    at: OffsetDateTime,
) -> Result<Made> {
    let registry = registry(names);
    let source = Source { database, registry: &registry, files, secret_key: Some(b"key".to_vec()) };
    let work = std::env::temp_dir();
    let backup =
        Backup { source, target: target.target(), sealing: &Plain, intake: &Intake, work, version: "0.1.0" };
    backup.run(at, &|_| {}).await.map(|(made, _)| made)
}

#[tokio::test]
async fn a_backup_is_complete_only_after_its_copy_was_restored_with_equal_contents() {
    let (target, files) = (Memory::default(), store_of(&["A/1", "A/2"]));
    let error = make(&target, &database(1), &["A/1", "A/2"], &files, NOW).await.unwrap_err();
    assert!(error.cause().unwrap().to_string().contains("1 rows instead of 2"));
    let restore = Restore { target: target.target(), opening: &Plain, intake: &Intake };
    assert!(restore.find(None).await.is_err(), "nothing of it is used");
    let made = make(&target, &database(2), &["A/1", "A/2"], &files, NOW).await.unwrap();
    assert_eq!((made.rows, made.files.count, made.files.missing), (2, 2, 0));
    let manifest = restore.find(None).await.unwrap();
    assert_eq!(manifest.name, made.name);
    assert_eq!(manifest.secret_key, None, "a key that is not encrypted is not stored");
    let checked = restore.check(&manifest, &database(2)).await.unwrap();
    assert_eq!((checked.files, checked.missing), (2, 0));
    assert!(restore.check(&manifest, &database(3)).await.is_err());
}

#[tokio::test]
async fn files_that_are_missing_or_damaged_at_the_source_are_counted() {
    let (target, files) = (Memory::default(), store_of(&["A/1"]));
    files.0.lock().unwrap().insert("A/2".to_owned(), b"X/2".to_vec());
    let made = make(&target, &database(2), &["A/1", "A/2", "A/3"], &files, NOW).await.unwrap();
    assert_eq!((made.files.count, made.files.missing), (1, 2));
}

#[tokio::test]
async fn while_another_backup_is_made_none_begins() {
    let mut busy = MockDatabaseCopies::new();
    busy.expect_lock().returning(|| Ok(None));
    let outcome = make(&Memory::default(), &busy, &[], &Memory::default(), NOW).await;
    assert!(matches!(outcome, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn files_are_restored_once_and_damaged_ones_are_not_written() {
    let (target, files) = (Memory::default(), store_of(&["A/1", "A/2"]));
    make(&target, &database(2), &["A/1", "A/2"], &files, NOW).await.unwrap();
    let restore = Restore { target: target.target(), opening: &Plain, intake: &Intake };
    let manifest = restore.find(None).await.unwrap();
    let (to, registry) = (Memory::default(), registry(&["A/1", "A/2"]));
    let restored = restore.files(&manifest, &registry, &to).await.unwrap();
    assert_eq!((restored.restored, restored.present, restored.missing), (2, 0, 0));
    let again = restore.files(&manifest, &registry, &to).await.unwrap();
    assert_eq!((again.restored, again.present, again.missing), (0, 2, 0));
    to.0.lock().unwrap().clear();
    let object = target.names().into_iter().find(|name| name.starts_with("files/")).unwrap();
    target.0.lock().unwrap().insert(object, b"bad".to_vec());
    let third = restore.files(&manifest, &registry, &to).await.unwrap();
    assert_eq!((third.restored, third.present, third.missing), (1, 0, 1));
    assert_eq!(restore.check(&manifest, &database(2)).await.unwrap().missing, 1);
}

#[tokio::test]
async fn old_backups_go_with_the_files_that_no_other_backup_has() {
    let (target, files) = (Memory::default(), store_of(&["A/1", "A/2"]));
    for (names, days) in [(&["A/1"][..], 40), (&["A/1", "A/2"], 20), (&["A/2"], 10)] {
        make(&target, &database(2), names, &files, NOW - time::Duration::days(days)).await.unwrap();
    }
    let run = async |days: i64| {
        let keep = Some(time::Duration::days(days));
        Retention { target: target.target(), intake: &Intake, keep }.run(NOW).await.unwrap()
    };
    assert_eq!(run(30).await, Removed { backups: 1, files: 0 }, "the second one has the file too");
    assert_eq!(run(15).await, Removed { backups: 1, files: 1 });
    assert_eq!(run(1).await, Removed::default(), "the newest one stays");
    assert_eq!((target.count("backups/"), target.count("files/")), (4, 1));
}

#[tokio::test]
async fn an_incomplete_backup_is_removed_after_a_day() {
    let target = store_of(&[
        "backups/20261122T023100Z-00000000/database/users.copy.gz",
        "backups/20261122T022900Z-00000000/database/users.copy.gz",
        "backups/notes.txt",
    ]);
    let retention = Retention { target: target.target(), intake: &Intake, keep: None };
    assert_eq!(retention.run(NOW).await.unwrap().backups, 1);
    assert_eq!(
        target.names(),
        ["backups/20261122T023100Z-00000000/database/users.copy.gz", "backups/notes.txt"]
    );
}

#[tokio::test]
async fn no_file_is_removed_while_a_list_cannot_be_read() {
    let (target, files) = (Memory::default(), store_of(&["A/1"]));
    make(&target, &database(2), &["A/1"], &files, NOW - time::Duration::days(40)).await.unwrap();
    make(&target, &database(2), &[], &files, NOW).await.unwrap();
    let list = target.names().into_iter().rfind(|name| name.ends_with("files.list.gz")).unwrap();
    target.0.lock().unwrap().insert(list, b"damaged".to_vec());
    let keep = Some(time::Duration::days(30));
    let retention = Retention { target: target.target(), intake: &Intake, keep };
    assert!(retention.run(NOW).await.is_err());
    assert_eq!(target.count("files/"), 1);
}
