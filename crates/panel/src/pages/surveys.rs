//! The questionnaires of an organization: surveys and the forms of meetings (contract 08). The list, and the creation of
//! a survey.

use super::content::{self, counted, in_its_zone};
use super::survey_home::{admin, kind, list_path, period};
use super::{organization, survey_form};
use crate::notice::Notice;
use crate::parts::{Act, Cell, Choice, Column, Empty, Field, Html, Problem, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::filter::{Condition, Is};
use civitas_kernel::{ComponentId, Direction, OrganizationId, PageRequest, Result, SpaceRef};
use civitas_organizations::Organization;
use civitas_spaces::{ComponentManifest, SpaceField, SpaceFilter};
use civitas_surveys::{
    MOST_COUNTED, Period, QuestionnaireSearch, QuestionnaireSort, QuestionnaireSummary, SurveySettings,
};
use std::collections::HashMap;

/// The most components that a new survey can choose from.
const MOST_COMPONENTS: i64 = PageRequest::MAX_LENGTH;
const COMPONENT: &str = "survey[component]";

/// Declares the filters of the list with this address.
fn search(filters: &mut ListFilters<'_>, path: &str) -> QuestionnaireSearch {
    let visit = filters.visit;
    let text = filters.text("surveys-search");
    let periods = [
        ("planned", "survey-planned", Period::Planned),
        ("open", "survey-open", Period::Open),
        ("closed", "survey-closed", Period::Closed),
    ];
    let period = filters.choice("state", "column-state", &periods).map(|period| (period, visit.now));
    let component = visit.query.number("component").map(ComponentId);
    let label = visit.say("component-one");
    let chip = component.map(|id| visit.chip(path, "component", format!("{label} {id}")));
    let field = Field::number("component", label, visit.query.shown("component"));
    filters.field(&field.hint(visit.say("component-number")), chip);
    let sort = match filters.order("created", ["surveys-by-change", "newest-first"]) {
        Direction::Ascending => QuestionnaireSort::Created,
        Direction::Descending => QuestionnaireSort::Changed,
    };
    QuestionnaireSearch { text, period, component, sort }
}

/// The titles of the spaces of these questionnaires.
async fn space_titles(
    visit: &Visit,
    organization: OrganizationId,
    items: &[QuestionnaireSummary],
) -> Result<HashMap<SpaceRef, String>> {
    let mut ids: Vec<i64> = items.iter().map(|summary| summary.place.space.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = SpaceFilter { field: SpaceField::Id, condition: Condition::Integer(Is::In(ids)) };
    // Spaces of each of the four kinds can have the same number.
    let request = PageRequest::of(1, PageRequest::MAX_LENGTH);
    let reader = organization::as_administrator(organization);
    let found = visit.panel.store().spaces().list(reader, None, &[filter], request).await?;
    let title = |detail: &civitas_spaces::SpaceDetail| content::title(visit, &detail.space.title);
    Ok(found.items.iter().map(|detail| (detail.id, title(detail))).collect())
}

fn row(
    visit: &Visit,
    path: &str,
    one: &QuestionnaireSummary,
    spaces: &HashMap<SpaceRef, String>,
) -> Vec<Cell> {
    let title = content::title(visit, &one.questionnaire.title);
    let space = spaces.get(&one.place.space).map_or("", String::as_str);
    vec![
        Cell::link(&format!("{path}/{}", one.id), &title, &format!("{} · {}", kind(visit, one), one.id)),
        Cell::with_sub(&content::title(visit, &one.place.name), space),
        Cell::badge(&period(visit, one)),
        Cell::num(&visit.number(one.questions)),
        Cell::num(&counted(visit, one.responses, MOST_COUNTED)),
        Cell::text(&visit.date(one.questionnaire.updated_at)),
    ]
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let visit = &*visit;
    let (path, request) = (list_path(id), visit.query.page(PER_PAGE));
    let mut filters = ListFilters::new(visit, &path);
    let search = search(&mut filters, &path);
    let page = visit.panel.store().questionnaires().search(id, &search, request).await?;
    let spaces = space_titles(visit, id, &page.items).await?;
    let rows = page.items.iter().map(|one| row(visit, &path, one, &spaces));
    let columns = vec![
        Column::new(visit.say("column-title")),
        Column::new(visit.say("component-one")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("survey-questions")).num(),
        Column::new(visit.say("survey-responses")).num(),
        Column::new(visit.say("column-changed")).low(),
    ];
    let chips = std::mem::take(&mut filters.chips);
    let empty = if chips.is_empty() {
        let new = Some((format!("{path}/new"), visit.say("survey-new")));
        Empty { title: visit.say("surveys-none"), text: visit.say("surveys-lede"), act: new }
    } else {
        visit.no_match(&path, visit.say("surveys-no-match"))
    };
    let by_change = search.sort == QuestionnaireSort::Changed;
    let table = Table::new(visit.say("nav-surveys"), columns).rows(rows).empty(empty).sorted(
        5,
        visit.query.with(&path, "sort", None),
        by_change.then_some("descending"),
    );
    let pages = visit.pages(&path, request, page.has_more);
    let results = visit.results(&path, (visit.shown(page.items.len()), chips), &table, pages);
    let head = organization::head(visit, id, &home, visit.say("nav-surveys"))
        .lede(visit.say("surveys-lede"))
        .act(Act::primary(format!("{path}/new"), visit.say("survey-new")));
    visit.page(head, Html::join([filters.html("surveys-filter"), results])).await
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    show_new(visit, id, &home, &SurveySettings::default(), Vec::new()).await
}

/// The components for surveys, to choose from.
async fn components(visit: &Visit, organization: OrganizationId, problems: &[Problem]) -> Result<Html> {
    let reader = organization::as_administrator(organization);
    let request = PageRequest::of(1, MOST_COMPONENTS);
    let store = visit.panel.store().components();
    let found = store.list(reader, Some(ComponentManifest::Surveys), &[], request).await?;
    let chosen = visit.form.get(COMPONENT).map_or_else(|| visit.query.shown("component"), str::to_owned);
    let label = visit.say("component-one");
    let field = if found.has_more {
        Field::number(COMPONENT, label, chosen).hint(visit.say("component-number"))
    } else {
        let choices = found.items.iter().map(|one| {
            let (space, name) = (&one.space_title, &one.component.name);
            let name = format!("{}: {}", content::title(visit, space), content::title(visit, name));
            Choice::new(one.id.to_string(), name)
        });
        let choices = std::iter::once(Choice::new("", visit.say("choose"))).chain(choices);
        Field::select(COMPONENT, label, chosen, choices.collect()).hint(visit.say("survey-component-hint"))
    };
    Ok(field.required().check(problems).html(&visit.words))
}

async fn show_new(
    visit: &Visit,
    id: OrganizationId,
    home: &Organization,
    settings: &SurveySettings,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let (path, component) = (list_path(id), Some(components(visit, id, &problems).await?));
    let address = (path.clone(), "survey-create");
    let form = survey_form::form(visit, home, settings, address, &problems, component, true).cancel(&path);
    let head = organization::head(visit, id, home, visit.say("survey-new"))
        .crumb(visit.say("nav-surveys"), path)
        .lede(visit.say("survey-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = in_its_zone(visit).await?;
    let visit = &*visit;
    let mut settings = SurveySettings::default();
    let mut problems = survey_form::read(visit, &home, &mut settings);
    let component = visit.form.text(COMPONENT).parse().map(ComponentId);
    if component.is_err() {
        problems.push(Problem::new(COMPONENT, visit.say("problem-choose")));
    }
    if let (Ok(component), true) = (component, problems.is_empty()) {
        let name = content::title(visit, &settings.title);
        let created = visit.change(async |tx| {
            let own = admin(tx).create(id, component, &settings, (home.default_locale, visit.now)).await?;
            let entry = visit.record(Action::SurveyCreated).of(id).on("survey", &own.to_string(), &name);
            visit.append(tx, &entry).await?;
            Ok(own)
        });
        problems = match created.await {
            Ok(own) => {
                let notice = Notice::good(visit.tell("survey-created", &[("name", name.into())]));
                let to = format!("{}/{own}", list_path(id));
                return visit.redirect(to, notice.text(visit.say("survey-created-next"))).await;
            }
            Err(fault) => survey_form::refusal(visit, &home, fault)?,
        };
    }
    show_new(visit, id, &home, &settings, problems).await
}
