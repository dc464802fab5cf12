//! The questionnaires of an organization: surveys and the forms of meetings (contract 08). The list, and the creation of
//! a survey.

use super::opened_survey::{admin, kind, list_path, period};
use super::survey_form;
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::pages::content::organization;
use crate::pages::content::shared::{self, count_text, open_organization_in_zone, spaces_by_ids};
use crate::parts::{Cell, Choice, Field, FormError, FormErrors, Html, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::{ComponentId, Direction, OrganizationId, PageRequest, Result, SpaceRef};
use civitas_organizations::Organization;
use civitas_spaces::ComponentKind;
use civitas_surveys::{
    MAX_COUNTED, QuestionnaireSearch, QuestionnaireSort, QuestionnaireSummary, SurveyPeriod, SurveySettings,
};
use std::collections::HashMap;

/// The most components that a new survey can choose from.
const MAX_COMPONENTS: i64 = PageRequest::MAX_LENGTH;
const COMPONENT_FIELD: &str = "survey[component]";

/// Declares the filters of the list with this address.
fn read_search(filters: &mut ListFilters<'_>, path: &str) -> QuestionnaireSearch {
    let req = filters.req;
    let text = filters.text("surveys-search");
    let periods = [
        ("planned", "survey-planned", SurveyPeriod::Planned),
        ("open", "survey-open", SurveyPeriod::Open),
        ("closed", "survey-closed", SurveyPeriod::Closed),
    ];
    let period = filters.choice("state", "column-state", &periods).map(|period| (period, req.now));
    let component = req.query.number("component").map(ComponentId);
    let label = req.tr("component-one");
    let chip = component.map(|id| req.chip(path, "component", format!("{label} {id}")));
    let field = Field::number("component", label, req.query.field_value("component"));
    filters.field(&field.hint(req.tr("component-number")), chip);
    let sort = match filters.order("created", ["surveys-by-change", "newest-first"]) {
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
    Ok(spaces.iter().map(|found| (found.id, shared::title(req, &found.space.title))).collect())
}

fn row(
    req: &AdminRequest,
    path: &str,
    one: &QuestionnaireSummary,
    spaces: &HashMap<SpaceRef, String>,
) -> Vec<Cell> {
    let title = shared::title(req, &one.questionnaire.title);
    let space = spaces.get(&one.context.space).map_or("", String::as_str);
    vec![
        Cell::link(&format!("{path}/{}", one.id), &title, &format!("{} · {}", kind(req, one), one.id)),
        Cell::with_subtext(&shared::title(req, &one.context.name), space),
        Cell::badge(&period(req, one)),
        Cell::text(&req.number(one.questions)),
        Cell::text(&count_text(req, one.responses, MAX_COUNTED)),
        Cell::text(&req.date(one.questionnaire.updated_at)),
    ]
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization_in_zone(req).await?;
    let (path, request) = (list_path(id), req.query.page(PER_PAGE));
    let mut filters = ListFilters::new(req, &path);
    let search = read_search(&mut filters, &path);
    let page = req.store().questionnaires().search(id, &search, request).await?;
    let spaces = space_titles(req, id, &page.items).await?;
    let rows = page.items.iter().map(|one| row(req, &path, one, &spaces));
    let columns = req.columns(
        "column-title component-one column-state survey-questions:num survey-responses:num column-changed:low",
    );
    let by_change = search.sort == QuestionnaireSort::Changed;
    let by_change = by_change.then_some("descending");
    let table = Table::new(req.tr("nav-surveys"), columns).rows(rows);
    let table = table.sorted(5, req.query.with(&path, "sort", None), by_change);
    let pages = req.pagination(&path, request, page.has_more);
    let head = organization::head(req, id, &organization, req.tr("nav-surveys"));
    let new = (format!("{path}/new"), req.tr("survey-new"));
    filters.show_with_new("surveys", head, req.row_count_text(page.items.len()), table, pages, new).await
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization_in_zone(req).await?;
    show_new(req, id, &organization, &SurveySettings::default(), Vec::new()).await
}

/// The components for surveys, to choose from.
async fn components(
    req: &AdminRequest,
    organization: OrganizationId,
    problems: &[FormError],
) -> Result<Html> {
    let reader = organization::admin_read_context(organization);
    let request = PageRequest::new(1, MAX_COMPONENTS);
    let store = req.store().components();
    let found = store.list(reader, Some(ComponentKind::Surveys), &[], request).await?;
    let chosen =
        req.form.get(COMPONENT_FIELD).map_or_else(|| req.query.field_value("component"), str::to_owned);
    let label = req.tr("component-one");
    let field = if found.has_more {
        Field::number(COMPONENT_FIELD, label, chosen).hint(req.tr("component-number"))
    } else {
        let choices = found.items.iter().map(|one| {
            let (space, name) = (&one.space_title, &one.component.name);
            let name = format!("{}: {}", shared::title(req, space), shared::title(req, name));
            Choice::new(one.id.to_string(), name)
        });
        let choices = std::iter::once(Choice::new("", req.tr("choose"))).chain(choices);
        Field::select(COMPONENT_FIELD, label, chosen, choices.collect()).hint(req.tr("survey-component-hint"))
    };
    Ok(field.required().check(problems).html(&req.translator))
}

async fn show_new(
    req: &AdminRequest,
    id: OrganizationId,
    organization: &Organization,
    settings: &SurveySettings,
    problems: FormErrors,
) -> Result<Reply> {
    let (path, component) = (list_path(id), Some(components(req, id, &problems).await?));
    let address = (path.clone(), "survey-create");
    let form =
        survey_form::form(req, organization, settings, address, &problems, component, true).cancel(&path);
    let head = organization::head(req, id, organization, req.tr("survey-new"))
        .crumb(req.tr("nav-surveys"), path)
        .lede(req.tr("survey-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization_in_zone(req).await?;
    let mut settings = SurveySettings::default();
    let mut problems = survey_form::read_form(req, &organization, &mut settings);
    let component = req.form.text(COMPONENT_FIELD).parse().map(ComponentId);
    if component.is_err() {
        problems.push(FormError::new(COMPONENT_FIELD, req.tr("problem-choose")));
    }
    if let (Ok(component), true) = (component, problems.is_empty()) {
        let name = shared::title(req, &settings.title);
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
    show_new(req, id, &organization, &settings, problems).await
}
