//! Webhooks in concurrent transactions.

use civitas_application::{Ports, Transaction};
use civitas_kernel::{Ability, ClientId, MeetingId, OrganizationId, RegistrationId, sortable_id};
use civitas_meetings::Meeting;
use civitas_tests::{Engine, World};
use civitas_webhooks::{
    DeliveryContent, DeliveryId, EventPosition, NewDelivery, OutboxEvent, Registration, RegistrationHealth,
    SealedSecret,
};
use std::time::Duration;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
const MINUTE: time::Duration = time::Duration::MINUTE;

fn registration(client: ClientId, organization: OrganizationId) -> Registration {
    let (url, secret) = ("https://hooks.example/".to_owned(), SealedSecret("sealed".to_owned()));
    let new = Registration::new(client, Some(organization), url, secret, NOW);
    Registration { subscriptions: vec![Ability::UserCreated], ..new }
}

async fn register(world: &World) -> RegistrationId {
    let one = registration(world.fixtures.client, world.fixtures.mine);
    world.ports().registrations().add(&one).await.unwrap().unwrap()
}

fn delivery(registration: RegistrationId, due_at: OffsetDateTime) -> NewDelivery {
    let content = DeliveryContent::Test("{}".to_owned());
    NewDelivery { id: DeliveryId::generate(), registration, name: Ability::UserCreated, content, due_at }
}

/// Leases all registrations that are due.
async fn claim(ports: &(impl Ports + ?Sized), worker: &str) -> Vec<RegistrationId> {
    let waiting = ports.deliveries().waiting(NOW, 9).await.unwrap();
    let ids: Vec<_> = waiting.into_iter().map(|one| one.id).collect();
    ports.deliveries().claim(worker, &ids, NOW, NOW + MINUTE).await.unwrap()
}

fn outbox_event(organization: OrganizationId) -> OutboxEvent {
    let (id, name) = (sortable_id(), Ability::UserCreated);
    OutboxEvent { id, organization, name, payload: "{}".to_owned(), occurred_at: NOW }
}

async fn begin(world: &World) -> Box<dyn Transaction> {
    world.store().begin().await.unwrap()
}

