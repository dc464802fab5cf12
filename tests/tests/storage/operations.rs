//! What needs attention, and the figures of the deployment.

use civitas_application::{AlertCount, AlertKind, Alerts, OldestWaiting};
use civitas_jobs::{JobFailure, LEASE};
use civitas_kernel::{NewTask, OrganizationId};
use civitas_tests::{Engine, World, job};
use civitas_webhooks::{
    DeliveryContent, DeliveryId, NewDelivery, OutboxEvent, Registration, RegistrationHealth, SealedSecret,
};
use serde_json::json;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

const NOW: OffsetDateTime = datetime!(2027-03-01 09:30 UTC);

/// A job that was accepted at this time and has failed.
async fn failed_job(world: &World, organization: OrganizationId, at: OffsetDateTime) {
    let job = job(organization, world.fixtures.client, json!({}), at);
    let jobs = world.ports().jobs();
    jobs.add(&job).await.unwrap();
    assert_eq!(jobs.claim("w", NOW, NOW + LEASE, 9).await.unwrap().len(), 1);
    jobs.end("w", job.id, Err(&JobFailure::worker_lost()), NOW).await.unwrap();
}

/// A disabled registration and a paused one, which has a pending delivery.
async fn stopped_registrations(world: &World) {
    let (mine, client) = (Some(world.fixtures.mine), world.fixtures.client);
    let stopped = |path: &str, disabled_at, paused_at| {
        let url = format!("https://hooks.example/{path}");
        let new = Registration::new(client, mine, url, SealedSecret("sealed".to_owned()), NOW);
        Registration {
            health: RegistrationHealth { disabled_at, ..RegistrationHealth::default() },
            paused_at,
            ..new
        }
    };
    let registrations = world.ports().registrations();
    registrations.add(&stopped("a", Some(NOW), None)).await.unwrap().unwrap();
    let paused = registrations.add(&stopped("b", None, Some(NOW))).await.unwrap().unwrap();
    let delivery = NewDelivery {
        id: DeliveryId::generate(),
        registration: paused,
        name: civitas_kernel::Ability::UserCreated,
        content: DeliveryContent::Test("{}".to_owned()),
        due_at: NOW,
    };
    world.ports().deliveries().add(&[delivery]).await.unwrap();
}

#[tokio::test]
async fn attention_counts_each_kind_and_names_the_organization_when_it_is_one() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let alerts = Alerts { store: world.ports().operations() };
        assert!(alerts.list(NOW).await.is_empty(), "{engine:?}: nothing needs attention");
        let mine = world.fixtures.mine;
        failed_job(&world, mine, NOW - Duration::days(2)).await;
        failed_job(&world, mine, NOW - Duration::hours(2)).await;
        failed_job(&world, world.other, NOW - Duration::hours(1)).await;
        stopped_registrations(&world).await;
        let nora = world.fixtures.nora;
        let id = match engine {
            Engine::Sqlite => "x'00112233445566778899aabbccddeeff'",
            Engine::Postgres => "'00112233-4455-6677-8899-aabbccddeeff'",
        };
        for sql in [
            format!(
                "UPDATE users SET admin = true, locked_at = '2027-03-01 09:00:00+00:00' WHERE id = {nora}"
            ),
            format!(
                "INSERT INTO organization_hosts (host, organization_id, kind, position) \
                 VALUES ('new.example', {mine}, 'unconfirmed', 9)"
            ),
            format!(
                "INSERT INTO tasks (id, organization_id, kind, payload, attempts, due_at, claimed) \
                 VALUES ({id}, {mine}, 'mail', '{{}}', 1, '2027-03-01 09:00:00+00:00', false)"
            ),
        ] {
            world.database.execute(&sql).await;
        }
        let one = AlertCount { number: 1, organization: Some(mine) };
        let found: Vec<_> = alerts.list(NOW).await.iter().map(|entry| (entry.kind, entry.found)).collect();
        let expected = [
            (AlertKind::DisabledRegistrations, Some(one)),
            (AlertKind::PausedRegistrations, Some(one)),
            (AlertKind::FailedJobs, Some(AlertCount { number: 2, organization: None })),
            (AlertKind::WaitingDeliveries, Some(one)),
            (AlertKind::FailedMails, Some(one)),
            (AlertKind::PendingHosts, Some(one)),
            (AlertKind::LockedAdministrators, Some(one)),
        ];
        assert_eq!(found, expected, "{engine:?}");
        let figures = alerts.figures(NOW - Duration::days(1)).await.unwrap();
        assert_eq!((figures.organizations, figures.jobs_today), (3, 2), "{engine:?}");
        assert!(figures.people > 0 && figures.clients > 0, "{engine:?}");
    }
}

#[tokio::test]
async fn the_oldest_that_waits_is_found_in_each_lane() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let store = world.ports().operations();
        let found = store.oldest_waiting().await.unwrap();
        assert_eq!(OldestWaiting { database_bytes: 0, ..found }, OldestWaiting::default(), "{engine:?}");
        let (mine, at) = (world.fixtures.mine, |minutes| NOW - Duration::minutes(minutes));
        for minutes in [5, 50] {
            let job = job(mine, world.fixtures.client, json!({}), at(minutes));
            world.ports().jobs().add(&job).await.unwrap();
            let (name, payload) = (civitas_kernel::Ability::UserCreated, "{}".to_owned());
            let event = OutboxEvent::new(mine, name, payload, at(minutes + 1));
            world.ports().outbox().append(&[event]).await.unwrap();
        }
        for (kind, minutes) in [("mail", 3), ("invitation", 30), ("host_check", 4)] {
            let subject = Some(kind.to_owned());
            let task = NewTask { organization: mine, kind, subject, payload: json!({}), due_at: at(minutes) };
            world.ports().queue().add(&task).await.unwrap();
        }
        let found = store.oldest_waiting().await.unwrap();
        let expected = OldestWaiting {
            job: Some(at(50)),
            event: Some(at(6)),
            mail: Some(at(30)),
            host_check: Some(at(4)),
            delivery: None,
            database_bytes: found.database_bytes,
        };
        assert_eq!(found, expected, "{engine:?}");
    }
}

#[tokio::test]
async fn the_load_has_the_rows_of_each_queue_and_the_size_of_the_database() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let store = world.ports().operations();
        let empty = store.load().await.unwrap();
        assert_eq!((empty.jobs, empty.deliveries, empty.tasks), Default::default(), "{engine:?}");
        assert!(empty.database_bytes > 100_000, "{engine:?}: {empty:?}");
        failed_job(&world, world.fixtures.mine, NOW).await;
        stopped_registrations(&world).await;
        let due_at = NOW + Duration::hours(1);
        for subject in ["a", "b"] {
            let task = NewTask {
                organization: world.fixtures.mine,
                kind: "mail",
                subject: Some(subject.to_owned()),
                payload: json!({}),
                due_at,
            };
            world.ports().queue().add(&task).await.unwrap();
        }
        let load = store.load().await.unwrap();
        assert_eq!(load.jobs.number, 0, "{engine:?}: a failed job waits for nobody");
        assert_eq!((load.deliveries.number, load.deliveries.first.is_some()), (1, true), "{engine:?}");
        assert_eq!((load.tasks.number, load.tasks.first), (2, Some(due_at)), "{engine:?}");
    }
}
