//! Webhooks: the outbox of events, written in the transaction of their change (contract 09 C.1).
//!
//! ```
//! use civitas_kernel::Ability;
//! use civitas_webhooks::envelope;
//!
//! let body = envelope(Ability::ProposalCreation, &serde_json::json!({"id": "42"}));
//! assert_eq!(body["type"], "proposal_creation.succeeded");
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;

use async_trait::async_trait;
use civitas_kernel::{EventName, OrganizationId, Result};
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

/// An event in the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// Its id; sorts by time.
    pub id: Uuid,
    /// The organization.
    pub organization: OrganizationId,
    /// The name of the event.
    pub name: EventName,
    /// The body for all receivers, rendered at the time of the change.
    pub payload: Value,
    /// When it happened.
    pub occurred_at: OffsetDateTime,
}

/// The body of a delivery: the event's name and the record (contract 09 C.2).
pub fn envelope(name: EventName, data: &Value) -> Value {
    json!({"type": name.as_str(), "data": data})
}

/// Stores the outbox.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores events, in the transaction of their change.
    async fn append(&self, announcements: &[Announcement]) -> Result<()>;
    /// The events of an organization in the order of their ids, at most `limit` after `after`.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<Announcement>>;
}
