//! The states of the proposals of a component: list, new ones, titles and colours (contract 06 §1.6).

use super::components::{Own, base};
use super::content::{line, title, typed, with_changes};
use crate::error;
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Cell, Column, Empty, Field, Form, Head, Html, Problem, RowAct, Section, Table, Texts,
};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::{Action, Record};
use civitas_kernel::records::{Change, Entity, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Error, FieldError, Result, StateId, Translated};
use civitas_proposals::{MOST_STATES, ProposalState, StateAdmin};
use civitas_spaces::ComponentManifest;

const TOKEN: &str = "state[token]";
const TITLE: &str = "state[title]";
/// The members with colours, their fields, and the labels of these.
const COLORS: [(&str, &str, &str); 2] =
    [("bg_color", "state[bg_color]", "state-color"), ("text_color", "state[text_color]", "state-text-color")];

/// The component of the path, which is one for proposals.
async fn of_path(visit: &mut Visit) -> Result<Own> {
    let own = Own::of_path(visit).await?;
    if own.component.manifest == ComponentManifest::Proposals { Ok(own) } else { Err(Error::NotFound) }
}

fn path(own: &Own) -> String {
    format!("{}/states", own.path())
}

/// The state of the path, which is one of the component.
async fn state_of(visit: &Visit, own: &Own) -> Result<(StateId, ProposalState)> {
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

/// The state with what was typed. What was not sent stays as it is.
fn read(visit: &Visit, mut state: ProposalState) -> ProposalState {
    state.title = typed(visit, TITLE, &visit.panel.settings.site.locales, &state.title);
    let color = |name: &str, stored: Option<String>| match visit.form.get(name) {
        None => stored,
        Some(typed) => Some(typed.trim().to_owned()).filter(|typed| !typed.is_empty()),
    };
    state.bg_color = color(COLORS[0].1, state.bg_color);
    state.text_color = color(COLORS[1].1, state.text_color);
    state
}

fn head(visit: &Visit, own: &Own, title: String) -> Head {
    let edit = format!("{}/{}/edit", base(own.here.id), own.id);
    own.here.below(visit, title).crumb(own.name(visit), edit).crumb(visit.say("states"), path(own))
}

/// The form of a state; `token` is the field of a new one.
fn form<'a>(
    visit: &'a Visit,
    own: &Own,
    action: String,
    state: &ProposalState,
    token: Option<Html>,
    problems: &[Problem],
) -> Form<'a> {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let texts = Texts::new("texts", visit.say("texts"), locales, own.here.organization.default_locale).text(
        TITLE,
        visit.say("column-title"),
        "",
        &state.title,
        1,
    );
    let mut section = Section::new("state", visit.say("state-one"));
    if let Some(token) = token {
        section = section.field(token);
    }
    section = section.field(texts.html(words, problems));
    for ((_, name, label), color) in COLORS.into_iter().zip([&state.bg_color, &state.text_color]) {
        let field = Field::text(name, visit.say(label), color.clone().unwrap_or_default())
            .hint(visit.say("state-color-hint"))
            .class("short")
            .optional()
            .check(problems);
        section = section.field(field.html(words));
    }
    let save = if action == path(own) { "state-create" } else { "state-save" };
    Form::new(words, action, visit.token(), save).section(section).cancel(path(own))
}

