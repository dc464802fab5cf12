//! PostgreSQL with a standby, which only reads and lags behind.

use super::cluster::{Cluster, Stop};
use civitas_tests::{CITIES, Client, Database, Service};
use reqwest::StatusCode;
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
