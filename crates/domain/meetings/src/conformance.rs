//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod administering;
mod keeping;
mod listing;
mod reminding;
mod seeing;

pub use administering::{pages_registered_users, searches_for_administrators};
pub use keeping::{keeps_organizations_apart, meetings, registers_nobody_without_an_account};
pub use listing::{filters_by_number_and_extended_data, lists_in_order_without_overlap, stays_inside};
pub use reminding::{
    claims_a_reminder_once_for_each_time, finds_meetings_to_remind_of, marks_what_an_import_need_not_send,
};
pub use seeing::{reads_what_is_not_visible, shows_what_is_visible, tells_all_of_a_meeting};

use crate::{Meeting, MeetingQuery, MeetingStore, ReminderStore};
use civitas_kernel::{
    ComponentId, Direction, Locale, MeetingId, Order, OrganizationId, PageRequest, ReadContext, Result,
    SpaceRef, Translated, UserId, Viewer, Within,
};
use time::OffsetDateTime;
use time::macros::datetime;

/// The stores, two existing organizations, and their contents.
pub struct World<'a> {
    /// Under test.
    pub meetings: &'a dyn MeetingStore,
    /// Under test.
    pub reminders: &'a dyn ReminderStore,
    /// An organization.
    pub mine: OrganizationId,
    /// Another one.
    pub other: OrganizationId,
    /// A user who is a private member of the transparent assembly.
    pub nora: UserId,
    /// An anonymous viewer.
    pub otto: UserId,
    /// A moderator of the transparent assembly who is not a member of it.
    pub mona: UserId,
    /// A user with a pending invitation to moderate there.
    pub ines: UserId,
    /// An administrator.
    pub admin: UserId,
    /// A public, published process.
    pub space: SpaceRef,
    /// A published meetings component there.
    pub agenda: ComponentId,
    /// Another one.
    pub walks: ComponentId,
    /// An unpublished one.
    pub unpublished: ComponentId,
    /// A published one of the transparent assembly.
    pub sessions: ComponentId,
    /// A component of another kind.
    pub blog: ComponentId,
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);
const ALL: PageRequest = PageRequest { page: 1, per_page: 100 };

fn text(en: &str) -> Translated {
    [(Locale::EN, en.to_owned())].into()
}

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
    fn of(&self, user: UserId) -> ReadContext {
        let viewer = if user == self.admin { Viewer::Admin(user) } else { Viewer::Participant(user) };
        ReadContext { organization: self.mine, viewer, participant: Some(user) }
    }

    /// The contexts of a service token, with and without an administrator.
    fn services(&self) -> [ReadContext; 2] {
        [Viewer::Admin(self.admin), Viewer::Public].map(|viewer| ReadContext {
            organization: self.mine,
            viewer,
            participant: None,
        })
    }

    async fn list(&self, read_context: ReadContext, query: &MeetingQuery) -> Result<Vec<MeetingId>> {
        let page = self.meetings.list(read_context, query, ALL).await?;
        Ok(page.items.into_iter().map(|meeting| meeting.id).collect())
    }
}

fn within(component: ComponentId) -> Within {
    Within { component: Some(component), ..Within::default() }
}

fn everything(part: Within, direction: Direction) -> MeetingQuery {
    MeetingQuery { within: part, filters: Vec::new(), order: Order::Column(direction) }
}
