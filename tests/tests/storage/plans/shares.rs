//! What clients store, summed up from indexes alone.

use super::webhooks::{moment, uuid};
use super::{plans, recorder};
use civitas_application::SharedResource;
use civitas_tests::{Engine, World};
use diesel::connection::set_default_instrumentation;

/// The rows of each table.
const ROWS: i64 = 20_000;

/// Jobs that have ended, jobs that wait, uploads and kept answers of one organization. Most are old.
async fn filled(engine: Engine) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let (mine, client) = (world.fixtures.mine, world.fixtures.client);
    let (id, at) = (uuid(engine, "n"), moment(engine, "2026-01-01 09:00:00+00:00"));
    let numbers = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS}) "
    );
    let text = "x".repeat(500);
    for sql in [
        format!(
            "jobs (id, organization_id, api_client_id, access_token_id, command_key, status, payload, attempts, due_at, \
             created_at, updated_at, turn, bytes) SELECT {id}, {mine}, {client}, 1, 'votes#create', \
             CASE n % 2 WHEN 0 THEN 'pending' ELSE 'completed' END, '{{\"name\": \"{text}\"}}', 0, {at}, {at}, {at}, n, 9"
        ),
        format!(
            "uploads (organization_id, api_client_id, digest, filename, content_type, byte_size, checksum, created_at) \
             SELECT {mine}, {client}, '{text}', 'a.txt', 'text/plain', 9, '', {at}"
        ),
        format!(
            "idempotency_keys (digest, organization_id, api_client_id, request_digest, status, sealed_answer, created_at, \
             bytes) SELECT 'digest ' || n, {mine}, {client}, '', 200, '{text}', {at}, 9"
        ),
    ] {
        world.database.execute(&format!("{numbers} INSERT INTO {sql} FROM numbers")).await;
    }
    if engine == Engine::Postgres {
        // Without it pages are not known to be visible to all, and their rows are read. A page that another process reads at the
        // same time may be left out.
        for attempt in 0..20 {
            world.database.execute("VACUUM ANALYZE jobs, uploads, idempotency_keys").await;
            let unknown = "SELECT count(*) AS number FROM pg_class WHERE relname IN ('jobs', 'uploads', 'idempotency_keys') \
                           AND relallvisible < relpages";
            if world.database.number(unknown).await == 0 {
                break;
            }
            assert!(attempt < 19, "rows that are not visible to all");
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        }
    }
    world.store().analyze().await.unwrap();
    Some(world.in_transaction().await)
}

#[tokio::test]
async fn what_is_stored_is_read_from_indexes_alone() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (mine, client, shares) = (world.fixtures.mine, world.fixtures.client, world.ports().shares());
        for (share, table, indexes) in [
            (SharedResource::Jobs, "jobs", vec!["jobs_of_organization", "jobs_in_turn_of_organization"]),
            (SharedResource::UnattachedFiles, "uploads", vec!["uploads_of_organization"]),
            (SharedResource::IdempotentAnswers, "idempotency_keys", vec!["idempotency_keys_of_organization"]),
        ] {
            let stored = plans(&world, table, shares.count_stored(share, mine, Some(client))).await.1;
            let by_tenant = plans(&world, table, shares.count_stored_by_tenant(share, 9)).await.1;
            for steps in [stored.concat(), by_tenant.concat()] {
                let alone = steps.iter().filter(|step| match engine {
                    Engine::Sqlite => step.contains(&format!("SEARCH {table} USING COVERING INDEX")),
                    Engine::Postgres => step.contains("Index Only Scan using"),
                });
                assert_eq!(alone.count(), indexes.len(), "{engine:?}, {share:?}: {steps:#?}");
                for index in &indexes {
                    let reads = |step: &String| step.split([' ', '(']).any(|word| word == *index);
                    assert!(steps.iter().any(reads), "{engine:?}, {share:?} without {index}: {steps:#?}");
                }
            }
        }
    }
}
