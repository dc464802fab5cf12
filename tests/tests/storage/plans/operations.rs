//! Logs, searches and counts of administrators.

use super::webhooks::{check_order, moment, uuid};
use super::{PAGE, RECORDS, plans, recorder, scans, statements};
use civitas_accounts::{UserSearch, UserSort, UserStateFilter};
use civitas_application::AlertKind;
use civitas_jobs::{JobLogFilter, JobStatus};
use civitas_kernel::{LogRequest, LogStart, UserId, clock};
use civitas_tests::{Engine, World, commit};
use diesel::connection::set_default_instrumentation;
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// [`RECORDS`] jobs of two organizations, and as many accounts; one of a hundred is blocked, locked, an administrator.
async fn prepared(engine: Engine) -> Option<World> {
    set_default_instrumentation(recorder).unwrap();
    let world = World::fresh(engine).await?;
    let (mine, other, client) = (world.fixtures.mine, world.other, world.fixtures.client);
    let (id, at) = (uuid(engine, "n"), moment(engine, "2026-01-01 09:00:00+00:00"));
    let numbers = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {RECORDS}) "
    );
    let sql = format!(
        "{numbers} INSERT INTO jobs (id, organization_id, api_client_id, access_token_id, command_key, status, \
         payload, attempts, due_at, created_at, updated_at) SELECT {id}, \
         CASE n % 2 WHEN 0 THEN {mine} ELSE {other} END, {client} + n % 3, 1, \
         CASE n % 3 WHEN 0 THEN 'votes#create' ELSE 'posts#create' END, \
         CASE n % 4 WHEN 0 THEN 'failed' ELSE 'completed' END, '{{}}', 1, {at}, {at}, {at} FROM numbers"
    );
    world.database.execute(&sql).await;
    let rare = format!("CASE n % 100 WHEN 0 THEN {at} END");
    let sql = format!(
        "{numbers} INSERT INTO users (organization_id, nickname, nickname_folded, email, name, admin, confirmed_at, \
         blocked_at, locked_at, managed, extended_data, extended_data_text, created_at, updated_at) \
         SELECT {mine}, 'P' || n, 'p' || n, 'p' || n || '@example.org', 'P', n % 100 = 0, \
         CASE WHEN n % 100 <> 0 THEN {at} END, {rare}, {rare}, false, '{{}}', '{{}}', {at}, {at} FROM numbers"
    );
    world.database.execute(&sql).await;
    world.store().analyze().await.unwrap();
    Some(world)
}

/// The same on one connection, whose statements run on this thread.
async fn filled(engine: Engine) -> Option<World> {
    Some(prepared(engine).await?.in_transaction().await)
}

/// Checks that no plan scans the table. On SQLite, whose choice does not depend on the rows of a test, that one of them
/// reads this index.
fn check(world: &World, read: &str, plans: &[Vec<String>], table: &str, index: &str) {
    let engine = world.database.engine;
    // Reading an index from its beginning is no scan of the table.
    let by_index = |step: &String| step.contains("INDEX") || step.contains("Bitmap");
    for plan in plans {
        let rest: Vec<String> = plan.iter().filter(|step| !by_index(step)).cloned().collect();
        assert!(!scans(engine, &rest, table), "{engine:?}, {read}: {plans:#?}");
    }
    let reads = |step: &String| step.split([' ', '(']).any(|word| word == index);
    if engine == Engine::Sqlite {
        assert!(plans.iter().flatten().any(reads), "{engine:?}, {read} without {index}: {plans:#?}");
    }
}

#[tokio::test]
async fn the_log_of_jobs_is_read_in_the_order_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let log = world.ports().job_log();
        let any = JobLogFilter::default;
        for (filter, index) in [
            (any(), "jobs_in_order"),
            (JobLogFilter { organization: Some(world.other), ..any() }, "jobs_of_organization"),
            (JobLogFilter { status: Some(JobStatus::Failed), ..any() }, "jobs_of_status"),
            (JobLogFilter { command: Some("votes#create".to_owned()), ..any() }, "jobs_of_command"),
            (JobLogFilter { client: Some("id_of_fixtures".to_owned()), ..any() }, "jobs_of_client"),
        ] {
            let newest = LogRequest { start: LogStart::Newest, limit: 20 };
            let (page, steps) = plans(&world, "jobs", log.list(&filter, newest)).await;
            check(&world, "newest", &steps, "jobs", index);
            check_order(&world, index, &steps);
            let page = page.unwrap();
            assert!(page.items.len() == 20 && page.has_older);
            let last = &page.items[19].summary;
            let older = LogRequest { start: LogStart::OlderThan(last.created_at, last.id), limit: 20 };
            let (page, steps) = plans(&world, "jobs", log.list(&filter, older)).await;
            check(&world, "older", &steps, "jobs", index);
            check_order(&world, index, &steps);
            assert_eq!(page.unwrap().items.len(), 20);
        }
        let (_, steps) = plans(&world, "jobs", log.remove_ended(OffsetDateTime::UNIX_EPOCH, 10)).await;
        check(&world, "remove_ended", &steps, "jobs", "jobs_ended");
        let (_, steps) = plans(&world, "jobs", log.remove_of_user(world.mine, UserId(7), 10)).await;
        check(&world, "remove_of_user", &steps, "jobs", "jobs_of_user");
    }
}

