//! A database for each test: a temporary SQLite file, or a PostgreSQL database created from a template. The address of
//! PostgreSQL is `CIVITAS_TEST_POSTGRES` (of a superuser's database), else localhost. Without a server the tests on
//! PostgreSQL print a notice on standard error and pass; with `CIVITAS_REQUIRE_POSTGRES=1` they fail.

use civitas_application::Store;
use civitas_kernel::{BoxError, Locales, Result};
use civitas_storage_postgres as postgres;
use civitas_storage_sqlite as sqlite;
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
pub use server::pooler_of;
use server::{connect, named, on_server, say};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use time::OffsetDateTime;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio_postgres::Client;
use url::Url;

mod contents;
mod plans;
mod schema;
mod server;

const CONNECTIONS: usize = 8;
/// Longer than in production: a machine that runs tests is busy.
const WAIT: Duration = Duration::from_secs(20);
/// The file of an SQLite database with all migrations, which take longer than most tests.
static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();

/// A database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The embedded one.
    Sqlite,
    /// The server.
    Postgres,
}

impl Engine {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// Opens the database at this address, without checking its schema.
    pub async fn open(self, url: &str) -> Result<Arc<dyn Store>> {
        self.open_with(url, CONNECTIONS, WAIT).await
    }

    /// The same, with this number of connections and this time limit.
    pub async fn open_with(self, url: &str, pool_size: usize, wait: Duration) -> Result<Arc<dyn Store>> {
        let url = url.to_owned();
        match self {
            Self::Sqlite => sqlite::open(&of_sqlite(url, pool_size, wait)).await,
            Self::Postgres => postgres::open(&of_postgres(url, pool_size, wait)).await,
        }
    }

    /// Applies the missing migrations and returns their names.
    pub async fn migrate(self, url: &str) -> Result<Vec<String>> {
        let (url, pool_size, wait) = (url.to_owned(), CONNECTIONS, WAIT);
        match self {
            Self::Sqlite => sqlite::migrate(&of_sqlite(url, pool_size, wait)).await,
            Self::Postgres => postgres::migrate(&of_postgres(url, pool_size, wait)).await,
        }
    }
}

/// A migrated, empty database, removed when it is dropped.
pub struct Database {
    /// Its engine.
    pub engine: Engine,
    /// Its store.
    pub store: Arc<dyn Store>,
    url: String,
    home: Home,
}

/// A lock that another process holds.
pub enum HeldLock {
    /// Of an SQLite file.
    Sqlite(SqliteConnection),
    /// Of a table.
    Postgres(Client),
}

impl HeldLock {
    /// Releases it.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn release(self) {
        match self {
            Self::Sqlite(mut connection) => {
                connection.batch_execute("ROLLBACK").expect("the end of the lock");
            }
            Self::Postgres(client) => client.batch_execute("ROLLBACK").await.expect("the end of the lock"),
        }
    }
}

/// The result of [`Database::number`] on SQLite.
#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// The place of a database, which determines how it is removed.
enum Home {
    /// In a directory that removes itself.
    Directory(#[expect(dead_code, reason = "held for its drop")] TempDir),
    /// On the server of this address, under this name.
    Server { address: Url, name: String },
    /// In a directory of the caller.
    Elsewhere,
    /// In memory, where nothing but its store reaches it.
    Memory,
}

/// A new database on each available engine.
pub async fn databases() -> Vec<Database> {
    let mut databases = Vec::new();
    for engine in Engine::BOTH {
        databases.extend(Database::fresh(engine).await);
    }
    databases
}

impl Database {
    /// A new database; `None` if the engine is not available and not required.
    ///
    /// # Panics
    /// When it cannot be created.
    pub async fn fresh(engine: Engine) -> Option<Self> {
        let (url, home) = match engine {
            Engine::Sqlite => {
                let directory = tempfile::tempdir().expect("a temporary directory");
                let url = format!("sqlite://{}", directory.path().join("civitas.db").display());
                let template = TEMPLATE.get_or_init(migrated_file).await;
                std::fs::write(directory.path().join("civitas.db"), template).expect("a file");
                (url, Home::Directory(directory))
            }
            Engine::Postgres => on_server().await?,
        };
        let store = engine.open(&url).await.expect("the database opens");
        Some(Self { engine, store, url, home })
    }

