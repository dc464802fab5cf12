//! Plans that are made while a table is empty, or has no statistics, and stay in use while it grows.

use super::webhooks::not_measured;
use super::{recorder, statements};
use civitas_kernel::{JobId, RegistrationId, SpaceKind, SpaceRef, clock, random_job_id};
use civitas_tests::{Engine, World};
use civitas_webhooks::{DeliveryId, DeliveryOutcome, DeliveryVerdict, RegistrationHealth};
use diesel::connection::set_default_instrumentation;
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

#[tokio::test]
async fn refs_of_an_import_are_found_by_the_primary_key_without_statistics() {
    set_default_instrumentation(recorder).unwrap();
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (refs, organization) = (world.store().refs(), Some(world.fixtures.mine));
        let names: Vec<String> = (0..2_000).map(|number| format!("p{number}")).collect();
        let ids: Vec<(&str, String)> = names.iter().map(|name| (&**name, format!("id of {name}"))).collect();
        refs.add_many(organization, "proposal", &ids).await.unwrap();
        let mut found = Vec::new();
        let sent = statements(&world, async {
            found = refs.find_many(organization, "proposal", &["p7", "none", "p8"]).await.unwrap();
        });
        let sent = sent.await;
        found.sort();
        assert_eq!(
            found,
            [("p7".to_owned(), "id of p7".to_owned()), ("p8".to_owned(), "id of p8".to_owned())]
        );
        // A new connection has statements of its own.
        let sent: Vec<_> = sent.iter().filter(|(sql, _)| sql.contains("archive_refs")).collect();
        let [(sql, plan)] = &sent[..] else { panic!("{engine:?}: {sent:?}") };
        // The last column of the key.
        let is_found = |step: &String| match engine {
            Engine::Sqlite => step.contains("SEARCH archive_refs") && step.contains("ref=?"),
            Engine::Postgres => step.contains("Index Cond") && step.contains("(ref = "),
        };
        assert!(plan.iter().any(is_found), "{engine:?}: {sql}\n{}", plan.join("\n"));
    }
}

/// SQLite expects ten deliveries of a registration, or of a state, in a table without statistics: fewer than ids in a list.
/// There are as many as in the days of retention, or as a receiver that does not answer has waiting.
#[tokio::test]
async fn recorded_deliveries_are_found_by_their_ids_without_statistics() {
    let Some(world) = not_measured(Engine::Sqlite).await else { return };
    let (now, pending) = (clock::now(), Uuid::from_u128(21));
    for verdict in
        [DeliveryVerdict::Retry(now), DeliveryVerdict::Dropped("paused"), DeliveryVerdict::Delivered]
    {
        let outcomes = [DeliveryOutcome { delivery: DeliveryId(pending), attempt: None, verdict }];
        let health = RegistrationHealth::default();
        let tx = world.store().begin().await.unwrap();
        let sent = statements(&world, async {
            let recorded = tx.deliveries().record(RegistrationId(2), &outcomes, &health, now);
            recorded.await.unwrap();
        });
        let sent = sent.await;
        tx.rollback().await;
        let own: Vec<_> = sent.iter().filter(|(sql, _)| sql.contains("`webhook_deliveries`")).collect();
        assert_eq!(own.len(), 2, "the lock and the change: {sent:#?}");
        for (sql, plan) in own {
            let by_key =
                plan.iter().any(|step| step.contains("sqlite_autoindex_webhook_deliveries_1 (id=?)"));
            assert!(by_key, "{sql}\n{}", plan.join("\n"));
        }
    }
}

#[tokio::test]
async fn what_several_spaces_have_is_found_by_the_spaces_without_statistics() {
    set_default_instrumentation(recorder).unwrap();
    let Some(world) = World::fresh(Engine::Sqlite).await else { return };
    let spaces: Vec<SpaceRef> =
        (1..=20).map(|id| SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id }).collect();
    let (mine, store) = (world.fixtures.mine, world.store());
    let sent = statements(&world, async {
        store.components().count_in(mine, &spaces).await.unwrap();
        store.steps().active_of(mine, &spaces).await.unwrap();
    });
    let sent = sent.await;
    for (index, table) in [("components_of_space", "`components`"), ("steps_", "`steps`")] {
        let (sql, plan) =
            sent.iter().find(|(sql, _)| sql.contains(&format!("FROM {table}"))).expect("a statement");
        let by_space = plan
            .iter()
            .any(|step| step.contains(index) && step.contains("(space_manifest=? AND space_id=?)"));
        assert!(by_space, "{sql}\n{}", plan.join("\n"));
    }
}

/// PostgreSQL would read an empty table as a whole, and go on to do so: the plans of a connection are kept.
#[tokio::test]
async fn a_table_that_was_empty_is_not_read_as_a_whole_later() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    world.store().analyze().await.unwrap();
    let scans = async |kind: &str| {
        let sql = format!(
            "SELECT coalesce(sum({kind}), 0)::bigint AS number FROM pg_stat_user_tables WHERE relname = 'jobs'"
        );
        world.database.number(&sql).await
    };
    let before = (scans("seq_scan").await, scans("idx_scan").await);
    // A connection reports what it did once a second.
    for _ in 0..100 {
        let missing: JobId = random_job_id();
        assert!(world.store().jobs().find(world.fixtures.mine, missing).await.unwrap().is_none());
        sleep(Duration::from_millis(100)).await;
        if scans("idx_scan").await > before.1 || scans("seq_scan").await > before.0 {
            break;
        }
    }
    assert!(scans("idx_scan").await > before.1, "the reads are not reported, or use no index");
    assert_eq!(scans("seq_scan").await, before.0);
}
