//! What is specific to SQLite. One writer connection, because SQLite allows one writer: writers wait in the queue of
//! its pool instead of getting `SQLITE_BUSY`. Readers see the last commit and never wait (WAL). Statements run on the
//! caller's thread: they take a few microseconds from the page cache, and are never cancelled.

use crate::failure::Cause;
use crate::session::{self, Settings};
use civitas_kernel::{Error, Result};
use diesel::connection::{AnsiTransactionManager, SimpleConnection};
use diesel::deserialize;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::{self, IsNull, Output};
use diesel::sql_types::Integer;
use diesel::sqlite::SqliteValue;
use diesel::{Connection, ConnectionError, ConnectionResult, QueryResult, RunQueryDsl, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use diesel_async::{AsyncConnection, TransactionManager};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use std::fs::{self, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[path = "sqlite/memory.rs"]
mod memory;
pub use memory::in_memory;

/// The database.
pub type Db = diesel::sqlite::Sqlite;
/// A connection.
pub type Conn = SyncConnectionWrapper<SqliteConnection, Inline>;
/// The runner of migrations.
pub type Harness = SqliteConnection;
/// The migrations of this build.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/sqlite");

/// Updates the statistics of all tables. Reads at most 1,000 rows of each index: a fraction of a second for any table.
pub const ANALYZE: &str = "PRAGMA analysis_limit = 1000; ANALYZE";

/// The SQL types of the schema.
pub mod sql {
    pub use diesel::sql_types::{Binary as Uuid, Json, TimestamptzSqlite as Moment};
}

/// Reads a UUID from its 16 bytes.
pub fn read_uuid(mut raw: SqliteValue<'_, '_, '_>) -> deserialize::Result<uuid::Uuid> {
    Ok(uuid::Uuid::from_slice(raw.read_blob())?)
}

/// Writes a UUID as its 16 bytes.
#[expect(clippy::unnecessary_wraps, reason = "on the other engine it can fail")]
pub fn write_uuid<'b>(value: &'b uuid::Uuid, out: &mut Output<'b, '_, Db>) -> serialize::Result {
    out.set_value(value.as_bytes().as_slice());
    Ok(IsNull::No)
}

/// Reads a JSON column.
pub fn read_json<T: DeserializeOwned>(mut raw: SqliteValue<'_, '_, '_>) -> deserialize::Result<T> {
    Ok(serde_json::from_str(raw.read_text())?)
}

/// Writes a JSON column.
pub fn write_json<T: Serialize>(value: &T, out: &mut Output<'_, '_, Db>) -> serialize::Result {
    out.set_value(serde_json::to_string(value)?);
    Ok(IsNull::No)
}

/// The meaning of an error without a kind of Diesel. Diesel passes on SQLite's message without its code; the messages
/// are those of the compiled-in library (`sqlite3_errstr`), always in English.
pub fn cause(message: &str) -> Cause {
    const CAUSES: [(&str, Cause); 8] = [
        ("database is locked", Cause::Conflict),                  // SQLITE_BUSY
        ("database table is locked", Cause::Conflict),            // SQLITE_LOCKED
        ("interrupted", Cause::Timeout),                          // SQLITE_INTERRUPT
        ("database or disk is full", Cause::Machine),             // SQLITE_FULL
        ("attempt to write a readonly database", Cause::Machine), // SQLITE_READONLY
        ("disk I/O error", Cause::Machine),                       // SQLITE_IOERR
        ("unable to open database file", Cause::Machine),         // SQLITE_CANTOPEN
        ("out of memory", Cause::Machine),                        // SQLITE_NOMEM
    ];
    CAUSES.iter().find(|(start, _)| message.starts_with(start)).map_or(Cause::Other, |(_, cause)| *cause)
}

/// The pools of the readers and of the one writer.
pub fn pools(settings: &Settings) -> Result<(Pool<Conn>, Pool<Conn>)> {
    let pool = |size, pragmas: &'static str| {
        let mut config = ManagerConfig::default();
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |path| {
            let connection = connect(path, pragmas).map(|c| SyncConnectionWrapper::with_runtime(c, Inline));
            std::future::ready(connection).boxed()
        });
        let manager = AsyncDieselConnectionManager::new_with_config(path_of(&settings.url)?, config);
        session::pool(manager, size, settings.wait)
    };
    Ok((pool(settings.pool_size, "PRAGMA query_only = ON;")?, pool(1, "")?))
}