    /// A new SQLite database in a directory that the caller removes.
    ///
    /// # Panics
    /// When it cannot be created.
    pub async fn sqlite_in(directory: &Path) -> Self {
        let (engine, url) = (Engine::Sqlite, format!("sqlite://{}", directory.join("civitas.db").display()));
        engine.migrate(&url).await.expect("the schema");
        Self {
            engine,
            store: engine.open(&url).await.expect("the database opens"),
            url,
            home: Home::Elsewhere,
        }
    }

    /// A new PostgreSQL database at this address, with a server that the caller ends.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn postgres_at(url: &str) -> Self {
        let engine = Engine::Postgres;
        engine.migrate(url).await.expect("the schema");
        let store = engine.open(url).await.expect("the database opens");
        Self { engine, store, url: url.to_owned(), home: Home::Elsewhere }
    }

    /// A new SQLite database in memory.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn in_memory() -> Self {
        let store = sqlite::in_memory().await.expect("a database in memory");
        Self { engine: Engine::Sqlite, store, url: String::new(), home: Home::Memory }
    }

    /// Its address; empty in memory.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its store.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Another store on the same database, like that of another process.
    ///
    /// # Panics
    /// When it does not open.
    pub async fn open_again(&self) -> Arc<dyn Store> {
        self.engine.open(&self.url).await.expect("the database opens")
    }

    /// Another store on the same database, like that of a machine with this clock.
    ///
    /// # Panics
    /// When it does not open.
    pub async fn open_with_clock(&self, clock: fn() -> OffsetDateTime) -> Arc<dyn Store> {
        let (url, pool_size, wait) = (self.url.clone(), CONNECTIONS, WAIT);
        let opened = match self.engine {
            Engine::Sqlite => sqlite::open_with_clock(&of_sqlite(url, pool_size, wait), clock).await,
            Engine::Postgres => postgres::open_with_clock(&of_postgres(url, pool_size, wait), clock).await,
        };
        opened.expect("the database opens")
    }

    /// The processes of the server that are in a transaction of this database. Empty on SQLite.
    ///
    /// # Panics
    /// When the server does not answer.
    pub async fn writers(&self) -> Vec<i32> {
        let Home::Server { address, name } = &self.home else { return Vec::new() };
        let client = connect(address).await.expect("the server answers");
        let sql = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND state LIKE 'idle in transaction%'";
        let rows = client.query(sql, &[name]).await.expect("the list of processes");
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Whether the server supports TLS.
    ///
    /// # Panics
    /// When the server does not answer.
    pub async fn speaks_tls(&self) -> bool {
        let Home::Server { address, .. } = &self.home else { return false };
        let client = connect(address).await.expect("the server answers");
        let row = client.query_one("SELECT current_setting('ssl') = 'on'", &[]).await;
        row.expect("the setting").get(0)
    }

    /// Runs some SQL about this database, whose name replaces `{}`, in another database of the server. Nothing
    /// happens on SQLite.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn administer(&self, sql: &str) {
        if let Home::Server { address, name } = &self.home {
            let client = connect(address).await.expect("the server answers");
            client.batch_execute(&sql.replace("{}", name)).await.expect("the statement succeeds");
        }
    }

    /// Whether the server has statistics of a table. `true` on SQLite, where the tests of the pragmas check it.
    ///
    /// # Panics
    /// When the server does not answer.
    pub async fn has_measured(&self, table: &str) -> bool {
        let Home::Server { address, name } = &self.home else { return true };
        let client = connect(&named(address, name)).await.expect("the server answers");
        let sql = "SELECT reltuples >= 0 FROM pg_class WHERE oid = to_regclass($1)";
        client.query_one(sql, &[&table]).await.expect("the table").get(0)
    }

    /// Takes the write lock like another process: on SQLite that of the file, on PostgreSQL that of the table.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn hold_lock_on(&self, table: &str) -> HeldLock {
        match &self.home {
            Home::Server { address, name } => {
                let client = connect(&named(address, name)).await.expect("the server answers");
                let sql = format!("BEGIN; LOCK TABLE {table} IN SHARE MODE");
                client.batch_execute(&sql).await.expect("the lock");
                HeldLock::Postgres(client)
            }
            Home::Directory(_) | Home::Elsewhere => {
                let path = self.url.trim_start_matches("sqlite://").to_owned();
                let sql = "PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE";
                // As in `execute`.
                let lock = spawn_blocking(move || {
                    let mut connection = SqliteConnection::establish(&path).expect("the file opens");
                    connection.batch_execute(sql).expect("the lock");
                    connection
                });
                HeldLock::Sqlite(lock.await.expect("the lock"))
            }
            Home::Memory => panic!("only its store reaches a database in memory"),
        }
    }

    /// The number that a statement selects as `number`.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn number(&self, sql: &str) -> i64 {
        match &self.home {
            Home::Server { address, name } => {
                let client = connect(&named(address, name)).await.expect("the server answers");
                client.query_one(sql, &[]).await.expect("a row").get("number")
            }
            Home::Directory(_) | Home::Elsewhere => {
                let path = self.url.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path).expect("the file opens");
                let row: Number = diesel::sql_query(sql).get_result(&mut connection).expect("a row");
                row.number
            }
            Home::Memory => panic!("only its store reaches a database in memory"),
        }
    }

    /// Runs some SQL without the store, like another process.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn execute(&self, sql: &str) {
        match &self.home {
            Home::Server { address, name } => {
                let client = connect(&named(address, name)).await.expect("the server answers");
                client.batch_execute(sql).await.expect("the statement succeeds");
            }
            Home::Directory(_) | Home::Elsewhere => {
                let path = self.url.trim_start_matches("sqlite://").to_owned();
                let sql = format!("PRAGMA busy_timeout = 20000; {sql}");
                // Not on this thread: it may have to end the transaction that the statement waits for.
                let execute = spawn_blocking(move || {
                    let mut connection = SqliteConnection::establish(&path).expect("the file opens");
                    connection.batch_execute(&sql).expect("the statement succeeds");
                });
                execute.await.expect("the statement succeeds");
            }
            Home::Memory => panic!("only its store reaches a database in memory"),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Home::Server { address, name } = &self.home {
            let (address, sql) = (address.clone(), format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            // On a separate thread: the test's runtime may be panicking.
            let dropped = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(async { Ok(connect(&address).await?.batch_execute(&sql).await?) })
            });
            let dropped: Result<(), BoxError> =
                dropped.join().unwrap_or_else(|_| Err("the thread panicked".into()));
            if let Err(error) = dropped {
                say(&format!("the test database {name} could not be dropped: {error}"));
            }
        }
    }
}

async fn migrated_file() -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("civitas.db");
    let url = format!("sqlite://{}", path.display());
    Engine::Sqlite.migrate(&url).await.expect("the schema");
    let mut connection = SqliteConnection::establish(&path.to_string_lossy()).expect("the file opens");
    connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)").expect("everything is in the file");
    std::fs::read(&path).expect("the file")
}

fn of_sqlite(url: String, pool_size: usize, wait: Duration) -> sqlite::DatabaseSettings {
    let (locales, limits) = (Locales::standard(), sqlite::StatementLimits::default());
    sqlite::DatabaseSettings { url, pooler_url: None, read_url: None, pool_size, wait, locales, limits }
}

fn of_postgres(url: String, pool_size: usize, wait: Duration) -> postgres::DatabaseSettings {
    let (locales, limits) = (Locales::standard(), postgres::StatementLimits::default());
    postgres::DatabaseSettings {
        pooler_url: pooler_of(&url),
        url,
        read_url: None,
        pool_size,
        wait,
        locales,
        limits,
    }
}
