//! The states of the proposals of a component: list, new ones, titles and colours (contract 06 §1.6).

use super::components::{OpenedComponent, base};
use super::content::{field_of, line, title};
use crate::error;
use crate::parts::{Act, Badge, Cell, Column, Empty, Form, Head, Html, Problem, RowAct, Table};
use crate::records::{EditableRecord, FormInput, FormView, Saved, Target, TextField, save};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdmin};
use civitas_kernel::{Error, FieldError, Result, StateId, Translated};
use civitas_organizations::Organization;
use civitas_proposals::{MOST_STATES, ProposalState, StateAdmin};
use civitas_spaces::ComponentManifest;

/// The name of the form.
const NAME: &str = "state";
/// The members with colours, and the labels of their fields.
const COLORS: [(&str, &str); 2] = [("bg_color", "state-color"), ("text_color", "state-text-color")];

/// The component of the path, which is one for proposals.
async fn of_path(visit: &mut Visit) -> Result<OpenedComponent> {
    let own = OpenedComponent::of_path(visit).await?;
    if own.component.manifest == ComponentManifest::Proposals { Ok(own) } else { Err(Error::NotFound) }
}

fn path(own: &OpenedComponent) -> String {
    format!("{}/states", own.path())
}

/// The state of the path, which is one of the component.
async fn state_of(visit: &Visit, own: &OpenedComponent) -> Result<(StateId, ProposalState)> {
    let id = StateId(visit.id("state")?);
    let found = visit.panel.store().states().find(own.here.id, id).await?;
    Ok((id, found.filter(|state| state.component == own.id).ok_or(Error::NotFound)?))
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let visit = &*visit;
    let mut states = visit.panel.store().states().of_component(own.here.id, own.id, MOST_STATES).await?;
    states.sort_by_key(|(id, _)| id.0);
    let rows = states.iter().map(|(id, state)| {
        let (href, name) = (format!("{}/{id}/edit", path(&own)), title(visit, &state.title));
        let is_built_in = ProposalState::BUILT_IN.contains(&state.token.as_str());
        let origin = if is_built_in { "state-built-in" } else { "state-own" };
        let color = |color: &Option<String>| match color {
            Some(color) => Cell::html(Html::code(color)),
            None => Cell::soft(&visit.say("none")),
        };
        vec![
            Cell::link(&href, &name, &state.token),
            Cell::badge(&Badge::plain(visit.say(origin))),
            color(&state.bg_color),
            color(&state.text_color),
            Cell::acts(&[RowAct::link(href.clone(), visit.say("edit"), name)]),
        ]
    });
    let columns = vec![
        Column::new(visit.say("column-title")),
        Column::new(visit.say("state-origin")),
        Column::new(visit.say("state-color")).low(),
        Column::new(visit.say("state-text-color")).low(),
        Column::acts(visit.say("column-acts")),
    ];
    let new = format!("{}/new", path(&own));
    let empty = Empty {
        title: visit.say("states-none"),
        text: visit.say("states-lede"),
        act: Some((new.clone(), visit.say("state-new"))),
    };
    let table = Table::new(visit.say("states"), columns).rows(rows).empty(empty);
    let head = own.head(visit, "states").act(Act::primary(new, visit.say("state-new")));
    let lede = Html::paragraph("soft", &visit.say("states-lede"));
    visit.page(head, Html::join([lede, table.html()])).await
}

/// Writes what was typed into the state.
fn read(visit: &Visit, state: &mut ProposalState) -> Vec<Problem> {
    let mut input = FormInput::new(visit, NAME, &visit.panel.settings.site.locales);
    input.texts("title", &mut state.title);
    input.optional_line("bg_color", &mut state.bg_color);
    input.optional_line("text_color", &mut state.text_color);
    input.into_problems()
}

fn head(visit: &Visit, own: &OpenedComponent, title: String) -> Head {
    let edit = format!("{}/{}/edit", base(own.here.id), own.id);
    own.here.below(visit, title).crumb(own.name(visit), edit).crumb(visit.say("states"), path(own))
}

