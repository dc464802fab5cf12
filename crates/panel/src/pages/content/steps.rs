//! The steps of a process (contract 05 §2.8): list, creation, change, activation, deletion.

use super::components::{MAX_COMPONENTS, steps_of_space};
use super::shared::{OpenedSpace, deletion_link, title};
use crate::admin_request::AdminRequest;
use crate::parts::{Badge, Form, FormError, FormErrors, Html, render};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, save};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordAdmin, RecordFields};
use civitas_kernel::{Error, Result, SpaceKind, StepId, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Step, StepAdmin, check_title, refusals, remove_step};

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
pub(super) fn steps_path(opened: &OpenedSpace) -> String {
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

/// The step of the path, with its process.
pub(super) async fn step_from_path(req: &AdminRequest) -> Result<(OpenedSpace, StepId, Step)> {
    let opened = process_from_path(req).await?;
    let id = StepId(req.path_id("step")?);
    let found = req.store().steps().find(opened.organization_id, id).await?;
    let step = found.filter(|step| step.space == opened.space_ref).ok_or(Error::NotFound)?;
    Ok((opened, id, step))
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

fn form<'a>(
    req: &'a AdminRequest,
    opened: &OpenedSpace,
    step: &Step,
    action: String,
    submit_key: &str,
    problems: &[FormError],
    is_new: bool,
) -> Form<'a> {
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
    Form::new(&req.translator, action, req.token(), submit_key)
        .section(section)
        .section(when)
        .cancel(opened.path())
}

pub(super) fn admin(ports: &dyn Ports) -> StepAdmin<'_> {
    StepAdmin { spaces: ports.spaces(), steps: ports.steps() }
}

impl EditableRecord for Step {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(admin(ports))
    }

    fn check(&self, _: Option<&Self>, organization: &Organization) -> Result<()> {
        check_title("title", &self.title, organization.default_locale)
    }

    fn label(&self, req: &AdminRequest) -> String {
        title(req, &self.title)
    }

    fn refusal(text: &str) -> Option<(&'static str, &'static str)> {
        match text {
            refusals::STEP_POSITION => Some(("step[place]", "problem-greater")),
            refusals::STEP_IS_ACTIVE => Some(("", "problem-step-active")),
            _ => None,
        }
    }
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let opened = process_from_path(req).await?;
    let steps = steps_of_space(req, &opened).await?;
    let position = steps.iter().map(|(_, step)| step.position + 1).max().unwrap_or_default();
    let step = Step::new(opened.space_ref, Translated::default(), position, req.now);
    show_new(req, &opened, &step, Vec::new()).await
}

async fn show_new(
    req: &AdminRequest,
    opened: &OpenedSpace,
    step: &Step,
    problems: FormErrors,
) -> Result<Reply> {
    let form = form(req, opened, step, steps_path(opened), "step-create", &problems, true);
    let head = opened.head_below_space(req, req.tr("step-new")).lede(req.tr("step-new-lede"));
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
        return show_new(req, &opened, &step, problems).await;
    }
    let (id, action) = (opened.organization_id, Action::StepCreated);
    match records::create(req, id, organization, &step, action, async |_| Ok(())).await {
        Ok(_) => back_to_space(req, &opened, "step-created", title(req, &step.title)).await,
        Err(error) => show_new(req, &opened, &step, Step::form_errors(req, organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_from_path(req).await?;
    show_edit(req, &opened, id, &step, &step, Vec::new()).await
}

async fn show_edit(
    req: &AdminRequest,
    opened: &OpenedSpace,
    id: StepId,
    stored: &Step,
    step: &Step,
    problems: FormErrors,
) -> Result<Reply> {
    let path = format!("{}/{id}", steps_path(opened));
    let form = form(req, opened, step, path.clone(), "step-save", &problems, false)
        .method("put")
        .hidden("revision", req.revision(stored.revision()));
    let name = title(req, &step.title);
    let mut head = opened.head_below_space(req, name.clone());
    let mut body = vec![form.html()];
    if step.active {
        head = head.badge(Badge::busy(req.tr("step-is-active")));
    } else {
        let lede = req.tr("step-delete-lede");
        body.push(deletion_link(req, lede, format!("{path}/delete"), name));
    }
    req.form_page(head, Html::join(body), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, stored) = step_from_path(req).await?;
    match save(req, Target::in_space(&opened, id), Action::StepUpdated, |step| read_form(req, step)).await? {
        Saved::Stored(step) => back_to_space(req, &opened, "step-saved", title(req, &step.title)).await,
        Saved::Refused(step, problems) => show_edit(req, &opened, id, &stored, &step, problems).await,
    }
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_from_path(req).await?;
    delete_page(req, &opened, id, &step, Vec::new()).await
}

async fn delete_page(
    req: &AdminRequest,
    opened: &OpenedSpace,
    id: StepId,
    step: &Step,
    problems: FormErrors,
) -> Result<Reply> {
    let components = req
        .store()
        .components()
        .list_in_space(opened.organization_id, opened.space_ref, MAX_COMPONENTS)
        .await?;
    let with_settings = components.iter().filter(|(_, c)| c.step_settings.contains_key(&id)).count();
    let confirm = req
        .confirmation(format!("{}/{id}", steps_path(opened)), req.tr("step-delete-button"), opened.path())
        .delete()
        .effects([req.tr("step-delete-effect"), req.tr_count("step-delete-components", with_settings)])
        .stays(req.tr("step-delete-stays"));
    let name = title(req, &step.title);
    let head =
        opened.head_below_space(req, req.tr_with("delete-title", "name", name)).current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_from_path(req).await?;
    let name = title(req, &step.title);
    let deleted = req
        .change_with_audit(
            async |tx| remove_step(tx.steps(), tx.components(), opened.organization_id, id, req.now).await,
            |()| {
                let entry = req.audit_entry(Action::StepDeleted).in_organization(opened.organization_id);
                Some(entry.with_object("step", &id.to_string(), &name))
            },
        )
        .await;
    match deleted {
        Ok(()) => back_to_space(req, &opened, "step-deleted", name).await,
        Err(error) => {
            let problems = Step::form_errors(req, &opened.organization, error)?;
            delete_page(req, &opened, id, &step, problems).await
        }
    }
}
