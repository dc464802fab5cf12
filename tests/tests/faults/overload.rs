//! More requests than there are connections to PostgreSQL.

use civitas_application::Store;
use civitas_jobs::{Job, JobOwner, JobPayload};
use civitas_kernel::{AnswerLanguages, ClientId, TokenId, random_job_id};
use civitas_tests::service::{CITIES, Service};
use civitas_tests::{Database, Engine, World};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::macros::datetime;
use tokio::time::{sleep, timeout};

/// The longest time a step of a test may take.
const SOON: Duration = Duration::from_secs(60);

/// Waits until this holds.
async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, waiting).await.expect("it holds at some time");
}

/// A store with one connection for reads and one for writes.
async fn narrow(database: &Database, wait: Duration) -> Arc<dyn Store> {
    database.engine.open_with(database.url(), 1, wait).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn background_work_has_a_connection_while_requests_wait_for_theirs() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let store = narrow(&database, SOON).await;
    let background = store.for_background().unwrap();
    let first = store.begin().await.unwrap();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.begin().await.map(drop) }
    });
    timeout(SOON / 2, background.begin()).await.expect("it does not wait").unwrap().commit().await.unwrap();
    assert!(!waiting.is_finished());
    first.commit().await.unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_overloaded_while_somebody_waits_long_for_a_connection() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let wait = Duration::from_secs(10);
    let store = narrow(&database, wait).await;
    let first = store.begin().await.unwrap();
    assert!(!store.is_overloaded(true));
    let begun = Instant::now();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.begin().await.map(drop) }
    });
    until(|| store.is_overloaded(true)).await;
    assert!(begun.elapsed() >= wait / 2);
    assert!(!store.is_overloaded(false), "reads have connections of their own");
    first.commit().await.unwrap();
    waiting.await.unwrap().unwrap();
    assert!(!store.is_overloaded(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn background_work_is_notified_of_jobs_that_requests_add() {
    for engine in Engine::BOTH {
        let Some(world) = World::fresh(engine).await else { continue };
        let background = world.store().for_background().unwrap();
        let waiting = tokio::spawn(async move { background.jobs().wait(SOON).await });
        sleep(Duration::from_millis(50)).await;
        let payload = JobPayload {
            name: "votes#create".to_owned(),
            command: serde_json::Value::Null,
            languages: AnswerLanguages::default(),
        };
        let job = Job {
            id: random_job_id(),
            organization: world.mine,
            owner: JobOwner { client: ClientId(1), user: None },
            token: TokenId(1),
            command_key: "votes#create".to_owned(),
            payload,
            attempts: 0,
            created_at: datetime!(2026-03-01 09:30 UTC),
        };
        world.ports().jobs().add(&job).await.unwrap();
        timeout(SOON / 2, waiting).await.expect("it is notified").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_writes_wait_long_others_are_refused_at_once_and_reads_are_answered() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("database_pool_size", "1")]).await;
    let (nora, body) = (
        service.user("norablum").await,
        json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}}),
    );
    let post = async || nora.post("/vote_proposals/sync", &body).await;
    let lock = service.database.hold_lock_on("votes").await;
    let others = async {
        // One has the connection, one waits for it.
        until(|| service.store.is_overloaded(true)).await;
        let begun = Instant::now();
        let refused = post().await.is(503);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!(refused.header("retry-after"), "1");
        nora.get("/proposals?per_page=1&n=1").await.is(200);
        lock.release().await;
    };
    let (first, second, ()) = tokio::join!(post(), post(), others);
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400], "one vote counts, and the second is refused");
    nora.get("/proposals?per_page=1&n=2").await.is(200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_meets_a_lock_for_long_leaves_its_worker_to_others_and_loses_no_attempt() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("workers", "1")]).await;
    let nora = service.user("norablum").await;
    // As the server says that a lock was not available in time, without the time.
    let locked = "CREATE FUNCTION locked() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$;
        CREATE TRIGGER locked BEFORE INSERT ON votes FOR EACH ROW EXECUTE FUNCTION locked()";
    service.database.execute(locked).await;
    let vote = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
    let vote = nora.post("/vote_proposals", &vote).await.is(202);
    let draft = json!({"data": {"component_id": service.id("component", "ideas")}});
    let draft = nora.post("/draft_proposals", &draft).await.is(202);
    let draft = timeout(SOON, nora.finished(&draft)).await.expect("the worker is free");
    assert_eq!(draft["status"], "completed", "{draft}");
    service.database.execute("DROP TRIGGER locked ON votes").await;
    let vote = timeout(SOON, nora.finished(&vote)).await.expect("it is tried again");
    assert_eq!(vote["status"], "completed", "{vote}");
    service.stop().await;
}
