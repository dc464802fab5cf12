//! Databases in memory: conformance tests, and what a dropped transaction or store leaves.

use civitas_accounts::User;
use civitas_application::Store;
use civitas_kernel::{OrganizationId, UserId};
use civitas_storage_sqlite::in_memory;
use civitas_tests::{World, commit};
use std::time::{Duration, Instant};
use time::macros::datetime;

mod organizations {
    civitas_tests::in_memory!(in a transaction civitas_organizations::conformance: lists_organizations);
}

mod accounts {
    civitas_tests::in_memory!(in a transaction civitas_accounts::conformance:
        nicknames_are_unique_in_any_case,
        removes_roles,
        filters_roles,
        a_removed_client_takes_its_tokens_along,
    );
}

mod spaces {
    civitas_tests::in_memory!(in a transaction civitas_spaces::conformance:
        shows_components_by_the_rules,
        filters_spaces,
        negations_look_at_every_translation,
    );
}

mod proposals {
    civitas_tests::in_memory!(in a transaction civitas_proposals::conformance:
        keeps_one_draft_of_a_user,
        shows_what_is_visible,
        finds_drafts_of_their_client,
        lists_in_order_without_overlap,
        counts_final_votes_of_proposals,
        counts_votes,
    );
}

mod tasks {
    civitas_tests::in_memory!(civitas_tasks::conformance: keeps_every_member, keeps_one_task_about_a_subject);
}

mod jobs {
    civitas_tests::in_memory!(civitas_jobs::conformance: claims_the_oldest_due_jobs, wakes_who_waits);
}

fn nora() -> User {
    let now = datetime!(2026-03-01 09:30 UTC);
    User::new("nora".to_owned(), "nora@example.org".to_owned(), "Nora".to_owned(), now)
}

async fn find(store: &dyn Store, organization: OrganizationId) -> Option<UserId> {
    store.users().find_by_nickname(organization, "nora").await.unwrap().map(|(id, _)| id)
}

#[tokio::test]
async fn a_dropped_transaction_changes_nothing_and_leaves_the_database() {
    let world = World::in_memory().await;
    for _ in 0..3 {
        let transaction = world.store().begin().await.unwrap();
        transaction.users().add(world.mine, &nora()).await.unwrap();
        drop(transaction);
        assert_eq!(find(world.store(), world.mine).await, None);
    }
    let transaction = world.store().begin().await.unwrap();
    let id = transaction.users().add(world.mine, &nora()).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(find(world.store(), world.mine).await, Some(id));
    assert_eq!(find(world.store(), world.other).await, None);
    world.store().ready().await.unwrap();
    world.store().analyze().await.unwrap();
}

#[tokio::test]
async fn two_stores_share_no_data() {
    let (world, other) = (World::in_memory().await, World::in_memory().await);
    let added = commit(world.store(), async |tx| tx.users().add(world.mine, &nora()).await);
    added.await.unwrap();
    assert_eq!(world.mine, other.mine, "both count from 1");
    assert_eq!(find(other.store(), other.mine).await, None);
}

#[tokio::test]
async fn a_transaction_outlives_its_store() {
    let store = in_memory().await.unwrap();
    let transaction = store.begin().await.unwrap();
    drop(store);
    transaction.refs().add(None, "user", "nora", "1").await.unwrap();
    assert_eq!(transaction.refs().find(None, "user", "nora").await.unwrap().as_deref(), Some("1"));
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_queue_for_the_connection() {
    let world = std::sync::Arc::new(World::in_memory().await);
    let writers = (0..20).map(|number| {
        let world = world.clone();
        tokio::spawn(async move {
            let transaction = world.store().begin().await.unwrap();
            transaction.refs().add(None, "user", &number.to_string(), "1").await.unwrap();
            tokio::task::yield_now().await;
            // Every second one is dropped: the next writer gets a new connection.
            if number % 2 == 0 {
                transaction.commit().await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for number in 0..20 {
        let found = world.store().refs().find(None, "user", &number.to_string()).await.unwrap();
        assert_eq!(found.is_some(), number % 2 == 0, "{number}");
    }
}

#[tokio::test]
async fn a_read_beside_an_open_transaction_waits_for_its_end() {
    let store = in_memory().await.unwrap();
    let transaction = store.begin().await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), store.ready()).await.is_err());
    drop(transaction);
    store.ready().await.unwrap();
}

/// Creating a database is cheap enough for one in each test.
#[tokio::test]
async fn a_database_is_made_in_less_than_a_second() {
    in_memory().await.unwrap();
    let started = Instant::now();
    in_memory().await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}
