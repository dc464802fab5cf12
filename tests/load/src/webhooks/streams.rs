//! Idle event streams: the memory of the server, and the time from a change to its event on all of them.

use super::STREAMED;
use crate::Outcome;
use crate::city::{self, nickname};
use crate::client::{BASE, Client};
use crate::process::Process;
use reqwest::header::{AUTHORIZATION, HOST};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Clients of the streams. Each has ten at most.
pub const CLIENTS: u64 = 100;
/// Changes that are measured.
const CHANGES: u64 = 5;
/// The time before memory is read.
const REST: Duration = Duration::from_secs(5);
/// The longest time until an event is on all streams, or a stream is open.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The public name of a client.
pub fn client_id(number: u64) -> String {
    format!("stream_client_{number}")
}

/// Its secret.
pub fn client_secret(number: u64) -> String {
    format!("stream_secret_of_client_{number}")
}

/// What was measured.
pub struct Opened {
    /// Memory of the server before the streams were opened, in KiB.
    pub before: u64,
    /// With all of them open and idle.
    pub after: u64,
    /// From the request of a change to its event on the first stream; the median.
    pub first: Duration,
    /// On the last one.
    pub last: Duration,
}

/// Opens the streams, waits, and changes something several times.
pub async fn measure(server: &Process, streams: u64) -> Outcome<Opened> {
    let client = Client::new(server.address)?;
    let tokens = tokens(&client).await?;
    // Without a limit for the whole exchange.
    let http = reqwest::Client::builder().no_proxy().connect_timeout(TIMEOUT).build()?;
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    // One stream before the first measurement, so that what all streams share is not counted.
    tasks.spawn(read(open(&http, server, &tokens[0]).await?, sender.clone()));
    sleep(REST).await;
    let before = server.resident()?;
    for number in 1..streams {
        let token = usize::try_from(number % CLIENTS)?;
        tasks.spawn(read(open(&http, server, &tokens[token]).await?, sender.clone()));
    }
    sleep(REST).await;
    let after = server.resident()?;
    let bearer = client.token_for("public proposals").await?;
    let list = format!("{BASE}/components/proposal_components");
    let component = client.bearing(&bearer).get(&list, None).await?.is(200)?.json()?["data"][0]["id"].clone();
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    for change in 0..CHANGES {
        let author = client.bearing(&client.token(Some(&nickname(change))).await?);
        let begun = Instant::now();
        let body = json!({"data": {"component_id": component}});
        author.post(&format!("{BASE}/draft_proposals/sync"), &body, None).await?.is(200)?;
        let mut times = Vec::new();
        for _ in 0..streams {
            let at: Instant = timeout(TIMEOUT, events.recv()).await?.ok_or("the streams ended")?;
            times.push(at.saturating_duration_since(begun));
        }
        firsts.extend(times.iter().min());
        lasts.extend(times.iter().max());
    }
    tasks.abort_all();
    Ok(Opened { before, after, first: median(firsts)?, last: median(lasts)? })
}

fn median(mut times: Vec<Duration>) -> Outcome<Duration> {
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().ok_or("no change")?)
}

async fn tokens(client: &Client) -> Outcome<Vec<String>> {
    let mut tokens = Vec::new();
    for number in 0..CLIENTS {
        let grant = json!({"grant_type": "client_credentials", "client_id": client_id(number),
            "client_secret": client_secret(number), "scope": "webhooks"});
        let answer = client.post("/oauth/token", &grant, None).await?.is(200)?.json()?;
        tokens.push(answer["access_token"].as_str().ok_or("an answer without token")?.to_owned());
    }
    Ok(tokens)
}

/// Opens a stream; it has sent its first bytes.
async fn open(http: &reqwest::Client, server: &Process, token: &str) -> Outcome<reqwest::Response> {
    let url = format!("http://{}{BASE}/events?types%5B%5D={STREAMED}", server.address);
    let request = http.get(url).header(HOST, city::HOST).header(AUTHORIZATION, format!("Bearer {token}"));
    let mut stream = timeout(TIMEOUT, request.send()).await??.error_for_status()?;
    timeout(TIMEOUT, stream.chunk()).await??.ok_or("a stream that ended at once")?;
    Ok(stream)
}

/// Reads a stream, and sends the time of each event.
async fn read(mut stream: reqwest::Response, events: mpsc::UnboundedSender<Instant>) {
    let mut lines = EventLines::default();
    while let Ok(Some(bytes)) = stream.chunk().await {
        for _ in 0..lines.count(&bytes) {
            if events.send(Instant::now()).is_err() {
                return;
            }
        }
    }
}

/// Counts the lines that begin with `event:`, across the borders of chunks.
#[derive(Default)]
struct EventLines {
    /// The beginning of the current line.
    line: Vec<u8>,
}

impl EventLines {
    const PREFIX: &[u8] = b"event:";

    fn count(&mut self, bytes: &[u8]) -> usize {
        let mut found = 0;
        for byte in bytes {
            if *byte == b'\n' {
                self.line.clear();
            } else if self.line.len() < Self::PREFIX.len() {
                self.line.push(*byte);
                found += usize::from(self.line == Self::PREFIX);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_across_the_borders_of_chunks() {
        let mut lines = EventLines::default();
        let parts: [&[u8]; 5] = [
            b": open\n\nid: 1\neve",
            b"nt: user.created\ndata: \"event: x\"\n",
            b"\n: event: none\n",
            b"event",
            b":x\n\n",
        ];
        assert_eq!(parts.map(|part| lines.count(part)), [0, 1, 0, 0, 1]);
    }
}
