//! A database for each test: a temporary SQLite file, or a PostgreSQL database created from a template. The address of
//! PostgreSQL is `CIVITAS_TEST_POSTGRES` (of a superuser's database), else localhost. Without a server the tests on
//! PostgreSQL print a notice on standard error and pass; with `CIVITAS_REQUIRE_POSTGRES=1` they fail.

use civitas_application::Store;
use civitas_kernel::{BoxError, Locales, Result, sortable_id};
use civitas_storage_postgres as postgres;
use civitas_storage_sqlite as sqlite;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use time::OffsetDateTime;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};
use url::Url;

mod contents;
mod schema;

#[diesel::declare_sql_function]
extern "SQL" {
    /// A function of the storage on SQLite. To plan a statement it only has to exist.
    fn is_among(x: Nullable<BigInt>, sorted: Binary) -> Nullable<Bool>;
}

const LOCAL: &str = "postgres://postgres@127.0.0.1:5432/postgres";
const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/postgres");
/// The user of the tests, who owns their databases. Row-level security does not bind superusers.
const ROLE: &str = "civitas_test";
/// The policies of the tables.
const CONFINEMENT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/adapters/storage/src/engine/postgres/confinement.rs");
const CONNECTIONS: usize = 8;
/// Longer than in production: a machine that runs tests is busy.
const WAIT: Duration = Duration::from_secs(20);

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

/// A step of a plan of SQLite.
#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Integer)]
    id: i32,
    #[diesel(sql_type = Integer)]
    parent: i32,
    #[diesel(sql_type = Text)]
    detail: String,
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
                engine.migrate(&url).await.expect("the schema");
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

    /// The plan of a statement with unknown values: the lines of `EXPLAIN` on PostgreSQL, of
    /// `EXPLAIN QUERY PLAN` on SQLite, indented by depth.
    ///
    /// # Panics
    /// When the database refuses it.
    pub async fn plan(&self, sql: &str) -> Vec<String> {
        match &self.home {
            Home::Server { address, name } => {
                let client = connect(&named(address, name)).await.expect("the server answers");
                let prepare = format!("SET plan_cache_mode = force_generic_plan; PREPARE planned AS {sql}");
                client.batch_execute(&prepare).await.expect("a prepared statement");
                let values = sql.split('$').skip(1).filter_map(|s| {
                    let number = s.split(|c: char| !c.is_ascii_digit()).next()?;
                    number.parse::<usize>().ok()
                });
                let values = vec!["NULL"; values.max().unwrap_or_default()].join(", ");
                let values = if values.is_empty() { values } else { format!("({values})") };
                let explain = format!("EXPLAIN (COSTS OFF) EXECUTE planned {values}");
                let rows = client.query(&explain, &[]).await.expect("a plan");
                rows.iter().map(|row| row.get(0)).collect()
            }
            Home::Directory(_) | Home::Elsewhere => {
                let path = self.url.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path).expect("the file opens");
                is_among_utils::register_impl(&mut connection, |_: Option<i64>, _: Vec<u8>| Some(false))
                    .expect("a function");
                let explain = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
                let steps: Vec<Step> = explain.load(&mut connection).expect("a plan");
                let mut depths = HashMap::from([(0, 0)]);
                let lines = steps.into_iter().map(|step| {
                    let depth = depths.get(&step.parent).copied().unwrap_or_default();
                    depths.insert(step.id, depth + 1);
                    format!("{}{}", "  ".repeat(depth), step.detail)
                });
                lines.collect()
            }
            Home::Memory => panic!("only its store reaches a database in memory"),
        }
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
                let path = self.url.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path).expect("the file opens");
                let sql = "PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE";
                connection.batch_execute(sql).expect("the lock");
                HeldLock::Sqlite(connection)
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
                let path = self.url.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path).expect("the file opens");
                let sql = format!("PRAGMA busy_timeout = 20000; {sql}");
                connection.batch_execute(&sql).expect("the statement succeeds");
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

fn of_sqlite(url: String, pool_size: usize, wait: Duration) -> sqlite::Settings {
    let (locales, limits) = (Locales::standard(), sqlite::StatementLimits::default());
    sqlite::Settings { url, pool_size, wait, locales, limits, row_level_security: true }
}