/// The form of a state; that of a new one has its token too.
fn form<'a>(
    visit: &'a Visit,
    own: &OpenedComponent,
    (action, save): (String, &str),
    state: &ProposalState,
    problems: &[Problem],
    is_new: bool,
) -> Form<'a> {
    let (home, locales) = (&own.here.organization, &visit.panel.settings.site.locales);
    let view = FormView { visit, home, name: NAME, locales, problems, is_new };
    let mut section = view.section("state", "state-one");
    if is_new {
        let token = view.line("token", "state-token", &state.token).hint(visit.say("state-token-hint"));
        section = section.field(view.html(token.class("mono").required()));
    }
    section = section.field(view.texts("texts", &[TextField::line("title", "column-title", &state.title)]));
    for ((member, label), color) in COLORS.into_iter().zip([&state.bg_color, &state.text_color]) {
        let field = view.line(member, label, color.as_deref().unwrap_or_default());
        let field = field.hint(visit.say("state-color-hint")).class("short").optional();
        section = section.field(view.html(field));
    }
    Form::new(&visit.words, action, visit.token(), save).section(section).cancel(path(own))
}

fn admin<'a>(ports: &'a dyn Ports, home: &Organization) -> StateAdmin<'a> {
    StateAdmin { states: ports.states(), default_locale: home.default_locale }
}

impl EditableRecord for ProposalState {
    fn admin<'a>(ports: &'a dyn Ports, home: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(admin(ports, home))
    }

    fn label(&self, _: &Visit) -> String {
        self.token.clone()
    }

    fn problems(visit: &Visit, home: &Organization, fault: Error) -> Result<Vec<Problem>> {
        if fault.details().is_empty() {
            return error::problems(&visit.words, fault, |_| String::new());
        }
        let problem = |fault: &FieldError| {
            let is_of_record = fault.field == "revision";
            let field = if is_of_record { String::new() } else { field_of(NAME, home, fault) };
            let text = match (fault.field.as_ref(), fault.code.as_ref()) {
                ("token", "too_many") => visit.tell("problem-states", &[("number", MOST_STATES.into())]),
                ("token", "invalid") => visit.say("problem-token"),
                (_, "invalid") => visit.say("problem-color"),
                _ => error::sentence(&visit.words, fault),
            };
            Problem::new(field, text)
        };
        Ok(fault.details().iter().map(problem).collect())
    }
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    show_new(visit, &own, Vec::new()).await
}

/// The state that the form of a new one has.
fn read_new(visit: &Visit, own: &OpenedComponent) -> ProposalState {
    let mut state = ProposalState {
        component: own.id,
        token: visit.form.text("state[token]").to_owned(),
        title: Translated::default(),
        bg_color: None,
        text_color: None,
    };
    read(visit, &mut state);
    state
}

async fn show_new(visit: &Visit, own: &OpenedComponent, problems: Vec<Problem>) -> Result<Reply> {
    let state = read_new(visit, own);
    let form = form(visit, own, (path(own), "state-create"), &state, &problems, true);
    visit.form_page(head(visit, own, visit.say("state-new")), form.html(), problems).await
}

/// Back to the list, with what was done with the state of this title.
async fn done(visit: &Visit, own: &OpenedComponent, key: &str, state: &ProposalState) -> Result<Reply> {
    visit.done(key, &[("name", title(visit, &state.title).into())], path(own)).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let (visit, home) = (&*visit, &own.here.organization);
    let state = read_new(visit, &own);
    let created = visit
        .change(async |tx| {
            let id = admin(tx, home).create(own.here.id, &state).await?;
            let record = visit
                .record(Action::ProposalStateCreated)
                .of(own.here.id)
                .on("proposal_state", &id.to_string(), &state.token)
                .changed("component", None, Some(&own.id.to_string()))
                .changed("title", None, Some(&line(&state.title)));
            visit.append(tx, &record).await
        })
        .await;
    match created {
        Ok(()) => done(visit, &own, "state-created", &state).await,
        Err(fault) => show_new(visit, &own, ProposalState::problems(visit, home, fault)?).await,
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let (id, state) = state_of(visit, &own).await?;
    show_edit(visit, &own, (id, &state), &state, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    own: &OpenedComponent,
    (id, stored): (StateId, &ProposalState),
    state: &ProposalState,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let lede = visit.tell("state-lede", &[("token", stored.token.as_str().into())]);
    let form = form(visit, own, (format!("{}/{id}", path(own)), "state-save"), state, &problems, false)
        .method("put")
        .hidden("revision", visit.revision(stored.revision()));
    let head = head(visit, own, title(visit, &stored.title)).lede(lede);
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let visit = &*visit;
    let (id, stored) = state_of(visit, &own).await?;
    let target = Target { organization: own.here.id, home: &own.here.organization, id };
    match save(visit, target, Action::ProposalStateUpdated, |state| read(visit, state)).await? {
        Saved::Stored(state) => done(visit, &own, "state-saved", &state).await,
        Saved::Refused(state, problems) => show_edit(visit, &own, (id, &stored), &state, problems).await,
    }
}