/// The choice of PostgreSQL depends on the rows of a test: it reads an empty table as a whole.
#[tokio::test]
async fn the_rows_of_a_removed_organization_and_of_a_client_are_found_by_indexes() {
    let Some(world) = prepared(Engine::Sqlite).await else { return };
    let store = world.store();
    for organization in [world.other, world.mine] {
        commit(store, async |tx| tx.removals().remove_organization(organization).await).await.unwrap();
    }
    store.clients().remove(world.fixtures.client).await.unwrap();
    let mut deleted = BTreeSet::new();
    loop {
        let mut rows = 0;
        let batch = async { rows = store.removals().remove_rows(1000).await.unwrap() };
        for (sql, plan) in statements(&world, batch).await {
            let Some(table) = sql.strip_prefix("DELETE FROM ").and_then(|rest| rest.split(' ').next()) else {
                continue;
            };
            for step in plan.iter().filter(|step| !step.contains("USING")) {
                let Some(scanned) = step.trim().strip_prefix("SCAN ") else { continue };
                // A table with a few rows is read as a whole.
                let is_small = scanned == table && world.database.count(table, "true").await < 50;
                assert!(is_small, "{sql}: {plan:#?}");
            }
            deleted.insert(table.to_owned());
        }
        if rows == 0 {
            break;
        }
    }
    assert!(
        deleted.len() > 30 && deleted.contains("organizations") && deleted.contains("api_clients"),
        "{deleted:?}"
    );
}

#[tokio::test]
async fn each_kind_that_needs_attention_is_counted_by_an_index() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let store = world.ports().operations();
        for (kind, table, index) in [
            (AlertKind::FailedJobs, "jobs", "jobs_of_status"),
            (AlertKind::DisabledRegistrations, "webhook_registrations", "webhook_registrations_disabled"),
            (AlertKind::PausedRegistrations, "webhook_registrations", "webhook_registrations_paused"),
            (AlertKind::DeadDeliveries, "webhook_deliveries", "webhook_deliveries_of_status"),
            (AlertKind::WaitingDeliveries, "webhook_deliveries", "webhook_deliveries_of_status"),
            (AlertKind::PendingHosts, "organization_hosts", "organization_hosts_pending"),
            (AlertKind::LockedAdministrators, "users", "users_locked"),
            (AlertKind::FailedMails, "tasks", "tasks_retried"),
        ] {
            let (found, steps) = plans(&world, table, store.find(kind, clock::now())).await;
            assert!(found.is_ok(), "{engine:?}, {kind:?}");
            // PostgreSQL reads tables of a few rows, which most of these are here.
            if engine == Engine::Sqlite {
                check(&world, &format!("{kind:?}"), &steps, table, index);
            }
        }
    }
}

#[tokio::test]
async fn people_are_searched_by_ranges_of_indexes() {
    for engine in Engine::BOTH {
        let Some(world) = filled(engine).await else { continue };
        let (users, mine) = (world.ports().users(), world.fixtures.mine);
        let any = UserSearch::default;
        let search = UserSearch { sort: UserSort::Nickname, ..any() };
        let (page, steps) = plans(&world, "users", users.search(mine, &search, PAGE)).await;
        check(&world, "by nickname", &steps, "users", "users_by_nickname");
        check_order(&world, "by nickname", &steps);
        assert_eq!(page.unwrap().items.len(), 20);
        for (state, index) in [
            (None, "users_in_order"),
            (Some(UserStateFilter::Active), "users_in_order"),
            (Some(UserStateFilter::Blocked), "users_blocked"),
            (Some(UserStateFilter::Locked), "users_locked"),
            (Some(UserStateFilter::Unconfirmed), "users_unconfirmed"),
            (Some(UserStateFilter::Admin), "users_general_admins"),
        ] {
            let (page, steps) =
                plans(&world, "users", users.search(mine, &UserSearch { state, ..any() }, PAGE)).await;
            check(&world, index, &steps, "users", index);
            assert_eq!(page.unwrap().items.len(), 20, "{engine:?}, {state:?}");
        }
        let search = UserSearch { text: Some("p29".to_owned()), ..any() };
        let (page, steps) = plans(&world, "users", users.search(mine, &search, PAGE)).await;
        check(&world, "nicknames", &steps, "users", "users_by_nickname");
        check(&world, "addresses", &steps, "users", "users_by_email");
        assert_eq!(page.unwrap().items.len(), 20);
    }
}
