//! The steps of a process (contract 05 §2.8): list, creation, change, activation, deletion.

use super::shared::{OpenedSpace, deletion_link, field_of, title};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::format::saturating_i64;
use crate::parts::{Badge, Form, FormError, FormErrors, Html, render};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, save};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Described, Entity, RecordAdmin};
use civitas_kernel::{Error, Result, SpaceManifest, StepId, Translated, clock};
use civitas_organizations::Organization;
use civitas_spaces::{Step, StepAdmin, check_title, refusals, remove_step};

/// The most steps that a page shows.
pub(crate) const MAX: i64 = 100;
/// The most components that a page counts or lists changes of.
pub(super) const MAX_COMPONENTS: i64 = 100;

/// A step in the list.
struct Item {
    /// `past`, `now` or nothing.
    class: &'static str,
    place: String,
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
pub(crate) fn list(req: &AdminRequest, opened: &OpenedSpace, steps: &[(StepId, Step)]) -> Html {
    let active = steps.iter().position(|(_, step)| step.active);
    let base = steps_path(opened);
    let items = steps.iter().enumerate().map(|(index, (id, step))| {
        let (class, badge) = match active {
            Some(now) if now == index => ("now", Badge::busy(req.tr("step-is-active"))),
            Some(now) if now > index => ("past", Badge::plain(req.tr("step-is-past"))),
            _ => ("", Badge::plain(req.tr("step-is-coming"))),
        };
        let place = i64::try_from(index).unwrap_or_default() + 1;
        Item {
            class,
            place: req.tr_with("step-place", "place", place),
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
async fn process(req: &AdminRequest) -> Result<OpenedSpace> {
    let opened = OpenedSpace::of_path(req).await?;
    if opened.space_ref.manifest == SpaceManifest::ParticipatoryProcesses {
        Ok(opened)
    } else {
        Err(Error::NotFound)
    }
}

/// The step of the path, with its process.
pub(super) async fn step_of_path(req: &AdminRequest) -> Result<(OpenedSpace, StepId, Step)> {
    let opened = process(req).await?;
    let id = StepId(req.path_id("step")?);
    let found = req.panel.store().steps().find(opened.organization_id, id).await?;
    let step = found.filter(|step| step.space == opened.space_ref).ok_or(Error::NotFound)?;
    Ok((opened, id, step))
}

/// Writes what was typed into the step, and returns what cannot be read.
fn read(req: &AdminRequest, step: &mut Step) -> FormErrors {
    let mut input = FormInput::new(req, Step::NAME, &req.panel.settings.site.locales);
    input.texts("title", &mut step.title);
    let mut place = step.position.saturating_add(1);
    input.number("place", &mut place);
    step.position = place.saturating_sub(1);
    input.optional_time("starts_at", &mut step.starts_at);
    input.optional_time("ends_at", &mut step.ends_at);
    input.into_problems()
}

fn form<'a>(
    req: &'a AdminRequest,
    opened: &OpenedSpace,
    step: &Step,
    action: String,
    save: &str,
    problems: &[FormError],
    is_new: bool,
) -> Form<'a> {
    let (organization, locales) = (&opened.organization, &req.panel.settings.site.locales);
    let view = FormView { req, organization, name: Step::NAME, locales, problems, is_new };
    let texts = view.texts("step-texts", &[TextField::line("title", "column-title", &step.title)]);
    let place = view.number("place", "step-order", step.position.saturating_add(1));
    let section =
        view.section("step", "step").field(texts).field(view.html(place.hint(req.tr("step-order-hint"))));
    let when = view
        .section("when", "step-dates")
        .hint(req.tr("steps-dates-hint"))
        .field(view.html(view.time("starts_at", "step-starts", step.starts_at).optional()))
        .field(view.html(view.time("ends_at", "step-ends", step.ends_at).optional()));
    Form::new(&req.translator, action, req.token(), save).section(section).section(when).cancel(opened.path())
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

    fn form_errors(req: &AdminRequest, organization: &Organization, error: Error) -> Result<FormErrors> {
        let known = |text: &str| match text {
            refusals::STEP_POSITION => Some(("step[place]", "problem-greater")),
            refusals::STEP_IS_ACTIVE => Some(("", "problem-step-active")),
            _ => None,
        };
        error::translated_form_errors(
            &req.translator,
            error,
            |f| field_of(Self::NAME, organization, f),
            known,
        )
    }
}

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    let opened = process(req).await?;
    let steps = req.panel.store().steps().of_process(opened.organization_id, opened.space_ref, MAX).await?;
    let position = steps.iter().map(|(_, step)| step.position + 1).max().unwrap_or_default();
    show_new(req, &opened, &blank(&opened, position), Vec::new()).await
}

fn blank(opened: &OpenedSpace, position: i64) -> Step {
    Step::new(opened.space_ref, Translated::default(), position, clock::now())
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
async fn done(req: &AdminRequest, opened: &OpenedSpace, key: &str, title: String) -> Result<Reply> {
    req.done(key, &[("name", title.into())], opened.path()).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let opened = process(req).await?;
    let organization = &opened.organization;
    let mut step = blank(&opened, 0);
    let problems = read(req, &mut step);
    if !problems.is_empty() {
        return show_new(req, &opened, &step, problems).await;
    }
    match records::create(req, opened.organization_id, organization, &step, Action::StepCreated, async |_| {
        Ok(())
    })
    .await
    {
        Ok(_) => done(req, &opened, "step-created", title(req, &step.title)).await,
        Err(error) => show_new(req, &opened, &step, Step::form_errors(req, organization, error)?).await,
    }
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_of_path(req).await?;
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
    let (opened, id, stored) = step_of_path(req).await?;
    let target = Target { organization_id: opened.organization_id, organization: &opened.organization, id };
    match save(req, target, Action::StepUpdated, |step| read(req, step)).await? {
        Saved::Stored(step) => done(req, &opened, "step-saved", title(req, &step.title)).await,
        Saved::Refused(step, problems) => show_edit(req, &opened, id, &stored, &step, problems).await,
    }
}

pub(crate) async fn confirm_delete(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_of_path(req).await?;
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
        .panel
        .store()
        .components()
        .in_space(opened.organization_id, opened.space_ref, MAX_COMPONENTS)
        .await?;
    let with_settings = components.iter().filter(|(_, c)| c.step_settings.contains_key(&id)).count();
    let confirm = req
        .confirm(format!("{}/{id}", steps_path(opened)), req.tr("step-delete-button"), opened.path())
        .delete()
        .effects([
            req.tr("step-delete-effect"),
            req.translator.count("step-delete-components", saturating_i64(with_settings)),
        ])
        .stays(req.tr("step-delete-stays"));
    let name = title(req, &step.title);
    let head =
        opened.head_below_space(req, req.tr_with("delete-title", "name", name)).current(req.tr("delete"));
    req.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_of_path(req).await?;
    let name = title(req, &step.title);
    let deleted = req
        .change(async |tx| {
            remove_step(tx.steps(), tx.components(), opened.organization_id, id, req.now).await?;
            let entry = req.audit_entry(Action::StepDeleted).of(Some(opened.organization_id));
            let entry = entry.on("step", &id.to_string(), &name);
            req.append_audit_entry(tx, &entry).await
        })
        .await;
    match deleted {
        Ok(()) => done(req, &opened, "step-deleted", name).await,
        Err(error) => {
            let problems = Step::form_errors(req, &opened.organization, error)?;
            delete_page(req, &opened, id, &step, problems).await
        }
    }
}
