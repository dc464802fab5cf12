//! Meetings.

use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::limits::{MAX_LINE_CHARS, MAX_PROSE_CHARS};
use civitas_kernel::records::{Entity, RecordField, RecordFields, SearchTexts};
use civitas_kernel::{
    ComponentId, Error, FieldError, Locale, MeetingId, Result, Translated, UserId, Wording,
};
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
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

civitas_kernel::named_enum! {
    /// Who may see a published meeting (contract 06 §5.3).
    pub enum Audience {
        /// All viewers of its component.
        Everybody = "everybody",
        /// All viewers of its component, although it is private.
        Transparent = "transparent",
        /// Its registered users, users with a role in its space, and administrators.
        Private = "private",
    }
}

impl Audience {
    /// The audience of a meeting with these marks.
    pub const fn from_flags(private: bool, transparent: bool) -> Self {
        match (private, transparent) {
            (false, _) => Self::Everybody,
            (true, true) => Self::Transparent,
            (true, false) => Self::Private,
        }
    }
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
            extended_data: ExtendedDataValue::default(),
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

    /// Who may see it when it is published.
    pub fn audience(&self) -> Audience {
        Audience::from_flags(self.private, self.transparent)
    }

    /// Sets who may see it. The audience that it has already changes nothing.
    pub fn set_audience(&mut self, audience: Audience) {
        if self.audience() != audience {
            self.private = audience != Audience::Everybody;
            self.transparent = audience == Audience::Transparent;
        }
    }

    /// Registers a user. The store checks that the account exists.
    pub fn register(&mut self, user: UserId) {
        self.registrations.insert(user);
    }

    /// Ends the registration of a user.
    pub fn unregister(&mut self, user: UserId) {
        self.registrations.remove(&user);
    }

    /// Publishes it. A second call keeps the time.
    pub fn publish(&mut self, now: OffsetDateTime) {
        self.published_at.get_or_insert(now);
    }

    /// Makes it invisible to all viewers until it is published again.
    pub fn unpublish(&mut self) {
        self.published_at = None;
    }

    /// Cancels it: it stays visible and no reminder is sent. A second call keeps the time.
    pub fn withdraw(&mut self, now: OffsetDateTime) {
        self.withdrawn_at.get_or_insert(now);
    }

    /// Hides it from all viewers, as moderation does. A second call keeps the time.
    pub fn hide(&mut self, now: OffsetDateTime) {
        self.hidden_at.get_or_insert(now);
    }

    /// Shows a hidden meeting again.
    pub fn show(&mut self) {
        self.hidden_at = None;
    }

    /// Deletes it.
    pub fn delete(&mut self, now: OffsetDateTime) {
        self.deleted_at = Some(now);
    }

    /// Checks what differs from the state `before`, or all of a new meeting: an imported one may have other values.
    /// `locale` is the default one of the organization.
    ///
    /// # Errors
    /// `Invalid` with `blank` for a title without text in `locale`, `too_long` for a text, and `before_start` for an end
    /// before the start.
    pub fn check(&self, before: Option<&Self>, locale: Locale) -> Result<()> {
        let mut errors = self.field_errors(before, locale);
        let times = |meeting: &Self| (meeting.start_time, meeting.end_time);
        let is_moved = before.is_none_or(|old| times(old) != times(self));
        if is_moved && self.end_time.is_some_and(|end| end < self.start_time) {
            let text = "End time cannot be before the start time";
            errors.push(FieldError::new("end_time", "before_start", text));
        }
        Error::unless_valid(Wording::Unprocessable, errors)
    }

    /// Whether a viewer who sees this state may not see the state `later`.
    pub fn loses_viewers_in(&self, later: &Self) -> bool {
        let unregistered = || !self.registrations.is_subset(&later.registrations);
        let narrower = || later.is_restricted() && (!self.is_restricted() || unregistered());
        self.is_listed() && (!later.is_listed() || narrower())
    }
}

type Field = RecordField<Meeting>;

impl RecordFields for Meeting {
    const NAME: &'static str = "meeting";
    const FIELDS: &'static [Field] = &[
        Field::texts("title", MAX_LINE_CHARS, |m| &m.title).required(),
        Field::texts("description", MAX_PROSE_CHARS, |m| &m.description),
        Field::time("start_time", |m| Some(m.start_time)),
        Field::time("end_time", |m| m.end_time),
        Field::text("audience", |m| m.audience().as_str().to_owned()),
        Field::time("published_at", |m| m.published_at),
        Field::time("withdrawn_at", |m| m.withdrawn_at),
        Field::time("hidden_at", |m| m.hidden_at),
        Field::ids("registrations", |m| m.registrations.iter().map(ToString::to_string).collect()),
    ];
}

