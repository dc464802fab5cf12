//! The list of questionnaires for administrators.

use crate::{Questionnaire, QuestionnaireParent, Survey, SurveyPeriod};
use civitas_kernel::{ComponentContext, ComponentId, QuestionnaireId};
use time::OffsetDateTime;

/// Counts stop at this number: it means "10,000 or more".
pub const MAX_COUNTED: i64 = 10_001;

/// What administrators search for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionnaireSearch {
    /// A part of the title in any language.
    pub text: Option<String>,
    /// Surveys in this period at this time. The forms of meetings have no dates, and count as open.
    pub period: Option<(SurveyPeriod, OffsetDateTime)>,
    /// Those of this component.
    pub component: Option<ComponentId>,
    /// The order.
    pub sort: QuestionnaireSort,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuestionnaireSort {
    /// Last changed first.
    #[default]
    Changed,
    /// Last created first.
    Created,
}

/// A questionnaire in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionnaireSummary {
    /// Its id.
    pub id: QuestionnaireId,
    /// The questionnaire.
    pub questionnaire: Questionnaire,
    /// The component and space of the record it belongs to.
    pub context: ComponentContext,
    /// The survey; `None` for the form of a meeting.
    pub survey: Option<Survey>,
    /// The number of its questions of all types.
    pub questions: i64,
    /// The number of responses, at most [`MAX_COUNTED`].
    pub responses: i64,
}

impl QuestionnaireSummary {
    /// The period at this time. Forms of meetings are open.
    pub fn period(&self, now: OffsetDateTime) -> SurveyPeriod {
        self.survey.as_ref().map_or(SurveyPeriod::Open, |survey| survey.period(now))
    }

    /// Whether it belongs to a survey.
    pub fn is_survey(&self) -> bool {
        matches!(self.questionnaire.parent, QuestionnaireParent::Survey(_))
    }
}
