//! The states of the proposals of a component: list, new ones, titles and colours (contract 06 §1.6).

use super::components::{OpenedComponent, components_path};
use super::proposals::states_of_component;
use super::shared::{audit_text, field_name, title};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{
    Badge, Cell, EmptyState, Form, FormError, FormErrors, Head, Html, PageAction, RowAction, Table,
};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, save};
use crate::reply::Reply;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdmin};
use civitas_kernel::{Error, FieldError, Result, StateId, Translated};
use civitas_organizations::Organization;
use civitas_proposals::{MAX_STATES, ProposalState, StateAdmin};
use civitas_spaces::ComponentKind;

/// The name of the form.
const FORM_NAME: &str = "state";
/// The members with colours, and the labels of their fields.
const COLORS: [(&str, &str); 2] = [("bg_color", "state-color"), ("text_color", "state-text-color")];

/// The component of the path, which is one for proposals.
async fn component_from_path(req: &AdminRequest) -> Result<OpenedComponent> {
    let opened = OpenedComponent::from_path(req).await?;
    if opened.component.kind == ComponentKind::Proposals { Ok(opened) } else { Err(Error::NotFound) }
}

fn path(opened: &OpenedComponent) -> String {
    format!("{}/states", opened.path())
}

/// The state of the path, which is one of the component.
async fn state_from_path(req: &AdminRequest, opened: &OpenedComponent) -> Result<(StateId, ProposalState)> {
    let id = StateId(req.path_id("state")?);
    let found = req.store().states().find(opened.space.organization_id, id).await?;
    Ok((id, found.filter(|state| state.component == opened.id).ok_or(Error::NotFound)?))
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    let states = states_of_component(req, opened.space.organization_id, opened.id).await?;
    let rows = states.iter().map(|(id, state)| {
        let (href, name) = (format!("{}/{id}/edit", path(&opened)), title(req, &state.title));
        let is_built_in = ProposalState::BUILT_IN.contains(&state.token.as_str());
        let origin = if is_built_in { "state-built-in" } else { "state-own" };
        let color = |color: &Option<String>| match color {
            Some(color) => Cell::html(Html::code(color)),
            None => Cell::muted(&req.tr("none")),
        };
        vec![
            Cell::link(&href, &name, &state.token),
            Cell::badge(&Badge::plain(req.tr(origin))),
            color(&state.bg_color),
            color(&state.text_color),
            Cell::actions(&[RowAction::link(href.clone(), req.tr("edit"), name)]),
        ]
    });
    let columns = req.columns("column-title state-origin state-color:low state-text-color:low column-acts");
    let new = (format!("{}/new", path(&opened)), req.tr("state-new"));
    let empty = EmptyState::new(req.tr("states-none"), req.tr("states-lede")).with_new(new.clone());
    let table = Table::new(req.tr("states"), columns).rows(rows).empty(empty);
    let head = opened.head(req, "states").action(PageAction::primary(new.0, new.1));
    let lede = Html::paragraph("soft", &req.tr("states-lede"));
    req.page(head, Html::join([lede, table.html()])).await
}

/// Writes what was typed into the state.
fn read_form(req: &AdminRequest, state: &mut ProposalState) -> FormErrors {
    let mut input = FormInput::new(req, FORM_NAME, &req.panel.settings.site.locales);
    input.read_texts("title", &mut state.title);
    input.read_optional_line("bg_color", &mut state.bg_color);
    input.read_optional_line("text_color", &mut state.text_color);
    input.into_problems()
}

fn head(req: &AdminRequest, opened: &OpenedComponent, title: String) -> Head {
    let edit = format!("{}/{}/edit", components_path(opened.space.organization_id), opened.id);
    opened
        .space
        .head_below_space(req, title)
        .crumb(opened.name(req), edit)
        .crumb(req.tr("states"), path(opened))
}

