//! A participatory space and its steps.

use crate::ComponentKind;
use civitas_kernel::extended_data::ExtendedDataValue;
use civitas_kernel::limits::{MAX_LINE_CHARS, MAX_PROSE_CHARS};
use civitas_kernel::records::{Entity, RecordField, RecordFields, SearchTexts};
use civitas_kernel::{
    Ability, ComponentId, Error, Event, FieldError, Locale, Result, SpaceKind, SpaceRef, StepId, Subject,
    Translated, Wording,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

civitas_kernel::named_enum! {
    /// Who may see a space (contract 05 §1.3).
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Visibility {
        /// All viewers see it; all users take part.
        #[default]
        Public = "public",
        /// All viewers see it; members take part.
        Transparent = "transparent",
        /// Members see it and take part.
        Private = "private",
    }
}

impl Visibility {
    /// Whether spaces of this kind can have it: processes and assemblies may be private or transparent, conferences and
    /// initiatives are public (contract 05 §1.2; transparent processes: 13 §10, R6).
    pub fn is_allowed_for(self, kind: SpaceKind) -> bool {
        self == Self::Public || matches!(kind, SpaceKind::Assemblies | SpaceKind::ParticipatoryProcesses)
    }
}

/// A participatory space.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Its kind.
    pub kind: SpaceKind,
    /// Its name in addresses, unique in organization and kind. An initiative has a derived one: `i-<id>`.
    pub slug: Option<String>,
    /// The title.
    pub title: Translated,
    /// The subtitle.
    pub subtitle: Translated,
    /// A short description; may contain HTML.
    pub short_description: Translated,
    /// A description; may contain HTML.
    pub description: Translated,
    /// Who may see it.
    pub visibility: Visibility,
    /// When it was published; `None` while it is not.
    pub published_at: Option<OffsetDateTime>,
    /// The number of its scope of action.
    pub scope_id: Option<i64>,
    /// Free data of clients.
    pub extended_data: ExtendedDataValue,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Space {
    /// A new, unpublished, public space.
    pub fn new(kind: SpaceKind, title: Translated, now: OffsetDateTime) -> Self {
        Self {
            kind,
            slug: None,
            title,
            subtitle: Translated::default(),
            short_description: Translated::default(),
            description: Translated::default(),
            visibility: Visibility::default(),
            published_at: None,
            scope_id: None,
            extended_data: ExtendedDataValue::default(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Publishes it. A second call keeps the time.
    pub fn publish(&mut self, now: OffsetDateTime) {
        self.published_at.get_or_insert(now);
    }

    /// Makes it invisible to all viewers until it is published again.
    pub fn unpublish(&mut self) {
        self.published_at = None;
    }

    /// # Errors
    /// `Rejected` when spaces of this kind cannot have this visibility, or the slug is not valid for the kind.
    pub fn check(&self) -> Result<()> {
        if !self.visibility.is_allowed_for(self.kind) {
            let text = format!("{} cannot be {}", self.kind.as_str(), self.visibility.as_str());
            return Err(Error::rejected_field("visibility", "not_allowed", text));
        }
        match (&self.slug, self.kind) {
            (Some(_), SpaceKind::Initiatives) => {
                Err(Error::rejected_field("slug", "not_allowed", "an initiative has no slug of its own"))
            }
            (Some(slug), _) if slug.trim().is_empty() => Err(Error::rejected("slug must not be blank")),
            _ => Ok(()),
        }
    }
}

/// Checks that a title has a text in the main language of its organization. For the titles that administrators write;
/// an archive may have others.
///
/// # Errors
/// `Invalid` with the code `blank` for this member.
pub fn check_title(member: &'static str, title: &Translated, main: Locale) -> Result<()> {
    let blank = FieldError::new(member, "blank", format!("{member} must not be blank in {main}"));
    Error::unless_valid(
        Wording::Unprocessable,
        title.is_blank_in(main).then_some(blank).into_iter().collect(),
    )
}

type SpaceField = RecordField<Space>;

impl RecordFields for Space {
    const NAME: &'static str = "space";
    const FIELDS: &'static [SpaceField] = &[
        SpaceField::texts("title", MAX_LINE_CHARS, |s| &s.title).required(),
        SpaceField::texts("subtitle", MAX_LINE_CHARS, |s| &s.subtitle),
        SpaceField::texts("short_description", MAX_PROSE_CHARS, |s| &s.short_description),
        SpaceField::texts("description", MAX_PROSE_CHARS, |s| &s.description),
        SpaceField::text("slug", |s| s.slug.clone().unwrap_or_default()),
        SpaceField::text("visibility", |s| s.visibility.as_str().to_owned()),
        SpaceField::text("published", |s| s.published_at.is_some().to_string()),
    ];
}

impl Entity for Space {
    type Id = SpaceRef;

    civitas_kernel::time_fields!(updated_at);

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.title, None))
    }

    /// A space that is unpublished leaves its list; with another visibility it is shown to other viewers.
    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_changed = before.is_some_and(|before| {
            let is_unpublished = before.published_at.is_some() && self.published_at.is_none();
            is_unpublished || before.visibility != self.visibility
        });
        if is_changed { vec!["spaces"] } else { Vec::new() }
    }

    /// Slugs are unique per kind.
    fn key_taken_error() -> Error {
        Error::rejected_field("slug", "taken", "slug has already been taken")
    }
}

