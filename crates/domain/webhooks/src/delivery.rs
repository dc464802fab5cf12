//! Deliveries: one event for one registration, with its attempts.

use civitas_kernel::{EventName, OrganizationId, RegistrationId, sortable_id};
use std::borrow::Cow;
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

civitas_kernel::ids! { Uuid:
    /// A delivery. Its id is the `X-Webhook-Id` of every attempt.
    DeliveryId,
}

impl DeliveryId {
    /// A new one; ids sort by time.
    pub fn generate() -> Self {
        Self(sortable_id())
    }
}

civitas_kernel::named_enum! {
    /// The state of a delivery.
    pub enum DeliveryStatus {
        /// An attempt will follow.
        Pending = "pending",
        /// The receiver accepted it.
        Delivered = "delivered",
        /// The last attempt failed, or it waited too long.
        Dead = "dead",
        /// Its registration may not receive the event any more.
        Dropped = "dropped",
    }
}

/// A delivery to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The registration.
    pub registration: RegistrationId,
    /// The name of the event.
    pub name: EventName,
    /// The body.
    pub content: DeliveryContent,
    /// When the first attempt is due.
    pub due_at: OffsetDateTime,
}

/// The body of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryContent {
    /// That of an event in the outbox.
    Event(Uuid, OrganizationId),
    /// This one: a test.
    Test(String),
}

/// A delivery that is due, with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The event; `None` for a test.
    pub event: Option<Uuid>,
    /// The name of the event.
    pub name: EventName,
    /// The body.
    pub payload: String,
    /// Whether it is a test: subscription and permission are not required.
    pub is_test: bool,
    /// The attempts so far.
    pub attempts: i64,
    /// The attempts before the last replay: the delays begin again after it.
    pub replayed_after: i64,
}

/// A delivery in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The registration.
    pub registration: RegistrationId,
    /// The organization of the event; `None` for a test.
    pub organization: Option<OrganizationId>,
    /// The event; `None` for a test.
    pub event: Option<Uuid>,
    /// The name of the event.
    pub name: EventName,
    /// Its state.
    pub status: DeliveryStatus,
    /// The attempts so far.
    pub attempts: i64,
    /// When the next attempt is due, if one is.
    pub due_at: OffsetDateTime,
    /// When it was queued.
    pub created_at: OffsetDateTime,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
    /// Why it was dropped or given up.
    pub reason: Option<String>,
}

/// An attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The first is 1.
    pub number: i64,
    /// When it began.
    pub at: OffsetDateTime,
    /// How long it took.
    pub duration: Duration,
    /// What the receiver answered.
    pub result: Result<ReceiverResponse, SendError>,
}

/// The answer of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// The HTTP status.
    pub status: u16,
    /// How long the receiver wants to wait, if it says so.
    pub retry_after: Option<Duration>,
    /// The first KiB of the body; bytes that are not UTF-8 are replaced.
    pub body: String,
}

impl ReceiverResponse {
    /// The most bytes of a body that are stored.
    pub const MAX_STORED_BODY_BYTES: usize = 1024;

    /// Whether the receiver accepted the delivery: 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// There was no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendError {
    /// The kind, for programs.
    pub kind: SendErrorKind,
    /// The cause, for people.
    pub cause: String,
}

civitas_kernel::named_enum! {
    /// Why there was no answer.
    pub enum SendErrorKind {
        /// The address is not public (contract 09 C.5).
        Refused = "refused",
        /// The name has no address.
        Dns = "dns",
        /// No connection, or it was closed.
        Connection = "connection",
        /// The certificate is not valid, or TLS failed.
        Tls = "tls",
        /// No connection in 5 s, or no complete answer in 15 s.
        Timeout = "timeout",
        /// The answer is not HTTP.
        Protocol = "protocol",
        /// The registration cannot be used: its secret cannot be decrypted.
        Internal = "internal",
    }
}

/// What follows from an attempt, or instead of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryVerdict {
    /// The receiver accepted it.
    Delivered,
    /// Another attempt at this time.
    Retry(OffsetDateTime),
    /// No further attempt.
    Dead(Cow<'static, str>),
    /// It is not sent any more.
    Dropped(&'static str),
}

/// The end of an attempt, to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryOutcome {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt; `None` when there was none.
    pub attempt: Option<DeliveryAttempt>,
    /// What follows.
    pub verdict: DeliveryVerdict,
}
