//! Answers to writes with an idempotency key.

use civitas_accounts::Secret;
use civitas_application::{ANSWER_RETENTION, CleanupWorker, IdempotencyKey, IdempotentAnswer};
use civitas_kernel::{Error, UserId};
use civitas_tests::{World, commit};
use time::Duration;
use time::macros::datetime;

const NOW: time::OffsetDateTime = datetime!(2027-03-01 09:30 UTC);

fn key(world: &World, user: Option<UserId>, text: &str) -> IdempotencyKey {
    let digest = Secret::new(text).digest();
    IdempotencyKey { organization: world.fixtures.mine, client: world.fixtures.client, user, digest }
}

fn answer(request: &str) -> IdempotentAnswer {
    IdempotentAnswer { request: Secret::new(request).digest(), status: 201, sealed: "v1.sealed".to_owned() }
}

#[tokio::test]
async fn a_key_keeps_its_first_answer_until_its_time_is_over() {
    for world in World::on_both_engines().await {
        let keys = world.ports().idempotency_keys();
        let first = key(&world, None, "first");
        assert_eq!(keys.find_answer(&first).await.unwrap(), None);
        keys.save_answer(&first, &answer("a"), NOW).await.unwrap();
        let again = keys.save_answer(&first, &answer("b"), NOW).await;
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
        assert_eq!(keys.find_answer(&first).await.unwrap(), Some(answer("a")));
        let foreign = IdempotencyKey { organization: world.other, ..first.clone() };
        assert_eq!(keys.find_answer(&foreign).await.unwrap(), None);

        let late = key(&world, None, "late");
        keys.save_answer(&late, &answer("c"), NOW + Duration::HOUR).await.unwrap();
        let cleanup = CleanupWorker { store: world.database.store.clone(), jobs: None, audit: None };
        cleanup.sweep_at(NOW + ANSWER_RETENTION).await.unwrap();
        assert!(keys.find_answer(&first).await.unwrap().is_some());
        cleanup.sweep_at(NOW + ANSWER_RETENTION + Duration::SECOND).await.unwrap();
        assert_eq!(keys.find_answer(&first).await.unwrap(), None);
        assert!(keys.find_answer(&late).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn an_answer_is_kept_with_its_write_or_not_at_all() {
    for world in World::on_both_engines().await {
        let (kept, lost) = (key(&world, None, "kept"), key(&world, None, "lost"));
        commit(&*world.database.store, async |tx| {
            tx.idempotency_keys().save_answer(&kept, &answer("a"), NOW).await
        })
        .await
        .unwrap();
        let transaction = world.database.store.begin().await.unwrap();
        transaction.idempotency_keys().save_answer(&lost, &answer("a"), NOW).await.unwrap();
        transaction.rollback().await;
        let keys = world.ports().idempotency_keys();
        assert!(keys.find_answer(&kept).await.unwrap().is_some());
        assert_eq!(keys.find_answer(&lost).await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_answers_of_an_erased_user_are_deleted() {
    for world in World::on_both_engines().await {
        let keys = world.ports().idempotency_keys();
        let (mine, service) = (key(&world, Some(world.fixtures.nora), "n"), key(&world, None, "s"));
        for key in [&mine, &service] {
            keys.save_answer(key, &answer("a"), NOW).await.unwrap();
        }
        let organization = world.fixtures.mine;
        assert_eq!(keys.remove_answers_of_user(world.other, world.fixtures.nora).await.unwrap(), 0);
        assert_eq!(keys.remove_answers_of_user(organization, world.fixtures.nora).await.unwrap(), 1);
        assert_eq!(keys.find_answer(&mine).await.unwrap(), None);
        assert!(keys.find_answer(&service).await.unwrap().is_some());
    }
}
