//! An event stream that is open during the run, and opened again after each end with the id of its last event.

use crate::Outcome;
use crate::city;
use crate::client::BASE;
use crate::soak::world::{EVENT, World};
use reqwest::header::{AUTHORIZATION, HOST};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// How long the last events may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The pause before a stream is opened again.
const PAUSE: Duration = Duration::from_millis(500);

/// The open stream.
pub struct Events {
    seen: Arc<Mutex<HashSet<String>>>,
    task: JoinHandle<()>,
}

impl Events {
    /// Opens it.
    pub async fn open(address: SocketAddr, world: &World) -> Outcome<Self> {
        // Without a limit for the whole exchange.
        let http = reqwest::Client::builder().no_proxy().connect_timeout(TIMEOUT).build()?;
        let bearer = world.client.bearer().unwrap_or_default().to_owned();
        let url = format!("http://{address}{BASE}/events?types%5B%5D={EVENT}");
        let request =
            http.get(url).header(HOST, city::HOST).header(AUTHORIZATION, format!("Bearer {bearer}"));
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let mut stream = open(&request, None).await?;
        stream.chunk().await?;
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            let mut last = None;
            loop {
                last = read(stream, &shared).await.or(last);
                stream = loop {
                    sleep(PAUSE).await;
                    if let Ok(stream) = open(&request, last.as_deref()).await {
                        break stream;
                    }
                };
            }
        });
        Ok(Self { seen, task })
    }

    /// Waits until so many different events have come.
    pub async fn until(&self, events: u64) -> Outcome {
        let begun = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
            if seen >= events {
                return Ok(());
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("{seen} of {events} events came").into());
            }
            sleep(PAUSE).await;
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn open(request: &reqwest::RequestBuilder, last: Option<&str>) -> Outcome<reqwest::Response> {
    let request = request.try_clone().ok_or("a request without a body")?;
    let request = if let Some(id) = last { request.header("last-event-id", id) } else { request };
    Ok(request.send().await?.error_for_status()?)
}

/// Reads a stream to its end. Returns the id of its last event.
async fn read(mut stream: reqwest::Response, seen: &Mutex<HashSet<String>>) -> Option<String> {
    let (mut rest, mut last) = (Vec::new(), None);
    while let Ok(Some(bytes)) = stream.chunk().await {
        for id in ids(&mut rest, &bytes) {
            last = Some(id.clone());
            seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        }
    }
    last
}

/// The ids in these bytes. `rest` has the beginning of the current line.
fn ids(rest: &mut Vec<u8>, bytes: &[u8]) -> Vec<String> {
    rest.extend_from_slice(bytes);
    let mut ids = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line: Vec<u8> = rest.drain(..=end).collect();
        if let Some(id) = line.strip_prefix(b"id:") {
            ids.push(String::from_utf8_lossy(id).trim().to_owned());
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_across_the_borders_of_chunks() {
        let mut rest = Vec::new();
        let parts: [&[u8]; 3] = [b": open\n\nid: 1\nevent: x\ni", b"d: 2\ndata: \"id: 3\"\n", b"\nid:4\n"];
        let found: Vec<_> = parts.iter().flat_map(|part| ids(&mut rest, part)).collect();
        assert_eq!(found, ["1", "2", "4"]);
    }
}
