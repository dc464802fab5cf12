//! The outbox, registrations, deliveries and reminders.

use super::{PAGE, RECORDS, plans, recorder, scans};
use civitas_kernel::{Ability, RegistrationId, clock};
use civitas_tests::{Engine, World};
use civitas_webhooks::{
    DeliveryFilter, DeliveryStatus, EventPosition, RegistrationFilter, RegistrationHealth, ReplaySelection,
};
use diesel::connection::set_default_instrumentation;
use time::{Duration, OffsetDateTime};

/// A time as a literal.
pub(super) fn moment(engine: Engine, text: &str) -> String {
    match engine {
        Engine::Sqlite => format!("'{text}'"),
        Engine::Postgres => format!("timestamptz '{text}'"),
    }
}

/// The 16 bytes of a number as a literal.
pub(super) fn uuid(engine: Engine, n: &str) -> String {
    match engine {
        Engine::Sqlite => format!("unhex(printf('%032x', {n}))"),
        Engine::Postgres => format!("lpad(to_hex({n}), 32, '0')::uuid"),
    }
}

/// The records of [`not_measured`], and statistics of their tables.
async fn filled(engine: Engine) -> Option<World> {
    let world = not_measured(engine).await?;
    world.store().analyze().await.unwrap();
    Some(world)
}

/// [`RECORDS`] events, and deliveries of ten registrations; half of both are done.
pub(super) async fn not_measured(engine: Engine) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let (mine, client) = (world.fixtures.mine, world.fixtures.client);
    let id = uuid(engine, "n");
    let past = moment(engine, "2026-01-01 09:00:00+00:00");
    let later = moment(engine, "2027-01-01 09:00:00+00:00");
    let numbers = |times: i64| {
        format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {times}) "
        )
    };
    let body = "x".repeat(300);
    let sql = format!(
        "{} INSERT INTO outbox (id, organization_id, name, payload, occurred_at, position) \
         SELECT {id}, {mine}, CASE n % 2 WHEN 0 THEN 'user.created' ELSE 'user.updated' END, '{body}', {past}, \
         CASE WHEN n <= {RECORDS} - 20 THEN n END FROM numbers",
        numbers(RECORDS)
    );
    world.database.execute(&sql).await;
    let sql = format!(
        "{} INSERT INTO webhook_registrations (id, api_client_id, organization_id, url, subscriptions, \
         sealed_secret, failures, due_at, created_at, updated_at) SELECT n, {client}, {mine}, \
         'https://hooks.example/' || n, '[]', 'sealed', 0, CASE WHEN n < 10 THEN {past} END, {past}, {past} FROM numbers",
        numbers(1000)
    );
    world.database.execute(&sql).await;
    let sql = format!(
        "{} INSERT INTO webhook_deliveries (id, registration_id, organization_id, event_id, name, status, attempts, \
         replayed_after, due_at, created_at, ended_at) SELECT {id}, 1 + n % 10, {mine}, {id}, 'user.created', \
         CASE WHEN n % 20 < 10 THEN 'pending' ELSE 'delivered' END, 1, 0, \
         CASE WHEN n % 3 = 0 THEN {past} ELSE {later} END, {past}, CASE WHEN n % 20 < 10 THEN NULL ELSE {later} END \
         FROM numbers",
        numbers(RECORDS)
    );
    world.database.execute(&sql).await;
    let sql = format!(
        "{} INSERT INTO meetings (organization_id, component_id, title, description, start_time, published_at, \
         private, transparent, extended_data, extended_data_text, created_at, updated_at) SELECT {mine}, {}, '{{}}', \
         '{{}}', CASE WHEN n % 100 = 0 THEN {later} ELSE {past} END, {past}, false, false, '{{}}', '{{}}', {past}, {past} \
         FROM numbers",
        numbers(RECORDS),
        world.fixtures.agenda
    );
    world.database.execute(&sql).await;
    Some(world)
}

