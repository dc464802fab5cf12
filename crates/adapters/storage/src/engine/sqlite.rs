//! What is specific to SQLite. One writer connection, because SQLite allows one writer: writers wait for each other
//! instead of getting `SQLITE_BUSY`. Readers see the last commit and never wait (WAL). Statements run on the
//! caller's thread: they take a few microseconds from the page cache, and are never cancelled. Commits wait for the disk:
//! they run on a blocking thread.

use crate::change_counters::{ChangeCounters, StatementObserver};
use crate::failure::ErrorCause;
use crate::page_rows::{RowReadLimits, count_decoded_bytes};
use crate::pools::{ConnectionPool, DatabaseSettings, Pools, ProcessPools, ReplicaPools, StatementLimits};
use civitas_kernel::{Error, Result};
use diesel::connection::{AnsiTransactionManager, DefaultLoadingMode, LoadConnection, SimpleConnection};
use diesel::deserialize::{self, FromSqlRow};
use diesel::expression::QueryMetadata;
use diesel::query_builder::{Query, QueryFragment, QueryId};
use diesel::serialize::{self, IsNull, Output};
use diesel::sql_types::Integer;
use diesel::sqlite::SqliteValue;
use diesel::{Connection, ConnectionError, ConnectionResult, QueryResult, SqliteConnection};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, RunQueryDsl, TransactionManager};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use futures_util::FutureExt;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::fs::{self, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

#[path = "sqlite/copies.rs"]
mod copies;
#[path = "sqlite/memory.rs"]
mod memory;
#[path = "sqlite/runtime.rs"]
mod runtime;
#[path = "sqlite/statement.rs"]
mod statement;
#[path = "sqlite/write_lock.rs"]
mod write_lock;
#[path = "sqlite/writer.rs"]
mod writer;
pub use copies::EngineDatabaseCopier;
pub use memory::in_memory;
use runtime::{Runtime, StatementThread};
use statement::AnyStatement;
pub use statement::any_statement;
pub use writer::{WriteTransaction, Writer, WriterConnection};

/// The database.
pub type Db = diesel::sqlite::Sqlite;
/// A connection.
pub type Conn = SyncConnectionWrapper<SqliteConnection, Runtime>;
/// Connections to read with.
pub(crate) type Reader = ConnectionPool;
/// The runner of migrations.
pub type MigrationConnection = SqliteConnection;
/// The migrations of this build.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../../migrations/sqlite");

/// Updates the statistics of all tables. Reads at most 1,000 rows of each index: a fraction of a second for any table.
/// Tables with fewer rows get none: they may grow, and with statistics of an empty table SQLite sorts all of it instead of
/// reading an index in its order. Without statistics it assumes a million rows.
pub const ANALYZE: &str = "PRAGMA analysis_limit = 1000; ANALYZE; \
    DELETE FROM sqlite_stat1 WHERE tbl NOT IN (SELECT tbl FROM sqlite_stat1 WHERE CAST(stat AS INTEGER) >= 1000); \
    ANALYZE sqlite_schema";

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
    let text = raw.read_text();
    count_decoded_bytes(text.len());
    Ok(serde_json::from_str(text)?)
}

/// Reads free JSON as compact text.
pub fn read_data(raw: SqliteValue<'_, '_, '_>) -> deserialize::Result<Box<RawValue>> {
    read_json(raw)
}

/// Writes a JSON column.
pub fn write_json<T: Serialize>(value: &T, out: &mut Output<'_, '_, Db>) -> serialize::Result {
    out.set_value(serde_json::to_string(value)?);
    Ok(IsNull::No)
}