/// Gives positions to the events that this transaction gets; their number.
async fn relay(tx: &dyn Ports) -> usize {
    let heads = tx.outbox().lock_unrelayed(100).await.unwrap();
    let ids: Vec<_> = heads.iter().map(|head| head.id).collect();
    tx.outbox().assign_positions(&ids).await.unwrap();
    ids.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_relays_one_gets_an_event_and_positions_follow_the_commits() {
    for world in World::on_both_engines().await {
        let organization = world.mine;
        let writers = (0..4).map(|_| {
            let store = world.database.store();
            tokio::spawn(async move {
                for _ in 0..25 {
                    let tx = store.begin().await.unwrap();
                    tx.outbox()
                        .append(&[outbox_event(organization), outbox_event(organization)])
                        .await
                        .unwrap();
                    tx.commit().await.unwrap();
                }
                0
            })
        });
        let relays = (0..3).map(|_| {
            let store = world.database.store();
            tokio::spawn(async move {
                let mut relayed = 0;
                for _ in 0..60 {
                    let tx = store.begin().await.unwrap();
                    relayed += relay(&*tx).await;
                    tx.commit().await.unwrap();
                }
                relayed
            })
        });
        // A reader that continues after the last position it has seen.
        let store = world.database.store();
        let reader = tokio::spawn(async move {
            let (mut seen, mut after) = (0, EventPosition::default());
            let started = std::time::Instant::now();
            while seen < 200 && started.elapsed() < Duration::from_secs(30) {
                let events = store.outbox().relayed_after(after, 7).await.unwrap();
                assert!(events.is_sorted_by(|a, b| a.position < b.position));
                after = events.last().map_or(after, |last| last.position);
                seen += events.len();
                if events.is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            (seen, after)
        });
        let tasks: Vec<_> = writers.chain(relays).collect();
        let mut relayed = 0;
        for task in tasks {
            relayed += task.await.unwrap();
        }
        let tx = begin(&world).await;
        relayed += relay(&*tx).await;
        tx.commit().await.unwrap();
        let engine = world.database.engine;
        assert_eq!(relayed, 200, "{engine:?}");
        assert_eq!(
            reader.await.unwrap(),
            (200, EventPosition(200)),
            "{engine:?}: each event once, without gaps"
        );
    }
}

#[tokio::test]
async fn while_one_relay_works_another_gets_nothing() {
    // On SQLite there is no second transaction.
    let Some(world) = World::fresh(Engine::Postgres).await else { return };
    world.ports().outbox().append(&[outbox_event(world.mine)]).await.unwrap();
    let first = begin(&world).await;
    assert_eq!(first.outbox().lock_unrelayed(9).await.unwrap().len(), 1);
    let second = begin(&world).await;
    assert!(second.outbox().lock_unrelayed(9).await.unwrap().is_empty());
    assert!(second.outbox().has_unrelayed().await.unwrap());
    first.rollback().await;
    assert_eq!(second.outbox().lock_unrelayed(9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn locks_of_webhooks_need_a_transaction() {
    for world in World::on_both_engines().await {
        let ports = world.ports();
        let id = register(&world).await;
        assert!(ports.outbox().lock_unrelayed(1).await.is_err());
        assert!(ports.outbox().assign_positions(&[sortable_id()]).await.is_err());
        assert!(ports.registrations().find_unrestricted_for_update(id).await.is_err());
        assert!(ports.deliveries().lock_leased("w", id).await.is_err());
        assert!(ports.deliveries().release("w", id).await.is_err());
    }
}

#[tokio::test]
async fn of_two_registrations_of_one_address_at_the_same_time_one_is_stored() {
    for world in World::on_both_engines().await {
        let one = registration(world.fixtures.client, world.fixtures.mine);
        let (first, second) =
            tokio::join!(world.ports().registrations().add(&one), world.ports().registrations().add(&one));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert!(first.is_some() != second.is_some(), "{first:?}, {second:?}");
    }
}

#[tokio::test]
async fn a_client_is_deleted_with_its_registrations_and_their_deliveries() {
    for world in World::on_both_engines().await {
        let (ports, id) = (world.ports(), register(&world).await);
        let queued = delivery(id, NOW);
        ports.deliveries().add(std::slice::from_ref(&queued)).await.unwrap();
        assert_eq!(claim(ports, "w").await, [id]);
        ports.clients().remove(world.fixtures.client).await.unwrap();
        assert_eq!(ports.registrations().find_unrestricted(id).await.unwrap(), None);
        assert_eq!(ports.deliveries().target("w", id).await.unwrap(), None);
        let tx = begin(&world).await;
        assert_eq!(tx.deliveries().lock_leased("w", id).await.unwrap(), None);
        tx.deliveries().record(id, &[], &RegistrationHealth::default(), NOW).await.unwrap();
        tx.deliveries().release("w", id).await.unwrap();
        tx.commit().await.unwrap();
        assert!(claim(ports, "w").await.is_empty());
        while ports.removals().remove_rows(1).await.unwrap() > 0 {}
        assert_eq!(ports.delivery_log().find(None, queued.id).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_registration_that_is_released_while_the_relay_adds_a_delivery_is_due() {
    for world in World::on_both_engines().await {
        let (ports, id) = (world.ports(), register(&world).await);
        ports.deliveries().add(&[delivery(id, NOW)]).await.unwrap();
        claim(ports, "w").await;
        let before = civitas_kernel::clock::now() + MINUTE;
        assert_eq!(ports.delivery_log().expire(before, NOW, 9).await.unwrap(), 1, "nothing is left");
        let relay = begin(&world).await;
        relay.deliveries().add(&[delivery(id, NOW)]).await.unwrap();
        let release = async {
            let tx = begin(&world).await;
            tx.deliveries().release("w", id).await.unwrap();
            tx.commit().await.unwrap();
        };
        let commit = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            relay.commit().await.unwrap();
        };
        tokio::join!(release, commit);
        assert_eq!(claim(ports, "w").await, [id]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_registration_is_claimed_by_one_of_sixteen_workers() {
    for world in World::on_both_engines().await {
        let id = register(&world).await;
        world.ports().deliveries().add(&[delivery(id, NOW)]).await.unwrap();
        let workers = (0..16).map(|worker| {
            let store = world.database.store();
            tokio::spawn(async move {
                let name = worker.to_string();
                claim(&*store, &name).await.len()
            })
        });
        let mut claims = 0;
        for worker in workers.collect::<Vec<_>>() {
            claims += worker.await.unwrap();
        }
        assert_eq!(claims, 1, "{:?}", world.database.engine);
    }
}

async fn meeting(world: &World) -> MeetingId {
    let title = civitas_kernel::Translated::default();
    let soon = Meeting::new(world.fixtures.agenda, title, NOW + MINUTE, NOW);
    let soon = Meeting { published_at: Some(NOW), ..soon };
    world.ports().meetings().add(world.fixtures.mine, &soon).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reminder_is_claimed_by_one_of_several_nodes() {
    for world in World::on_both_engines().await {
        let (organization, id) = (world.fixtures.mine, meeting(&world).await);
        let nodes = (0..8).map(|_| {
            let store = world.database.store();
            tokio::spawn(async move {
                let tx = store.begin().await.unwrap();
                let claimed = tx.reminders().claim(organization, id, NOW, NOW + MINUTE).await.unwrap();
                tx.commit().await.unwrap();
                usize::from(claimed)
            })
        });
        let mut claims = 0;
        for node in nodes.collect::<Vec<_>>() {
            claims += node.await.unwrap();
        }
        assert_eq!(claims, 1, "{:?}", world.database.engine);
    }
}
