//! PostgreSQL behind a network that loses everything.

use civitas_application::Store;
use civitas_kernel::{Error, Locales};
use civitas_storage_postgres::{Settings, StatementLimits, open};
use civitas_tests::{Database, Engine, Network, Proxy};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Much less than the minutes after which an operating system gives up, and much more than the limits of the tests.
const SOON: Duration = Duration::from_secs(20);
const LIMITS: StatementLimits =
    StatementLimits { read: Duration::from_millis(500), write: Duration::from_secs(1) };

async fn behind_proxy(database: &Database) -> (Proxy, Arc<dyn Store>) {
    let mut url: Url = database.url().parse().unwrap();
    let server = url.socket_addrs(|| Some(5432)).unwrap()[0];
    let proxy = Proxy::to(server).await;
    url.set_ip_host(proxy.address().ip()).unwrap();
    url.set_port(Some(proxy.address().port())).unwrap();
    let wait = Duration::from_secs(2);
    let (url, locales) = (url.to_string(), Locales::standard());
    let store = open(&Settings {
        url,
        pool_size: 2,
        wait,
        locales,
        limits: LIMITS,
        row_level_security: true,
        caches: true,
    })
    .await
    .unwrap();
    (proxy, store)
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
