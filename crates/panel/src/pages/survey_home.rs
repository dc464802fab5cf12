//! What the pages of one questionnaire share (contract 08).

use super::content::{self, counted, in_its_zone};
use super::organization;
use crate::parts::{Badge, Head};
use crate::visit::Visit;
use civitas_application::Transaction;
use civitas_audit::{Action, Record};
use civitas_kernel::{Error, OrganizationId, QuestionnaireId, Result};
use civitas_organizations::Organization;
use civitas_surveys::{MOST_COUNTED, Period, Questionnaire, QuestionnaireSummary, SurveyAdmin};
use std::ops::Deref;

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{}/{organization}/surveys", organization::LIST)
}

/// A questionnaire of the organization in the path.
pub(crate) struct OpenedQuestionnaire {
    pub(crate) organization: OrganizationId,
    /// The organization's record.
    pub(crate) home: Organization,
    pub(crate) id: QuestionnaireId,
    pub(crate) questionnaire: Questionnaire,
}

/// The same with its survey, its place, and the numbers of questions and responses.
pub(crate) struct OpenedSurvey {
    named: OpenedQuestionnaire,
    pub(crate) summary: QuestionnaireSummary,
}

impl Deref for OpenedSurvey {
    type Target = OpenedQuestionnaire;

    fn deref(&self) -> &OpenedQuestionnaire {
        &self.named
    }
}

impl OpenedQuestionnaire {
    /// The questionnaire of the path. Times of the page are in the zone of the organization.
    pub(crate) async fn of(visit: &mut Visit) -> Result<Self> {
        let (organization, home) = in_its_zone(visit).await?;
        let id = QuestionnaireId(visit.id("vid")?);
        let found = visit.panel.store().questionnaires().find_kept(organization, id).await?;
        Ok(Self { organization, home, id, questionnaire: found.ok_or(Error::NotFound)? })
    }

    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path(self.organization), self.id)
    }

    /// Its title in the language of the page.
    pub(crate) fn title(&self, visit: &Visit) -> String {
        content::title(visit, &self.questionnaire.title)
    }

    /// The head of a page below the page of the questionnaire.
    pub(crate) fn below(&self, visit: &Visit, title: String) -> Head {
        organization::head(visit, self.organization, &self.home, title)
            .crumb(visit.say("nav-surveys"), list_path(self.organization))
            .crumb(self.title(visit), self.path())
    }
}

impl OpenedSurvey {
    /// The questionnaire of the path. Times of the page are in the zone of the organization.
    pub(crate) async fn of(visit: &mut Visit) -> Result<Self> {
        let (organization, home) = in_its_zone(visit).await?;
        let id = QuestionnaireId(visit.id("vid")?);
        let summary = visit.panel.store().questionnaires().summary(organization, id).await?;
        let summary = summary.ok_or(Error::NotFound)?;
        let questionnaire = summary.questionnaire.clone();
        Ok(Self { named: OpenedQuestionnaire { organization, home, id, questionnaire }, summary })
    }

    /// The head of a page that is a tab of the questionnaire.
    pub(crate) fn own_head(&self, visit: &Visit, tab: &str) -> Head {
        let tabs = ["", "edit", "responses", "preview"].map(|page| {
            let key = if page.is_empty() { "questions" } else { page };
            let label = visit.say(&format!("survey-tab-{key}"));
            let responses = counted(visit, self.summary.responses, MOST_COUNTED);
            (page, if page == "responses" { format!("{label} ({responses})") } else { label })
        });
        organization::head(visit, self.organization, &self.home, self.title(visit))
            .crumb(visit.say("nav-surveys"), list_path(self.organization))
            .badge(period(visit, &self.summary))
            .badge(Badge::plain(kind(visit, &self.summary)))
            .lede(dates(visit, &self.summary))
            .tabs_of(visit.say("survey-tabs"), &self.path(), tabs, tab)
    }
}

/// An entry of the audit trail about a questionnaire.
pub(crate) fn record(visit: &Visit, named: &OpenedQuestionnaire, action: Action) -> Record {
    let label = named.title(visit);
    visit.record(action).of(named.organization).on("survey", &named.id.to_string(), &label)
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> SurveyAdmin<'_> {
    SurveyAdmin { surveys: tx.surveys(), questionnaires: tx.questionnaires(), lookup: tx.survey_lookup() }
}

/// Whether it accepts responses now.
pub(crate) fn period(visit: &Visit, summary: &QuestionnaireSummary) -> Badge {
    match summary.period(visit.now) {
        Period::Planned => Badge::warn(visit.say("survey-planned")),
        Period::Open => Badge::good(visit.say("survey-open")),
        Period::Closed => Badge::plain(visit.say("survey-closed")),
    }
}

/// Survey or form of a meeting.
pub(crate) fn kind(visit: &Visit, summary: &QuestionnaireSummary) -> String {
    visit.say(if summary.is_survey() { "survey-one" } else { "survey-of-meeting" })
}

/// When it accepts responses.
pub(crate) fn dates(visit: &Visit, summary: &QuestionnaireSummary) -> String {
    let time = |at| visit.time(at).into();
    let survey = summary.survey.as_ref();
    match survey.map(|survey| (survey.starts_at, survey.ends_at)) {
        None => visit.say("survey-dates-meeting"),
        Some((None, None)) => visit.say("survey-dates-none"),
        Some((Some(from), None)) => visit.tell("survey-dates-from", &[("from", time(from))]),
        Some((None, Some(to))) => visit.tell("survey-dates-to", &[("to", time(to))]),
        Some((Some(from), Some(to))) => {
            visit.tell("survey-dates-both", &[("from", time(from)), ("to", time(to))])
        }
    }
}
