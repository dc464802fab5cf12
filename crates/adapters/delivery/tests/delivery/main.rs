//! The sender against real receivers on this machine.

#![expect(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod answers;
mod exchange;
mod hostile;
mod receiver;
mod tls;

use async_trait::async_trait;
use civitas_delivery::{HttpWebhookSender, Timeouts};
use civitas_kernel::{Result, clock};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryId, ReceiverResponse, SendErrorKind, SignedRequest, SigningSecret, TargetPolicy,
    TargetResolver, WebhookSender,
};
use rustls::RootCertStore;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";
const BODY: &str = r#"{"type":"proposal_creation.succeeded","data":{"title":{"en":"Café & bikes"}}}"#;
/// Short, so that tests of time limits take no longer.
const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_millis(400), exchange: Duration::from_millis(800) };

/// A resolver with a table of names. A name with several lists gives one after the other, and then the last one.
#[derive(Default)]
struct Table(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Table {
    fn of(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let row = |(name, lists): &(&str, &[&[&str]])| {
            ((*name).to_owned(), lists.iter().map(addresses).collect::<Vec<Vec<IpAddr>>>())
        };
        Arc::new(Self(Mutex::new(names.iter().map(row).collect())))
    }
}

#[async_trait]
impl TargetResolver for Table {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>> {
        let mut table = self.0.lock().unwrap();
        let Some(lists) = table.get_mut(name.trim_end_matches('.')) else { return Ok(Vec::new()) };
        Ok(if lists.len() > 1 { lists.remove(0) } else { lists[0].clone() })
    }
}

/// Permits loopback addresses.
fn loopback() -> TargetPolicy {
    TargetPolicy { allowed: ["127.0.0.0/8", "::1/128"].map(|network| network.parse().unwrap()).to_vec() }
}

/// A sender that may reach receivers on this machine; `hooks.example` is one.
fn sender() -> HttpWebhookSender {
    let names = Table::of(&[("hooks.example", &[&["127.0.0.1"]])]);
    HttpWebhookSender::with_timeouts(loopback(), names, TIMEOUTS, RootCertStore::empty()).unwrap()
}

async fn attempt(sender: &HttpWebhookSender, url: &str) -> DeliveryAttempt {
    let secret = SigningSecret::new(SECRET);
    let message =
        SignedRequest { url, secret: &secret, id: DeliveryId::generate(), at: clock::now(), body: BODY };
    let attempt = sender.send(message, 3).await;
    assert_eq!((attempt.number, attempt.at), (3, message.at));
    attempt
}

/// The answer to an attempt.
async fn answered(sender: &HttpWebhookSender, url: &str) -> ReceiverResponse {
    attempt(sender, url).await.result.unwrap_or_else(|error| panic!("{url}: {error:?}"))
}

/// The kind of the error of an attempt.
async fn failed(sender: &HttpWebhookSender, url: &str) -> SendErrorKind {
    let attempt = attempt(sender, url).await;
    let error = attempt.result.expect_err(url);
    assert!(!error.cause.is_empty(), "{url}: {error:?}");
    error.kind
}
