//! Meetings as lists and viewers read them.

use crate::Audience;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::{ComponentContext, MeetingId, Translated};
use time::OffsetDateTime;

/// A meeting in a list for administrators, without texts and registered users.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingSummary {
    /// Its id.
    pub id: MeetingId,
    /// The title.
    pub title: Translated,
    /// When it begins.
    pub start_time: OffsetDateTime,
    /// When it ends, if set.
    pub end_time: Option<OffsetDateTime>,
    /// When it was published.
    pub published_at: Option<OffsetDateTime>,
    /// When it was cancelled.
    pub withdrawn_at: Option<OffsetDateTime>,
    /// When moderation hid it.
    pub hidden_at: Option<OffsetDateTime>,
    /// Who may see it when it is published.
    pub audience: Audience,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
    /// Its component and space.
    pub context: ComponentContext,
}

/// A meeting for a viewer, without the registered users.
#[derive(Debug, Clone, PartialEq)]
pub struct MeetingDetail {
    /// Its id.
    pub id: MeetingId,
    /// The title.
    pub title: Translated,
    /// The description.
    pub description: Translated,
    /// When it begins.
    pub start_time: OffsetDateTime,
    /// When it ends, if set.
    pub end_time: Option<OffsetDateTime>,
    /// Free data of clients.
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
    /// Its component and space.
    pub context: ComponentContext,
    /// The latest change of the meeting, its component and its space.
    pub changed_at: OffsetDateTime,
}