/// The meaning of an error without a kind of Diesel. Diesel passes on SQLite's message without its code; the messages
/// are those of the compiled-in library (`sqlite3_errstr`), always in English.
pub fn cause(message: &str) -> ErrorCause {
    const CAUSES: [(&str, ErrorCause); 8] = [
        ("database is locked", ErrorCause::Machine), // SQLITE_BUSY: another process has the lock
        ("database table is locked", ErrorCause::Conflict), // SQLITE_LOCKED
        ("interrupted", ErrorCause::Timeout),        // SQLITE_INTERRUPT
        ("database or disk is full", ErrorCause::Machine), // SQLITE_FULL
        ("attempt to write a readonly database", ErrorCause::Machine), // SQLITE_READONLY
        ("disk I/O error", ErrorCause::Machine),     // SQLITE_IOERR
        ("unable to open database file", ErrorCause::Machine), // SQLITE_CANTOPEN
        ("out of memory", ErrorCause::Machine),      // SQLITE_NOMEM
    ];
    CAUSES.iter().find(|(start, _)| message.starts_with(start)).map_or(ErrorCause::Other, |(_, cause)| *cause)
}

/// The pools of the readers, of the readers for searches, and of the one writer. A read is never cancelled with its
/// caller, a search is. Background work has the same pools: reads never wait for a connection, and searches are not of it.
pub(crate) fn pools(settings: &DatabaseSettings, changes: &Arc<ChangeCounters>) -> Result<ProcessPools> {
    let path = path_of(&settings.url)?;
    let manager = |pragmas: &'static str,
                   thread: StatementThread,
                   limit: Duration,
                   changes: Option<Arc<ChangeCounters>>| {
        let mut config = ManagerConfig::default();
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(move |path| {
            let runtime = Runtime::new(thread.clone(), limit);
            let connection =
                connect(path, pragmas).map(|connection| wrap(connection, runtime, changes.as_ref()));
            std::future::ready(connection).boxed()
        });
        AsyncDieselConnectionManager::new_with_config(path, config)
    };
    let StatementLimits { read, write, .. } = settings.limits;
    let cores = available_parallelism().map_or(1, usize::from);
    let writer = ConnectionPool::new(
        manager(WRITER, StatementThread::Caller, write, Some(changes.clone())),
        1,
        settings.wait,
    )?;
    // The slots bound the statements that run. There are more connections: one is in use until its caller is polled,
    // which takes long on a busy thread.
    let searching = StatementThread::Blocking(Arc::new(Semaphore::new(cores * 2)));
    let searchers = settings.pool_size.max(cores * 2);
    let (reader, searcher) = (
        manager(READER_PRAGMAS, StatementThread::Caller, read, None),
        manager(SEARCHER_PRAGMAS, searching, read, None),
    );
    let pools = Pools {
        reader: ConnectionPool::new(reader, settings.pool_size, settings.wait)?,
        searcher: Some(ConnectionPool::new(searcher, searchers, settings.wait)?),
        writer: Writer::new(writer, settings.wait),
    };
    Ok(ProcessPools { requests: pools.clone(), background: pools })
}

/// A file has no replicas.
#[expect(clippy::unnecessary_wraps, reason = "on the other engine it can fail")]
pub(crate) fn replica_pools(
    _: &DatabaseSettings,
    _: &Arc<ChangeCounters>,
    _: &Writer,
) -> Result<Option<(Reader, Vec<ReplicaPools>)>> {
    Ok(None)
}

/// A connection whose statements run there. `changes`: where those that it commits are counted.
fn wrap(mut connection: SqliteConnection, runtime: Runtime, changes: Option<&Arc<ChangeCounters>>) -> Conn {
    if let Some(changes) = changes {
        connection.set_instrumentation(StatementObserver::new(changes.clone()));
    }
    SyncConnectionWrapper::with_runtime(connection, runtime)
}

/// It does not map the file: each commit ends the mappings of all connections, and in a large city nearly every page that is
/// read after that has to be mapped again, which costs more than to copy it. The commit empties the cache too, so a larger one would
/// use memory without making reads faster.
const READER_PRAGMAS: &str = "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8000;";

