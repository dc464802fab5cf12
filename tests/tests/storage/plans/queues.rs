//! Claims of jobs and tasks: by ranges of indexes in the order of the claim, however many of them wait.

use super::webhooks::{moment, uuid};
use super::{plans, recorder};
use civitas_jobs::LEASE;
use civitas_kernel::clock;
use civitas_tests::{Engine, World, job};
use diesel::connection::set_default_instrumentation;
use serde_json::Value;
use time::Duration;

/// The jobs and the tasks that wait.
const WAITING: i64 = 20_000;

/// [`WAITING`] jobs and as many mails of one organization. `is_measured`: with statistics of the tables.
async fn filled(engine: Engine, is_measured: bool) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let (mine, client) = (world.mine, world.fixtures.client);
    let (id, at) = (uuid(engine, "n"), moment(engine, "2026-01-01 09:00:00+00:00"));
    let numbers = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {WAITING}) "
    );
    let sql = format!(
        "{numbers} INSERT INTO jobs (id, organization_id, api_client_id, access_token_id, command_key, status, \
         payload, attempts, due_at, created_at, updated_at, turn) SELECT {id}, {mine}, {client}, 1, 'votes#create', \
         'pending', '{{\"name\": \"x\", \"command\": null}}', 0, {at}, {at}, {at}, n FROM numbers"
    );
    world.database.execute(&sql).await;
    let sql = format!(
        "{numbers} INSERT INTO tasks (id, organization_id, kind, payload, attempts, due_at) \
         SELECT {id}, {mine}, 'mail', '{{}}', 0, {at} FROM numbers"
    );
    world.database.execute(&sql).await;
    if is_measured {
        world.store().analyze().await.unwrap();
    }
    Some(world)
}

/// Checks that no step reads or sorts all rows, and that one reads this index.
fn check(world: &World, what: &str, plans: &[Vec<String>], index: &str) {
    for step in plans.iter().flatten() {
        for bad in ["TEMP B-TREE", "Sort", "Seq Scan", "Bitmap"] {
            assert!(!step.contains(bad), "{:?}, {what}: {plans:#?}", world.database.engine);
        }
    }
    let reads = |step: &String| step.split([' ', '(']).any(|word| word == index);
    assert!(
        plans.iter().flatten().any(reads),
        "{:?}, {what} without {index}: {plans:#?}",
        world.database.engine
    );
}

#[tokio::test]
async fn jobs_are_added_and_claimed_by_indexes() {
    for engine in Engine::BOTH {
        // On SQLite new databases have no statistics.
        for is_measured in [false, true] {
            if engine == Engine::Postgres && !is_measured {
                continue;
            }
            let Some(world) = filled(engine, is_measured).await else { continue };
            let (jobs, now) = (world.ports().jobs(), clock::now());
            let job = job(world.other, world.fixtures.client, Value::Null, now);
            let (added, steps) = plans(&world, "jobs", jobs.add(&job)).await;
            added.unwrap();
            check(&world, "add", &steps, "jobs_in_turn");
            check(&world, "add", &steps, "jobs_in_turn_of_organization");
            let (claimed, steps) = plans(&world, "jobs", jobs.claim("w", now, now + LEASE, 4)).await;
            check(&world, "claim", &steps, "jobs_in_turn");
            let claimed = claimed.unwrap();
            assert!(claimed.len() == 4 && claimed.iter().any(|found| found.id == job.id), "{claimed:?}");
        }
    }
}

#[tokio::test]
async fn tasks_of_a_kind_are_claimed_by_a_range_of_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine, true).await else { continue };
        let (tasks, now) = (world.ports().tasks(), clock::now());
        let claim = tasks.claim(&["host_check"], now, now + Duration::MINUTE, 4);
        let (claimed, steps) = plans(&world, "tasks", claim).await;
        assert!(claimed.unwrap().is_empty());
        check(&world, "look", &steps, "tasks_due_of_kind");
        let claim = tasks.claim(&["mail", "invitation"], now, now + Duration::MINUTE, 4);
        let (claimed, steps) = plans(&world, "tasks", claim).await;
        assert_eq!(claimed.unwrap().len(), 4);
        if engine == Engine::Sqlite {
            check(&world, "claim", &steps, "tasks_due_of_kind");
        }
    }
}
