//! Leases of jobs, tasks and deliveries: machines with different clocks, and rows that cannot be read.

use civitas_event_delivery::OutboxRelay;
use civitas_jobs::{JobFailure, JobStatus, LEASE};
use civitas_kernel::{Ability, ClientId, NewTask, OrganizationId, RegistrationId, clock};
use civitas_tests::{Database, Engine, World, job};
use civitas_webhooks::{
    DeliveryContent, DeliveryId, DeliveryStatus, EventPosition, NewDelivery, OutboxEvent, Registration,
    SealedSecret,
};
use serde_json::json;
use std::collections::HashSet;
use time::{Duration, OffsetDateTime};

fn task(organization: OrganizationId, due_at: OffsetDateTime) -> NewTask {
    NewTask { organization, kind: "look", subject: None, payload: json!({"n": 1}), due_at }
}

async fn register(world: &World) -> RegistrationId {
    let now = clock::now();
    let (mine, client) = (Some(world.fixtures.mine), world.fixtures.client);
    let (url, secret) = ("https://hooks.example/".to_owned(), SealedSecret("sealed".to_owned()));
    let new = Registration::new(client, mine, url, secret, now);
    let registration = Registration { subscriptions: vec![Ability::UserCreated], ..new };
    world.ports().registrations().add(&registration).await.unwrap().unwrap()
}

fn delivery(registration: RegistrationId, due_at: OffsetDateTime) -> NewDelivery {
    let content = DeliveryContent::Test("{}".to_owned());
    NewDelivery { id: DeliveryId::generate(), registration, name: Ability::UserCreated, content, due_at }
}

/// The clock of a machine that is ten minutes ahead.
fn ahead() -> OffsetDateTime {
    clock::now() + Duration::minutes(10)
}

#[tokio::test]
async fn a_machine_whose_clock_is_ahead_neither_takes_jobs_of_others_nor_hides_its_own() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let (right, wrong) = (world.database.store(), world.database.open_with_clock(ahead).await);
    let lost = JobFailure::worker_lost();
    right.jobs().add(&job(world.mine, ClientId(1), json!({}), clock::now())).await.unwrap();
    let now = clock::now();
    assert_eq!(right.jobs().claim("right", now, now + LEASE, 9).await.unwrap().len(), 1);
    assert_eq!(wrong.jobs().reclaim(ahead(), &lost).await.unwrap(), 0, "the lease has not ended");
    // What the wrong machine accepts is due at once.
    wrong.jobs().add(&job(world.mine, ClientId(1), json!({}), ahead())).await.unwrap();
    let now = clock::now();
    assert_eq!(right.jobs().claim("right", now, now + LEASE, 9).await.unwrap().len(), 1);
    // Its leases are not longer than others.
    wrong.jobs().add(&job(world.mine, ClientId(1), json!({}), ahead())).await.unwrap();
    let now = ahead();
    assert_eq!(wrong.jobs().claim("wrong", now, now + LEASE, 9).await.unwrap().len(), 1);
    assert_eq!(right.jobs().reclaim(clock::now(), &lost).await.unwrap(), 0);
    let later = clock::now() + LEASE + Duration::seconds(30);
    assert_eq!(right.jobs().reclaim(later, &lost).await.unwrap(), 3);
}

#[tokio::test]
async fn a_machine_whose_clock_is_ahead_takes_no_tasks_and_deliveries_of_others() {
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    let (right, wrong) = (world.database.store(), world.database.open_with_clock(ahead).await);
    let minute = Duration::MINUTE;
    wrong.queue().add(&task(world.mine, ahead())).await.unwrap();
    let now = clock::now();
    assert_eq!(right.tasks().claim(&["look"], now, now + minute, 9).await.unwrap().len(), 1, "due at once");
    assert!(wrong.tasks().claim(&["look"], ahead(), ahead() + minute, 9).await.unwrap().is_empty());
    let id = register(&world).await;
    wrong.deliveries().add(&[delivery(id, ahead())]).await.unwrap();
    let now = clock::now();
    assert_eq!(right.deliveries().waiting(now, 9).await.unwrap().len(), 1);
    assert_eq!(right.deliveries().claim("right", &[id], now, now + minute).await.unwrap(), [id]);
    assert_eq!(right.deliveries().due(id, now, &[], 9).await.unwrap().len(), 1);
    assert!(wrong.deliveries().waiting(ahead(), 9).await.unwrap().is_empty());
    let stolen = wrong.deliveries().claim("wrong", &[id], ahead(), ahead() + minute).await;
    assert!(stolen.unwrap().is_empty());
}

/// JSON that no payload is, as each engine can store it.
async fn break_payload(database: &Database, table: &str, condition: &str) {
    let broken = match database.engine {
        Engine::Sqlite => "{",
        Engine::Postgres => "{}",
    };
    database.execute(&format!("UPDATE {table} SET payload = '{broken}' WHERE {condition}")).await;
}

