//! Wiring of webhooks: the sender with its address policy, and the background work.

use crate::background::Part;
use crate::config::Config;
use crate::secret_key;
use civitas_application::{Commands, Shares, Store};
use civitas_delivery::Sender;
use civitas_dns::DnsResolver;
use civitas_event_delivery::{DeliveryWorker, Relay, Reminders, Retention};
use civitas_kernel::{Error, Result};
use civitas_tokens::WebhookCipher;
use civitas_webhooks::{Schedule, TargetPolicy};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Which addresses may be reached.
pub fn policy(config: &Config) -> TargetPolicy {
    TargetPolicy { allowed: config.webhook_allowed_networks.clone() }
}

/// Signs and sends.
///
/// # Errors
/// `Internal` when the system has no resolver configured, or the HTTP client cannot be built.
pub fn sender(config: &Config) -> Result<Sender> {
    Sender::new(policy(config), Arc::new(DnsResolver::at(config.dns_server)?))
}

/// Encrypts the secrets of registrations.
pub fn cipher(config: &Config) -> Result<WebhookCipher> {
    let keys = secret_key::of(config).map_err(|error| Error::internal(format!("the secret key: {error}")))?;
    Ok(WebhookCipher::of(&keys))
}

/// The delays between the attempts at a delivery.
pub fn schedule(config: &Config) -> Schedule {
    let seconds = config.webhook_retry_delays_seconds.iter();
    Schedule(seconds.map(|seconds| Duration::from_secs(seconds.get().into())).collect())
}

/// The background work of webhooks.
pub(crate) struct Workers {
    store: Arc<dyn Store>,
    relay: Relay,
    deliveries: DeliveryWorker,
    reminders: Reminders,
    retention: Retention,
}

impl Workers {
    /// Workers that stop when `stop` is true.
    pub(crate) fn of(
        config: &Config,
        commands: &Commands,
        shares: &Arc<Shares>,
        stop: &watch::Receiver<bool>,
    ) -> Result<Self> {
        let (store, schedule) = (commands.store(), schedule(config));
        let (sender, cipher) = (Arc::new(sender(config)?), Arc::new(cipher(config)?));
        let (shares, stop) = (shares.clone(), stop.clone());
        Ok(Self {
            store: store.clone(),
            relay: Relay::new(store.clone()),
            deliveries: DeliveryWorker::new(store.clone(), sender, cipher, schedule, shares, stop),
            reminders: Reminders::new(store.clone(), commands.committer().clone()),
            retention: Retention::new(store.clone(), config.event_retention_days.as_days()),
        })
    }

    /// Its parts, which run until `stop` is true. `is_alone`: no other server has the database, so leases of a previous one
    /// are void.
    pub(crate) async fn parts(self, is_alone: bool, stop: &watch::Receiver<bool>) -> Vec<Part> {
        if is_alone && let Err(error) = self.store.deliveries().take_over().await {
            tracing::warn!(%error, "deliveries of the previous server wait until its leases expire");
        }
        vec![
            Part::new("relay", self.relay.run(stop.clone())),
            Part::new("deliveries", self.deliveries.run()),
            Part::new("reminders", self.reminders.run(stop.clone())),
            Part::new("event retention", self.retention.run(stop.clone())),
        ]
    }
}
