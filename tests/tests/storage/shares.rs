//! What clients and organizations store.

use civitas_accounts::Secret;
use civitas_application::{IdempotencyKey, IdempotentAnswer, SharedResource, StoredUse};
use civitas_attachments::{FileState, StoredFile, Upload};
use civitas_kernel::{ClientId, FileId, OrganizationId, clock};
use civitas_tests::{Engine, World};
use civitas_webhooks::{Registration, SealedSecret};
use serde_json::{Value, json};
use time::Duration;

/// What the organization of the fixtures and this client use.
async fn used(world: &World, share: SharedResource, client: Option<ClientId>) -> (u64, u64) {
    let store = world.store().shares();
    let StoredUse { client, tenant } = store.count_stored(share, world.fixtures.mine, client).await.unwrap();
    (client, tenant)
}

/// What each organization uses.
async fn by_tenant(world: &World, share: SharedResource, limit: i64) -> Vec<(OrganizationId, u64)> {
    world.store().shares().count_stored_by_tenant(share, limit).await.unwrap()
}

/// An upload of so many bytes that was requested so many minutes ago.
async fn upload(
    world: &World,
    of: (OrganizationId, ClientId),
    byte_size: i64,
    minutes: i64,
    file: Option<FileId>,
) {
    let upload = Upload {
        client: of.1,
        digest: String::new(),
        filename: "a.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        byte_size,
        checksum: String::new(),
        file,
        created_at: clock::now() - Duration::minutes(minutes),
    };
    world.store().uploads().add(of.0, &upload).await.unwrap();
}

#[tokio::test]
async fn uploads_count_while_they_are_open_and_while_they_have_a_file() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (mine, client, second) =
            (world.fixtures.mine, world.fixtures.client, world.fixtures.other_client);
        let file = StoredFile::for_test(clock::now(), FileState::Stored);
        let file = world.store().files().add(mine, &file).await.unwrap();
        upload(&world, (mine, client), 1, 0, None).await;
        upload(&world, (mine, client), 10, 14, None).await;
        upload(&world, (mine, client), 100, 16, None).await;
        upload(&world, (mine, client), 1_000, 16, Some(file)).await;
        upload(&world, (mine, second), 10_000, 0, None).await;
        upload(&world, (world.other, world.other_client), 100_000, 0, None).await;
        let share = SharedResource::UnattachedFiles;
        assert_eq!(used(&world, share, Some(client)).await, (1_011, 11_011), "{engine:?}");
        assert_eq!(used(&world, share, Some(second)).await, (10_000, 11_011), "{engine:?}");
        assert_eq!(used(&world, share, None).await, (0, 11_011), "{engine:?}");
        assert_eq!(by_tenant(&world, share, 9).await, [(world.other, 100_000), (mine, 11_011)]);
        assert_eq!(by_tenant(&world, share, 1).await, [(world.other, 100_000)]);
    }
}

/// A job that was accepted so many hours ago; with a result if it has ended. Its bytes.
async fn job(world: &World, client: ClientId, hours: i64, result: Option<Value>) -> u64 {
    let at = clock::now() - Duration::hours(hours);
    let job = civitas_tests::job(world.fixtures.mine, client, json!({"title": "Été"}), at);
    let bytes = serde_json::to_vec(&job.payload).unwrap().len() as u64;
    let (jobs, now) = (world.store().jobs(), clock::now());
    jobs.add(&job).await.unwrap();
    let Some(result) = result else { return bytes };
    let claimed = jobs.claim("worker", now, now + Duration::MINUTE, 1).await.unwrap();
    assert_eq!(claimed.first().map(|claimed| claimed.id), Some(job.id));
    assert_eq!(used(world, SharedResource::Jobs, Some(client)).await.0 > 0, hours < 24, "it runs");
    jobs.end("worker", job.id, Ok(&result), clock::now()).await.unwrap();
    if result.is_null() { 0 } else { result.to_string().len() as u64 }
}

#[tokio::test]
async fn jobs_count_for_a_day_and_until_they_have_ended() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (client, second) = (world.fixtures.client, world.fixtures.other_client);
        job(&world, second, 25, Some(json!("x".repeat(1_000)))).await;
        assert_eq!(used(&world, SharedResource::Jobs, Some(second)).await, (0, 0), "{engine:?}: a day later");
        let ended = job(&world, client, 23, Some(json!({"id": "ü"}))).await;
        assert_eq!(ended, 11);
        let ended = ended + job(&world, client, 0, Some(Value::Null)).await;
        let own = ended + job(&world, client, 0, None).await + job(&world, client, 25, None).await;
        let all = own + job(&world, second, 1, None).await;
        assert_eq!(used(&world, SharedResource::Jobs, Some(client)).await, (own, all), "{engine:?}");
        assert_eq!(used(&world, SharedResource::Jobs, Some(second)).await, (all - own, all), "{engine:?}");
        assert_eq!(by_tenant(&world, SharedResource::Jobs, 9).await, [(world.fixtures.mine, all)]);
    }
}

#[tokio::test]
async fn answers_count_with_what_is_stored_of_them_and_registrations_by_their_number() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let (mine, client, now) = (world.fixtures.mine, world.fixtures.client, clock::now());
        for (text, sealed) in [("a", "v1.sealed"), ("b", "v1.sealed too")] {
            let digest = Secret::new(text).digest();
            let key = IdempotencyKey { organization: mine, client, user: None, digest: digest.clone() };
            let answer = IdempotentAnswer { request: digest, status: 200, sealed: sealed.to_owned() };
            world.store().idempotency_keys().save_answer(&key, &answer, now).await.unwrap();
        }
        assert_eq!(
            used(&world, SharedResource::IdempotentAnswers, Some(client)).await,
            (22, 22),
            "{engine:?}"
        );
        assert_eq!(by_tenant(&world, SharedResource::IdempotentAnswers, 9).await, [(mine, 22)]);

        for (client, organization, path) in
            [(client, Some(mine), "a"), (client, Some(mine), "b"), (world.wide_client, None, "c")]
        {
            let url = format!("https://hooks.example/{path}");
            let registration = Registration::new(client, organization, url, SealedSecret(String::new()), now);
            world.store().registrations().add(&registration).await.unwrap().unwrap();
        }
        assert_eq!(used(&world, SharedResource::Registrations, Some(client)).await, (2, 2), "{engine:?}");
        assert_eq!(
            used(&world, SharedResource::Registrations, Some(world.wide_client)).await.0,
            1,
            "{engine:?}"
        );
        assert_eq!(by_tenant(&world, SharedResource::Registrations, 9).await, [(mine, 2)]);
    }
}