#[tokio::test]
async fn a_job_that_cannot_be_read_fails_and_the_others_go_on() {
    for world in World::on_both_engines().await {
        let jobs = world.ports().jobs();
        let now = clock::now();
        let [broken, sound] =
            [0, 1].map(|second| job(world.mine, ClientId(1), json!({}), now - Duration::seconds(9 - second)));
        jobs.add(&broken).await.unwrap();
        break_payload(&world.database, "jobs", "true").await;
        jobs.add(&sound).await.unwrap();
        let claimed = jobs.claim("w", now, now + LEASE, 1).await.unwrap();
        assert_eq!(claimed.iter().map(|job| job.id).collect::<Vec<_>>(), [sound.id]);
        let answer = jobs.find(world.mine, broken.id).await.unwrap().unwrap();
        let failure = answer.failure.unwrap();
        assert_eq!((answer.summary.status, failure.class.as_ref()), (JobStatus::Failed, "InternalError"));
    }
}

/// PostgreSQL stores no broken JSON.
#[tokio::test]
async fn a_task_that_cannot_be_read_is_given_up_and_the_others_go_on() {
    let Some(world) = World::fresh(Engine::Sqlite).await else { return };
    let now = clock::now();
    world.ports().queue().add(&task(world.mine, now - Duration::MINUTE)).await.unwrap();
    break_payload(&world.database, "tasks", "true").await;
    world.ports().queue().add(&task(world.other, now)).await.unwrap();
    let tasks = world.ports().tasks();
    let claimed = tasks.claim(&["look"], now, now + Duration::MINUTE, 1).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.organization).collect::<Vec<_>>(), [world.other]);
    let later = now + Duration::HOUR;
    let left = tasks.claim(&["look"], later, later + Duration::MINUTE, 9).await.unwrap();
    assert_eq!(left.len(), 1, "the broken one is gone");
}

#[tokio::test]
async fn an_event_with_an_unknown_name_is_left_out_and_the_others_are_relayed() {
    for world in World::on_both_engines().await {
        let now = clock::now();
        let mine = world.fixtures.mine;
        let event = || OutboxEvent::new(mine, Ability::UserCreated, "{}".to_owned(), now);
        let outbox = world.ports().outbox();
        let before = outbox.last_position().await.unwrap();
        outbox.append(&[event()]).await.unwrap();
        world.database.execute("UPDATE outbox SET name = 'nobody.knows'").await;
        let sound = event();
        outbox.append(std::slice::from_ref(&sound)).await.unwrap();
        let relay = OutboxRelay::new(world.database.store());
        while outbox.has_unrelayed().await.unwrap() {
            relay.relay().await.unwrap();
        }
        let relayed = outbox.relayed_after(before, 1).await.unwrap();
        assert_eq!(relayed.iter().map(|event| event.event.id).collect::<Vec<_>>(), [sound.id]);
        assert!(relayed[0].position > EventPosition(before.0 + 1), "the other one has a position too");
    }
}

#[tokio::test]
async fn a_registration_that_cannot_be_read_stops_no_relay() {
    let Some(world) = World::fresh(Engine::Sqlite).await else { return };
    let id = register(&world).await;
    let receivers = async || world.ports().registrations().receivers(&[world.fixtures.mine]).await.unwrap();
    let before: HashSet<_> = receivers().await.into_iter().map(|receiver| receiver.id).collect();
    assert!(before.contains(&id));
    world
        .database
        .execute(&format!("UPDATE webhook_registrations SET subscriptions = '[' WHERE id = {}", id.0))
        .await;
    let after: HashSet<_> = receivers().await.into_iter().map(|receiver| receiver.id).collect();
    assert_eq!(before.difference(&after).copied().collect::<Vec<_>>(), [id]);
}

#[tokio::test]
async fn a_delivery_with_an_unknown_name_is_dead_and_the_others_are_sent() {
    for world in World::on_both_engines().await {
        let now = clock::now();
        let id = register(&world).await;
        let (broken, sound) = (delivery(id, now - Duration::MINUTE), delivery(id, now));
        let deliveries = world.ports().deliveries();
        deliveries.add(std::slice::from_ref(&broken)).await.unwrap();
        world.database.execute("UPDATE webhook_deliveries SET name = 'nobody.knows'").await;
        deliveries.add(std::slice::from_ref(&sound)).await.unwrap();
        let due = deliveries.due(id, now, &[], 9).await.unwrap();
        assert_eq!(due.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), [sound.id]);
        world.database.execute("UPDATE webhook_deliveries SET name = 'user.created'").await;
        let logged = world.ports().delivery_log().find(None, broken.id).await.unwrap().unwrap();
        assert_eq!(logged.status, DeliveryStatus::Dead);
    }
}
