//! Copies of an SQLite database: its rows without what was deleted, by the online backup of SQLite and `VACUUM INTO`.

use crate::text::{Compressor, Rows, blocking, decompress, disk_error};
use async_trait::async_trait;
use civitas_attachments::Content;
use civitas_backup::{Contents, DatabaseCopies, DatabaseCopy, Engine, Guard};
use civitas_kernel::{Error, Result};
use rusqlite::backup::Backup;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The part of the copy.
const PART: &str = "database.sqlite.gz";
/// The beginning of the names of temporary directories.
const TEMPORARY: &str = "backup-";
/// The pages that are copied at once.
const PAGES: i32 = 4096;

/// Copies and restores the database file at a path.
#[derive(Debug, Clone)]
pub struct Sqlite {
    /// The file.
    pub path: PathBuf,
    /// A directory for temporary files: each copy needs twice the size of the database there, each check once.
    pub work: PathBuf,
}

#[async_trait]
impl DatabaseCopies for Sqlite {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    async fn lock(&self) -> Result<Option<Guard>> {
        let path = with_ending(&self.path, ".backup-lock");
        blocking(move || {
            let failed = |error| Error::internal(format!("{}: {error}", path.display()));
            let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file = open.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(Box::new(file) as Guard)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(failed(error)),
            }
        })
        .await
    }

    async fn remove_leftovers(&self) -> Result<()> {
        let work = self.work.clone();
        blocking(move || {
            for entry in fs::read_dir(work).map_err(disk_error)? {
                let entry = entry.map_err(disk_error)?;
                if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                    fs::remove_dir_all(entry.path()).map_err(disk_error)?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn copy(&self) -> Result<DatabaseCopy> {
        let Self { path, work } = self.clone();
        blocking(move || {
            let directory = TempDir::with_prefix_in(TEMPORARY, &work).map_err(disk_error)?;
            let (pages, file) = (directory.path().join("pages.sqlite"), directory.path().join("copy.sqlite"));
            let (schema, contents) = copy(&path, &pages, &file)?;
            let content = compress(&file, &work)?;
            Ok(DatabaseCopy { schema, parts: vec![(PART.to_owned(), content)], contents })
        })
        .await
    }

    async fn check(&self, copy: &DatabaseCopy) -> Result<Contents> {
        let (mut copied, work) = (decompress(part(copy)?)?, self.work.clone());
        blocking(move || {
            let directory = TempDir::with_prefix_in(TEMPORARY, &work).map_err(disk_error)?;
            let file = directory.path().join("restored.sqlite");
            write_private(&mut copied, &file)?;
            check(&file)
        })
        .await
    }

    async fn restore(&self, copy: &DatabaseCopy) -> Result<()> {
        let (mut copied, path, expected) =
            (decompress(part(copy)?)?, self.path.clone(), copy.contents.clone());
        blocking(move || {
            if path.exists() {
                let path = path.display();
                return Err(Error::internal(format!("{path} exists: move it to another place first")));
            }
            let draft = with_ending(&path, ".restored");
            let restored = restore(&mut copied, &draft, &expected);
            if restored.is_err() {
                // Left by an error of the disk, it would not be used either.
                let _ = fs::remove_file(&draft);
            }
            restored?;
            fs::rename(&draft, &path).map_err(disk_error)?;
            match path.parent() {
                Some(directory) if directory != Path::new("") => sync(directory),
                _ => Ok(()),
            }
        })
        .await
    }
}

fn part(copy: &DatabaseCopy) -> Result<&Content> {
    let found = copy.parts.iter().find(|(name, _)| name == PART);
    found.map(|(_, content)| content).ok_or_else(|| Error::internal(format!("the backup has no {PART}")))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// An error of SQLite while it reads a copy, or the database.
fn failed(error: rusqlite::Error) -> Error {
    Error::Unavailable(error.into())
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(failed)?;
    Ok(connection)
}

/// Copies the database as it is at one moment; returns the versions of its schema, and what it has. The checksums are
/// those of the source, not of the copy. `VACUUM INTO` alone would copy another moment: it cannot run in a transaction. It
/// leaves out unused pages and parts of pages, where older versions left what was deleted.
fn copy(source: &Path, pages: &Path, target: &Path) -> Result<(Vec<String>, Contents)> {
    let connection = open(source)?;
    connection.execute_batch("BEGIN").map_err(failed)?;
    // The first read of the transaction determines what it sees.
    let schema = texts(&connection, "SELECT version FROM __diesel_schema_migrations ORDER BY version")?;
    for file in [pages, target] {
        write_private(&mut io::empty(), file)?;
    }
    let mut copied = Connection::open(pages).map_err(failed)?;
    {
        let backup = Backup::new(&connection, &mut copied).map_err(failed)?;
        backup.run_to_completion(PAGES, Duration::ZERO, None).map_err(failed)?;
    }
    copied.execute("VACUUM INTO ?", [target.to_string_lossy()]).map_err(failed)?;
    copied.close().map_err(|(_, error)| failed(error))?;
    fs::remove_file(pages).map_err(disk_error)?;
    let contents = contents(&connection)?;
    connection.execute_batch("COMMIT").map_err(failed)?;
    Ok((schema, contents))
}

fn compress(file: &Path, work: &Path) -> Result<Content> {
    let mut compressor = Compressor::new(work)?;
    let mut file = File::open(file).map_err(disk_error)?;
    io::copy(&mut file, &mut compressor).map_err(disk_error)?;
    compressor.finish()
}

/// Writes bytes to a new file that only its owner can read.
fn write_private(bytes: &mut dyn io::Read, path: &Path) -> Result<()> {
    let mut write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        io::copy(bytes, &mut file)?;
        file.sync_all()
    };
    write().map_err(|error| match error.kind() {
        // Of gzip.
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
            Error::internal(format!("the copy is damaged: {error}"))
        }
        _ => disk_error(error),
    })
}

fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(disk_error)
}

/// What a restored file has; an error if SQLite finds a fault in it.
fn check(path: &Path) -> Result<Contents> {
    let damaged = |fault: &str| Error::internal(format!("the copy is damaged: {fault}"));
    let connection = open(path).map_err(|error| damaged(&error.to_string()))?;
    let found = texts(&connection, "PRAGMA integrity_check(1)");
    let found = found.map_err(|_| damaged("SQLite cannot read it"))?;
    if found != ["ok"] {
        return Err(damaged(found.first().map_or("", String::as_str)));
    }
    let strangers = texts(&connection, "SELECT DISTINCT \"table\" FROM pragma_foreign_key_check")?;
    if let Some(table) = strangers.first() {
        return Err(damaged(&format!("rows of {table} refer to rows that do not exist")));
    }
    let contents = contents(&connection)?;
    // Without other connections this removes the files of the write-ahead log.
    connection.close().map_err(|(_, error)| failed(error))?;
    Ok(contents)
}

fn restore(copied: &mut dyn io::Read, draft: &Path, expected: &Contents) -> Result<()> {
    match fs::remove_file(draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(disk_error(error)),
        _ => {}
    }
    write_private(copied, draft)?;
    match expected.difference(&check(draft)?) {
        Some(difference) => Err(Error::internal(format!("the restored database differs: {difference}"))),
        None => sync(draft),
    }
}

fn texts(connection: &Connection, query: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(query).map_err(failed)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<Vec<String>>>().map_err(failed)
}

/// Rows and checksums of all tables. The numbers that SQLite has for `AUTOINCREMENT` are a table too; its statistics
/// are not content.
fn contents(connection: &Connection) -> Result<Contents> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' \
         AND (name NOT LIKE 'sqlite\\_%' ESCAPE '\\' OR name = 'sqlite_sequence') ORDER BY name";
    let mut contents = Contents::default();
    for table in texts(connection, TABLES)? {
        let rows = rows(connection, &table)?;
        contents.tables.insert(table, rows.finish());
    }
    Ok(contents)
}

