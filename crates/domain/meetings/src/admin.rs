//! Making and changing meetings on the platform side: the interface only reads them (contract 06 §5.1).
//!
//! Who may do so is the caller's to ask: an administrator of the platform is no client of the interface.

use crate::{Meeting, MeetingLookup, MeetingStore};
use civitas_kernel::{
    ComponentId, Error, Field, FieldError, MeetingId, OrganizationId, Result, Translated, UserId, Wording,
};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// What somebody wants of a new meeting. It is unpublished, and nobody is registered for it.
#[derive(Debug, Clone)]
pub struct NewMeeting {
    /// The component it will belong to.
    pub component: ComponentId,
    /// What it is called, in at least one language.
    pub title: Translated,
    /// What it is about.
    pub description: Translated,
    /// When it begins.
    pub start_time: OffsetDateTime,
    /// When it ends, not before it begins.
    pub end_time: Option<OffsetDateTime>,
    /// Whether it is for some people only.
    pub private: bool,
    /// Whether a private one is shown to everybody all the same.
    pub transparent: bool,
}

/// What is to become of a meeting; what is not said stays as it is.
#[derive(Debug, Clone, Default)]
pub struct EditMeeting {
    /// What it is called, in all its languages.
    pub title: Option<Translated>,
    /// What it is about, in all its languages.
    pub description: Option<Translated>,
    /// When it begins.
    pub start_time: Option<OffsetDateTime>,
    /// When it ends; null: not known.
    pub end_time: Field<OffsetDateTime>,
    /// Whether it is for some people only.
    pub private: Option<bool>,
    /// Whether a private one is shown to everybody all the same.
    pub transparent: Option<bool>,
    /// Everybody who is registered.
    pub registrations: Option<BTreeSet<UserId>>,
    /// Publishes it, or takes it back.
    pub published: Option<bool>,
    /// Calls it off, or not after all.
    pub withdrawn: Option<bool>,
    /// Hides it from everybody, or shows it again.
    pub hidden: Option<bool>,
    /// Deletes it, or brings it back.
    pub deleted: Option<bool>,
}

/// Makes and changes meetings.
pub struct MeetingAdmin<'a> {
    /// Where they are kept; to edit, those of a transaction.
    pub meetings: &'a dyn MeetingStore,
    /// What stands around them.
    pub lookup: &'a dyn MeetingLookup,
}

impl MeetingAdmin<'_> {
    /// Makes a meeting.
    ///
    /// # Errors
    /// `Invalid`, naming each member that does not hold what it must: `component`, `title`, `end_time`.
    pub async fn create(
        &self,
        organization: OrganizationId,
        new: NewMeeting,
        now: OffsetDateTime,
    ) -> Result<MeetingId> {
        let meeting = Meeting {
            description: new.description,
            end_time: new.end_time,
            private: new.private,
            transparent: new.transparent,
            ..Meeting::new(new.component, new.title, new.start_time, now)
        };
        let mut faults = Vec::new();
        if !self.lookup.holds_meetings(organization, meeting.component).await? {
            faults.push(FieldError::new("component", "invalid", "Component does not hold meetings"));
        }
        faults.extend(meeting.faults());
        Error::unless_valid(Wording::InvalidRequest, faults)?;
        self.meetings.add(organization, &meeting).await
    }

    /// Changes a meeting, and says what it is now. An edit that changes nothing is not kept.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`, naming each member that does not hold what it must: `title`, `end_time`,
    /// `registrations`.
    pub async fn edit(
        &self,
        organization: OrganizationId,
        id: MeetingId,
        edit: EditMeeting,
        now: OffsetDateTime,
    ) -> Result<Meeting> {
        let before = self.meetings.find_for_update(organization, id).await?.ok_or(Error::NotFound)?;
        let mut meeting = before.clone().edited(edit, now);
        let mut faults = meeting.faults();
        let newcomers = meeting.registrations.difference(&before.registrations).copied().collect();
        if !self.lookup.knows(organization, &newcomers).await? {
            let text = "Registrations name somebody who has no account here";
            faults.push(FieldError::new("registrations", "not_found", text));
        }
        Error::unless_valid(Wording::InvalidRequest, faults)?;
        if meeting != before {
            meeting.updated_at = now;
            self.meetings.save(organization, id, &meeting).await?;
        }
        Ok(meeting)
    }
}

