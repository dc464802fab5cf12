//! Events after the commit: they become deliveries of webhooks, deliveries are sent, streams follow, reminders become due,
//! and what is old is deleted (contract 09 C, D).
//!
//! ```text
//! change + event -> outbox --Relay--> deliveries --DeliveryWorker--> receiver
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

pub use admin::WebhookAdmin;
pub use changes::WebhookChanges;
pub use relay::Relay;
pub use reminders::Reminders;
pub use retention::Retention;
pub use streams::{EventStream, EventStreams, OpenError, StreamMessage, StreamStart};
pub use worker::DeliveryWorker;