/// Checks that a plan reads by this index, and that none scans one of the tables.
fn check(world: &World, read: &str, plans: &[Vec<String>], index: &str) {
    let engine = world.database.engine;
    let text = plans.iter().map(|plan| plan.join("\n")).collect::<Vec<_>>().join("\n\n");
    for table in ["outbox", "webhook_deliveries", "meetings"] {
        assert!(
            !plans.iter().any(|plan| scans_without_index(engine, plan, table)),
            "{engine:?}, {read}:\n{text}"
        );
    }
    let reads = |step: &String| step.split([' ', '(']).any(|word| word == index);
    assert!(plans.iter().flatten().any(reads), "{engine:?}, {read} without {index}:\n{text}");
}

/// Whether a step reads the rows of a table from the first to the last. Reading an index so is none: the partial ones
/// hold the rows to read alone. Nor is a bitmap of an index.
fn scans_without_index(engine: Engine, plan: &[String], table: &str) -> bool {
    let by_index = |step: &String| step.contains("INDEX") || step.contains("Bitmap");
    let plan: Vec<String> = plan.iter().filter(|step| !by_index(step)).cloned().collect();
    scans(engine, &plan, table)
}

/// Checks that the dead deliveries of a registration are read by one of its indexes.
fn check_replay(world: &World, plans: &[Vec<String>]) {
    check(world, "replay of dead ones", plans, "webhook_deliveries_of_registration_and_status");
}

/// Checks that no plan sorts.
pub(super) fn check_order(world: &World, read: &str, plans: &[Vec<String>]) {
    let sorts = |step: &String| step.contains("Sort") || step.contains("TEMP B-TREE FOR ORDER BY");
    let engine = world.database.engine;
    assert!(!plans.iter().flatten().any(sorts), "{engine:?}, {read} sorts: {plans:#?}");
}

#[tokio::test]
async fn events_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let tx = world.store().begin().await.unwrap();
        let (heads, steps) = plans(&world, "outbox", tx.outbox().lock_unrelayed(10)).await;
        check(&world, "lock_unrelayed", &steps, "outbox_to_relay");
        check_order(&world, "lock_unrelayed", &steps);
        assert_eq!(heads.unwrap().len(), 10);
        tx.rollback().await;
        let outbox = world.ports().outbox();
        let (events, steps) = plans(&world, "outbox", outbox.relayed_after(EventPosition(1000), 10)).await;
        check(&world, "relayed_after", &steps, "outbox_in_order");
        check_order(&world, "relayed_after", &steps);
        assert_eq!(events.unwrap().len(), 10);
        let names = [Ability::UserCreated, Ability::UserUpdated];
        let read = outbox.relayed_of(world.fixtures.mine, &names, EventPosition(1000), 10);
        let (events, steps) = plans(&world, "outbox", read).await;
        // PostgreSQL reads `outbox_in_order` where most events have one of the names.
        let index = if engine == Engine::Sqlite { "outbox_of_name" } else { "outbox_in_order" };
        check(&world, "relayed_of", &steps, index);
        assert_eq!(events.unwrap().len(), 10);
        let before = OffsetDateTime::UNIX_EPOCH;
        let (_, steps) = plans(&world, "outbox", outbox.remove_before(before, 10)).await;
        check(&world, "remove_before", &steps, "outbox_by_age");
    }
}

