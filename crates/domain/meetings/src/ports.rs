//! Ports: what this crate needs from outside.

use crate::{Meeting, MeetingDetail, MeetingSummary};
use async_trait::async_trait;
use civitas_kernel::filter::{FieldKind, ListQuery};
use civitas_kernel::records::Records;
use civitas_kernel::{
    Direction, LocationFilter, MeetingId, OrganizationId, Page, PageRequest, ReadContext, Result, UserId,
    filter_fields, store,
};
use time::{Duration, OffsetDateTime};

filter_fields! {
    /// The fields for filters of meetings (contract 06 §5.2, 01 §6.2).
    pub enum MeetingField = MEETING_FIELDS, MeetingFilter {
        ExtendedData: "extended_data", FieldKind::ExtendedData;
        Id: "id", FieldKind::Integer;
        CreatedAt: "created_at", FieldKind::Time;
        UpdatedAt: "updated_at", FieldKind::Time;
        PublishedAt: "published_at", FieldKind::Time;
        StartTime: "start_time", FieldKind::Time;
        /// When it ends; null if that is open.
        EndTime: "end_time", FieldKind::Time;
        /// The title, in any language.
        Title: "title", FieldKind::Text;
        /// The description, in any language.
        Description: "description", FieldKind::Text;
        /// Title or description.
        SearchText: "search_text", FieldKind::SearchText;
        Component: "component_id", FieldKind::Integer;
        /// The number of the space, of any kind.
        SpaceId: "participatory_space_id", FieldKind::Integer;
        /// The class name of the space.
        SpaceType: "participatory_space_type", FieldKind::Text;
    }
}

/// The query of a list of meetings. The column of the order is `start_time`; ids ascend in both directions.
pub type MeetingQuery = ListQuery<MeetingField>;

/// How long before a meeting its reminder is due. If less time remains, it is due at once.
pub const REMINDER_NOTICE: Duration = Duration::hours(48);

/// When a meeting begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeetingTime {
    /// Now or later.
    Upcoming,
    /// Earlier.
    Past,
}

/// A state of a meeting; it can be in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeetingState {
    /// Published.
    Published,
    /// Not published.
    Unpublished,
    /// Cancelled.
    Withdrawn,
    /// Hidden by moderation.
    Hidden,
}

/// What an administrator searches meetings for. Those of deleted components are not found, nor deleted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeetingSearch {
    /// A part of the title in any language, without regard to case and accents.
    pub text: Option<String>,
    /// The part of the organization.
    pub within: LocationFilter,
    /// When they begin.
    pub time: Option<MeetingTime>,
    /// Their state.
    pub state: Option<MeetingState>,
    /// By start time and id.
    pub direction: Direction,
}

store! {
    /// The store of meetings.
    ///
    /// Visible means (contract 06 §5.3): in a visible component, published, neither hidden nor deleted; and, if it is
    /// private and not transparent, to the registered, to holders of a role in its space, and to administrators.
    /// `add` and `save` return `NotFound` when a registered user has no account in the organization.
    pub trait MeetingStore: Records<Meeting> {
        /// The visible meetings of a query.
        async fn list(&self, read_context: ReadContext, query: &MeetingQuery, page: PageRequest)
        -> Result<Page<MeetingDetail>>;
        /// The meeting, if it is visible and inside.
        async fn find_visible(&self, read_context: ReadContext, id: MeetingId, within: LocationFilter)
        -> Result<Option<MeetingDetail>>;
        /// The meeting, visible or not; for events.
        async fn detail(&self, organization: OrganizationId, id: MeetingId) -> Result<Option<MeetingDetail>>;
        /// The meetings of a search, visible or not; at `now`.
        async fn search(
            &self,
            organization: OrganizationId,
            now: OffsetDateTime,
            search: &MeetingSearch,
            page: PageRequest,
        ) -> Result<Page<MeetingSummary>>;
        /// The registered users of a meeting, by id. Empty if there is no such meeting.
        async fn registered(&self, organization: OrganizationId, id: MeetingId, page: PageRequest)
        -> Result<Page<UserId>>;
    }
}

/// Stores which reminders were sent: one for each meeting and start time (contract 09 C.1).
///
/// A meeting is eligible if it is published, and neither withdrawn, hidden nor deleted.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ReminderStore: Send + Sync {
    /// The eligible meetings of all organizations that begin after `now` and not after `until`, without a reminder for
    /// this start time; the earliest first, at most `limit`.
    async fn due(
        &self,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<(OrganizationId, MeetingId)>>;
    /// Records the reminder of a meeting for its current start time, if it is due by the conditions of [`Self::due`].
    /// Whether it did: of several callers one gets `true`. Call it in the transaction of the event.
    async fn claim(
        &self,
        organization: OrganizationId,
        meeting: MeetingId,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool>;
    /// Records the reminder of an eligible meeting that begins at `until` or before as sent, also of a past one. For
    /// imports.
    async fn mark_due(
        &self,
        organization: OrganizationId,
        meeting: MeetingId,
        until: OffsetDateTime,
    ) -> Result<()>;
}
