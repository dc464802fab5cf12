//! The steps of a process (contract 05 §2.8): list, creation, change, activation, deletion.

use super::components::{MAX_SPACE_COMPONENTS, steps_of_space};
use super::opened_space::OpenedSpace;
use crate::admin_request::AdminRequest;
use crate::parts::{Badge, FormError, FormErrors, Html, Section, deletion_link, render};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, field_name, save};
use crate::reply::Reply;
use crate::translated::title;
use crate::translator::Translator;
use askama::Template;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdministration, RecordFields};
use civitas_kernel::{Error, FieldError, Result, SpaceKind, StepId, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Step, StepAdministration, check_title, remove_step};

/// A step in the list.
struct Item {
    /// `past`, `now` or nothing.
    class: &'static str,
    position: String,
    badge: Html,
    title: String,
    dates: String,
    path: String,
    is_active: bool,
}

#[derive(Template)]
#[template(path = "pages/steps.html")]
struct Steps<'a> {
    translator: &'a Translator,
    items: Vec<Item>,
    base: String,
}

/// The path of the steps.
fn steps_path(opened: &OpenedSpace) -> String {
    format!("{}/steps", opened.path())
}

fn dates(req: &AdminRequest, step: &Step) -> String {
    match (step.starts_at, step.ends_at) {
        (Some(from), Some(to)) => format!("{} – {}", req.date(from), req.date(to)),
        (Some(from), None) => req.tr_with("step-from", "date", req.date(from)),
        (None, Some(to)) => req.tr_with("step-until", "date", req.date(to)),
        (None, None) => req.tr("step-undated"),
    }
}

/// The steps of a process, in their order.
pub(crate) fn list_html(req: &AdminRequest, opened: &OpenedSpace, steps: &[(StepId, Step)]) -> Html {
    let active = steps.iter().position(|(_, step)| step.active);
    let base = steps_path(opened);
    let items = steps.iter().enumerate().map(|(index, (id, step))| {
        let (class, badge) = match active {
            Some(now) if now == index => ("now", Badge::busy(req.tr("step-is-active"))),
            Some(now) if now > index => ("past", Badge::plain(req.tr("step-is-past"))),
            _ => ("", Badge::plain(req.tr("step-is-coming"))),
        };
        Item {
            class,
            position: req.tr_with("step-place", "place", index + 1),
            badge: badge.html(),
            title: title(req, &step.title),
            dates: dates(req, step),
            path: format!("{base}/{id}"),
            is_active: step.active,
        }
    });
    render(&Steps { translator: &req.translator, items: items.collect(), base: base.clone() })
}

/// The process of the path.
async fn process_from_path(req: &AdminRequest) -> Result<OpenedSpace> {
    let opened = OpenedSpace::from_path(req).await?;
    if opened.space_ref.kind == SpaceKind::ParticipatoryProcesses { Ok(opened) } else { Err(Error::NotFound) }
}

/// A step of the path, with its process.
pub(super) struct OpenedStep {
    pub(super) space: OpenedSpace,
    pub(super) id: StepId,
    pub(super) step: Step,
}

impl OpenedStep {
    pub(super) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let space = process_from_path(req).await?;
        let id = StepId(req.path_id("step")?);
        let found = req.store().steps().find(space.organization_id, id).await?;
        let step = found.filter(|step| step.space == space.space_ref).ok_or(Error::NotFound)?;
        Ok(Self { space, id, step })
    }

    /// The path of the step.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", steps_path(&self.space), self.id)
    }

    /// The title of the step.
    pub(super) fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.step.title)
    }
}

/// Writes what was typed into the step, and returns what cannot be read.
fn read_form(req: &AdminRequest, step: &mut Step) -> FormErrors {
    let mut input = FormInput::new(req, Step::NAME, &req.panel.settings.site.locales);
    input.read_texts("title", &mut step.title);
    let mut position = step.position.saturating_add(1);
    input.read_number("place", &mut position);
    step.position = position.saturating_sub(1);
    input.read_optional_time("starts_at", &mut step.starts_at);
    input.read_optional_time("ends_at", &mut step.ends_at);
    input.into_problems()
}

/// The sections of the form.
fn sections(
    req: &AdminRequest,
    opened: &OpenedSpace,
    step: &Step,
    problems: &[FormError],
    is_new: bool,
) -> [Section; 2] {
    let (organization, locales) = (&opened.organization, &req.panel.settings.site.locales);
    let view = FormView { req, organization, name: Step::NAME, locales, problems, is_new };
    let texts = view.texts("step-texts", &[TextField::line("title", "column-title", &step.title)]);
    let position = view.number("place", "step-order", step.position.saturating_add(1));
    let section =
        view.section("step", "step").field(texts).field(view.html(position.hint(req.tr("step-order-hint"))));
    let when = view
        .section("when", "step-dates")
        .hint(req.tr("steps-dates-hint"))
        .field(view.html(view.time("starts_at", "step-starts", step.starts_at).optional()))
        .field(view.html(view.time("ends_at", "step-ends", step.ends_at).optional()));
    [section, when]
}

pub(super) fn admin(ports: &dyn Ports) -> StepAdministration<'_> {
    StepAdministration { spaces: ports.spaces(), steps: ports.steps() }
}