/// The form of a state; that of a new one has its token too.
fn form<'a>(
    req: &'a AdminRequest,
    opened: &OpenedComponent,
    action: String,
    submit_key: &str,
    state: &ProposalState,
    problems: &[FormError],
    is_new: bool,
) -> Form<'a> {
    let (organization, locales) = (&opened.space.organization, &req.panel.settings.site.locales);
    let view = FormView { req, organization, name: FORM_NAME, locales, problems, is_new };
    let mut section = view.section("state", "state-one");
    if is_new {
        let token = view.line("token", "state-token", &state.token).hint(req.tr("state-token-hint"));
        section = section.field(view.html(token.class("mono").required()));
    }
    section = section.field(view.texts("texts", &[TextField::line("title", "column-title", &state.title)]));
    for ((member, label), color) in COLORS.into_iter().zip([&state.bg_color, &state.text_color]) {
        let field = view.line(member, label, color.as_deref().unwrap_or_default());
        let field = field.hint(req.tr("state-color-hint")).class("short").optional();
        section = section.field(view.html(field));
    }
    Form::new(&req.translator, action, req.token(), submit_key).section(section).cancel(path(opened))
}

impl EditableRecord for ProposalState {
    fn admin<'a>(ports: &'a dyn Ports, organization: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(StateAdmin { states: ports.states(), default_locale: organization.default_locale })
    }

    fn label(&self, _: &AdminRequest) -> String {
        self.token.clone()
    }

    fn creation_details(&self) -> Vec<(&'static str, String)> {
        vec![("component", self.component.to_string()), ("title", audit_text(&self.title))]
    }

    fn form_errors(req: &AdminRequest, organization: &Organization, error: Error) -> Result<FormErrors> {
        let text = |field_error: &FieldError| match (field_error.field.as_ref(), field_error.code.as_ref()) {
            ("token", "too_many") => Some(req.tr_with("problem-states", "number", MAX_STATES)),
            ("token", "invalid") => Some(req.tr("problem-token")),
            (_, "invalid") => Some(req.tr("problem-color")),
            _ => None,
        };
        let field = |field_error: &FieldError| field_name(FORM_NAME, organization, field_error);
        error::form_errors_with_texts(&req.translator, error, field, text)
    }
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    show_new(req, &opened, Vec::new()).await
}

/// The state that the form of a new one has.
fn read_new(req: &AdminRequest, opened: &OpenedComponent) -> ProposalState {
    let mut state = ProposalState {
        component: opened.id,
        token: req.form.text("state[token]").to_owned(),
        title: Translated::default(),
        bg_color: None,
        text_color: None,
        updated_at: req.now,
    };
    read_form(req, &mut state);
    state
}

async fn show_new(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let state = read_new(req, opened);
    let form = form(req, opened, path(opened), "state-create", &state, &problems, true);
    req.form_page(head(req, opened, req.tr("state-new")), form.html(), problems).await
}

/// Back to the list, with what was done with the state of this title.
async fn back_to_list(
    req: &AdminRequest,
    opened: &OpenedComponent,
    key: &str,
    state: &ProposalState,
) -> Result<Reply> {
    req.redirect_done(key, &[("name", title(req, &state.title).into())], path(opened)).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    let organization = &opened.space.organization;
    let state = read_new(req, &opened);
    let (id, action) = (opened.space.organization_id, Action::ProposalStateCreated);
    match records::create(req, id, organization, &state, action, async |_| Ok(())).await {
        Ok(_) => back_to_list(req, &opened, "state-created", &state).await,
        Err(error) => show_new(req, &opened, ProposalState::form_errors(req, organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    let (id, state) = state_from_path(req, &opened).await?;
    show_edit(req, &opened, id, &state, &state, Vec::new()).await
}

async fn show_edit(
    req: &AdminRequest,
    opened: &OpenedComponent,
    id: StateId,
    stored: &ProposalState,
    state: &ProposalState,
    problems: FormErrors,
) -> Result<Reply> {
    let lede = req.tr_with("state-lede", "token", stored.token.as_str());
    let form = form(req, opened, format!("{}/{id}", path(opened)), "state-save", state, &problems, false)
        .method("put")
        .hidden("revision", req.revision(stored.revision()));
    let head = head(req, opened, title(req, &stored.title)).lede(lede);
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    let (id, stored) = state_from_path(req, &opened).await?;
    match save(req, Target::in_space(&opened.space, id), Action::ProposalStateUpdated, |state| {
        read_form(req, state)
    })
    .await?
    {
        Saved::Stored(state) => back_to_list(req, &opened, "state-saved", &state).await,
        Saved::Refused(state, problems) => show_edit(req, &opened, id, &stored, &state, problems).await,
    }
}
