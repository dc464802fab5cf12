//! Ports: what this crate needs from outside.

use crate::{Meeting, MeetingDetail};
use civitas_kernel::filter::{Field, Filter, Kind};
use civitas_kernel::records::Records;
use civitas_kernel::{MeetingId, Order, Page, PageRequest, ReadContext, Result, Within, store};

/// The fields for filters of meetings (contract 06 §5.2).
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

/// The query of a list of meetings. The column of the order is `start_time`; ids ascend in both directions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeetingQuery {
    /// The part of the organization.
    pub within: Within,
    /// All must hold.
    pub filters: Vec<MeetingFilter>,
    /// The order.
    pub order: Order,
}

store! {
    /// The store of meetings.
    ///
    /// Visible means (contract 06 §5.3): in a visible component, published, neither hidden nor deleted; and, if it is
    /// private and not transparent, to the registered, to holders of a role in its space, and to administrators.
    /// `add` and `save` return `NotFound` when a registered user has no account in the organization.
    pub trait MeetingStore: Records<Meeting> {
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
    }
}