impl Entity for Meeting {
    type Id = MeetingId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| before.loses_viewers_in(self));
        if is_lost { vec!["meetings"] } else { Vec::new() }
    }

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.title, Some(&self.description)))
    }
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
    fn an_audience_is_stored_as_two_marks() {
        for audience in [Audience::Private, Audience::Everybody, Audience::Transparent, Audience::Everybody] {
            for mut meeting in [open(), closed(), Meeting { transparent: true, ..closed() }] {
                meeting.set_audience(audience);
                assert_eq!(meeting.audience(), audience);
            }
        }
        let mut imported = Meeting { transparent: true, ..open() };
        imported.set_audience(Audience::Everybody);
        assert!(imported.transparent, "it has this audience already");
    }

    #[test]
    fn a_user_is_registered_once() {
        let mut meeting = open();
        meeting.register(UserId(3));
        meeting.register(UserId(3));
        meeting.unregister(UserId(1));
        assert_eq!(meeting.registrations, [UserId(2), UserId(3)].into());
    }

    #[test]
    fn the_first_time_of_an_act_is_kept() {
        let later = NOW + time::Duration::DAY;
        let mut meeting = Meeting { published_at: None, ..open() };
        for at in [NOW, later] {
            meeting.publish(at);
            meeting.withdraw(at);
            meeting.hide(at);
        }
        let times = [meeting.published_at, meeting.withdrawn_at, meeting.hidden_at];
        assert_eq!(times, [Some(NOW); 3]);
        meeting.unpublish();
        meeting.show();
        assert_eq!((meeting.published_at, meeting.hidden_at), (None, None));
    }

    #[test]
    fn texts_and_times_that_change_are_checked() {
        let title = |text: &str| Translated::from([(Locale::EN, text.to_owned())]);
        let fault = |meeting: Meeting, before: Option<&Meeting>| {
            let errors = meeting.check(before, Locale::EN);
            errors
                .map_err(|error| error.details().iter().map(|d| format!("{} {}", d.field, d.code)).collect())
        };
        let refused = |faults: &[&str]| -> Result<(), Vec<String>> {
            Err(faults.iter().map(ToString::to_string).collect())
        };
        let good = Meeting { title: title("Walk"), end_time: Some(NOW), ..open() };
        assert_eq!(fault(good.clone(), None), Ok(()));
        let early = Meeting { end_time: Some(NOW - time::Duration::MINUTE), ..good.clone() };
        assert_eq!(fault(early.clone(), None), refused(&["end_time before_start"]));
        assert_eq!(fault(early.clone(), Some(&early)), Ok(()), "imported so");
        assert_eq!(fault(early, Some(&good)), refused(&["end_time before_start"]));
        let long = Meeting {
            title: title(&"t".repeat(256)),
            description: [(Locale::FR, "d".repeat(65_537))].into(),
            ..good.clone()
        };
        assert_eq!(fault(long, Some(&good)), refused(&["title too_long", "description too_long"]));
        assert_eq!(fault(Meeting { title: title(" "), ..good }, None), refused(&["title blank"]));
    }

    #[test]
    fn a_meeting_that_nobody_sees_any_more_is_lost() {
        for later in [
            Meeting { published_at: None, ..open() },
            Meeting { hidden_at: Some(NOW), ..open() },
            Meeting { deleted_at: Some(NOW), ..open() },
        ] {
            assert!(open().loses_viewers_in(&later), "{later:?}");
            assert!(!later.loses_viewers_in(&later), "nobody saw it before: {later:?}");
            assert!(!later.loses_viewers_in(&open()), "it is there again: {later:?}");
        }
    }

    #[test]
    fn a_meeting_that_is_closed_to_some_is_lost_by_them() {
        let transparent = Meeting { transparent: true, ..closed() };
        let smaller = |meeting: Meeting| Meeting { registrations: [UserId(1)].into(), ..meeting };
        assert!(open().loses_viewers_in(&closed()));
        assert!(transparent.loses_viewers_in(&closed()));
        assert!(closed().loses_viewers_in(&smaller(closed())), "by the one who is not registered any more");
        for (before, after) in [
            (closed(), open()),
            (closed(), transparent.clone()),
            (open(), transparent.clone()),
            (smaller(closed()), closed()),
            (open(), smaller(open())),
            (transparent.clone(), smaller(transparent)),
            (open(), Meeting { withdrawn_at: Some(NOW), ..open() }),
        ] {
            assert!(!before.loses_viewers_in(&after), "{before:?} {after:?}");
        }
    }
}
