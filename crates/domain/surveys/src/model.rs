//! Surveys and questionnaires.

use crate::digest;
use civitas_kernel::limits::{MAX_LINE_CHARS, MAX_PROSE_CHARS, text_error, translations_too_long};
use civitas_kernel::records::Entity;
use civitas_kernel::{
    ComponentId, Error, Locale, MeetingId, QuestionnaireId, Result, SurveyId, Translated, Wording,
};
use time::OffsetDateTime;

civitas_kernel::named_enum! {
    /// The time of a survey.
    pub enum SurveyPeriod {
        /// It begins later.
        Planned = "planned",
        /// It accepts responses.
        Open = "open",
        /// It has ended.
        Closed = "closed",
    }
}

/// The record of a component that has a questionnaire. The interface has no operation for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The component it belongs to.
    pub component: ComponentId,
    /// When it begins to accept responses; `None`: always.
    pub starts_at: Option<OffsetDateTime>,
    /// The last time it accepts responses; `None`: always.
    pub ends_at: Option<OffsetDateTime>,
    /// When it was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Survey {
    /// A new survey that is always open.
    pub fn new(component: ComponentId, now: OffsetDateTime) -> Self {
        Self { component, starts_at: None, ends_at: None, deleted_at: None, created_at: now, updated_at: now }
    }

    /// Whether it accepts responses at this time, does not yet, or does not any more.
    pub fn period(&self, now: OffsetDateTime) -> SurveyPeriod {
        if self.starts_at.is_some_and(|at| now < at) {
            SurveyPeriod::Planned
        } else if self.is_open(now) {
            SurveyPeriod::Open
        } else {
            SurveyPeriod::Closed
        }
    }

    /// Whether it accepts responses at this time. Both ends are inclusive.
    pub fn is_open(&self, now: OffsetDateTime) -> bool {
        self.starts_at.is_none_or(|at| at <= now) && self.ends_at.is_none_or(|at| now <= at)
    }
}

impl Entity for Survey {
    type Id = SurveyId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| before.deleted_at.is_none() && self.deleted_at.is_some());
        if is_lost { vec!["surveys"] } else { Vec::new() }
    }
}

/// The record a questionnaire belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionnaireParent {
    /// A survey.
    Survey(SurveyId),
    /// A meeting: the questionnaire is its registration form.
    Meeting(MeetingId),
}

/// A questionnaire.
#[derive(Debug, Clone, PartialEq)]
pub struct Questionnaire {
    /// The record it belongs to.
    pub parent: QuestionnaireParent,
    /// The component of that record.
    pub component: ComponentId,
    /// Its title.
    pub title: Translated,
    /// Its description: HTML.
    pub description: Translated,
    /// Its terms of service: HTML.
    pub tos: Translated,
    /// The key of the digests of its respondents. Secret.
    pub salt: String,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it, a question, an option, a row or a condition of it was last changed.
    pub updated_at: OffsetDateTime,
}

impl Questionnaire {
    /// A new questionnaire with a random salt.
    pub fn new(
        parent: QuestionnaireParent,
        component: ComponentId,
        title: Translated,
        now: OffsetDateTime,
    ) -> Self {
        Self {
            parent,
            component,
            title,
            description: Translated::default(),
            tos: Translated::default(),
            salt: digest::random_digest(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether responses without a respondent are accepted (contract 08 §4.1).
    pub fn allows_anonymous(&self) -> bool {
        matches!(self.parent, QuestionnaireParent::Survey(_))
    }

    /// Checks its texts. `locale`: the language in which the title is required, the default one of the organization.
    ///
    /// # Errors
    /// `Invalid` with `blank` for the title, and with `too_long`.
    pub fn check(&self, locale: Option<Locale>) -> Result<()> {
        let errors = [
            text_error("title", "Title", &self.title, MAX_LINE_CHARS, locale),
            translations_too_long("description", "Description", &self.description, MAX_PROSE_CHARS),
            translations_too_long("tos", "Tos", &self.tos, MAX_PROSE_CHARS),
        ];
        Error::unless_valid(Wording::InvalidRequest, errors.into_iter().flatten().collect())
    }
}

impl Entity for Questionnaire {
    type Id = QuestionnaireId;

    civitas_kernel::time_fields!(updated_at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    #[test]
    fn a_survey_is_open_from_its_first_to_its_last_moment() {
        let survey = Survey { starts_at: Some(NOW), ..Survey::new(ComponentId(1), NOW) };
        let survey = Survey { ends_at: Some(NOW + Duration::HOUR), ..survey };
        for (at, is_open) in [(-1, false), (0, true), (3_600, true), (3_601, false)] {
            assert_eq!(survey.is_open(NOW + Duration::seconds(at)), is_open, "{at}");
        }
        let periods = [-1, 0, 3_600, 3_601].map(|at| survey.period(NOW + Duration::seconds(at)));
        assert_eq!(
            periods,
            [SurveyPeriod::Planned, SurveyPeriod::Open, SurveyPeriod::Open, SurveyPeriod::Closed]
        );
        for period in SurveyPeriod::ALL {
            assert_eq!(SurveyPeriod::parse(period.as_str()), Some(period));
        }
        assert!(Survey::new(ComponentId(1), NOW).is_open(NOW - Duration::DAY));
    }

    #[test]
    fn a_title_is_needed_in_the_default_language() {
        let title = |text: &str| Translated::from([(Locale::EN, text.to_owned())]);
        let of = |text: &str| {
            Questionnaire::new(QuestionnaireParent::Survey(SurveyId(1)), ComponentId(1), title(text), NOW)
        };
        of("A").check(Some(Locale::EN)).unwrap();
        of(" ").check(None).unwrap();
        let refused = of(" ").check(Some(Locale::EN)).unwrap_err();
        assert_eq!(refused.details(), [civitas_kernel::FieldError::blank("title", "Title")]);
        assert!(of("A").check(Some(Locale::FR)).is_err());
        assert!(of(&"x".repeat(256)).check(None).is_err());
        assert_ne!(of("A").salt, of("A").salt);
    }
}
