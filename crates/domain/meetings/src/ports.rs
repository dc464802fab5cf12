//! Ports: what this crate needs from outside.

use crate::{Meeting, MeetingDetail};
use async_trait::async_trait;
use civitas_kernel::filter::{Field, Filter, Kind};
use civitas_kernel::{
    ComponentId, MeetingId, Order, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within,
};
use std::collections::BTreeSet;

/// What meetings can be filtered by (contract 06 §5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeetingField {
    /// The canonical text of the extended data.
    ExtendedData,
    /// The id.
    Id,
}

/// The fields of the list of meetings.
pub const MEETING_FIELDS: &[Field<MeetingField>] = &[
    Field::new("extended_data", Kind::ExtendedData, MeetingField::ExtendedData),
    Field::new("id", Kind::Integer, MeetingField::Id),
];

/// A condition on a list of meetings.
pub type MeetingFilter = Filter<MeetingField>;

/// Which meetings, in which order. The column of the order is `start_time`; ids ascend in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeetingQuery {
    /// The part of the organization.
    pub within: Within,
    /// All must hold.
    pub filters: Vec<MeetingFilter>,
    /// The order.
    pub order: Order,
}

/// The store of meetings.
///
/// Visible means (contract 06 §5.3): in a visible component, published, neither hidden nor deleted; and, if it is
/// private and not transparent, to the registered, to holders of a role in its space, and to administrators.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MeetingStore: Send + Sync {
    /// The visible meetings of a query.
    async fn list(
        &self,
        read_context: ReadContext,
        query: &MeetingQuery,
        page: PageRequest,
    ) -> Result<Page<MeetingDetail>>;
    /// The meeting, if it is visible and inside.
    async fn find_visible(
        &self,
        read_context: ReadContext,
        id: MeetingId,
        within: Within,
    ) -> Result<Option<MeetingDetail>>;
    /// The meeting, visible or not.
    async fn find(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<Meeting>>;
    /// The same, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<Meeting>>;
    /// Stores a new one. `NotFound` when somebody without an account in the organization is registered.
    async fn add(&self, organization: OrganizationId, meeting: &Meeting) -> Result<MeetingId>;
    /// Stores a new state. `NotFound` when there is no such meeting, and as [`Self::add`].
    async fn save(&self, organization: OrganizationId, id: MeetingId, meeting: &Meeting) -> Result<()>;
    /// Meetings after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        organization: OrganizationId,
        after: Option<MeetingId>,
        limit: i64,
    ) -> Result<Vec<(MeetingId, Meeting)>>;
}

/// What meetings must know of components and people.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MeetingLookup: Send + Sync {
    /// Whether the organization has this component, it is for meetings, and it is not deleted.
    async fn holds_meetings(&self, organization: OrganizationId, component: ComponentId) -> Result<bool>;
    /// Whether each of these has an account in the organization.
    async fn knows(&self, organization: OrganizationId, people: &BTreeSet<UserId>) -> Result<bool>;
}
