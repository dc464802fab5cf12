//! More requests than there are connections to PostgreSQL.

use civitas_application::Store;
use civitas_kernel::{ClientId, OrganizationId, UserId};
use civitas_tests::service::{CITIES, Client, Service};
use civitas_tests::{Database, Engine, World, job};
use futures_util::future::join_all;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use time::macros::datetime;
use tokio::time::{sleep, timeout};

/// The longest time a step of a test may take.
const SOON: Duration = Duration::from_secs(60);

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
async fn background_work_is_notified_of_jobs_that_requests_add() {
    for world in World::on_both_engines().await {
        let background = world.store().for_background().unwrap();
        let waiting = tokio::spawn(async move { background.jobs().wait(SOON).await });
        sleep(Duration::from_millis(50)).await;
        let now = datetime!(2026-03-01 09:30 UTC);
        let job = job(world.mine, ClientId(1), serde_json::Value::Null, now);
        world.ports().jobs().add(&job).await.unwrap();
        timeout(SOON / 2, waiting).await.expect("it is notified").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organization_that_is_over_its_share_is_refused_alone() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("database_pool_size", "4")]).await;
    let nora = service.user("norablum").await;
    let neighbor = service.user_through("town", "full", "norablum").await;
    let (city, proposal) = (service.id("organization", "city"), service.id("proposal", "p2"));
    let held = service.store.begin().await.unwrap();
    let user = UserId(service.id("user", "norablum"));
    held.users().find_for_update(OrganizationId(city), user).await.unwrap().unwrap();
    let put = async || nora.put("/me/extended_data/sync", &json!({"data": {"k": 1}})).await;
    // One runs and waits for the row, the others wait for its permit.
    let flood = async {
        let answers = join_all((0..60).map(|_| put())).await;
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
        assert!(refused.len() >= 55, "{}", refused.len());
        assert!(refused.iter().all(|answer| answer.header("retry-after") == "1"));
    };
    let others = async {
        sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        let town = service.id_in("town", "proposal", "p2");
        let vote = json!({"proposal_id": town, "data": {"weight": 1}});
        neighbor.post("/vote_proposals/sync", &vote).await.is(200);
        service.user_through("town", "full", "luisortega").await.get("/proposals?per_page=1").await.is(200);
        let vote = json!({"proposal_id": proposal, "data": {"weight": 1}});
        service.user("luisortega").await.post("/vote_proposals/sync", &vote).await.is(200);
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    };
    tokio::join!(flood, others);
    drop(held);
    put().await.is(200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_row_is_answered_alone_after_a_short_time() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("database_pool_size", "4")]).await;
    let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
    let held = service.store.begin().await.unwrap();
    let (city, nora_id) = (service.id("organization", "city"), service.id("user", "norablum"));
    held.users().find_for_update(OrganizationId(city), UserId(nora_id)).await.unwrap().unwrap();
    let put = async |user: &Client| user.put("/me/extended_data/sync", &json!({"data": {"k": 1}})).await;
    let begun = Instant::now();
    let (waiting, ()) = tokio::join!(put(&nora), async { drop(put(&luis).await.is(200)) });
    assert_eq!(waiting.is(503).header("retry-after"), "1");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    drop(held);
    put(&nora).await.is(200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_meets_a_lock_for_long_leaves_its_worker_to_others_and_loses_no_attempt() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    // One job at once.
    let service = Service::over(database, CITIES, &[("database_pool_size", "4")]).await;
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
