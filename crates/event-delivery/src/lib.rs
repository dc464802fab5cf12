//! Events after the commit: they become deliveries of webhooks, deliveries are sent, streams follow, reminders become due,
//! and what is old is deleted (contract 09 C, D).
//!
//! ```text
//! change + event -> outbox --OutboxRelay--> deliveries --DeliveryWorker--> receiver
//!                             \-----> positions --EventStreams--> reader
//! ```

mod admin;
mod changes;
mod fan_out;
mod feed;
mod outcomes;
mod relay;
mod reminders;
mod retention;
mod streams;
mod turn;
mod worker;

pub use admin::WebhookAdministration;
pub use changes::WebhookChanges;
pub use relay::OutboxRelay;
pub use reminders::ReminderWorker;
pub use retention::RetentionWorker;
pub use streams::{EventStream, EventStreams, OpenError, StreamMessage, StreamStart};
pub use worker::DeliveryWorker;
