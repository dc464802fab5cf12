//! A database in memory: for tests, and for programs that keep nothing.

use super::{MIGRATIONS, Runtime, StatementThread, Writer, dialect, wrap};
use crate::change_counters::ChangeCounters;
use crate::pools::{ConnectionPool, Pools, ProcessPools, StatementLimits};
use crate::session::Session;
use civitas_application::Store;
use civitas_kernel::{Error, Locales, Result, clock, sortable_id};
use diesel::connection::SimpleConnection;
use diesel::{Connection, ConnectionError, ConnectionResult, SqliteConnection};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_migrations::MigrationHarness;
use futures_util::FutureExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long to wait for the connection.
const WAIT: Duration = Duration::from_secs(5);

/// Opens a new database in memory: empty, with all migrations applied and the standard languages. Two calls open two
/// databases. A database ends with its store and its last transaction.
///
/// It has one connection, for reading and writing. While a transaction is open, other reads and writes of the store
/// wait for its end, 5 s at most; then they fail with `Unavailable`.
///
/// # Errors
/// `Internal` when a migration fails.
pub async fn in_memory() -> Result<Arc<dyn Store>> {
    let changes = Arc::default();
    let counted = Arc::clone(&changes);
    let opened = tokio::task::spawn_blocking(move || open(&new_url(), counted)).await;
    let pool = opened.map_err(Error::internal)?.map_err(Error::Internal)?;
    let pools = Pools { reader: pool.clone(), searcher: None, writer: Writer::new(pool, WAIT) };
    let pools = ProcessPools { requests: pools.clone(), background: pools };
    Ok(Arc::new(Session::new((pools, None), changes, Locales::standard(), clock::now)))
}

/// The address of a database that nobody else opens.
///
/// `memdb` is the file system of SQLite in memory. Connections to the same path of it see the same database; the
/// database ends with the last of them. Of `:memory:` each connection opens a database of its own, and SQLite's
/// documentation discourages the shared cache, which also locks tables between connections.
fn new_url() -> String {
    format!("file:/civitas-{}?vfs=memdb", sortable_id().simple())
}

/// A pool of one connection to a new database with the current schema.
fn open(url: &str, changes: Arc<ChangeCounters>) -> diesel::migration::Result<ConnectionPool> {
    let mut first = connect(url)?;
    first.run_pending_migrations(MIGRATIONS)?;
    // A dropped transaction closes the connection of the pool. This one stays open as long as the pool; nothing uses
    // it.
    let first = Mutex::new(first);
    let mut config = ManagerConfig::default();
    config.recycling_method = RecyclingMethod::Fast;
    config.custom_setup = Box::new(move |url| {
        let _held = &first;
        let connection = connect(url).map(|connection| wrap(connection, runtime(), Some(&changes)));
        std::future::ready(connection).boxed()
    });
    let manager = AsyncDieselConnectionManager::new_with_config(url, config);
    Ok(ConnectionPool::new(manager, 1, WAIT)?)
}

fn runtime() -> Runtime {
    Runtime::new(StatementThread::Caller, StatementLimits::default().write)
}

fn connect(url: &str) -> ConnectionResult<SqliteConnection> {
    civitas_statement_limit::install();
    let mut connection = SqliteConnection::establish(url)?;
    // A closing connection may still hold its lock for a moment.
    connection
        .batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;")
        .and_then(|()| dialect::register(&mut connection))
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::RunQueryDsl;
    use diesel::sql_types::BigInt;

    /// The tables, as another connection sees them.
    fn tables(url: &str) -> i64 {
        let count = diesel::dsl::sql::<BigInt>("(SELECT count(*) FROM sqlite_master WHERE type = 'table')");
        diesel::select(count).get_result(&mut connect(url).unwrap()).unwrap()
    }

    #[test]
    fn a_database_ends_with_its_pool() {
        let url = new_url();
        let pool = open(&url, Arc::default()).unwrap();
        assert!(tables(&url) > 10);
        drop(pool);
        assert_eq!(tables(&url), 0);
    }
}
