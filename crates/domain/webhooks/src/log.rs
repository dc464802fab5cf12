//! The log of deliveries: what administrators list and replay.

use crate::{DeliveryId, DeliveryStatus, Registration};
use civitas_kernel::{ClientId, EventName, RegistrationId};
use time::OffsetDateTime;

/// Which deliveries to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryFilter {
    /// Of this registration.
    pub registration: Option<RegistrationId>,
    /// In this state.
    pub status: Option<DeliveryStatus>,
    /// Of this event.
    pub event: Option<EventName>,
    /// Of the registrations of this client.
    pub client: Option<ClientId>,
    /// Queued at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Queued before this time.
    pub to: Option<OffsetDateTime>,
}

/// A state by which administrators list registrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationState {
    /// Neither paused nor disabled.
    Active,
    /// Paused by an administrator.
    Paused,
    /// Disabled after failures.
    Disabled,
}

/// Which registrations to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegistrationFilter {
    /// This one.
    pub id: Option<RegistrationId>,
    /// Of this client.
    pub client: Option<ClientId>,
    /// In this state.
    pub state: Option<RegistrationState>,
    /// With this text in the address or in the name of the client, in any case. No index serves it: the registrations
    /// of a deployment are few.
    pub text: Option<String>,
}

/// Which deliveries to send again. Their ids stay the same: a receiver that has one ignores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaySelection {
    /// One.
    One(DeliveryId),
    /// Those of a registration that were queued in this time; the end is not included.
    Range {
        /// The registration.
        registration: RegistrationId,
        /// From this time.
        since: OffsetDateTime,
        /// Before this time.
        until: OffsetDateTime,
    },
    /// Those of a registration that are dead.
    Failed(RegistrationId),
}

/// A registration with the figures of its deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationReport {
    /// The registration.
    pub id: RegistrationId,
    /// Its state.
    pub registration: Registration,
    /// The `client_id` of its client.
    pub client_uid: String,
    /// Its figures.
    pub figures: DeliveryFigures,
}

/// The deliveries of a registration that are still stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryFigures {
    /// Waiting for an attempt.
    pub pending: i64,
    /// Accepted.
    pub delivered: i64,
    /// Given up.
    pub dead: i64,
    /// Not sent any more.
    pub dropped: i64,
    /// When the oldest pending one was queued.
    pub oldest_pending: Option<OffsetDateTime>,
}