fn of_postgres(url: String, pool_size: usize, wait: Duration) -> postgres::Settings {
    let (locales, limits) = (Locales::standard(), postgres::StatementLimits::default());
    postgres::Settings { url, pool_size, wait, locales, limits, row_level_security: true }
}

/// A new database of the server, copied from the template.
async fn on_server() -> Option<(String, Home)> {
    static SERVER: OnceCell<Option<(Url, String)>> = OnceCell::const_new();
    let (address, template) = SERVER.get_or_init(find_server).await.as_ref()?;
    let name = format!("civitas_test_{}", sortable_id().simple());
    let client = connect(address).await.expect("the server answers");
    let create = format!("CREATE DATABASE {name} TEMPLATE {template} OWNER {ROLE}");
    client.batch_execute(&create).await.expect("a database made from the template");
    Some((of_role(named(address, &name)).into(), Home::Server { address: address.clone(), name }))
}

/// The server, and the name of its template.
async fn find_server() -> Option<(Url, String)> {
    let address = variable("CIVITAS_TEST_POSTGRES").unwrap_or_else(|| LOCAL.to_owned());
    let address: Url = address.parse().expect("CIVITAS_TEST_POSTGRES is an address");
    match connect(&address).await {
        Ok(client) => {
            let template = make_template(&client, &address).await;
            Some((address, template))
        }
        Err(error) if variable("CIVITAS_REQUIRE_POSTGRES").as_deref() == Some("1") => {
            panic!("CIVITAS_REQUIRE_POSTGRES=1, and no PostgreSQL answers: {error}")
        }
        Err(error) => {
            say(&format!("NO POSTGRESQL ANSWERS ({error}): HALF OF THE STORAGE TESTS DOES NOT RUN"));
            None
        }
    }
}

/// Creates the template of these migrations if missing. Several processes may call it at once: one creates it.
async fn make_template(client: &Client, address: &Url) -> String {
    let template = format!("civitas_template_{:016x}", fingerprint(Path::new(MIGRATIONS)));
    client.batch_execute("SELECT pg_advisory_lock(20261121)").await.expect("a lock");
    let known = client.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&template]).await;
    if known.expect("the list of databases").is_empty() {
        let unfinished = format!("{template}_unfinished");
        let password =
            address.password().map(|password| format!("PASSWORD '{password}'")).unwrap_or_default();
        for sql in [
            format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"),
            format!(
                "DO $$ BEGIN CREATE ROLE {ROLE} LOGIN {password}; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            ),
            format!("CREATE DATABASE {unfinished} OWNER {ROLE}"),
        ] {
            client.batch_execute(&sql).await.expect("a new template");
        }
        Engine::Postgres.migrate(of_role(named(address, &unfinished)).as_str()).await.expect("the schema");
        let finish = format!("ALTER DATABASE {unfinished} RENAME TO {template}");
        client.batch_execute(&finish).await.expect("the template is finished");
    }
    client.batch_execute("SELECT pg_advisory_unlock(20261121)").await.expect("the lock ends");
    template
}

async fn connect(address: &Url) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(address.as_str(), NoTls).await?;
    // The task ends with the client, whose calls return its errors.
    tokio::spawn(connection);
    Ok(client)
}

fn named(address: &Url, database: &str) -> Url {
    let mut address = address.clone();
    address.set_path(database);
    address
}

/// The same database for the user of the tests.
fn of_role(mut address: Url) -> Url {
    address.set_username(ROLE).expect("an address with a host");
    address
}

/// A number that differs between schemas.
fn fingerprint(directory: &Path) -> u64 {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the migrations")
        .map(|entry| entry.expect("a migration").path().join("up.sql"))
        .collect();
    files.push(CONFINEMENT.into());
    files.sort();
    let mut hasher = DefaultHasher::new();
    ROLE.hash(&mut hasher);
    for file in files {
        std::fs::read(&file).expect("a migration").hash(&mut hasher);
    }
    hasher.finish()
}

#[expect(clippy::disallowed_methods, reason = "where tests find a server is not configuration of ours")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Prints a line that the test runner does not capture, also for passing tests.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
