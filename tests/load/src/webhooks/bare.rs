//! A bare HTTP client: sends the same body with as many headers, reads nothing, signs nothing, records nothing.

use super::receiver::{Counted, Receiver};
use crate::Outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// Requests at a time: those of a registration.
const AT_ONCE: usize = 10;
const TIMEOUT: Duration = Duration::from_secs(15);
/// Names and values with the lengths of real ones.
const HEADERS: [(&str, &str); 8] = [
    ("Content-Type", "application/json"),
    ("User-Agent", "civitas-webhook/1"),
    ("X-Webhook-Timestamp", "1767225600"),
    ("X-Webhook-Signature", "v1=85c2654024aa8ba30b9bd2fe85d551b001194ce31dfeb3d8b1e89cf42381d966"),
    ("X-Webhook-Id", "019ab0c2-7d1e-7c3a-9f52-3a8a4f5d2b11"),
    ("Webhook-Id", "019ab0c2-7d1e-7c3a-9f52-3a8a4f5d2b11"),
    ("Webhook-Timestamp", "1767225600"),
    ("Webhook-Signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
];

/// Sends so many requests, and returns what the receiver counted.
pub async fn run(body: &[u8], requests: u64) -> Outcome<Counted> {
    let receiver = Receiver::start()?;
    let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()?;
    let next = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (http, next, url) = (http.clone(), next.clone(), receiver.url(0));
        let body = String::from_utf8(body.to_vec())?;
        tasks.spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < requests {
                let request = HEADERS
                    .iter()
                    .fold(http.post(&url), |request, (name, value)| request.header(*name, *value));
                request.body(body.clone()).send().await?.error_for_status()?.bytes().await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    receiver.until(requests).await
}