impl Meeting {
    fn edited(mut self, edit: EditMeeting, now: OffsetDateTime) -> Self {
        let EditMeeting { title, description, start_time, end_time, private, transparent, .. } = edit;
        keep(title, &mut self.title);
        keep(description, &mut self.description);
        keep(start_time, &mut self.start_time);
        end_time.apply(&mut self.end_time);
        keep(private, &mut self.private);
        keep(transparent, &mut self.transparent);
        keep(edit.registrations, &mut self.registrations);
        stamp(edit.published, &mut self.published_at, now);
        stamp(edit.withdrawn, &mut self.withdrawn_at, now);
        stamp(edit.hidden, &mut self.hidden_at, now);
        stamp(edit.deleted, &mut self.deleted_at, now);
        self
    }

    /// What people may not write. Archives may: they also bring what was written under other rules.
    fn faults(&self) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if self.title.iter().all(|(_, text)| text.trim().is_empty()) {
            faults.push(FieldError::new("title", "blank", "Title cannot be blank"));
        }
        if self.end_time.is_some_and(|end| end < self.start_time) {
            let text = "End time cannot be before start time";
            faults.push(FieldError::new("end_time", "greater_than", text));
        }
        faults
    }
}

fn keep<T>(said: Option<T>, place: &mut T) {
    if let Some(value) = said {
        *place = value;
    }
}

