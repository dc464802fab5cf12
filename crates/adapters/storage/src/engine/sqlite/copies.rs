//! Copies of the database for backups, by `VACUUM INTO`: its rows, without what was deleted.

use super::path_of;
use crate::pools::DatabaseSettings;
use async_trait::async_trait;
use civitas_application::backups::{BackupLock, DatabaseCopier, DatabaseCopy, RestoreCheckMethod, RowCounts};
use civitas_attachments::FileContent;
use civitas_kernel::{Error, Result};
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, RunQueryDsl, SqliteConnection};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The beginning of the names of temporary directories.
const TEMPORARY: &str = "backup-";

/// Copies and restores a database.
#[derive(Debug, Clone)]
pub struct EngineDatabaseCopier {
    /// The database.
    pub settings: DatabaseSettings,
    /// A directory for temporary files: a copy or a check needs the size of the database there.
    pub work: PathBuf,
}

#[async_trait]
impl DatabaseCopier for EngineDatabaseCopier {
    fn engine(&self) -> &'static str {
        "SQLite"
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn lock(&self) -> Result<Option<BackupLock>> {
        let (path, work) = (self.beside(".backup-lock")?, self.work.clone());
        blocking(move || {
            let failed = |error: io::Error| Error::internal(format!("{}: {error}", path.display()));
            let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file = open.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            for entry in fs::read_dir(work).map_err(disk_error)? {
                let entry = entry.map_err(disk_error)?;
                if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                    fs::remove_dir_all(entry.path()).map_err(disk_error)?;
                }
            }
            Ok(Some(Box::new(file) as BackupLock))
        })
        .await
    }

    async fn copy(&self) -> Result<DatabaseCopy> {
        let (path, work) = (self.beside("")?, self.work.clone());
        blocking(move || {
            let directory = TempDir::with_prefix_in(TEMPORARY, &work).map_err(disk_error)?;
            let copy = directory.path().join("copy.sqlite");
            let failed = |error: diesel::result::Error| Error::Unavailable(error.into());
            let mut source = open(&path)?;
            source.batch_execute("PRAGMA busy_timeout = 5000").map_err(failed)?;
            let statement =
                diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(copy.to_string_lossy().into_owned());
            statement.execute(&mut source).map_err(failed)?;
            let rows = rows(&mut open(&copy)?)?;
            let file = File::open(&copy).map_err(disk_error)?;
            let byte_size = file.metadata().map_err(disk_error)?.len();
            Ok(DatabaseCopy { content: FileContent { file, byte_size }, rows })
        })
        .await
    }

    async fn check(&self, copy: &DatabaseCopy) -> Result<RestoreCheckMethod> {
        let (copied, expected, work) = (copy.content.file.try_clone(), copy.rows.clone(), self.work.clone());
        blocking(move || {
            let directory = TempDir::with_prefix_in(TEMPORARY, &work).map_err(disk_error)?;
            restore(copied.map_err(disk_error)?, &expected, &directory.path().join("restored.sqlite"))?;
            Ok(RestoreCheckMethod::Restored)
        })
        .await
    }

    async fn restore(&self, copy: &DatabaseCopy) -> Result<()> {
        let (path, draft) = (self.beside("")?, self.beside(".restored")?);
        let (copied, expected) = (copy.content.file.try_clone(), copy.rows.clone());
        // SQLite would apply a log that another database left to the restored one.
        let of_database = ["", "-wal", "-shm", "-journal"].into_iter().map(|ending| self.beside(ending));
        let of_database = of_database.collect::<Result<Vec<_>>>()?;
        blocking(move || {
            if let Some(left) = of_database.iter().find(|file| file.exists()) {
                let left = left.display();
                return Err(Error::internal(format!("{left} exists: move it to another place first")));
            }
            let restored = restore(copied.map_err(disk_error)?, &expected, &draft);
            if restored.is_err() {
                // Left by an error of the disk, it would not be used either.
                let _ = fs::remove_file(&draft);
            }
            restored?;
            fs::rename(&draft, &path).map_err(disk_error)?;
            let directory = path.parent().filter(|directory| *directory != Path::new(""));
            let synced = File::open(directory.unwrap_or(Path::new("."))).and_then(|file| file.sync_all());
            synced.map_err(disk_error)
        })
        .await
    }
}

