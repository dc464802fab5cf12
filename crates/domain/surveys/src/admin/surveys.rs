//! Surveys with their questionnaires.

use super::faults;
use crate::{Questionnaire, QuestionnaireParent, QuestionnaireStore, Survey, SurveyLookup, SurveyStore};
use civitas_kernel::records::{
    AdminWithoutRules, Change, RecordAdministration, find_for_update, find_revision_for_update,
};
use civitas_kernel::{
    ComponentId, Error, FieldError, Locale, OrganizationId, QuestionnaireId, Result, Translated, Wording,
};
use time::OffsetDateTime;

/// Administers surveys, and the texts of all questionnaires.
pub struct SurveyAdministration<'a> {
    /// The store of surveys.
    pub surveys: &'a dyn SurveyStore,
    /// The store of questionnaires.
    pub questionnaires: &'a dyn QuestionnaireStore,
    /// Reads components.
    pub lookup: &'a dyn SurveyLookup,
}

/// What administrators set of a survey. The dates of the form of a meeting have no effect.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SurveySettings {
    /// The title.
    pub title: Translated,
    /// The description: HTML.
    pub description: Translated,
    /// The terms of service: HTML.
    pub tos: Translated,
    /// When it begins to accept responses; `None`: always.
    pub starts_at: Option<OffsetDateTime>,
    /// The last time it accepts responses; `None`: always.
    pub ends_at: Option<OffsetDateTime>,
}

/// What a change of a survey did.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyChange {
    /// The questionnaire.
    pub questionnaire: Change<Questionnaire>,
    /// The survey; `None` for the form of a meeting.
    pub survey: Option<Change<Survey>>,
}

impl SurveyChange {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.questionnaire.is_empty() && self.survey.as_ref().is_none_or(Change::is_empty)
    }
}

impl SurveySettings {
    fn check(&self, questionnaire: &Questionnaire, locale: Locale) -> Result<()> {
        let mut fields = faults(questionnaire.check(Some(locale)))?;
        if self.starts_at.zip(self.ends_at).is_some_and(|(starts, ends)| ends < starts) {
            fields.push(FieldError::new("ends_at", "before_start", "A survey cannot end before it starts"));
        }
        Error::unless_valid(Wording::InvalidRequest, fields)
    }

    fn apply(&self, questionnaire: &mut Questionnaire) {
        questionnaire.title = self.title.clone();
        questionnaire.description = self.description.clone();
        questionnaire.tos = self.tos.clone();
    }
}

impl SurveyAdministration<'_> {
    /// Adds a survey with an empty questionnaire to a component.
    ///
    /// # Errors
    /// `Invalid` with `inclusion` when the component is not one for surveys; with `blank` for a title that is blank in
    /// `locale`, the default language of the organization; with `too_long`; with `before_start`.
    pub async fn create(
        &self,
        organization: OrganizationId,
        component: ComponentId,
        settings: &SurveySettings,
        (locale, now): (Locale, OffsetDateTime),
    ) -> Result<QuestionnaireId> {
        if !self.lookup.has_surveys(organization, component).await? {
            return Err(Error::invalid("component", "inclusion", "component is not included in the list"));
        }
        let survey = Survey {
            starts_at: settings.starts_at,
            ends_at: settings.ends_at,
            ..Survey::new(component, now)
        };
        let new = |parent| {
            let mut questionnaire = Questionnaire::new(parent, component, settings.title.clone(), now);
            settings.apply(&mut questionnaire);
            questionnaire
        };
        settings.check(&new(QuestionnaireParent::Survey(civitas_kernel::SurveyId(0))), locale)?;
        let survey = AdminWithoutRules(self.surveys).create(organization, &survey).await?;
        AdminWithoutRules(self.questionnaires)
            .create(organization, &new(QuestionnaireParent::Survey(survey)))
            .await
    }

    /// Changes the texts of a questionnaire, and the dates of its survey.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` as for [`Self::create`], and with `changed_meanwhile` when `seen` is not its revision.
    pub async fn update(
        &self,
        organization: OrganizationId,
        (id, seen): (QuestionnaireId, &str),
        settings: &SurveySettings,
        (locale, now): (Locale, OffsetDateTime),
    ) -> Result<SurveyChange> {
        let before = find_revision_for_update(self.questionnaires, organization, id, Some(seen)).await?;
        let parent = before.parent;
        let mut change = Change::from_edit(before, now, |questionnaire| settings.apply(questionnaire));
        settings.check(&change.after, locale)?;
        let survey = match parent {
            QuestionnaireParent::Meeting(_) => None,
            QuestionnaireParent::Survey(survey) => {
                let before = find_for_update(self.surveys, organization, survey).await?;
                let change = Change::from_edit(before, now, |survey| {
                    survey.starts_at = settings.starts_at;
                    survey.ends_at = settings.ends_at;
                });
                AdminWithoutRules(self.surveys).change(organization, survey, &change).await?;
                Some(change)
            }
        };
        if survey.as_ref().is_some_and(|survey| !survey.is_empty()) {
            // Clients that read the former dates see by this time that the dates changed.
            change.after.updated_at = now;
        }
        AdminWithoutRules(self.questionnaires).change(organization, id, &change).await?;
        Ok(SurveyChange { questionnaire: change, survey })
    }
}