/// A state and when it began: said again, it began when it did.
fn stamp(said: Option<bool>, place: &mut Option<OffsetDateTime>, now: OffsetDateTime) {
    match said {
        None => {}
        Some(true) => *place = place.or(Some(now)),
        Some(false) => *place = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MockMeetingLookup, MockMeetingStore};
    use civitas_kernel::Locale;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-02 09:30 UTC);
    const HERE: OrganizationId = OrganizationId(1);
    const ID: MeetingId = MeetingId(7);

    fn text(en: &str) -> Translated {
        [(Locale::EN, en.to_owned())].into()
    }

    fn kickoff() -> Meeting {
        let registrations = [UserId(1)].into();
        Meeting { registrations, ..Meeting::new(ComponentId(3), text("Kick-off"), NOW, NOW) }
    }

    fn new(component: i64, title: &str) -> NewMeeting {
        NewMeeting {
            component: ComponentId(component),
            title: text(title),
            description: text("Come and meet us."),
            start_time: LATER,
            end_time: Some(LATER + Duration::hours(2)),
            private: true,
            transparent: true,
        }
    }

    /// Component 3 holds meetings; 1 and 2 have accounts.
    fn lookup() -> MockMeetingLookup {
        let mut lookup = MockMeetingLookup::new();
        lookup.expect_holds_meetings().returning(|_, component| Ok(component == ComponentId(3)));
        lookup.expect_knows().returning(|_, people| Ok(people.iter().all(|user| user.0 <= 2)));
        lookup
    }

    /// A store that holds one meeting, and takes so many new states.
    fn store(saves: usize) -> MockMeetingStore {
        let mut store = MockMeetingStore::new();
        store.expect_find_for_update().returning(|_, id| Ok((id == ID).then(kickoff)));
        store.expect_save().times(saves).returning(|_, _, _| Ok(()));
        store
    }

    async fn edited(saves: usize, edit: EditMeeting) -> Result<Meeting> {
        let (store, lookup) = (store(saves), lookup());
        MeetingAdmin { meetings: &store, lookup: &lookup }.edit(HERE, ID, edit, LATER).await
    }

    #[tokio::test]
    async fn a_new_meeting_is_what_was_asked_and_unpublished() {
        let (mut store, lookup) = (MockMeetingStore::new(), lookup());
        store.expect_add().once().returning(|organization, meeting| {
            assert_eq!(organization, HERE);
            let expected = Meeting {
                description: text("Come and meet us."),
                end_time: Some(LATER + Duration::hours(2)),
                private: true,
                transparent: true,
                ..Meeting::new(ComponentId(3), text("Kick-off"), LATER, NOW)
            };
            assert_eq!(*meeting, expected);
            Ok(ID)
        });
        let admin = MeetingAdmin { meetings: &store, lookup: &lookup };
        assert_eq!(admin.create(HERE, new(3, "Kick-off"), NOW).await.unwrap(), ID);
    }

    #[tokio::test]
    async fn every_fault_of_a_new_meeting_is_named() {
        let (store, lookup) = (MockMeetingStore::new(), lookup());
        let admin = MeetingAdmin { meetings: &store, lookup: &lookup };
        let backwards = NewMeeting { end_time: Some(NOW), ..new(4, " ") };
        let refused = admin.create(HERE, backwards, NOW).await.unwrap_err();
        let fields: Vec<_> = refused.details().iter().map(|f| (f.field.as_ref(), f.code.as_ref())).collect();
        assert_eq!(fields, [("component", "invalid"), ("title", "blank"), ("end_time", "greater_than")]);
    }

    #[tokio::test]
    async fn an_edit_changes_what_it_says_and_nothing_else() {
        let edit = EditMeeting {
            title: Some(text("Farewell")),
            end_time: Field::Value(LATER),
            private: Some(true),
            registrations: Some([UserId(2)].into()),
            published: Some(true),
            ..EditMeeting::default()
        };
        let expected = Meeting {
            title: text("Farewell"),
            end_time: Some(LATER),
            private: true,
            registrations: [UserId(2)].into(),
            published_at: Some(LATER),
            updated_at: LATER,
            ..kickoff()
        };
        assert_eq!(edited(1, edit).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn an_edit_that_changes_nothing_is_not_kept() {
        let edit =
            EditMeeting { title: Some(text("Kick-off")), hidden: Some(false), ..EditMeeting::default() };
        assert_eq!(edited(0, edit).await.unwrap(), kickoff());
    }

    #[tokio::test]
    async fn strangers_can_not_be_registered_and_nothing_is_kept() {
        let stranger = Some([UserId(1), UserId(9)].into());
        let edit = EditMeeting { registrations: stranger, title: Some(text("")), ..EditMeeting::default() };
        let refused = edited(0, edit).await.unwrap_err();
        let fields: Vec<_> = refused.details().iter().map(|f| f.field.as_ref()).collect();
        assert_eq!(fields, ["title", "registrations"]);
    }

    #[tokio::test]
    async fn what_is_not_there_can_not_be_edited() {
        let (store, lookup) = (store(0), lookup());
        let admin = MeetingAdmin { meetings: &store, lookup: &lookup };
        let refused = admin.edit(HERE, MeetingId(8), EditMeeting::default(), NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)));
    }

    #[test]
    fn a_state_keeps_the_time_at_which_it_began() {
        let all = |on| EditMeeting {
            published: Some(on),
            withdrawn: Some(on),
            hidden: Some(on),
            deleted: Some(on),
            ..EditMeeting::default()
        };
        let begun = kickoff().edited(all(true), NOW);
        let times = |m: &Meeting| [m.published_at, m.withdrawn_at, m.hidden_at, m.deleted_at];
        assert_eq!(times(&begun), [Some(NOW); 4]);
        assert_eq!(times(&begun.clone().edited(all(true), LATER)), [Some(NOW); 4]);
        assert_eq!(times(&begun.edited(all(false), LATER)), [None; 4]);
    }
}