impl EngineDatabaseCopier {
    /// The path of the database with this ending.
    fn beside(&self, ending: &str) -> Result<PathBuf> {
        Ok(format!("{}{ending}", path_of(&self.settings.url)?).into())
    }
}

fn disk_error(error: io::Error) -> Error {
    Error::Unavailable(error.into())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

fn open(path: &Path) -> Result<SqliteConnection> {
    SqliteConnection::establish(&path.to_string_lossy()).map_err(|error| Error::Unavailable(error.into()))
}

/// Writes a copy to a path, and checks it with the means of SQLite and by its rows.
fn restore(mut copied: File, expected: &RowCounts, to: &Path) -> Result<()> {
    let mut write = || {
        copied.rewind()?;
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
        io::copy(&mut copied, &mut file)?;
        file.sync_all()
    };
    write().map_err(disk_error)?;
    let mut restored = open(to)?;
    for (check, sound) in [
        ("PRAGMA integrity_check(1)", &["ok"][..]),
        ("SELECT DISTINCT 'a row of ' || \"table\" || ' refers to none' FROM pragma_foreign_key_check", &[]),
    ] {
        let found = texts(&mut restored, check)?;
        if found != sound {
            return Err(damaged(&found.join(", ")));
        }
    }
    expected.check(&rows(&mut restored)?)
}

fn damaged(fault: &str) -> Error {
    Error::internal(format!("the copy is damaged: {fault}"))
}

fn texts(connection: &mut SqliteConnection, query: &str) -> Result<Vec<String>> {
    sql::<Text>(query).load(connection).map_err(|error| damaged(&error.to_string()))
}

/// The rows of all tables. The numbers that SQLite has for `AUTOINCREMENT` are a table too; its statistics are not content.
fn rows(connection: &mut SqliteConnection) -> Result<RowCounts> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' \
         AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name = 'sqlite_sequence')";
    let tables = texts(connection, TABLES)?;
    let count = |table: String| {
        let counted = sql::<BigInt>(&format!("SELECT count(*) FROM \"{table}\"")).get_result(connection);
        let counted: i64 = counted.map_err(|error| damaged(&error.to_string()))?;
        Ok((table, counted.unsigned_abs()))
    };
    tables.into_iter().map(count).collect::<Result<_>>().map(RowCounts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pools::StatementLimits;
    use civitas_kernel::Locales;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    const TABLES: &str = "PRAGMA journal_mode = WAL;
         CREATE TABLE left_side (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
         CREATE TABLE right_side (id INTEGER PRIMARY KEY, left_id INTEGER REFERENCES left_side (id));
         INSERT INTO left_side (text) VALUES ('a'), (NULL);
         INSERT INTO right_side VALUES (1, 1);";

    fn copies(directory: &Path, name: &str) -> EngineDatabaseCopier {
        let settings = DatabaseSettings {
            url: format!("sqlite://{}", directory.join(name).display()),
            pooler_url: None,
            read_url: None,
            pool_size: 1,
            wait: Duration::from_secs(1),
            locales: Locales::standard(),
            limits: StatementLimits::default(),
        };
        EngineDatabaseCopier { settings, work: directory.to_owned() }
    }

    fn database(directory: &Path) -> (EngineDatabaseCopier, SqliteConnection) {
        let mut connection = open(&directory.join("civitas.db")).unwrap();
        connection.batch_execute(TABLES).unwrap();
        (copies(directory, "civitas.db"), connection)
    }

    #[tokio::test]
    async fn a_copy_is_restored_with_equal_rows_and_never_over_a_database() {
        let directory = tempfile::tempdir().unwrap();
        let (source, mut connection) = database(directory.path());
        let copy = source.copy().await.unwrap();
        assert_eq!((copy.rows.0["left_side"], copy.rows.0["right_side"]), (2, 1));
        assert_eq!(source.check(&copy).await.unwrap(), RestoreCheckMethod::Restored);
        connection.batch_execute("DELETE FROM left_side WHERE id = 2").unwrap();
        let target = copies(directory.path(), "restored.db");
        target.restore(&copy).await.unwrap();
        let mut restored = open(&directory.path().join("restored.db")).unwrap();
        assert_eq!(texts(&mut restored, "SELECT text FROM left_side WHERE id = 1").unwrap(), ["a"]);
        assert_eq!(target.copy().await.unwrap().rows, copy.rows);
        fs::write(directory.path().join("other.db-wal"), "a log").unwrap();
        let other = copies(directory.path(), "other.db");
        for (target, part) in [(target, "restored.db exists"), (other, "other.db-wal exists")] {
            let error = target.restore(&copy).await.unwrap_err();
            assert!(error.cause().unwrap().to_string().contains(part));
        }
    }

    /// Each transaction of the writer keeps two tables equal: a copy of two moments would show a difference.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_copy_is_of_one_moment_while_another_connection_writes() {
        let directory = tempfile::tempdir().unwrap();
        let (source, mut writer) = database(directory.path());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let writing = std::thread::spawn(move || {
            let mut written = 0_u64;
            while !stopped.load(Ordering::Relaxed) {
                let insert = "PRAGMA busy_timeout = 5000;
                     BEGIN IMMEDIATE; INSERT INTO left_side (text) VALUES (hex(randomblob(500)));
                     INSERT INTO right_side SELECT max(id), max(id) FROM left_side; COMMIT";
                writer.batch_execute(insert).unwrap();
                written += 1;
            }
            written
        });
        for _ in 0..5 {
            let copy = source.copy().await.unwrap();
            // The first rows of both tables differ by one.
            assert_eq!(copy.rows.0["left_side"], copy.rows.0["right_side"] + 1);
            source.check(&copy).await.unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writing.join().unwrap() > 0);
    }

    #[tokio::test]
    async fn a_damaged_copy_is_not_restored() {
        let directory = tempfile::tempdir().unwrap();
        let (source, mut connection) = database(directory.path());
        let target = copies(directory.path(), "restored.db");
        let refused = async |copy: &DatabaseCopy, part: &str| {
            for refused in [source.check(copy).await.map(drop), target.restore(copy).await] {
                let error = refused.unwrap_err();
                let sentence = error.cause().unwrap().to_string();
                assert!(matches!(error, Error::Internal(_)) && sentence.contains(part), "{sentence}");
            }
        };
        let copy = source.copy().await.unwrap();
        let (half, byte_size) = (tempfile::tempfile().unwrap(), copy.content.byte_size / 2);
        io::copy(&mut io::Read::take(&copy.content.file, byte_size), &mut &half).unwrap();
        let content = FileContent { file: half, byte_size };
        refused(&DatabaseCopy { content, rows: copy.rows }, "damaged").await;
        let mut copy = source.copy().await.unwrap();
        copy.rows.0.insert("left_side".to_owned(), 3);
        refused(&copy, "left_side has 2 rows instead of 3").await;
        connection.batch_execute("PRAGMA foreign_keys = OFF; INSERT INTO right_side VALUES (2, 99)").unwrap();
        refused(&source.copy().await.unwrap(), "a row of right_side refers to none").await;
        assert!(!directory.path().join("restored.db").exists());
        assert!(!directory.path().join("restored.db.restored").exists());
    }

    #[tokio::test]
    async fn a_copy_has_nothing_that_was_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let (source, mut connection) = database(directory.path());
        let rows = "PRAGMA secure_delete = OFF;
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO left_side (text) SELECT 'Zora Quintana' || i FROM n;
             DELETE FROM left_side WHERE id % 5 > 0 AND id > 2; UPDATE left_side SET text = 'b' WHERE id > 2;
             PRAGMA wal_checkpoint(TRUNCATE)";
        connection.batch_execute(rows).unwrap();
        let has = |file: &mut File| {
            let mut bytes = Vec::new();
            io::Read::read_to_end(file, &mut bytes).unwrap();
            bytes.windows(13).any(|part| part == b"Zora Quintana")
        };
        assert!(has(&mut File::open(directory.path().join("civitas.db")).unwrap()));
        let mut copy = source.copy().await.unwrap();
        assert!(!has(&mut copy.content.file));
        source.check(&copy).await.unwrap();
    }

    #[tokio::test]
    async fn one_backup_is_made_at_a_time_and_a_killed_one_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (source, _connection) = database(directory.path());
        fs::create_dir(directory.path().join("backup-killed")).unwrap();
        let guard = source.lock().await.unwrap().unwrap();
        assert!(source.lock().await.unwrap().is_none());
        drop(guard);
        assert!(source.lock().await.unwrap().is_some());
        assert!(!directory.path().join("backup-killed").exists());
        assert!(directory.path().join("civitas.db").exists());
    }
}
