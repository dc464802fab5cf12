//! The questionnaires of an organization: surveys and the forms of meetings (contract 08). The list, and the creation of
//! a survey.

use super::opened_survey::{admin, kind, list_path, period};
use super::survey_form;
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::notice::Notice;
use crate::pages::content::opened_space::spaces_by_ids;
use crate::pages::content::organization::{self, open_organization};
use crate::parts::{Cell, Field, FormError, FormErrors, Table};
use crate::records::{ComponentChoice, chosen_component_id};
use crate::reply::Reply;
use crate::translated;
use civitas_audit::Action;
use civitas_kernel::{Direction, OrganizationId, Result, SpaceRef};
use civitas_organizations::Organization;
use civitas_spaces::ComponentKind;
use civitas_surveys::{
    MAX_COUNTED, QuestionnaireSearch, QuestionnaireSort, QuestionnaireSummary, SurveyPeriod, SurveySettings,
};
use std::collections::HashMap;

const COMPONENT_FIELD: &str = "survey[component]";

/// Declares the filters, and returns what they ask for.
fn read_search(list: &mut List<'_>) -> QuestionnaireSearch {
    let text = list.search("surveys-search");
    let periods = [
        ("planned", "survey-planned", SurveyPeriod::Planned),
        ("open", "survey-open", SurveyPeriod::Open),
        ("closed", "survey-closed", SurveyPeriod::Closed),
    ];
    let now = list.req.now;
    let period = list.choice("state", "column-state", &periods).map(|period| (period, now));
    // Those of surveys and of meetings.
    let component = ComponentChoice::BY_NUMBER.component_filter(list);
    let sort = match list.order("created", ["surveys-by-change", "newest-first"]) {
        Direction::Ascending => QuestionnaireSort::Created,
        Direction::Descending => QuestionnaireSort::Changed,
    };
    QuestionnaireSearch { text, period, component, sort }
}

/// The titles of the spaces of these questionnaires.
async fn space_titles(
    req: &AdminRequest,
    organization: OrganizationId,
    items: &[QuestionnaireSummary],
) -> Result<HashMap<SpaceRef, String>> {
    let ids = items.iter().map(|summary| summary.context.space.id).collect();
    let spaces = spaces_by_ids(req, organization, ids).await?;
    Ok(spaces.iter().map(|found| (found.id, translated::title(req, &found.space.title))).collect())
}

fn row(
    req: &AdminRequest,
    path: &str,
    one: &QuestionnaireSummary,
    spaces: &HashMap<SpaceRef, String>,
) -> Vec<Cell> {
    let title = translated::title(req, &one.questionnaire.title);
    let space = spaces.get(&one.context.space).map_or("", String::as_str);
    vec![
        Cell::link(&format!("{path}/{}", one.id), &title, &format!("{} · {}", kind(req, one), one.id)),
        Cell::with_subtext(&translated::title(req, &one.context.name), space),
        Cell::badge(&period(req, one)),
        Cell::text(&req.number(one.questions)),
        Cell::text(&req.count_text(one.responses, MAX_COUNTED)),
        Cell::text(&req.date(one.questionnaire.updated_at)),
    ]
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let (path, request) = (list_path(id), req.query.page(PER_PAGE));
    let mut list = List::new(req, "surveys", &path);
    let search = read_search(&mut list);
    let page = req.store().questionnaires().search(id, &search, request).await?;
    let spaces = space_titles(req, id, &page.items).await?;
    let rows = page.items.iter().map(|one| row(req, &path, one, &spaces));
    let columns = req.columns(
        "column-title component-one column-state survey-questions:num survey-responses:num column-changed:low",
    );
    let by_change = search.sort == QuestionnaireSort::Changed;
    let by_change = by_change.then_some("descending");
    let table = Table::new(req.tr("nav-surveys"), columns).rows(rows);
    let table = table.with_sort_link(5, req.query.with(&path, "sort", None), by_change);
    let links = list.page_links(request, &page);
    let head = organization::head(req, id, &organization, req.tr("nav-surveys"));
    let new = (format!("{path}/new"), req.tr("survey-new"));
    list.reply_with_new(head, table, &links, new).await
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    new_page(req, id, &organization, &SurveySettings::default(), Vec::new()).await
}

async fn new_page(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    settings: &SurveySettings,
    problems: FormErrors,
) -> Result<Reply> {
    let components = ComponentChoice::load(req, id, ComponentKind::Surveys).await?;
    let with_hint = |select: Field| select.hint(req.tr("survey-component-hint"));
    let component = components.field(req, COMPONENT_FIELD, "choose", with_hint).required();
    let path = list_path(id);
    let [mut about, when] = survey_form::sections(req, organization, settings, &problems, true);
    about.fields.insert(0, component.check(&problems).html(&req.translator));
    let form = req.build_form(&path, "survey-create").sections([about, when]).cancel(&path);
    let head = organization::head(req, id, organization, req.tr("survey-new"))
        .crumb(req.tr("nav-surveys"), path)
        .lede(req.tr("survey-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let mut settings = SurveySettings::default();
    let mut problems = survey_form::read_form(req, &organization, &mut settings);
    let component = chosen_component_id(req, COMPONENT_FIELD);
    if component.is_none() {
        problems.push(FormError::new(COMPONENT_FIELD, req.tr("problem-choose")));
    }
    if let (Some(component), true) = (component, problems.is_empty()) {
        let name = translated::title(req, &settings.title);
        let created = req.change_with_audit(
            async |tx| {
                let at = (organization.default_locale, req.now);
                admin(tx).create(id, component, &settings, at).await
            },
            |survey_id| {
                let entry = req.audit_entry(Action::SurveyCreated).in_organization(id);
                Some(entry.with_object("survey", &survey_id.to_string(), &name))
            },
        );
        problems = match created.await {
            Ok(survey_id) => {
                let notice = Notice::success(req.tr_with("survey-created", "name", name));
                let to = format!("{}/{survey_id}", list_path(id));
                return req.redirect(to, notice.text(req.tr("survey-created-next"))).await;
            }
            Err(error) => survey_form::form_errors(req, &organization, error)?,
        };
    }
    new_page(req, id, &organization, &settings, problems).await
}
