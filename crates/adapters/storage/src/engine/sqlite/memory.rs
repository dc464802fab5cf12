//! A database in memory: for tests, and for programs that keep nothing.

use super::{MIGRATIONS, Runtime, StatementThread, Writer, dialect, wrap};
use crate::changes::Changes;
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
    Ok(Arc::new(Session::over(pools, changes, Locales::standard(), clock::now)))
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
fn open(url: &str, changes: Arc<Changes>) -> diesel::migration::Result<ConnectionPool> {
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
    use crate::schema::CACHED;
    use civitas_blogs::PostQuery;
    use civitas_kernel::{ComponentId, OrganizationId, PageRequest, ReadContext, TokenId, UserId, Viewer};
    use diesel::RunQueryDsl;
    use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
    use diesel::sql_types::BigInt;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        /// The tables that statements of this thread read.
        static READ: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Notes the tables of all connections that are opened from now on.
    struct TableLog;

    impl Instrumentation for TableLog {
        fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
            let InstrumentationEvent::StartQuery { query, .. } = event else { return };
            let text = query.to_string();
            let words: Vec<&str> = text
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty())
                .collect();
            let named = words.windows(2).filter(|pair| ["FROM", "JOIN"].contains(&pair[0]));
            let tables = named.map(|pair| pair[1].to_owned()).filter(|word| word != "SELECT");
            READ.with_borrow_mut(|read| read.extend(tables));
        }
    }

    #[tokio::test]
    async fn cached_lookups_read_the_tables_whose_changes_end_their_validity() {
        set_default_instrumentation(|| Some(Box::new(TableLog))).unwrap();
        let store = in_memory().await.unwrap();
        READ.with_borrow_mut(BTreeSet::clear);
        let organization = OrganizationId(1);
        store.organizations().locate("a.example").await.unwrap();
        store.organizations().tenant(organization).await.unwrap();
        store.tokens().identify(organization, TokenId(1)).await.unwrap();
        store.list_changes().newest(organization, &["posts"]).await.unwrap();
        let page = PageRequest { page: 1, per_page: 1 };
        for viewer in [Viewer::Public, Viewer::Participant(UserId(1)), Viewer::Admin(UserId(1))] {
            let read_context = ReadContext { organization, viewer, participant: viewer.user() };
            // Without visible components no posts are read.
            store.posts().list(read_context, clock::now(), PostQuery::default(), page).await.unwrap();
            // It reads the place of a proposal with the same tables as the lookup.
            store.component_lookup().find(read_context, ComponentId(1)).await.unwrap();
        }
        let read = READ.with_borrow(Clone::clone);
        let cached: BTreeSet<String> = CACHED.iter().map(|cached| cached.table.to_owned()).collect();
        assert_eq!(read, cached);
    }

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
