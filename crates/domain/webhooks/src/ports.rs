//! What webhooks need from outside.

use crate::{
    CheckedRegistration, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryOutcome, DeliveryStatus,
    DueDelivery, EventHead, EventPosition, EventReceiver, LoggedDelivery, NewDelivery, OutboxEvent,
    ReceiverRights, Registration, RegistrationFilter, RegistrationHealth, RegistrationReport, RelayedEvent,
    ReplaySelection, SigningSecret,
};
use async_trait::async_trait;
use civitas_kernel::filter::FieldKind;
use civitas_kernel::{
    ClientId, EventName, LogPage, LogRequest, OrganizationId, Page, PageRequest, RegistrationId, Result,
    UserId, filter_fields,
};
use std::net::IpAddr;
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

/// Stores the outbox.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores events, in the transaction of their change. Notifies the relay after the commit.
    async fn append(&self, events: &[OutboxEvent]) -> Result<()>;
    /// The events of an organization in the order of their ids, at most `limit` after `after`.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<OutboxEvent>>;

    /// Whether there are events without a position. Takes no lock.
    async fn has_unrelayed(&self) -> Result<bool>;
    /// The events without a position, the oldest first, at most `limit`. Until the transaction ends no other relay gets
    /// any: it gets an empty list.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn lock_unrelayed(&self, limit: i64) -> Result<Vec<EventHead>>;
    /// Gives these events the next positions, in this order. Their transaction has locked them.
    async fn assign_positions(&self, events: &[Uuid]) -> Result<()>;

    /// The last position given; 0 before the first.
    async fn last_position(&self) -> Result<EventPosition>;
    /// The position of an event of this organization, if it is still stored and has one.
    async fn position_of(&self, organization: OrganizationId, event: Uuid) -> Result<Option<EventPosition>>;
    /// The events of all organizations after a position, in order, at most `limit`.
    async fn relayed_after(&self, after: EventPosition, limit: i64) -> Result<Vec<RelayedEvent>>;
    /// The events of an organization with one of these names, after a position, in order, at most `limit`.
    async fn relayed_of(
        &self,
        organization: OrganizationId,
        names: &[EventName],
        after: EventPosition,
        limit: i64,
    ) -> Result<Vec<RelayedEvent>>;

    /// Deletes events that have a position, happened before `before` and have no delivery, at most `limit`. Returns
    /// their number.
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
    /// Deletes the events that have the data of an account (`user.created`, `user.updated`), with their deliveries, at
    /// most `limit` events. Returns their number. Reads all such events of the organization, on a connection for
    /// reading.
    async fn remove_of_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64>;
    /// Waits for new events, at most this long.
    async fn wait(&self, at_most: Duration);
}

filter_fields! {
    /// The fields for filters of registrations (contract 01 §6.2).
    pub enum RegistrationField = REGISTRATION_FIELDS, RegistrationListFilter {
        Id: "id", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
    }
}

/// Stores registrations. Those of a client are found by the client, which belongs to one organization or to none.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait RegistrationStore: Send + Sync {
    /// A registration of the client.
    async fn find(&self, client: ClientId, id: RegistrationId) -> Result<Option<Registration>>;
    /// Replaces address and events of a registration of the client, and resets its health, which enables it. The new
    /// state; `None` when there is no such registration.
    ///
    /// # Errors
    /// `Conflict` when another registration of the client has the address.
    async fn update(
        &self,
        client: ClientId,
        id: RegistrationId,
        checked: &CheckedRegistration,
        now: OffsetDateTime,
    ) -> Result<Option<Registration>>;
    /// Whether another registration of the client has this address. `except`: the registration itself.
    async fn is_taken(&self, client: ClientId, url: &str, except: Option<RegistrationId>) -> Result<bool>;
    /// The registrations of the client, the newest first.
    async fn list(
        &self,
        client: ClientId,
        filters: &[RegistrationListFilter],
        page: PageRequest,
    ) -> Result<Page<(RegistrationId, Registration)>>;
    /// How many registrations the client has. No other transaction counts them until this one ends.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn count_for_update(&self, client: ClientId) -> Result<i64>;
    /// Stores a new registration. `None` when the client has one with this address already; the transaction can
    /// continue.
    async fn add(&self, registration: &Registration) -> Result<Option<RegistrationId>>;
    /// Stores a new state.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` when another one got this address at the same time.
    async fn save(&self, id: RegistrationId, registration: &Registration) -> Result<()>;
    /// Deletes a registration of the client with its deliveries. Whether there was one.
    async fn remove(&self, client: ClientId, id: RegistrationId) -> Result<bool>;

    /// The registration, of any client; for administrators.
    async fn find_unrestricted(&self, id: RegistrationId) -> Result<Option<Registration>>;
    /// The same, locked until the transaction ends.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn find_unrestricted_for_update(&self, id: RegistrationId) -> Result<Option<Registration>>;
    /// The registrations in ascending order of id; `organization`: those of its clients, `None`: all. For export.
    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        after: Option<RegistrationId>,
        limit: i64,
    ) -> Result<Vec<(RegistrationId, Registration)>>;
    /// The registrations that may receive events of these organizations: those of their clients, and those of
    /// deployment-wide clients. Without disabled ones; paused ones are included.
    async fn receivers(&self, organizations: &[OrganizationId]) -> Result<Vec<EventReceiver>>;
}

