//! The PostgreSQL server of the tests: its address, and new databases copied from a template.

use super::{Engine, Home};
use civitas_kernel::sortable_id;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};
use url::Url;

const LOCAL: &str = "postgres://postgres@127.0.0.1:5432/postgres";
const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/postgres");
/// The user of the tests, who owns their databases. Row-level security does not bind superusers.
const ROLE: &str = "civitas_test";

/// A new database of the server, copied from the template.
pub(super) async fn on_server() -> Option<(String, Home)> {
    static SERVER: OnceCell<Option<(Url, String)>> = OnceCell::const_new();
    let (address, template) = SERVER.get_or_init(find_server).await.as_ref()?;
    let name = format!("civitas_test_{}", sortable_id().simple());
    let client = connect(address).await.expect("the server answers");
    // Half the time of the other strategy, which writes all pages to the log.
    let create = format!("CREATE DATABASE {name} TEMPLATE {template} OWNER {ROLE} STRATEGY file_copy");
    client.batch_execute(&create).await.expect("a database made from the template");
    Some((of_role(named(address, &name)).into(), Home::Server { address: address.clone(), name }))
}

/// The server, and the name of its template.
async fn find_server() -> Option<(Url, String)> {
    let address = server_address();
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

fn server_address() -> Url {
    let address = variable("CIVITAS_TEST_POSTGRES").unwrap_or_else(|| LOCAL.to_owned());
    address.parse().expect("CIVITAS_TEST_POSTGRES is an address")
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

pub(super) async fn connect(address: &Url) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(address.as_str(), NoTls).await?;
    // The task ends with the client, whose calls return its errors.
    tokio::spawn(connection);
    Ok(client)
}

pub(super) fn named(address: &Url, database: &str) -> Url {
    let mut address = address.clone();
    address.set_path(database);
    address
}

/// The same database for the user of the tests.
fn of_role(mut address: Url) -> Url {
    address.set_username(ROLE).expect("an address with a host");
    address
}

/// The address of a database at the transaction pooler of the tests, if `CIVITAS_TEST_POOLER` names one (`HOST:PORT`). It leads to
/// the server of `CIVITAS_TEST_POSTGRES`.
pub fn pooler_of(url: &str) -> Option<String> {
    let pooler = variable("CIVITAS_TEST_POOLER")?;
    let (mut address, server): (Url, Url) = (url.parse().ok()?, server_address());
    if (address.host(), address.port()) != (server.host(), server.port()) {
        return None;
    }
    let (host, port) = pooler.rsplit_once(':').expect("CIVITAS_TEST_POOLER is HOST:PORT");
    address.set_host(Some(host)).expect("a host");
    address.set_port(Some(port.parse().expect("a port"))).expect("an address with a port");
    Some(address.into())
}

/// A number that differs between schemas.
fn fingerprint(directory: &Path) -> u64 {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the migrations")
        .map(|entry| entry.expect("a migration").path().join("up.sql"))
        .collect();
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
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