/// A search reads many pages. They are those of the mapped file; only what is in the write-ahead log, or beyond the mapped
/// part, is copied into the cache. A commit of the writer empties that, so a large one would use memory
/// without making reads faster.
const SEARCHER_PRAGMAS: &str = "PRAGMA query_only = ON; PRAGMA cache_size = -4000;";

/// The writer waits for other processes in [`begin`], without blocking its thread. For a lock that is held for a moment, such
/// as one of a reader that opens the file, it waits 5 ms on its thread. After a checkpoint the file of the write-ahead log is
/// truncated to 64 MiB.
const WRITER: &str =
    "PRAGMA busy_timeout = 5; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16000;";

/// For a transaction that takes long, such as an import: it changes pages all over the indexes. Those that do not fit in
/// the cache are written to the log, and read again for the next row: with 128 MiB few. Used as far as there are
/// changed pages.
const LARGE_CACHE_PRAGMA: &str = "PRAGMA cache_size = -131072";

/// After it: the size of [`WRITER`] again.
const SMALL_CACHE_PRAGMAS: &str = "PRAGMA cache_size = -16000; PRAGMA shrink_memory";

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
    civitas_statement_limit::install();
    let mut connection = SqliteConnection::establish(path)?;
    // `synchronous = FULL`: an acknowledged write survives a power cut. The largest part SQLite maps is 2 GiB less 64 KiB.
    // `secure_delete`: zeros replace what is deleted; single writes take as long as without, large deletions a fifth longer.
    connection
        .batch_execute(
            "PRAGMA busy_timeout = 250; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON; PRAGMA mmap_size = 2147418112;
             PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;",
        )
        .and_then(|()| connection.batch_execute(pragmas))
        .and_then(|()| dialect::register(&mut connection))
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Begins a transaction that may write. `IMMEDIATE`: a deferred one that reads first fails at its first write. While
/// another process has the lock, waits at most `patience`.
///
/// # Errors
/// `Unavailable` when the time is over.
async fn begin(connection: &mut Conn, patience: Duration) -> QueryResult<()> {
    const MAX_PAUSE: Duration = Duration::from_millis(100);
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        let begun = connection
            .spawn_blocking(|c| AnsiTransactionManager::begin_transaction_sql(c, "BEGIN IMMEDIATE"))
            .await;
        match begun {
            Err(error) if is_locked(&error) && Instant::now() + pause < deadline => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            other => return other,
        }
    }
}

/// Waits at most `patience` until no other process has the lock, before a single statement that writes. Statements of
/// this process never wait here: there is one writer.
///
/// # Errors
/// As [`begin`].
async fn before_write(connection: &mut Conn, patience: Duration) -> QueryResult<()> {
    begin(connection, patience).await?;
    <Conn as AsyncConnection>::TransactionManager::rollback_transaction(connection).await
}

fn is_locked(error: &diesel::result::Error) -> bool {
    error.to_string().starts_with("database is locked")
}

/// The result of a checkpoint.
#[derive(diesel::QueryableByName)]
struct Checkpoint {
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Copies the write-ahead log, which has former states of pages, into the file, and empties it. False while somebody reads a
/// former state.
pub async fn truncate_log(connection: &mut Conn) -> QueryResult<bool> {
    let checkpoint = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)");
    let Checkpoint { busy } = checkpoint.get_result(connection).await?;
    Ok(busy == 0)
}

/// Loads rows; each is decoded before the next one is read.
pub async fn load_rows<Q, R, ST>(
    connection: &mut Conn,
    query: Q,
    bounds: RowReadLimits,
) -> QueryResult<Vec<R>>
where
    Q: Query + QueryFragment<Db> + QueryId + Send + 'static,
    Db: QueryMetadata<Q::SqlType>,
    R: FromSqlRow<ST, Db> + Send + 'static,
    ST: 'static,
{
    load_any::<R, ST>(connection, any_statement(query), bounds).await
}

