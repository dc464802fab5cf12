//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod administering;
mod listing;
mod reminding;
mod storing;
mod visibility;

pub use administering::{pages_registered_users, searches_for_administrators};
pub use listing::{filters_by_number_and_extended_data, lists_in_order_without_overlap, stays_inside};
pub use reminding::{
    claims_a_reminder_once_for_each_time, finds_meetings_to_remind_of, marks_what_an_import_need_not_send,
};
pub use storing::{isolates_organizations, meetings, registers_nobody_without_an_account};
pub use visibility::{reads_what_is_not_visible, shows_what_is_visible, tells_all_of_a_meeting};

use crate::{Meeting, MeetingQuery, MeetingStore, ReminderStore};
use civitas_kernel::testing::{ALL, in_component, service_read_context, text, viewer_read_context};
use civitas_kernel::{
    ComponentId, Direction, LocationFilter, MeetingId, Order, ReadContext, Result, SpaceRef, UserId, Viewer,
    conformance_world,
};
use time::OffsetDateTime;
use time::macros::datetime;

conformance_world! {
    /// The stores, two existing organizations, and their contents.
    pub struct World {
        ports(meetings: MeetingStore, reminders: ReminderStore)
        /// A user who is a private member of the transparent assembly.
        nora: UserId,
        /// An anonymous viewer.
        otto: UserId,
        /// A moderator of the transparent assembly who is not a member of it.
        mona: UserId,
        /// A user with a pending invitation to moderate there.
        ines: UserId,
        /// An administrator.
        admin: UserId,
        /// A public, published process.
        space: SpaceRef,
        /// A published meetings component there.
        agenda: ComponentId,
        /// Another one.
        walks: ComponentId,
        /// An unpublished one.
        unpublished: ComponentId,
        /// A published one of the transparent assembly.
        sessions: ComponentId,
        /// A component of another kind.
        blog: ComponentId,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);

/// A published meeting that is not private.
fn open(component: ComponentId) -> Meeting {
    Meeting { published_at: Some(NOW), ..Meeting::new(component, text("Kick-off"), NOW, NOW) }
}

/// A published private meeting.
fn closed(component: ComponentId) -> Meeting {
    Meeting { private: true, ..open(component) }
}

impl World<'_> {
    async fn add(&self, meeting: &Meeting) -> Result<MeetingId> {
        self.meetings.add(self.mine, meeting).await
    }

    /// The context of a token of this user.
    fn read_context_of(&self, user: UserId) -> ReadContext {
        let viewer = if user == self.admin { Viewer::Admin(user) } else { Viewer::Participant(user) };
        viewer_read_context(self.mine, viewer)
    }

    /// The contexts of a service token, with and without an administrator.
    fn services(&self) -> [ReadContext; 2] {
        [Viewer::Admin(self.admin), Viewer::Public].map(|viewer| service_read_context(self.mine, viewer))
    }

    async fn list(&self, read_context: ReadContext, query: &MeetingQuery) -> Result<Vec<MeetingId>> {
        let page = self.meetings.list(read_context, query, ALL).await?;
        Ok(page.items.into_iter().map(|meeting| meeting.id).collect())
    }
}

fn everything(part: LocationFilter, direction: Direction) -> MeetingQuery {
    MeetingQuery { within: part, filters: Vec::new(), order: Order::Column(direction) }
}
