//! Webhooks in the background: events become deliveries, deliveries are sent, reminders become due, and what is old is
//! deleted (contract 09 C).
//!
//! ```text
//! change + event -> outbox --Relay--> deliveries --DeliveryWorker--> receiver
//! ```

mod admin;
mod changes;
mod copies;
mod outcomes;
mod relay;
mod reminders;
mod retention;
mod turn;
mod worker;

pub use admin::WebhookAdmin;
pub use changes::WebhookChanges;
pub use relay::Relay;
pub(crate) use reminders::NOTICE;
pub use reminders::Reminders;
pub use retention::Retention;
pub use worker::DeliveryWorker;

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// Waits this long, or until `stop` changes.
async fn pause(time: Duration, stop: &mut watch::Receiver<bool>) {
    tokio::select! { () = sleep(time) => {}, _ = stop.changed() => {} }
}
