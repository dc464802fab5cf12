//! What the pages of one questionnaire share (contract 08).

use crate::admin_request::AdminRequest;
use crate::pages::content::organization::{self, open_organization};
use crate::parts::{Badge, Head};
use crate::translated::title;
use civitas_application::Transaction;
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{Error, OrganizationId, QuestionnaireId, Result};
use civitas_organizations::Organization;
use civitas_surveys::{MAX_COUNTED, Questionnaire, QuestionnaireSummary, SurveyAdministration, SurveyPeriod};
use std::ops::Deref;

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{}/{organization}/surveys", organization::LIST)
}

/// A questionnaire of the organization in the path.
pub(crate) struct OpenedQuestionnaire {
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: Organization,
    pub(crate) id: QuestionnaireId,
    pub(crate) questionnaire: Questionnaire,
}

/// A questionnaire with its survey, its context, and the numbers of its questions and responses.
pub(crate) struct OpenedSurvey {
    opened: OpenedQuestionnaire,
    pub(crate) summary: QuestionnaireSummary,
}

impl Deref for OpenedSurvey {
    type Target = OpenedQuestionnaire;

    fn deref(&self) -> &OpenedQuestionnaire {
        &self.opened
    }
}

impl OpenedQuestionnaire {
    /// The questionnaire of the path. Times of the page are in the zone of the organization.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let id = QuestionnaireId(req.path_id("vid")?);
        let found = req.store().questionnaires().find_stored(organization_id, id).await?;
        Ok(Self { organization_id, organization, id, questionnaire: found.ok_or(Error::NotFound)? })
    }

    /// The address of the page of the questionnaire.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", list_path(self.organization_id), self.id)
    }

    /// The title of the questionnaire in the language of the page.
    pub(crate) fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.questionnaire.title)
    }

    /// The head of a page below the page of the questionnaire.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        organization::head(req, self.organization_id, &self.organization, title)
            .crumb(req.tr("nav-surveys"), list_path(self.organization_id))
            .crumb(self.title(req), self.path())
    }
}

impl OpenedSurvey {
    /// The questionnaire of the path. Times of the page are in the zone of the organization.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = open_organization(req).await?;
        let id = QuestionnaireId(req.path_id("vid")?);
        let summary = req.store().questionnaires().summary(organization_id, id).await?;
        let summary = summary.ok_or(Error::NotFound)?;
        let questionnaire = summary.questionnaire.clone();
        Ok(Self { opened: OpenedQuestionnaire { organization_id, organization, id, questionnaire }, summary })
    }

    /// The head of a page that is a tab of the questionnaire.
    pub(crate) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let tabs = ["", "edit", "responses", "preview"].map(|page| {
            let key = if page.is_empty() { "questions" } else { page };
            let label = req.tr(&format!("survey-tab-{key}"));
            let responses = req.count_text(self.summary.responses, MAX_COUNTED);
            (page, if page == "responses" { format!("{label} ({responses})") } else { label })
        });
        organization::head(req, self.organization_id, &self.organization, self.title(req))
            .crumb(req.tr("nav-surveys"), list_path(self.organization_id))
            .badge(period(req, &self.summary))
            .badge(Badge::plain(kind(req, &self.summary)))
            .lede(dates(req, &self.summary))
            .record_tabs(req.tr("survey-tabs"), &self.path(), tabs, tab)
    }
}

/// An entry of the audit trail about a questionnaire.
pub(crate) fn audit_entry(req: &AdminRequest, survey: &OpenedQuestionnaire, action: Action) -> NewAuditEntry {
    let label = survey.title(req);
    req.audit_entry(action).in_organization(survey.organization_id).with_object(
        "survey",
        &survey.id.to_string(),
        &label,
    )
}

/// The use case, in a transaction.
pub(crate) fn admin(tx: &dyn Transaction) -> SurveyAdministration<'_> {
    SurveyAdministration {
        surveys: tx.surveys(),
        questionnaires: tx.questionnaires(),
        lookup: tx.survey_lookup(),
    }
}

/// Whether the questionnaire accepts responses now.
pub(crate) fn period(req: &AdminRequest, summary: &QuestionnaireSummary) -> Badge {
    match summary.period(req.now) {
        SurveyPeriod::Planned => Badge::warn(req.tr("survey-planned")),
        SurveyPeriod::Open => Badge::good(req.tr("survey-open")),
        SurveyPeriod::Closed => Badge::plain(req.tr("survey-closed")),
    }
}

/// Survey or form of a meeting.
pub(crate) fn kind(req: &AdminRequest, summary: &QuestionnaireSummary) -> String {
    req.tr(if summary.is_survey() { "survey-one" } else { "survey-of-meeting" })
}

/// When it accepts responses.
pub(crate) fn dates(req: &AdminRequest, summary: &QuestionnaireSummary) -> String {
    let time = |at| req.time(at);
    let survey = summary.survey.as_ref();
    match survey.map(|survey| (survey.starts_at, survey.ends_at)) {
        None => req.tr("survey-dates-meeting"),
        Some((None, None)) => req.tr("survey-dates-none"),
        Some((Some(from), None)) => req.tr_with("survey-dates-from", "from", time(from)),
        Some((None, Some(to))) => req.tr_with("survey-dates-to", "to", time(to)),
        Some((Some(from), Some(to))) => {
            req.tr_args("survey-dates-both", &[("from", time(from).into()), ("to", time(to).into())])
        }
    }
}