/// The deliveries, for the relay and the workers that send them.
///
/// A worker leases registrations, not deliveries: it alone sends what is due for a registration, so that the limit of
/// concurrent requests holds over all nodes, and one slow receiver delays no other.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait DeliveryQueue: Send + Sync {
    /// Queues deliveries, and makes their registrations due. Notifies the workers after the commit.
    async fn add(&self, deliveries: &[NewDelivery]) -> Result<()>;

    /// Registrations with due deliveries, at most `each` of one client; those that were served the longest ago are first.
    /// Registrations that are disabled, paused or leased are left out.
    async fn waiting(&self, now: OffsetDateTime, each: i64) -> Result<Vec<WaitingRegistration>>;
    /// Leases those of these registrations that still wait. Returns them.
    async fn claim(
        &self,
        worker: &str,
        ids: &[RegistrationId],
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Vec<RegistrationId>>;
    /// Extends all leases of a worker.
    async fn renew(&self, worker: &str, until: OffsetDateTime) -> Result<()>;
    /// Ends all leases: no other worker is running.
    async fn reclaim_all(&self) -> Result<u64>;
    /// The target of a leased registration; `None` when it was deleted, disabled or paused, or the lease is lost.
    async fn target(&self, worker: &str, id: RegistrationId) -> Result<Option<WebhookTarget>>;
    /// Due deliveries of a registration, the longest due first, at most `limit`, without `except`.
    async fn due(
        &self,
        id: RegistrationId,
        now: OffsetDateTime,
        except: &[DeliveryId],
        limit: i64,
    ) -> Result<Vec<DueDelivery>>;
    /// The health of a leased registration, locked until the transaction ends; `None` when the lease is lost.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn lock_leased(&self, worker: &str, id: RegistrationId) -> Result<Option<RegistrationHealth>>;
    /// Stores the ends of attempts at deliveries of one registration, and its health.
    async fn record(
        &self,
        id: RegistrationId,
        outcomes: &[DeliveryOutcome],
        health: &RegistrationHealth,
        now: OffsetDateTime,
    ) -> Result<()>;
    /// Ends the lease. The registration is due when its next delivery is.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn release(&self, worker: &str, id: RegistrationId) -> Result<()>;

    /// Waits for new deliveries, at most this long.
    async fn wait(&self, at_most: Duration);
}

/// A registration with due deliveries that no worker leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRegistration {
    /// Its id.
    pub id: RegistrationId,
    /// Its client.
    pub client: ClientId,
    /// The organization of the client; `None` for a deployment-wide client.
    pub organization: Option<OrganizationId>,
}

/// A leased registration as its worker sends to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The registration.
    pub registration: Registration,
    /// The rights of its client.
    pub rights: ReceiverRights,
}

/// The log of deliveries, for administrators. `organization`: of the clients of the registrations; `None`: all.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// Deliveries, the newest first.
    async fn list(
        &self,
        organization: Option<OrganizationId>,
        filter: &DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>>;
    /// The same, without numbers of pages: the page tells whether there are newer and older deliveries.
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &DeliveryFilter,
        page: LogRequest<DeliveryId>,
    ) -> Result<LogPage<LoggedDelivery>>;
    /// A delivery.
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: DeliveryId,
    ) -> Result<Option<LoggedDelivery>>;
    /// The attempts at a delivery, the first one first; at most the newest 100.
    async fn attempts(&self, id: DeliveryId) -> Result<Vec<DeliveryAttempt>>;
    /// Makes deliveries pending and due now, at most `limit`, the oldest first. Returns their number; call it until it is
    /// 0. Deliveries that are pending, or were replayed at `now`, are left out.
    async fn replay(
        &self,
        organization: Option<OrganizationId>,
        which: &ReplaySelection,
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<u64>;
    /// The number of deliveries that [`Self::replay`] would make pending, at most `limit`.
    async fn count_replayable(
        &self,
        organization: Option<OrganizationId>,
        which: &ReplaySelection,
        now: OffsetDateTime,
        limit: i64,
    ) -> Result<i64>;
    /// The registrations of the clients of an organization with their figures, in ascending order of id.
    async fn registrations(
        &self,
        organization: Option<OrganizationId>,
        filter: &RegistrationFilter,
        page: PageRequest,
    ) -> Result<Page<RegistrationReport>>;
    /// The addresses of these registrations, of any clients. Those that were deleted are left out.
    async fn addresses(&self, ids: &[RegistrationId]) -> Result<Vec<(RegistrationId, String)>>;
    /// Ends deliveries that are pending since before `before`, at most `limit`. Returns their number.
    async fn expire(&self, before: OffsetDateTime, now: OffsetDateTime, limit: i64) -> Result<u64>;
    /// Deletes deliveries in one of these states that ended before `before`, at most `limit`. Returns their number.
    async fn remove_ended(
        &self,
        states: &[DeliveryStatus],
        before: OffsetDateTime,
        limit: i64,
    ) -> Result<u64>;
}

/// Resolves the host names of callback addresses.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TargetResolver: Send + Sync {
    /// The addresses (A and AAAA) of a name; none where there is no such name.
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>>;
}

/// A signed request to send.
#[derive(Debug, Clone, Copy)]
pub struct SignedRequest<'a> {
    /// The callback address.
    pub url: &'a str,
    /// The key of the signature.
    pub secret: &'a SigningSecret,
    /// The id, the same in every attempt.
    pub id: DeliveryId,
    /// The time of this attempt.
    pub at: OffsetDateTime,
    /// The body.
    pub body: &'a str,
}

/// Signs and sends.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Makes one attempt. Ends after 15 s at the latest. The number of the attempt is that of the caller.
    async fn send<'a>(&self, message: SignedRequest<'a>, number: i64) -> DeliveryAttempt;
}