fn rows(connection: &Connection, table: &str) -> Result<Rows> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let names = |query: &str| {
        let mut statement = connection.prepare(query)?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
        names.map(|name| name.map(|name| quoted(&name))).collect::<rusqlite::Result<Vec<String>>>()
    };
    let columns = names("SELECT name FROM pragma_table_info(?) ORDER BY name").map_err(failed)?;
    let key = names("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk").map_err(failed)?;
    let order = if key.is_empty() { "rowid".to_owned() } else { key.join(", ") };
    let query = format!("SELECT {} FROM {} ORDER BY {order}", columns.join(", "), quoted(table));
    let mut statement = connection.prepare(&query).map_err(failed)?;
    let mut found = statement.query([]).map_err(failed)?;
    let mut rows = Rows::default();
    while let Some(row) = found.next().map_err(failed)? {
        rows.count(1);
        for column in 0..columns.len() {
            add(&mut rows, row.get_ref(column).map_err(failed)?);
        }
    }
    Ok(rows)
}

/// Adds a value: its type and length, so that different rows have different bytes, and its bytes.
fn add(rows: &mut Rows, value: ValueRef<'_>) {
    let mut put = |kind: u8, bytes: &[u8]| {
        rows.update(&[kind]);
        rows.update(&(bytes.len() as u64).to_le_bytes());
        rows.update(bytes);
    };
    match value {
        ValueRef::Null => put(0, &[]),
        ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
        ValueRef::Real(number) => put(2, &number.to_le_bytes()),
        ValueRef::Text(bytes) => put(3, bytes),
        ValueRef::Blob(bytes) => put(4, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    const TABLES: &str = "PRAGMA journal_mode = WAL;
         CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY);
         INSERT INTO __diesel_schema_migrations VALUES ('20261121000001');
         CREATE TABLE left_side (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, bytes BLOB, number REAL);
         CREATE TABLE right_side (id INTEGER PRIMARY KEY, left_id INTEGER REFERENCES left_side (id));
         INSERT INTO left_side (text, bytes, number) VALUES ('a', x'00ff', 1.5), (NULL, NULL, NULL);
         INSERT INTO right_side VALUES (1, 1);";

    fn database(directory: &Path) -> (Sqlite, Connection) {
        let path = directory.join("civitas.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(TABLES).unwrap();
        (Sqlite { path, work: directory.to_owned() }, connection)
    }

    #[tokio::test]
    async fn a_copy_is_restored_with_equal_contents() {
        let place = tempfile::tempdir().unwrap();
        let (sqlite, connection) = database(place.path());
        let copy = sqlite.copy().await.unwrap();
        assert_eq!(copy.schema, ["20261121000001"]);
        assert_eq!(copy.contents.tables["left_side"].rows, 2);
        assert_eq!(sqlite.check(&copy).await.unwrap(), copy.contents);
        connection.execute("UPDATE left_side SET text = 'b' WHERE id = 1", []).unwrap();
        let other = sqlite.copy().await.unwrap();
        let difference = copy.contents.difference(&other.contents).unwrap();
        assert!(difference.contains("left_side"), "{difference}");

        let restored = Sqlite { path: place.path().join("restored.db"), ..sqlite.clone() };
        restored.restore(&copy).await.unwrap();
        assert_eq!(restored.copy().await.unwrap().contents, copy.contents);
        let error = restored.restore(&copy).await.unwrap_err();
        assert!(error.cause().unwrap().to_string().contains("exists"));
    }

    /// Each transaction of the writer keeps two tables equal: a copy of two moments would show a difference.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_copy_is_of_one_moment_while_another_connection_writes() {
        let place = tempfile::tempdir().unwrap();
        let (sqlite, writer) = database(place.path());
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let writing = std::thread::spawn(move || {
            let mut written = 0_u64;
            while !told.load(Ordering::Relaxed) {
                let insert = "BEGIN IMMEDIATE; INSERT INTO left_side (text) VALUES (hex(randomblob(500)));
                     INSERT INTO right_side SELECT max(id), max(id) FROM left_side; COMMIT";
                writer.execute_batch(insert).unwrap();
                written += 1;
            }
            written
        });
        for _ in 0..5 {
            let copy = sqlite.copy().await.unwrap();
            let rows = |table: &str| copy.contents.tables[table].rows;
            // The first rows of both tables differ by one.
            assert_eq!(rows("left_side"), rows("right_side") + 1);
            assert_eq!(sqlite.check(&copy).await.unwrap(), copy.contents);
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writing.join().unwrap() > 0);
    }

    #[tokio::test]
    async fn a_damaged_copy_is_not_restored() {
        let place = tempfile::tempdir().unwrap();
        let (sqlite, _connection) = database(place.path());
        let restored = Sqlite { path: place.path().join("restored.db"), ..sqlite.clone() };
        let copy = sqlite.copy().await.unwrap();
        let whole = copy.parts[0].1.byte_size;
        copy.parts[0].1.file.set_len(whole / 2).unwrap();
        assert!(matches!(restored.restore(&copy).await, Err(Error::Internal(_))));
        let mut copy = sqlite.copy().await.unwrap();
        copy.contents.tables.get_mut("left_side").unwrap().rows += 1;
        assert!(matches!(restored.restore(&copy).await, Err(Error::Internal(_))));
        assert!(!restored.path.exists());
        assert!(!with_ending(&restored.path, ".restored").exists());
    }

    #[tokio::test]
    async fn a_copy_has_nothing_that_was_deleted() {
        let place = tempfile::tempdir().unwrap();
        let (sqlite, connection) = database(place.path());
        let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO left_side (text) SELECT 'Zora Quintana' || i FROM n";
        connection.execute_batch("PRAGMA secure_delete = OFF").unwrap();
        connection.execute(rows, []).unwrap();
        connection.execute("DELETE FROM left_side WHERE id % 5 > 0 AND id > 2", []).unwrap();
        connection.execute("UPDATE left_side SET text = 'b' WHERE id > 2", []).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let has = |bytes: &[u8]| bytes.windows(13).any(|part| part == b"Zora Quintana");
        assert!(has(&fs::read(&sqlite.path).unwrap()));
        let copy = sqlite.copy().await.unwrap();
        let mut bytes = Vec::new();
        io::copy(&mut decompress(part(&copy).unwrap()).unwrap(), &mut bytes).unwrap();
        assert!(!has(&bytes));
        assert_eq!(sqlite.check(&copy).await.unwrap(), copy.contents);
    }

    #[tokio::test]
    async fn one_backup_is_made_at_a_time_and_a_killed_one_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (sqlite, _connection) = database(place.path());
        let guard = sqlite.lock().await.unwrap().unwrap();
        assert!(sqlite.lock().await.unwrap().is_none());
        drop(guard);
        assert!(sqlite.lock().await.unwrap().is_some());
        fs::create_dir(place.path().join("backup-killed")).unwrap();
        sqlite.remove_leftovers().await.unwrap();
        assert!(!place.path().join("backup-killed").exists());
        assert!(sqlite.path.exists());
    }
}
