//! Meetings.

use civitas_kernel::records::Entity;
use civitas_kernel::{ComponentId, MeetingId, SpaceRef, Translated, UserId};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// A meeting.
#[derive(Debug, Clone, PartialEq)]
pub struct Meeting {
    /// The component it belongs to.
    pub component: ComponentId,
    /// The title.
    pub title: Translated,
    /// The description; may contain HTML.
    pub description: Translated,
    /// When it begins.
    pub start_time: OffsetDateTime,
    /// When it ends, if set.
    pub end_time: Option<OffsetDateTime>,
    /// When it was published; `None` while it is not, and then no viewer sees it.
    pub published_at: Option<OffsetDateTime>,
    /// Whether it is private.
    pub private: bool,
    /// Whether a private one is visible to all nevertheless.
    pub transparent: bool,
    /// The registered users.
    pub registrations: BTreeSet<UserId>,
    /// When it was cancelled. It stays visible.
    pub withdrawn_at: Option<OffsetDateTime>,
    /// When moderation hid it.
    pub hidden_at: Option<OffsetDateTime>,
    /// When it was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// Free data of clients.
    pub extended_data: Map<String, Value>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Meeting {
    /// A new, unpublished meeting that is not private.
    pub fn new(
        component: ComponentId,
        title: Translated,
        start_time: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Self {
        Self {
            component,
            title,
            description: Translated::default(),
            start_time,
            end_time: None,
            published_at: None,
            private: false,
            transparent: false,
            registrations: BTreeSet::new(),
            withdrawn_at: None,
            hidden_at: None,
            deleted_at: None,
            extended_data: Map::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether any viewer can see it: published, neither hidden nor deleted.
    pub fn is_listed(&self) -> bool {
        self.published_at.is_some() && self.hidden_at.is_none() && self.deleted_at.is_none()
    }

    /// Whether its reminder is sent when it is due: it is listed and not withdrawn (contract 09 C.1).
    pub fn is_to_remind(&self) -> bool {
        self.is_listed() && self.withdrawn_at.is_none()
    }

    /// Whether its visibility is restricted: private and not transparent.
    pub fn is_restricted(&self) -> bool {
        self.private && !self.transparent
    }

    /// Whether a viewer who sees this state may not see the state `later`.
    pub fn is_lost_by(&self, later: &Self) -> bool {
        let unregistered = || !self.registrations.is_subset(&later.registrations);
        let narrower = || later.is_restricted() && (!self.is_restricted() || unregistered());
        self.is_listed() && (!later.is_listed() || narrower())
    }
}

impl Entity for Meeting {
    type Id = MeetingId;

    fn set_updated_at(&mut self, now: OffsetDateTime) {
        self.updated_at = now;
    }

    fn is_deleted(&self) -> bool {
        self.deleted_at.is_some()
    }

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| before.is_lost_by(self));
        if is_lost { vec!["meetings"] } else { Vec::new() }
    }
}

/// The place of a meeting.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The component.
    pub component: ComponentId,
    /// Its name.
    pub name: Translated,
    /// Its space.
    pub space: SpaceRef,
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
    pub extended_data: Map<String, Value>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
    /// Its place.
    pub place: Place,
    /// The latest change of the meeting, its component and its space.
    pub changed_at: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    /// A published meeting for which 1 and 2 are registered.
    fn open() -> Meeting {
        let registrations = [UserId(1), UserId(2)].into();
        let new = Meeting::new(ComponentId(1), Translated::default(), NOW, NOW);
        Meeting { published_at: Some(NOW), registrations, ..new }
    }

    fn closed() -> Meeting {
        Meeting { private: true, ..open() }
    }

    #[test]
    fn a_meeting_is_reminded_of_while_it_is_published_and_takes_place() {
        assert!(open().is_to_remind() && closed().is_to_remind());
        for other in [
            Meeting { published_at: None, ..open() },
            Meeting { withdrawn_at: Some(NOW), ..open() },
            Meeting { hidden_at: Some(NOW), ..open() },
            Meeting { deleted_at: Some(NOW), ..open() },
        ] {
            assert!(!other.is_to_remind(), "{other:?}");
        }
    }

    #[test]
    fn a_meeting_that_nobody_sees_any_more_is_lost() {
        for later in [
            Meeting { published_at: None, ..open() },
            Meeting { hidden_at: Some(NOW), ..open() },
            Meeting { deleted_at: Some(NOW), ..open() },
        ] {
            assert!(open().is_lost_by(&later), "{later:?}");
            assert!(!later.is_lost_by(&later), "nobody saw it before: {later:?}");
            assert!(!later.is_lost_by(&open()), "it is there again: {later:?}");
        }
    }

    #[test]
    fn a_meeting_that_is_closed_to_some_is_lost_by_them() {
        let transparent = Meeting { transparent: true, ..closed() };
        let smaller = |meeting: Meeting| Meeting { registrations: [UserId(1)].into(), ..meeting };
        assert!(open().is_lost_by(&closed()));
        assert!(transparent.is_lost_by(&closed()));
        assert!(closed().is_lost_by(&smaller(closed())), "by the one who is not registered any more");
        for (before, after) in [
            (closed(), open()),
            (closed(), transparent.clone()),
            (open(), transparent.clone()),
            (smaller(closed()), closed()),
            (open(), smaller(open())),
            (transparent.clone(), smaller(transparent)),
            (open(), Meeting { withdrawn_at: Some(NOW), ..open() }),
        ] {
            assert!(!before.is_lost_by(&after), "{before:?} {after:?}");
        }
    }
}