impl EditableRecord for Step {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(admin(ports))
    }

    fn check(&self, _: Option<&Self>, organization: &Organization) -> Result<()> {
        check_title("title", &self.title, organization.default_locale)
    }

    fn label(&self, req: &AdminRequest) -> String {
        title(req, &self.title)
    }

    fn form_field(organization: &Organization, field_error: &FieldError) -> String {
        match field_error.field.as_ref() {
            "position" => "step[place]".to_owned(),
            "active" => String::new(),
            _ => field_name(Self::NAME, organization, field_error),
        }
    }

    fn error_key(field_error: &FieldError) -> Option<&'static str> {
        (field_error.code == "is_active").then_some("problem-step-active")
    }
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let opened = process_from_path(req).await?;
    let steps = steps_of_space(req, &opened).await?;
    let position = steps.iter().map(|(_, step)| step.position + 1).max().unwrap_or_default();
    let step = Step::new(opened.space_ref, Translated::default(), position, req.now);
    new_page(req, &opened, &step, Vec::new()).await
}

async fn new_page(
    req: &AdminRequest,
    opened: &OpenedSpace,
    step: &Step,
    problems: FormErrors,
) -> Result<Reply> {
    let form = req
        .build_form(steps_path(opened), "step-create")
        .sections(sections(req, opened, step, &problems, true))
        .cancel(opened.path());
    let head = opened.subpage_head(req, req.tr("step-new")).lede(req.tr("step-new-lede"));
    req.form_page(head, form.html(), problems).await
}

/// Back to the page of the process, with what was done with the step of this title.
async fn back_to_space(req: &AdminRequest, opened: &OpenedSpace, key: &str, title: String) -> Result<Reply> {
    req.redirect_done(key, &[("name", title.into())], opened.path()).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let opened = process_from_path(req).await?;
    let organization = &opened.organization;
    let mut step = Step::new(opened.space_ref, Translated::default(), 0, req.now);
    let problems = read_form(req, &mut step);
    if !problems.is_empty() {
        return new_page(req, &opened, &step, problems).await;
    }
    let (id, action) = (opened.organization_id, Action::StepCreated);
    match records::create(req, id, organization, &step, action, async |_| Ok(())).await {
        Ok(_) => back_to_space(req, &opened, "step-created", title(req, &step.title)).await,
        Err(error) => new_page(req, &opened, &step, Step::form_errors(req, organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedStep::from_path(req).await?;
    edit_page(req, &opened, &opened.step, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    opened: &OpenedStep,
    step: &Step,
    problems: FormErrors,
) -> Result<Reply> {
    let (space, path) = (&opened.space, opened.path());
    let form = req
        .build_form(&path, "step-save")
        .put(req.revision(opened.step.revision()))
        .sections(sections(req, space, step, &problems, false))
        .cancel(space.path());
    let name = title(req, &step.title);
    let mut head = space.subpage_head(req, name.clone());
    let mut body = vec![form.html()];
    if step.active {
        head = head.badge(Badge::busy(req.tr("step-is-active")));
    } else {
        let lede = req.tr("step-delete-lede");
        body.push(deletion_link(&req.translator, lede, format!("{path}/delete"), name));
    }
    req.form_page(head, Html::join(body), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedStep::from_path(req).await?;
    let target = Target::in_space(&opened.space, opened.id);
    match save(req, target, Action::StepUpdated, |step| read_form(req, step)).await? {
        Saved::Stored(step) => back_to_space(req, &opened.space, "step-saved", title(req, &step.title)).await,
        Saved::Refused(step, problems) => edit_page(req, &opened, &step, problems).await,
    }
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    delete_page(req, &OpenedStep::from_path(req).await?, Vec::new()).await
}

async fn delete_page(req: &AdminRequest, opened: &OpenedStep, problems: FormErrors) -> Result<Reply> {
    let space = &opened.space;
    let components = req
        .store()
        .components()
        .list_in_space(space.organization_id, space.space_ref, MAX_SPACE_COMPONENTS)
        .await?;
    let with_settings = components.iter().filter(|(_, c)| c.step_settings.contains_key(&opened.id)).count();
    let confirm = req
        .confirmation(opened.path(), req.tr("step-delete-button"), space.path())
        .delete()
        .effects([req.tr("step-delete-effect"), req.tr_count("step-delete-components", with_settings)])
        .stays(req.tr("step-delete-stays"));
    let title = req.tr_with("delete-title", "name", opened.title(req));
    let head = space.subpage_head(req, title).current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedStep::from_path(req).await?;
    let (space, id, name) = (&opened.space, opened.id, opened.title(req));
    let deleted = req
        .change_with_audit(
            async |tx| remove_step(tx.steps(), tx.components(), space.organization_id, id, req.now).await,
            |()| {
                let entry = req.audit_entry(Action::StepDeleted).in_organization(space.organization_id);
                Some(entry.with_object("step", &id.to_string(), &name))
            },
        )
        .await;
    match deleted {
        Ok(()) => back_to_space(req, space, "step-deleted", name).await,
        Err(error) => delete_page(req, &opened, Step::form_errors(req, &space.organization, error)?).await,
    }
}