/// The problems of a refused state, beside their fields.
fn refusal(visit: &Visit, own: &Own, fault: Error) -> Result<Vec<Problem>> {
    let main = own.here.organization.default_locale;
    if fault.details().is_empty() {
        return error::problems(&visit.words, fault, |_| String::new());
    }
    let problem = |fault: &FieldError| {
        let field = match fault.field.as_ref() {
            "token" => TOKEN.to_owned(),
            "title" => format!("{TITLE}[{main}]"),
            member => {
                let known = COLORS.iter().find(|(known, _, _)| *known == member);
                known.map_or_else(String::new, |(_, name, _)| (*name).to_owned())
            }
        };
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

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    show_new(visit, &own, Vec::new()).await
}

/// The state that the form of a new one has.
fn read_new(visit: &Visit, own: &Own) -> ProposalState {
    let blank = ProposalState {
        component: own.id,
        token: visit.form.text(TOKEN).to_owned(),
        title: Translated::default(),
        bg_color: None,
        text_color: None,
    };
    read(visit, blank)
}

async fn show_new(visit: &Visit, own: &Own, problems: Vec<Problem>) -> Result<Reply> {
    let state = read_new(visit, own);
    let token = Field::text(TOKEN, visit.say("state-token"), state.token.clone())
        .hint(visit.say("state-token-hint"))
        .class("mono")
        .required()
        .check(&problems)
        .html(&visit.words);
    let form = form(visit, own, path(own), &state, Some(token), &problems);
    visit.form_page(head(visit, own, visit.say("state-new")), form.html(), problems).await
}

/// The entry of the audit trail of a state.
fn record(visit: &Visit, own: &Own, action: Action, id: StateId, state: &ProposalState) -> Record {
    visit.record(action).of(own.here.id).on("proposal_state", &id.to_string(), &state.token)
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let visit = &*visit;
    let state = read_new(visit, &own);
    let created = visit
        .change(async |tx| {
            let default_locale = own.here.organization.default_locale;
            let admin = StateAdmin { states: tx.states(), default_locale };
            let id = admin.create(own.here.id, &state).await?;
            let record = record(visit, &own, Action::ProposalStateCreated, id, &state)
                .changed("component", None, Some(&own.id.to_string()))
                .changed("title", None, Some(&line(&state.title)));
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match created {
        Ok(()) => {
            let name = title(visit, &state.title);
            let notice = Notice::good(visit.tell("state-created", &[("name", name.into())]));
            visit.redirect(path(&own), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &own, fault)?;
            show_new(visit, &own, problems).await
        }
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let found = state_of(visit, &own).await?;
    show_edit(visit, &own, found, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    own: &Own,
    (id, state): (StateId, ProposalState),
    problems: Vec<Problem>,
) -> Result<Reply> {
    let name = title(visit, &state.title);
    let lede = visit.tell("state-lede", &[("token", state.token.as_str().into())]);
    let revision = visit.revision(state.revision());
    let form = form(visit, own, format!("{}/{id}", path(own)), &read(visit, state), None, &problems)
        .method("put")
        .hidden("revision", revision);
    let head = head(visit, own, name).lede(lede);
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = of_path(visit).await?;
    let visit = &*visit;
    let (id, stored) = state_of(visit, &own).await?;
    let saved = visit
        .change(async |tx| {
            let (states, seen) = (tx.states(), Some(visit.seen()));
            let before = find_revision_for_update::<ProposalState>(states, own.here.id, id, seen).await?;
            let change = Change::of(before, visit.now, |state| *state = read(visit, state.clone()));
            if change.is_empty() {
                return Ok(change.after);
            }
            let default_locale = own.here.organization.default_locale;
            StateAdmin { states: tx.states(), default_locale }.change(own.here.id, id, &change).await?;
            let Change { before, after } = &change;
            let color = |color: &Option<String>| color.clone().unwrap_or_default();
            let changes = [
                ("title", line(&before.title), line(&after.title)),
                ("bg_color", color(&before.bg_color), color(&after.bg_color)),
                ("text_color", color(&before.text_color), color(&after.text_color)),
            ];
            let record = record(visit, &own, Action::ProposalStateUpdated, id, after);
            let record = with_changes(record, changes);
            tx.audit().append(&record, visit.now).await?;
            Ok(change.after)
        })
        .await;
    match saved {
        Ok(state) => {
            let name = title(visit, &state.title);
            let notice = Notice::good(visit.tell("state-saved", &[("name", name.into())]));
            visit.redirect(path(&own), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &own, fault)?;
            show_edit(visit, &own, (id, stored), problems).await
        }
    }
}
