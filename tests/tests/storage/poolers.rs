//! The settings of connections, directly and behind a transaction pooler: that of `CIVITAS_TEST_POOLER` (`tests/scale/run`). Without
//! one, direct connections are used in the same way.

use civitas_accounts::Administrator;
use civitas_kernel::Locales;
use civitas_storage_postgres::{DatabaseSettings, StatementLimits, missing_settings, open};
use civitas_tests::databases::pooler_of;
use civitas_tests::{Database, Engine};
use futures_util::future::join_all;
use std::time::Duration;
use time::macros::datetime;

const NONE: Vec<String> = Vec::new();

fn settings(url: &str, pooler_url: Option<String>) -> DatabaseSettings {
    DatabaseSettings {
        url: url.to_owned(),
        pooler_url,
        read_url: None,
        pool_size: 4,
        wait: Duration::from_secs(20),
        locales: Locales::standard(),
        limits: StatementLimits::default(),
    }
}

/// Those of the pooler.
fn pooled(database: &Database) -> DatabaseSettings {
    let url = database.url();
    settings(url, Some(pooler_of(url).unwrap_or_else(|| url.to_owned())))
}

/// Waits until no session of the server is in a transaction of this database.
async fn all_transactions_end(database: &Database) {
    for _ in 0..200 {
        if database.writers().await.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a transaction stays open");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_use_of_a_connection_has_its_settings_while_all_kinds_run_at_once() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    assert_eq!(missing_settings(&settings(database.url(), None)).await.unwrap(), NONE, "directly");
    let pooled = pooled(&database);
    // 8 processes with a connection of each kind: more than the pooler of the tests has to the server.
    let processes = (0..8).map(|_| async {
        for _ in 0..4 {
            assert_eq!(missing_settings(&pooled).await.unwrap(), NONE);
        }
    });
    join_all(processes).await;
    all_transactions_end(&database).await;
}

#[tokio::test]
async fn a_pooler_that_shares_sessions_is_reported() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let Some(pooler) = pooler_of(database.url()) else { return };
    let missing = missing_settings(&settings(&pooler, None)).await.unwrap();
    let reported = missing.iter().any(|text| text.starts_with("reads of requests: statement_timeout is "));
    assert!(reported, "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_one_statement_is_committed_or_leaves_nothing_open() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let store = open(&pooled(&database)).await.unwrap();
    let others = database.open_again().await;
    let named =
        |name: &str| Administrator::new(format!("{name}@city.example"), datetime!(2026-03-01 09:30 UTC));
    for number in 0..20 {
        let ada = named(&format!("ada{number}"));
        let id = store.administrators().add(&ada).await.unwrap();
        assert_eq!(others.administrators().find(id).await.unwrap(), Some(ada), "it is committed");
        let taken = named("ada0");
        let saved = store.administrators().save(id, &taken).await;
        assert_eq!(saved.is_ok(), number == 0, "the address is taken");
    }
    all_transactions_end(&database).await;
    store.check_writable().await.unwrap();
    store.analyze().await.unwrap();
    assert!(database.has_measured("administrators").await);
    all_transactions_end(&database).await;
}

#[tokio::test]
async fn a_failed_statement_leaves_its_connection_usable() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let store = open(&DatabaseSettings { pool_size: 1, ..pooled(&database) }).await.unwrap();
    database.execute("ALTER TABLE administrators RENAME TO others").await;
    assert!(store.administrators().count().await.is_err());
    assert!(store.begin().await.unwrap().administrators().count().await.is_err());
    database.execute("ALTER TABLE others RENAME TO administrators").await;
    assert_eq!(store.administrators().count().await.unwrap(), 0);
    assert_eq!(store.begin().await.unwrap().administrators().count().await.unwrap(), 0);
}
