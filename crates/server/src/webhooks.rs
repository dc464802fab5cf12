//! Wiring of webhooks: the sender with its address policy, and the background work.

use crate::background::BackgroundTask;
use crate::config::Config;
use crate::secret_key;
use civitas_application::{CommandExecutor, Shares, Store};
use civitas_delivery::HttpWebhookSender;
use civitas_dns::DnsResolver;
use civitas_event_delivery::{DeliveryWorker, OutboxRelay, ReminderWorker, RetentionWorker};
use civitas_kernel::{Error, Result};
use civitas_tokens::WebhookCipher;
use civitas_webhooks::{RetrySchedule, TargetPolicy};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Which addresses may be reached.
pub fn target_policy(config: &Config) -> TargetPolicy {
    TargetPolicy { allowed: config.webhook_allowed_networks.clone() }
}

/// Signs and sends.
///
/// # Errors
/// `Internal` when the system has no resolver configured, or the HTTP client cannot be built.
pub fn webhook_sender(config: &Config) -> Result<HttpWebhookSender> {
    HttpWebhookSender::new(target_policy(config), Arc::new(DnsResolver::with_server(config.dns_server)?))
}

/// Encrypts the secrets of registrations.
pub fn webhook_cipher(config: &Config) -> Result<WebhookCipher> {
    let keys =
        secret_key::load(config).map_err(|error| Error::internal(format!("the secret key: {error}")))?;
    Ok(WebhookCipher::new(&keys))
}

/// The delays between the attempts at a delivery.
pub fn retry_schedule(config: &Config) -> RetrySchedule {
    let seconds = config.webhook_retry_delays_seconds.iter();
    RetrySchedule(seconds.map(|seconds| Duration::from_secs(seconds.get().into())).collect())
}

/// The background work of webhooks.
pub(crate) struct WebhookWorkers {
    store: Arc<dyn Store>,
    relay: OutboxRelay,
    deliveries: DeliveryWorker,
    reminders: ReminderWorker,
    retention: RetentionWorker,
}

impl WebhookWorkers {
    /// Workers that stop when `stop` is true.
    pub(crate) fn new(
        config: &Config,
        commands: &CommandExecutor,
        shares: &Arc<Shares>,
        stop: &watch::Receiver<bool>,
    ) -> Result<Self> {
        let (store, schedule) = (commands.store(), retry_schedule(config));
        let (sender, cipher) = (Arc::new(webhook_sender(config)?), Arc::new(webhook_cipher(config)?));
        let (shares, stop) = (shares.clone(), stop.clone());
        Ok(Self {
            store: store.clone(),
            relay: OutboxRelay::new(store.clone()),
            deliveries: DeliveryWorker::new(store.clone(), sender, cipher, schedule, shares, stop),
            reminders: ReminderWorker::new(store.clone(), commands.committer().clone()),
            retention: RetentionWorker::new(store.clone(), config.event_retention_days.as_days()),
        })
    }

    /// Its tasks, which run until `stop` is true. `is_alone`: no other server has the database, so leases of a previous one
    /// are void.
    pub(crate) async fn into_tasks(
        self,
        is_alone: bool,
        stop: &watch::Receiver<bool>,
    ) -> Vec<BackgroundTask> {
        if is_alone && let Err(error) = self.store.deliveries().reclaim_all().await {
            tracing::warn!(%error, "deliveries of the previous server wait until its leases expire");
        }
        vec![
            BackgroundTask::new("relay", self.relay.run(stop.clone())),
            BackgroundTask::new("deliveries", self.deliveries.run()),
            BackgroundTask::new("reminders", self.reminders.run(stop.clone())),
            BackgroundTask::new("event retention", self.retention.run(stop.clone())),
        ]
    }
}
