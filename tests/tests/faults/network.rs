//! PostgreSQL behind a network that loses everything, and with several hosts.

use civitas_application::Store;
use civitas_kernel::{Error, Locales};
use civitas_storage_postgres::{DatabaseSettings, StatementLimits, open};
use civitas_tests::{CITIES, Database, Engine, Network, Proxy, Service};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use url::{Position, Url};

/// Much less than the minutes after which an operating system gives up, and much more than the limits of the tests.
const SOON: Duration = Duration::from_secs(20);
const LIMITS: StatementLimits = StatementLimits {
    read: Duration::from_millis(500),
    write: Duration::from_secs(1),
    unconfirmed: Duration::from_millis(500),
    lock: Duration::from_millis(500),
};

/// The address of the server of a database.
fn server_of(database: &Database) -> SocketAddr {
    let url: Url = database.url().parse().unwrap();
    url.socket_addrs(|| Some(5432)).unwrap()[0]
}

/// The address of a database at these hosts.
fn url_at(database: &Database, hosts: &[SocketAddr]) -> String {
    let url: Url = database.url().parse().unwrap();
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    format!("{}{}{}", &url[..Position::BeforeHost], hosts.join(","), &url[Position::AfterPort..])
}

async fn behind_proxy(database: &Database) -> (Proxy, Arc<dyn Store>) {
    let proxy = Proxy::to(server_of(database)).await;
    let store = open_at(url_at(database, &[proxy.address()])).await;
    (proxy, store)
}

async fn open_at(url: String) -> Arc<dyn Store> {
    let (wait, locales) = (Duration::from_secs(2), Locales::standard());
    let settings = DatabaseSettings {
        url,
        pooler_url: None,
        read_url: None,
        pool_size: 2,
        wait,
        locales,
        limits: LIMITS,
    };
    open(&settings).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_whose_answer_is_lost_ends_soon_and_its_connection_with_it() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let (proxy, store) = behind_proxy(&database).await;
    store.ready().await.unwrap();
    store.check_writable().await.unwrap();

    proxy.set(Network::LosesEverything);
    let started = Instant::now();
    assert!(matches!(store.ready().await, Err(Error::Unavailable(_))), "a read");
    let write = async {
        let transaction = store.begin().await?;
        transaction.administrators().count().await
    };
    assert!(matches!(write.await, Err(Error::Unavailable(_))), "a write");
    assert!(matches!(store.ready().await, Err(Error::Unavailable(_))), "a new connection");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());

    proxy.set(Network::Works);
    store.ready().await.unwrap();
    drop(store.begin().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_whose_connection_is_lost_stores_nothing() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let (proxy, store) = behind_proxy(&database).await;
    let transaction = store.begin().await.unwrap();
    proxy.set(Network::LosesEverything);
    let started = Instant::now();
    assert!(matches!(transaction.commit().await, Err(Error::Unavailable(_))));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_waits_as_long_as_it_is_idle() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let (_proxy, store) = behind_proxy(&database).await;
    let transaction = store.begin().await.unwrap();
    transaction.administrators().count().await.unwrap();
    tokio::time::sleep(LIMITS.write * 3).await;
    transaction.administrators().count().await.unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_waits_for_a_lock_ends_before_its_limit() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let (_proxy, store) = behind_proxy(&database).await;
    let lock = database.hold_lock_on("__diesel_schema_migrations").await;
    let started = Instant::now();
    // Not a timeout, which counts as an attempt of a job.
    assert!(matches!(store.check_writable().await, Err(Error::Unavailable(_))));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    lock.release().await;
    store.check_writable().await.unwrap();
}

/// An address at which nobody listens.
async fn refusing() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_first_host_does_not_answer_uses_the_second() {
    let Some(silent_database) = Database::fresh(Engine::Postgres).await else { return };
    let silent = Proxy::to(server_of(&silent_database)).await;
    silent.set(Network::LosesEverything);
    for first in [refusing().await, silent.address()] {
        let Some(database) = Database::fresh(Engine::Postgres).await else { return };
        let url = url_at(&database, &[first, server_of(&database)]);
        let started = Instant::now();
        let service = Service::over(database, CITIES, &[("database_url", &url)]).await;
        let nora = service.user("norablum").await;
        nora.get("/proposals").await.is(200);
        let vote = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
        nora.post("/vote_proposals/sync", &vote).await.is(200);
        assert!(started.elapsed() < SOON, "{first}: {:?}", started.elapsed());
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_first_host_is_lost_the_second_takes_reads_and_writes() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let first = Proxy::to(server_of(&database)).await;
    let store = open_at(url_at(&database, &[first.address(), server_of(&database)])).await;
    store.ready().await.unwrap();
    store.check_writable().await.unwrap();
    drop(store.begin().await.unwrap());

    first.set(Network::LosesEverything);
    let started = Instant::now();
    assert!(matches!(store.ready().await, Err(Error::Unavailable(_))), "the connection that was open");
    store.ready().await.unwrap();
    let transaction = store.begin().await.unwrap();
    assert_eq!(transaction.administrators().count().await.unwrap(), 0);
    transaction.commit().await.unwrap();
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
