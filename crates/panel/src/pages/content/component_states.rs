//! The states of the proposals of a component: list, new ones, titles and colours (contract 06 §1.6).

use super::components::OpenedComponent;
use super::proposals::states_of_component;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{
    Badge, Cell, EmptyState, FormError, FormErrors, Head, Html, PageAction, RowAction, Section, Table,
};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, field_name, save};
use crate::reply::Reply;
use crate::translated::{audit_text, title};
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdministration};
use civitas_kernel::{Error, FieldError, Result, StateId, Translated};
use civitas_organizations::Organization;
use civitas_proposals::{MAX_STATES, ProposalState, StateAdministration};
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

/// A state of the path, with its component.
struct OpenedState {
    component: OpenedComponent,
    id: StateId,
    state: ProposalState,
}

impl OpenedState {
    async fn from_path(req: &AdminRequest) -> Result<Self> {
        let component = component_from_path(req).await?;
        let id = StateId(req.path_id("state")?);
        let found = req.store().states().find(component.space.organization_id, id).await?;
        let state = found.filter(|state| state.component == component.id).ok_or(Error::NotFound)?;
        Ok(Self { component, id, state })
    }
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let opened = component_from_path(req).await?;
    let states = states_of_component(req, opened.space.organization_id, opened.id).await?;
    let rows = states.iter().map(|(id, state)| {
        let (href, name) = (format!("{}/{id}/edit", path(&opened)), title(req, &state.title));
        let is_built_in = ProposalState::BUILT_IN_STATES.contains(&state.token.as_str());
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
    let head = opened.tab_head(req, "states").action(PageAction::primary(new.0, new.1));
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

/// The head of a page below the list.
fn list_subpage_head(req: &AdminRequest, opened: &OpenedComponent, title: String) -> Head {
    opened.subpage_head(req, title).crumb(req.tr("states"), path(opened))
}

/// The section of the form of a state; that of a new one has its token too.
fn section(
    req: &AdminRequest,
    opened: &OpenedComponent,
    state: &ProposalState,
    problems: &[FormError],
    is_new: bool,
) -> Section {
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
    section
}

impl EditableRecord for ProposalState {
    fn admin<'a>(
        ports: &'a dyn Ports,
        organization: &Organization,
    ) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(StateAdministration { states: ports.states(), default_locale: organization.default_locale })
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
    new_page(req, &opened, Vec::new()).await
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

async fn new_page(req: &AdminRequest, opened: &OpenedComponent, problems: FormErrors) -> Result<Reply> {
    let state = read_new(req, opened);
    let form = req
        .build_form(path(opened), "state-create")
        .section(section(req, opened, &state, &problems, true))
        .cancel(path(opened));
    req.form_page(list_subpage_head(req, opened, req.tr("state-new")), form.html(), problems).await
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
        Err(error) => new_page(req, &opened, ProposalState::form_errors(req, organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedState::from_path(req).await?;
    edit_page(req, &opened, &opened.state, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    opened: &OpenedState,
    state: &ProposalState,
    problems: FormErrors,
) -> Result<Reply> {
    let (component, stored) = (&opened.component, &opened.state);
    let list = path(component);
    let form = req
        .build_form(format!("{list}/{}", opened.id), "state-save")
        .put(req.revision(stored.revision()))
        .section(section(req, component, state, &problems, false))
        .cancel(list);
    let head = list_subpage_head(req, component, title(req, &stored.title)).lede(req.tr_with(
        "state-lede",
        "token",
        stored.token.as_str(),
    ));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedState::from_path(req).await?;
    let target = Target::in_space(&opened.component.space, opened.id);
    match save(req, target, Action::ProposalStateUpdated, |state| read_form(req, state)).await? {
        Saved::Stored(state) => back_to_list(req, &opened.component, "state-saved", &state).await,
        Saved::Refused(state, problems) => edit_page(req, &opened, &state, problems).await,
    }
}
