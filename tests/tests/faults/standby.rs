//! PostgreSQL with a standby, which only reads and lags behind.

use super::cluster::{Cluster, Stop};
use civitas_tests::{CITIES, Client, Database, Service};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The longest time until the new server is used.
const SOON: Duration = Duration::from_secs(20);

/// Votes, and reads the vote at once: a read from a server that lags behind would not always see it.
async fn vote_and_read(voter: &Client, proposal: i64) {
    let vote = json!({"proposal_id": proposal, "data": {"weight": 1}});
    let begun = Instant::now();
    loop {
        let answer = voter.post("/vote_proposals/sync", &vote).await;
        if answer.status != StatusCode::SERVICE_UNAVAILABLE {
            answer.is(200);
            break;
        }
        assert!(begun.elapsed() < SOON, "{}", answer.text);
        sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(voted(voter, proposal).await, 1);
}

async fn voted(voter: &Client, proposal: i64) -> Value {
    let answer = voter.get(&format!("/proposals/{proposal}")).await.is(200);
    answer.data()["meta"]["voted"]["weight"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_host_that_only_reads_is_used_when_it_can_write() {
    let Some(primary) = Cluster::make() else { return };
    let database = Database::postgres_at(&primary.url()).await;
    let standby = primary.standby();
    let url = format!("postgres://civitas@{},{}/civitas", standby.address(), primary.address());
    let service = Service::over(database, CITIES, &[("database_url", &url)]).await;
    let (nora, mary) = (service.user("norablum").await, service.user("maryadmin").await);
    let proposal = service.id("proposal", "p2");
    vote_and_read(&nora, proposal).await;

    // It sends all it has written to the standby before it ends.
    primary.stop(Stop::InOrder);
    standby.promote();
    vote_and_read(&mary, proposal).await;
    assert_eq!(voted(&nora, proposal).await, 1);
    service.stop().await;
}

/// The server is lost while a commit waits for a standby.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_no_standby_confirms_is_not_acknowledged_and_is_found_by_its_idempotency_key() {
    let Some(primary) = Cluster::make() else { return };
    let service = Service::over(Database::postgres_at(&primary.url()).await, CITIES, &[]).await;
    let nora = service.user("norablum").await;
    let proposal = service.id("proposal", "p2");
    let vote = json!({"proposal_id": proposal, "data": {"weight": 1}});
    let keyed = async || {
        let headers = [("idempotency-key", "once")];
        nora.send(Method::POST, "/vote_proposals/sync", &headers, Some(&vote)).await
    };
    primary.execute(&["ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"]);
    sleep(Duration::from_secs(1)).await;
    let loss = async {
        sleep(Duration::from_secs(2)).await;
        primary.execute(&["ALTER SYSTEM RESET synchronous_standby_names"]);
        primary.stop(Stop::Crash);
    };
    let (answer, ()) = tokio::join!(keyed(), loss);
    assert_ne!(answer.is(503).header("retry-after"), "");
    primary.start();
    let begun = Instant::now();
    let mut answer = keyed().await;
    while answer.status == StatusCode::SERVICE_UNAVAILABLE || answer.status == StatusCode::CONFLICT {
        assert!(begun.elapsed() < SOON, "{}", answer.text);
        sleep(Duration::from_millis(200)).await;
        answer = keyed().await;
    }
    assert_eq!(answer.is(200).header("idempotent-replayed"), "true", "it was committed");
    assert_eq!(voted(&nora, proposal).await, 1);
    service.stop().await;
}
