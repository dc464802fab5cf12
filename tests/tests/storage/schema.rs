//! The state of the schema, and errors when the database is unreachable.

use civitas_application::{BEFORE_FIRST_RELEASE, SchemaState};
use civitas_kernel::{Error, Locales};
use civitas_storage_sqlite::DatabaseSettings;
use civitas_tests::{Database, Engine};
use std::time::Duration;

fn settings(url: &str) -> DatabaseSettings {
    DatabaseSettings {
        url: url.to_owned(),
        pooler_url: None,
        read_url: None,
        pool_size: 1,
        wait: Duration::from_secs(20),
        locales: Locales::standard(),
        limits: civitas_storage_sqlite::StatementLimits::default(),
    }
}

#[tokio::test]
async fn a_new_database_is_older_until_it_is_migrated_and_then_current() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", directory.path().join("new.db").display());
    let SchemaState::Older(missing) = civitas_storage_sqlite::schema(&settings(&url)).await.unwrap() else {
        panic!("nothing was applied yet");
    };
    assert!(missing.first().is_some_and(|name| name.ends_with("_schema")), "{missing:?}");
    let store = Engine::Sqlite.open(&url).await.unwrap();
    assert!(store.ready().await.is_err(), "there is no table to read");
    assert_eq!(Engine::Sqlite.migrate(&url).await.unwrap(), missing);
    assert_eq!(Engine::Sqlite.migrate(&url).await.unwrap(), Vec::<String>::new());
    assert_eq!(civitas_storage_sqlite::schema(&settings(&url)).await.unwrap(), SchemaState::Current);
    store.ready().await.unwrap();
}

#[tokio::test]
async fn a_database_of_before_the_first_release_is_left_as_it_is() {
    for engine in Engine::BOTH {
        let Some(database) = Database::fresh(engine).await else { continue };
        database
            .execute(
                "DELETE FROM __diesel_schema_migrations WHERE version > '20261129000001'; \
                 UPDATE __diesel_schema_migrations SET version = '20261121000001'",
            )
            .await;
        let Err(Error::Internal(cause)) = engine.migrate(database.url()).await else { panic!("{engine:?}") };
        assert_eq!(cause.to_string(), BEFORE_FIRST_RELEASE, "{engine:?}");
        let versions = "SELECT count(*) AS number FROM __diesel_schema_migrations";
        assert_eq!(database.number(versions).await, 1, "{engine:?}");
    }
}

#[tokio::test]
async fn a_schema_of_a_newer_build_is_detected() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let url = database.url().to_owned();
    let settings = civitas_storage_postgres::DatabaseSettings {
        url,
        pooler_url: None,
        read_url: None,
        pool_size: 1,
        wait: Duration::from_secs(20),
        locales: Locales::standard(),
        limits: civitas_storage_postgres::StatementLimits::default(),
    };
    let current = civitas_storage_postgres::schema(&settings).await.unwrap();
    assert_eq!(current, SchemaState::Current);
    database.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('20991231000001')").await;
    let newer = civitas_storage_postgres::schema(&settings).await.unwrap();
    let strange = vec!["20991231000001".to_owned()];
    assert_eq!(newer, SchemaState::Newer(strange));
    database.execute("DELETE FROM __diesel_schema_migrations").await;
    let older = civitas_storage_postgres::schema(&settings).await.unwrap();
    assert!(matches!(older, SchemaState::Older(_)), "{older:?}");
    assert!(database.store().ready().await.is_err());
}

/// Without one, the deletion of a row reads each table that may refer to it. `tests/tests/storage/plans/operations.rs` reads
/// the plans of SQLite.
#[tokio::test]
async fn each_foreign_key_of_postgres_has_an_index() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let keys = "SELECT count(*) AS number FROM pg_constraint k WHERE k.contype = 'f'";
    assert!(database.number(keys).await > 90);
    let without_index = format!(
        "{keys} AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indkey[0] = ANY(k.conkey) \
         AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) ~ '^.[a-z_]+ IS NOT NULL.$'))"
    );
    assert_eq!(database.number(&without_index).await, 0);
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable() {
    let nowhere = ["sqlite:///nowhere/at/all.db", "postgres://postgres@127.0.0.1:1/postgres"];
    for (engine, url) in Engine::BOTH.into_iter().zip(nowhere) {
        let opened = engine.open(url).await;
        assert!(matches!(opened, Err(Error::Unavailable(_))), "{url}");
        assert!(matches!(engine.migrate(url).await, Err(Error::Unavailable(_))), "{url}");
    }
    assert!(matches!(Engine::Sqlite.open("postgres://x").await, Err(Error::Internal(_))), "a wrong address");
}

#[tokio::test]
async fn several_processes_can_migrate_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", directory.path().join("new.db").display());
    let (a, b) = tokio::join!(Engine::Sqlite.migrate(&url), Engine::Sqlite.migrate(&url));
    let [a, b] = [a.unwrap(), b.unwrap()];
    assert!(a.is_empty() != b.is_empty(), "one of them found the work done: {a:?} {b:?}");
}

#[tokio::test]
async fn where_tls_is_asked_nothing_is_said_in_the_clear() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let url = database.url();
    if database.speaks_tls().await {
        return; // the other half needs a server whose certificate the system trusts
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let opened = Engine::Postgres.open(&format!("{url}?sslmode={mode}")).await;
        let Err(Error::Unavailable(cause)) = opened else { panic!("the server speaks no TLS: {mode}") };
        assert!(cause.to_string().contains("server does not support TLS"), "{mode}: {cause}");
    }
    Engine::Postgres.open(&format!("{url}?sslmode=prefer")).await.unwrap();
}