async fn load_any<R, ST>(
    connection: &mut Conn,
    query: AnyStatement<'static>,
    mut bounds: RowReadLimits,
) -> QueryResult<Vec<R>>
where
    R: FromSqlRow<ST, Db> + Send + 'static,
    ST: 'static,
{
    let load = move |connection: &mut SqliteConnection| {
        let rows = LoadConnection::<DefaultLoadingMode>::load(connection, query)?;
        rows.map(|row| bounds.decode(&row?)).collect()
    };
    connection.spawn_blocking(load).await
}

/// Runs some work on a separate connection, in one transaction under the write lock.
pub async fn with_harness<R: Send + 'static>(
    settings: &DatabaseSettings,
    work: impl FnOnce(&mut MigrationConnection) -> diesel::migration::Result<R> + Send + 'static,
) -> Result<R> {
    let path = path_of(&settings.url)?.to_owned();
    let task = tokio::task::spawn_blocking(move || {
        let mut connection = connect_patiently(&path).map_err(|e| Error::Unavailable(e.into()))?;
        connection.immediate_transaction(work).map_err(Error::Internal)
    });
    task.await.map_err(Error::internal)?
}

/// Statements wait up to 5 s for the lock of another process, which may be migrating too.
const BUSY_TIMEOUT_PRAGMA: &str = "PRAGMA busy_timeout = 5000;";

/// Connects, with retries for one second: when two processes switch a file to write-ahead logging at the same time, one
/// of them gets "locked" without waiting.
fn connect_patiently(path: &str) -> ConnectionResult<SqliteConnection> {
    for _ in 0..20 {
        if let Ok(connection) = connect(path, BUSY_TIMEOUT_PRAGMA) {
            return Ok(connection);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    connect(path, BUSY_TIMEOUT_PRAGMA)
}

#[path = "sqlite/dialect.rs"]
pub mod dialect;

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::RunQueryDsl;
    use diesel::sql_types::BigInt;

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
        assert_eq!(cause(&full.to_string()), ErrorCause::Machine, "{full}");
        connection.batch_execute("PRAGMA query_only = ON").unwrap();
        let read_only = connection.batch_execute("INSERT INTO t VALUES (1)").unwrap_err();
        assert_eq!(cause(&read_only.to_string()), ErrorCause::Machine, "{read_only}");
        let bug = connection.batch_execute("SELECT nothing").unwrap_err();
        assert_eq!(cause(&bug.to_string()), ErrorCause::Other, "{bug}");
    }

    #[test]
    fn the_log_of_a_large_write_is_truncated_after_a_checkpoint() {
        const LIMIT: u64 = 64 << 20;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("civitas.db").display().to_string();
        let log = || fs::metadata(format!("{path}-wal")).unwrap().len();
        let mut writer = connect(&path, WRITER).unwrap();
        writer.batch_execute("CREATE TABLE t (x BLOB); INSERT INTO t VALUES (zeroblob(80000000))").unwrap();
        assert!(log() > LIMIT);
        // The log is used again from its beginning, and truncated, by the first write after a checkpoint.
        writer.batch_execute("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)").unwrap();
        assert!(log() <= LIMIT, "{}", log());
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

    /// A commit ends the mappings of all connections.
    #[test]
    fn only_connections_for_searches_read_the_file_through_a_mapping() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("civitas.db").display().to_string();
        let mapped = |pragmas| {
            let mut connection = connect(&path, pragmas).unwrap();
            let size = diesel::dsl::sql::<BigInt>("PRAGMA mmap_size");
            size.get_result::<i64>(&mut connection).unwrap()
        };
        assert_eq!(mapped(READER_PRAGMAS), 0);
        assert!(mapped(SEARCHER_PRAGMAS) > 1 << 30, "{}", mapped(SEARCHER_PRAGMAS));
    }
}