fn path_of(url: &str) -> Result<&str> {
    url.strip_prefix("sqlite://")
        .filter(|path| !path.is_empty())
        .ok_or_else(|| Error::internal("the address of an SQLite database is sqlite://PATH"))
}

/// Creates the file if missing, and removes other users' access to it. SQLite creates its other files with the same
/// mode; existing ones are changed too.
fn make_private(path: &str) -> std::io::Result<()> {
    const PRIVATE: u32 = 0o600;
    let made = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path);
    match made {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    for file in ["", "-wal", "-shm"].map(|end| format!("{path}{end}")) {
        let Ok(metadata) = fs::metadata(&file) else { continue };
        if metadata.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(&file, Permissions::from_mode(PRIVATE))?;
        }
    }
    Ok(())
}

fn connect(path: &str, pragmas: &str) -> ConnectionResult<SqliteConnection> {
    if path != ":memory:"
        && let Err(error) = make_private(path)
    {
        // Not an error: the owner of the file may be another user. SQLite reports if it cannot open the file.
        tracing::warn!(path, %error, "other users may be able to read the database");
    }
    let mut connection = SqliteConnection::establish(path)?;
    // `synchronous = FULL`: an acknowledged write survives a power cut.
    connection
        .batch_execute(
            "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON; PRAGMA mmap_size = 268435456; PRAGMA cache_size = -16000;
             PRAGMA temp_store = MEMORY;",
        )
        .and_then(|()| connection.batch_execute(pragmas))
        .and_then(|()| dialect::register(&mut connection))
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Begins a transaction that may write. `IMMEDIATE`: a deferred one that reads first fails at its first write.
pub async fn begin(connection: &mut Conn) -> QueryResult<()> {
    connection.spawn_blocking(|c| AnsiTransactionManager::begin_transaction_sql(c, "BEGIN IMMEDIATE")).await
}

/// Commits the transaction.
pub async fn commit(connection: &mut Conn) -> QueryResult<()> {
    <Conn as AsyncConnection>::TransactionManager::commit_transaction(connection).await
}

/// Runs some work on a separate connection, in one transaction under the write lock.
pub async fn with_harness<R: Send + 'static>(
    settings: &Settings,
    work: impl FnOnce(&mut Harness) -> diesel::migration::Result<R> + Send + 'static,
) -> Result<R> {
    let path = path_of(&settings.url)?.to_owned();
    let task = tokio::task::spawn_blocking(move || {
        let mut connection = connect_patiently(&path).map_err(|e| Error::Unavailable(e.into()))?;
        connection.immediate_transaction(work).map_err(Error::Internal)
    });
    task.await.map_err(Error::internal)?
}

