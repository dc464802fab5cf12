//! Drafts: created, written and published by their users, one after the other.

use crate::Outcome;
use crate::client::{BASE, Client};
use crate::measure::Figures;
use crate::server::Server;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Users who write at the same time. Each has one draft at most.
pub const AT_ONCE: usize = 16;

/// Writes drafts for so many seconds. A draft counts when it is published; it is three requests.
pub async fn publish(server: &Server, seconds: u64) -> Outcome<Figures> {
    let (started, length) = (Instant::now(), Duration::from_secs(seconds));
    let mut users = JoinSet::new();
    for voter in server.pairs.voters.iter().take(AT_ONCE) {
        let (client, component) = (server.client.bearing(&voter.bearer), server.component);
        users.spawn(async move {
            let mut times = Vec::new();
            while started.elapsed() < length {
                let asked = Instant::now();
                draft(&client, component).await?;
                times.push(asked.elapsed());
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = users.join_next().await {
        times.extend(done??);
    }
    Figures::of(times, started.elapsed()).ok_or_else(|| "no draft was published".into())
}

async fn draft(client: &Client, component: u64) -> Outcome {
    let drafts = format!("{BASE}/draft_proposals");
    let body = json!({"data": {"component_id": component}});
    let draft = client.post(&format!("{drafts}/sync"), &body, None).await?.is(200)?.json()?;
    let draft = format!("{drafts}/{}", draft["data"]["id"].as_str().ok_or("a draft without id")?);
    let body = json!({"data": {"title": "Benches along the river",
        "body": "Four benches between the two bridges would be enough for a rest on the way."}});
    client.call("PUT", &format!("{draft}/sync"), body.to_string()).await?.is(200)?;
    client.call("POST", &format!("{draft}/publish/sync"), String::new()).await?.is(200)?;
    Ok(())
}