/// A step of a participatory process. At most one of a process is active.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The process.
    pub space: SpaceRef,
    /// The title.
    pub title: Translated,
    /// Its position among the steps, from 0.
    pub position: i64,
    /// Whether it is the current one.
    pub active: bool,
    /// When it begins.
    pub starts_at: Option<OffsetDateTime>,
    /// When it ends.
    pub ends_at: Option<OffsetDateTime>,
    /// The time of the last change.
    pub updated_at: OffsetDateTime,
}

impl Step {
    /// A step that is not active, without dates.
    pub fn new(space: SpaceRef, title: Translated, position: i64, now: OffsetDateTime) -> Self {
        Self { space, title, position, active: false, starts_at: None, ends_at: None, updated_at: now }
    }

    /// # Errors
    /// `Rejected` if the space is not a process, or the position is negative.
    pub fn check(&self) -> Result<()> {
        if self.space.kind != SpaceKind::ParticipatoryProcesses {
            Err(Error::rejected("only participatory processes have steps"))
        } else if self.position < 0 {
            Err(Error::rejected_field("position", "greater_than", "position must be 0 or more"))
        } else {
            Ok(())
        }
    }
}

type StepField = RecordField<Step>;

impl RecordFields for Step {
    const NAME: &'static str = "step";
    const FIELDS: &'static [StepField] = &[
        StepField::texts("title", MAX_LINE_CHARS, |s| &s.title).required(),
        StepField::text("position", |s| s.position.to_string()),
        StepField::time("starts_at", |s| s.starts_at),
        StepField::time("ends_at", |s| s.ends_at),
    ];
}

impl Entity for Step {
    type Id = StepId;

    civitas_kernel::time_fields!(updated_at);

    /// A step that becomes the current one has an event (contract 05 §2.8).
    fn events(&self, _: StepId, before: Option<&Self>) -> Vec<Event> {
        let was_active = before.is_some_and(|old| old.active);
        let activated = Event { name: Ability::StepActivated, subject: Subject::Space(self.space) };
        if self.active && !was_active { vec![activated] } else { Vec::new() }
    }
}

/// A space for a viewer.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceDetail {
    /// Kind and number.
    pub id: SpaceRef,
    /// The space.
    pub space: Space,
    /// The first [`Self::MAX_COMPONENTS`] visible components, by weight, name of the kind and id.
    pub components: Vec<(ComponentId, ComponentKind)>,
    /// How many components are visible, uncapped.
    pub component_count: i64,
    /// The latest change of the space and of its visible components.
    pub changed_at: OffsetDateTime,
}

impl SpaceDetail {
    /// The most components a space lists.
    pub const MAX_COMPONENTS: i64 = 50;
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_step_has_a_position_in_a_process() {
        let space = SpaceRef { kind: SpaceKind::ParticipatoryProcesses, id: 1 };
        let title = Translated::default();
        let step = Step::new(space, title, 0, datetime!(2026-02-01 0:00 UTC));
        step.check().unwrap();
        let before = Step { position: -1, ..step };
        assert_eq!(before.check().unwrap_err().description(), "position must be 0 or more");
    }

    #[test]
    fn a_title_has_a_text_in_the_main_language() {
        let title = Translated::from([(Locale::EN, "Streets".to_owned()), (Locale::FR, " ".to_owned())]);
        check_title("title", &title, Locale::EN).unwrap();
        for main in [Locale::FR, Locale::ES] {
            let refused = check_title("title", &title, main).unwrap_err();
            assert_eq!(
                (refused.details()[0].field.as_ref(), refused.details()[0].code.as_ref()),
                ("title", "blank")
            );
        }
    }

    #[test]
    fn processes_and_assemblies_can_be_transparent_or_private_and_other_spaces_are_public() {
        for kind in SpaceKind::ALL {
            let mut space = Space::new(kind, Translated::default(), datetime!(2026-01-01 0:00 UTC));
            space.check().unwrap();
            let is_open = matches!(kind, SpaceKind::Conferences | SpaceKind::Initiatives);
            for visibility in [Visibility::Transparent, Visibility::Private] {
                space.visibility = visibility;
                assert_eq!(space.check().is_err(), is_open, "{kind:?} {visibility:?}");
            }
        }
        let mut space =
            Space::new(SpaceKind::Initiatives, Translated::default(), datetime!(2026-01-01 0:00 UTC));
        space.visibility = Visibility::Transparent;
        assert_eq!(space.check().unwrap_err().description(), "initiatives cannot be transparent");
    }
}
