//! The rows of removed organizations and API clients are deleted in small batches.

use civitas_application::Store;
use civitas_archive::{ImportOptions, demo_archive, import};
use civitas_kernel::{ClientId, OrganizationId};
use civitas_tests::{Database, Engine, World, commit, databases, import_options};
use civitas_tokens::Argon2Passwords;
use std::time::Instant;
use time::macros::datetime;

const NOW: time::OffsetDateTime = datetime!(2026-11-21 10:00 UTC);
/// Tokens below one client.
const TOKENS: u64 = 100_000;
const BATCH: u64 = 500;

/// A record of the organization of the demo, by its ref.
const LATE: &str = r#"{"type": "user", "ref": "late", "organization": "riverbend", "nickname": "late", "email": "late@city.example", "name": "Late"}"#;

async fn demo_city(store: &dyn Store) -> OrganizationId {
    let options = ImportOptions { allow_operators: true, ..import_options(NOW) };
    import(store, &Argon2Passwords::new(), demo_archive().as_bytes(), options, &mut |_| {}).await.unwrap();
    store.organizations().find_by_host("localhost").await.unwrap().unwrap()
}

/// Deletes in batches of this size until nothing is left. Returns their number.
async fn remove_all(store: &dyn Store, limit: i64) -> usize {
    let mut batches = 0;
    loop {
        let rows = store.removals().remove_rows(limit).await.unwrap();
        assert!(rows <= limit.unsigned_abs(), "{rows} rows");
        if rows == 0 {
            return batches;
        }
        batches += 1;
    }
}

#[tokio::test]
async fn a_removed_organization_is_gone_at_once_and_its_rows_go_in_batches() {
    for database in databases().await {
        let store = &*database.store;
        let city = demo_city(store).await;
        let client = store.clients().page_after(Some(city), None, 9).await.unwrap()[0].clone();
        let people = database.count("users", &format!("organization_id = {city}")).await;
        commit(store, async |tx| tx.removals().remove_organization(city).await).await.unwrap();
        let organizations = store.organizations();
        assert_eq!(organizations.find(city).await.unwrap(), None);
        assert_eq!(organizations.find_by_host("localhost").await.unwrap(), None);
        assert!(organizations.locate("localhost").await.unwrap().is_none());
        assert!(organizations.ids(None, 9).await.unwrap().is_empty());
        assert_eq!(store.clients().find(client.0).await.unwrap(), None);
        assert_eq!(store.clients().find_by_uid(&client.1.uid).await.unwrap(), None);
        assert!(store.registrations().receivers(&[city]).await.unwrap().is_empty());
        assert_eq!(database.count("users", &format!("organization_id = {city}")).await, people);
        let late =
            import(store, &Argon2Passwords::new(), LATE.as_bytes(), import_options(NOW), &mut |_| {}).await;
        let error = late.unwrap_err().to_string();
        assert_eq!(error, r#"line 1: user "late": organization "riverbend" is not known"#);
        // Host, names and public names of clients are free before the rows are gone.
        let next = demo_city(store).await;
        assert_ne!(next, city);
        for _ in 0..20 {
            store.removals().remove_rows(7).await.unwrap();
        }
        // Another process goes on where the first one stopped.
        let again = database.open_again().await;
        assert!(remove_all(&*again, 7).await > 20);
        // Events stay for their receivers, entries of the audit trail stay, and the bytes of files are deleted first.
        let left = database.tables_of(city.0).await;
        let allowed = ["audit_entries", "audit_heads", "files", "outbox"];
        assert!(left.iter().all(|table| allowed.contains(&table.as_str())), "{left:?}");
        assert_eq!(
            database.count("files", &format!("organization_id = {city} AND state <> 'removed'")).await,
            0
        );
        assert_eq!(database.count("organizations", "true").await, 1);
        assert!(store.organizations().find(next).await.unwrap().is_some());
        assert_eq!(database.count("users", &format!("organization_id = {next}")).await, people);
    }
}

/// Adds tokens of a client, past the store.
async fn add_tokens(database: &Database, world: &World, client: ClientId) {
    let numbers = match database.engine {
        Engine::Sqlite => format!(
            "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {TOKENS}) \
             SELECT value FROM n)"
        ),
        Engine::Postgres => format!("(SELECT generate_series(1, {TOKENS}) AS value)"),
    };
    let sql = format!(
        "INSERT INTO access_tokens (organization_id, api_client_id, digest, scope, issued_at, expires_at) \
         SELECT {}, {client}, 'digest' || value, 'public', '2026-11-21 10:00:00+00:00', \
         '2026-11-21 12:00:00+00:00' FROM {numbers} AS numbers",
        world.mine
    );
    database.execute(&sql).await;
}

#[tokio::test]
async fn a_hundred_thousand_tokens_of_a_client_do_not_go_in_one_statement() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (store, client) = (world.store(), world.fixtures.client);
        add_tokens(&world.database, &world, client).await;
        let begun = Instant::now();
        store.clients().remove(client).await.unwrap();
        let removal = begun.elapsed();
        assert_eq!(store.clients().find(client).await.unwrap(), None);
        let (mut batches, mut longest) = (0, std::time::Duration::ZERO);
        loop {
            let begun = Instant::now();
            let rows = store.removals().remove_rows(500).await.unwrap();
            assert!(rows <= BATCH, "{rows} rows");
            if rows == 0 {
                break;
            }
            longest = longest.max(begun.elapsed());
            batches += 1;
        }
        println!("{engine:?}: removal {removal:?}, {batches} batches, the longest {longest:?}");
        assert!(batches >= TOKENS / BATCH);
        assert_eq!(world.database.count("access_tokens", &format!("api_client_id = {client}")).await, 0);
        assert_eq!(world.database.count("api_clients", &format!("id = {client}")).await, 0);
    }
}