#[tokio::test]
async fn due_deliveries_and_registrations_are_read_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (deliveries, one) = (world.ports().deliveries(), RegistrationId(1));
        let now = clock::now();
        let (waiting, steps) = plans(&world, "webhook_registrations", deliveries.waiting(now, 5)).await;
        check(&world, "waiting", &steps, "webhook_registrations_in_turn");
        assert!(!steps.iter().any(|plan| scans(engine, plan, "webhook_registrations")), "{steps:#?}");
        let ids: Vec<_> = waiting.unwrap().into_iter().map(|one| one.id).collect();
        let claim = deliveries.claim("w", &ids, now, now + Duration::MINUTE);
        let (claimed, steps) = plans(&world, "webhook_registrations", claim).await;
        assert!(!steps.iter().any(|plan| scans(engine, plan, "webhook_registrations")), "{steps:#?}");
        assert_eq!(claimed.unwrap().len(), 5);
        let (due, steps) = plans(&world, "(webhook_deliveries", deliveries.due(one, now, &[], 10)).await;
        check(&world, "due", &steps, "webhook_deliveries_due");
        check_order(&world, "due", &steps);
        let due = due.unwrap();
        assert_eq!(due.len(), 10);
        let except = [due[0].id, due[1].id];
        let (due, steps) = plans(&world, "(webhook_deliveries", deliveries.due(one, now, &except, 10)).await;
        check(&world, "due without some", &steps, "webhook_deliveries_due");
        assert_eq!(due.unwrap().len(), 10);
        let tx = world.store().begin().await.unwrap();
        let (_, steps) = plans(&world, "webhook_deliveries", tx.deliveries().release("w", one)).await;
        check(&world, "release", &steps, "webhook_deliveries_due");
        check_order(&world, "release", &steps);
        let (_, steps) = plans(
            &world,
            "webhook_deliveries",
            tx.deliveries().record(one, &[], &RegistrationHealth::default(), now),
        )
        .await;
        assert!(!steps.iter().any(|plan| scans(engine, plan, "webhook_deliveries")), "{steps:#?}");
        tx.rollback().await;
        let (before, log) = (OffsetDateTime::UNIX_EPOCH, world.ports().delivery_log());
        let (_, steps) = plans(&world, "webhook_deliveries", log.expire(before, now, 10)).await;
        check(&world, "expire", &steps, "webhook_deliveries_of_status");
        let (_, steps) =
            plans(&world, "webhook_deliveries", log.remove_ended(&[DeliveryStatus::Dead], before, 10)).await;
        check(&world, "remove_ended", &steps, "webhook_deliveries_ended");
    }
}

#[tokio::test]
async fn the_log_is_read_in_the_order_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        // On one connection, whose statements run on this thread.
        let world = world.in_transaction().await;
        let (log, mine) = (world.ports().delivery_log(), world.fixtures.mine);
        let (one, dead) = (Some(RegistrationId(1)), Some(DeliveryStatus::Delivered));
        for (organization, registration, status, index) in [
            (None, None, dead, "webhook_deliveries_of_status"),
            (None, one, None, "webhook_deliveries_of_registration"),
            (None, one, dead, "webhook_deliveries_of_registration_and_status"),
            (Some(mine), None, None, "webhook_deliveries_of_organization"),
            (Some(mine), None, dead, "webhook_deliveries_of_organization_and_status"),
            (Some(mine), one, None, "webhook_deliveries_of_registration"),
            (Some(mine), one, dead, "webhook_deliveries_of_registration_and_status"),
        ] {
            // On PostgreSQL all rows are of one organization, so that other indexes are as good.
            let filter = DeliveryFilter { registration, status, ..DeliveryFilter::default() };
            let (page, steps) =
                plans(&world, "(webhook_deliveries", log.list(organization, &filter, PAGE)).await;
            assert_eq!(page.unwrap().items.len(), 20);
            check_order(&world, index, &steps);
            if engine == Engine::Sqlite {
                check(&world, "list", &steps, index);
            }
        }
        let now = clock::now();
        let failed = ReplaySelection::Failed(RegistrationId(1));
        let (_, steps) = plans(&world, "webhook_deliveries", log.replay(None, &failed, now, 10)).await;
        check_replay(&world, &steps);
        let range = ReplaySelection::Range {
            registration: RegistrationId(1),
            since: now,
            until: now + Duration::DAY,
        };
        let (_, steps) = plans(&world, "webhook_deliveries", log.replay(None, &range, now, 10)).await;
        check(&world, "replay of a range", &steps, "webhook_deliveries_of_registration");
        let (_, steps) = plans(
            &world,
            "webhook_deliveries",
            log.registrations(None, &RegistrationFilter::default(), PAGE),
        )
        .await;
        // On PostgreSQL the deliveries of the ten registrations are all there are, so that it reads the table.
        if engine == Engine::Sqlite {
            check(&world, "figures", &steps, "webhook_deliveries_of_registration_and_status");
        }
    }
}

#[tokio::test]
async fn meetings_to_remind_of_are_read_by_a_range_of_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let now = time::macros::datetime!(2026-12-31 12:00 UTC);
        let read = world.ports().reminders().due(now, now + Duration::days(2), 10);
        let (due, steps) = plans(&world, "meetings", read).await;
        check(&world, "due reminders", &steps, "meetings_to_remind");
        assert_eq!(due.unwrap().len(), 10);
    }
}