/// Connects, with retries for one second: when two processes switch a file to write-ahead logging at the same time, one
/// of them gets "locked" without waiting.
fn connect_patiently(path: &str) -> ConnectionResult<SqliteConnection> {
    for _ in 0..20 {
        if let Ok(connection) = connect(path, "") {
            return Ok(connection);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    connect(path, "")
}

/// Runs statements on the current thread. diesel-async's own runtime panics on current-thread runtimes, such as
/// actix-web's workers, when its caller is dropped during a statement: it waits in `block_in_place`.
pub struct Inline;

impl SpawnBlocking for Inline {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn std::error::Error + Send + Sync>>> {
        std::future::ready(Ok(task())).boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

/// A counter that changes with every commit: `PRAGMA data_version` on read-only connections. The value of
/// `data_version` is only comparable within one connection, so each connection that sees a new value increments one
/// shared counter. A read after a commit returns a new number.
pub struct Epoch {
    path: String,
    number: AtomicU64,
    /// The idle connections; their number is the most that were in use at once.
    idle: Mutex<Vec<Watch>>,
}

/// One connection, and the last `data_version` it read.
struct Watch {
    connection: SqliteConnection,
    told: i32,
}

impl Epoch {
    /// Opens the first connection.
    pub fn open(settings: &Settings) -> Result<Self> {
        let path = path_of(&settings.url)?.to_owned();
        let first = Watch::open(&path).map_err(|e| Error::Unavailable(e.into()))?;
        Ok(Self { path, number: AtomicU64::new(0), idle: Mutex::new(vec![first]) })
    }

    /// The current number; `None` when it cannot be read.
    pub fn now(&self) -> Option<u64> {
        let idle = self.idle().pop();
        let mut watch = match idle {
            Some(watch) => watch,
            None => self.another()?,
        };
        if watch.has_news().ok()? {
            self.number.fetch_add(1, Ordering::SeqCst);
        }
        let number = self.number.load(Ordering::SeqCst);
        self.idle().push(watch);
        Some(number)
    }

    /// A new connection. It has no earlier value to compare with, so the counter is incremented.
    fn another(&self) -> Option<Watch> {
        let watch = Watch::open(&self.path).ok()?;
        self.number.fetch_add(1, Ordering::SeqCst);
        Some(watch)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    fn open(path: &str) -> ConnectionResult<Self> {
        let mut connection = connect(path, "PRAGMA query_only = ON; PRAGMA mmap_size = 0;")?;
        let told = DataVersion.get_result(&mut connection);
        Ok(Self { told: told.map_err(ConnectionError::CouldntSetupConfiguration)?, connection })
    }

    /// Whether there was a commit since the last call.
    fn has_news(&mut self) -> QueryResult<bool> {
        let told = DataVersion.get_result(&mut self.connection)?;
        Ok(std::mem::replace(&mut self.told, told) != told)
    }
}

/// `PRAGMA data_version`. A separate type, so that Diesel caches the prepared statement.
#[derive(QueryId, Clone, Copy)]
struct DataVersion;

impl Query for DataVersion {
    type SqlType = Integer;
}

impl<C> RunQueryDsl<C> for DataVersion {}

impl QueryFragment<Db> for DataVersion {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("PRAGMA data_version");
        Ok(())
    }
}

#[path = "sqlite/dialect.rs"]
pub mod dialect;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_user_can_read_the_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("civitas.db").display().to_string();
        let modes = || {
            let files = ["", "-wal", "-shm"].map(|end| fs::metadata(format!("{path}{end}")).unwrap());
            files.map(|file| file.permissions().mode() & 0o777)
        };
        let mut first = connect(&path, "").unwrap();
        first.batch_execute("CREATE TABLE t (x)").unwrap();
        assert_eq!(modes(), [0o600; 3]);
        for end in ["", "-wal", "-shm"] {
            fs::set_permissions(format!("{path}{end}"), Permissions::from_mode(0o644)).unwrap();
        }
        drop(connect(&path, "").unwrap());
        assert_eq!(modes(), [0o600; 3], "files of an older version are made private");
    }

    #[test]
    fn a_fault_of_the_machine_is_distinguished_from_a_bug() {
        let mut connection = connect(":memory:", "").unwrap();
        connection.batch_execute("CREATE TABLE t (x TEXT); PRAGMA max_page_count = 3").unwrap();
        let full = connection.batch_execute("INSERT INTO t VALUES (randomblob(100000))").unwrap_err();
        assert_eq!(cause(&full.to_string()), Cause::Machine, "{full}");
        connection.batch_execute("PRAGMA query_only = ON").unwrap();
        let read_only = connection.batch_execute("INSERT INTO t VALUES (1)").unwrap_err();
        assert_eq!(cause(&read_only.to_string()), Cause::Machine, "{read_only}");
        let bug = connection.batch_execute("SELECT nothing").unwrap_err();
        assert_eq!(cause(&bug.to_string()), Cause::Other, "{bug}");
    }

    /// Without the option SQLite prepares a cached statement again each time a value is bound that its planner used,
    /// such as that of a `LIMIT`.
    #[test]
    fn the_library_is_built_so_that_statements_stay_prepared() {
        let mut connection = connect(":memory:", "").unwrap();
        let used = diesel::dsl::sql::<Integer>("sqlite_compileoption_used('ENABLE_QPSG')");
        let used: i32 = diesel::select(used).get_result(&mut connection).unwrap();
        assert_eq!(used, 1, "LIBSQLITE3_FLAGS of .cargo/config.toml did not reach the library");
    }
}
