//! The steps of a process (contract 05 §2.8): list, creation, change, activation, deletion.

use super::content::{OpenedSpace, end, field_of, title};
use crate::error;
use crate::parts::{Badge, Form, Html, Problem, render};
use crate::records::{self, EditableRecord, FormInput, FormView, Saved, Target, TextField, save};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::{Described, Entity, RecordAdmin};
use civitas_kernel::{Error, Result, SpaceManifest, StepId, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{Step, StepAdmin, StepRemoval, check_title, refusals};

/// The most steps that a page shows.
pub(crate) const MOST: i64 = 100;
/// The most components that a page counts or lists changes of.
pub(super) const MOST_COMPONENTS: i64 = 100;

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
    words: &'a Words,
    items: Vec<Item>,
    base: String,
}

/// The path of the steps.
pub(super) fn base(here: &OpenedSpace) -> String {
    format!("{}/steps", here.path())
}

fn dates(visit: &Visit, step: &Step) -> String {
    match (step.starts_at, step.ends_at) {
        (Some(from), Some(to)) => format!("{} – {}", visit.date(from), visit.date(to)),
        (Some(from), None) => visit.tell("step-from", &[("date", visit.date(from).into())]),
        (None, Some(to)) => visit.tell("step-until", &[("date", visit.date(to).into())]),
        (None, None) => visit.say("step-undated"),
    }
}

/// The steps of a process, in their order.
pub(crate) fn list(visit: &Visit, here: &OpenedSpace, steps: &[(StepId, Step)]) -> Html {
    let active = steps.iter().position(|(_, step)| step.active);
    let base = base(here);
    let items = steps.iter().enumerate().map(|(index, (id, step))| {
        let (class, badge) = match active {
            Some(now) if now == index => ("now", Badge::busy(visit.say("step-is-active"))),
            Some(now) if now > index => ("past", Badge::plain(visit.say("step-is-past"))),
            _ => ("", Badge::plain(visit.say("step-is-coming"))),
        };
        let place = i64::try_from(index).unwrap_or_default() + 1;
        Item {
            class,
            place: visit.tell("step-place", &[("place", place.into())]),
            badge: badge.html(),
            title: title(visit, &step.title),
            dates: dates(visit, step),
            path: format!("{base}/{id}"),
            is_active: step.active,
        }
    });
    render(&Steps { words: &visit.words, items: items.collect(), base: base.clone() })
}

/// The process of the path.
async fn process(visit: &mut Visit) -> Result<OpenedSpace> {
    let here = OpenedSpace::of_path(visit).await?;
    if here.own.manifest == SpaceManifest::ParticipatoryProcesses { Ok(here) } else { Err(Error::NotFound) }
}

/// The step of the path, with its process.
pub(super) async fn step_of_path(visit: &mut Visit) -> Result<(OpenedSpace, StepId, Step)> {
    let here = process(visit).await?;
    let id = StepId(visit.id("step")?);
    let found = visit.panel.store().steps().find(here.id, id).await?;
    let step = found.filter(|step| step.space == here.own).ok_or(Error::NotFound)?;
    Ok((here, id, step))
}

/// Writes what was typed into the step, and returns what cannot be read.
fn read(visit: &Visit, step: &mut Step) -> Vec<Problem> {
    let mut input = FormInput::new(visit, Step::NAME, &visit.panel.settings.site.locales);
    input.texts("title", &mut step.title);
    let mut place = step.position.saturating_add(1);
    input.number("place", &mut place);
    step.position = place.saturating_sub(1);
    input.optional_time("starts_at", &mut step.starts_at);
    input.optional_time("ends_at", &mut step.ends_at);
    input.into_problems()
}

fn form<'a>(
    visit: &'a Visit,
    here: &OpenedSpace,
    step: &Step,
    (action, save): (String, &str),
    problems: &[Problem],
    is_new: bool,
) -> Form<'a> {
    let (home, locales) = (&here.organization, &visit.panel.settings.site.locales);
    let view = FormView { visit, home, name: Step::NAME, locales, problems, is_new };
    let texts = view.texts("step-texts", &[TextField::line("title", "column-title", &step.title)]);
    let place = view.number("place", "step-order", step.position.saturating_add(1));
    let section =
        view.section("step", "step").field(texts).field(view.html(place.hint(visit.say("step-order-hint"))));
    let when = view
        .section("when", "step-dates")
        .hint(visit.say("steps-dates-hint"))
        .field(view.html(view.time("starts_at", "step-starts", step.starts_at).optional()))
        .field(view.html(view.time("ends_at", "step-ends", step.ends_at).optional()));
    Form::new(&visit.words, action, visit.token(), save).section(section).section(when).cancel(here.path())
}

pub(super) fn admin(ports: &dyn Ports) -> StepAdmin<'_> {
    StepAdmin { spaces: ports.spaces(), steps: ports.steps() }
}

impl EditableRecord for Step {
    fn admin<'a>(ports: &'a dyn Ports, _: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(admin(ports))
    }

    fn check(&self, _: Option<&Self>, home: &Organization) -> Result<()> {
        check_title("title", &self.title, home.default_locale)
    }

    fn label(&self, visit: &Visit) -> String {
        title(visit, &self.title)
    }

    fn problems(visit: &Visit, home: &Organization, fault: Error) -> Result<Vec<Problem>> {
        let mut problems = error::problems(&visit.words, fault, |f| field_of(Self::NAME, home, f))?;
        for problem in &mut problems {
            if problem.text == refusals::STEP_POSITION {
                *problem = Problem::new("step[place]", visit.say("problem-greater"));
            } else if problem.text == refusals::STEP_IS_ACTIVE {
                *problem = Problem::new("", visit.say("problem-step-active"));
            }
        }
        Ok(problems)
    }
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let here = process(visit).await?;
    let steps = visit.panel.store().steps().of_process(here.id, here.own, MOST).await?;
    let position = steps.iter().map(|(_, step)| step.position + 1).max().unwrap_or_default();
    show_new(visit, &here, &blank(&here, position), Vec::new()).await
}

fn blank(here: &OpenedSpace, position: i64) -> Step {
    let title = Translated::default();
    Step { space: here.own, title, position, active: false, starts_at: None, ends_at: None }
}

async fn show_new(visit: &Visit, here: &OpenedSpace, step: &Step, problems: Vec<Problem>) -> Result<Reply> {
    let form = form(visit, here, step, (base(here), "step-create"), &problems, true);
    let head = here.below(visit, visit.say("step-new")).lede(visit.say("step-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

/// Back to the page of the process, with what was done with the step of this title.
async fn done(visit: &Visit, here: &OpenedSpace, key: &str, title: String) -> Result<Reply> {
    visit.done(key, &[("name", title.into())], here.path()).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let here = process(visit).await?;
    let (visit, home) = (&*visit, &here.organization);
    let mut step = blank(&here, 0);
    let problems = read(visit, &mut step);
    if !problems.is_empty() {
        return show_new(visit, &here, &step, problems).await;
    }
    match records::create(visit, here.id, home, (&step, Action::StepCreated), async |_| Ok(())).await {
        Ok(_) => done(visit, &here, "step-created", title(visit, &step.title)).await,
        Err(fault) => show_new(visit, &here, &step, Step::problems(visit, home, fault)?).await,
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    show_edit(visit, &here, (id, &step), &step, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    here: &OpenedSpace,
    (id, stored): (StepId, &Step),
    step: &Step,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let own = format!("{}/{id}", base(here));
    let form = form(visit, here, step, (own.clone(), "step-save"), &problems, false)
        .method("put")
        .hidden("revision", visit.revision(stored.revision()));
    let name = title(visit, &step.title);
    let mut head = here.below(visit, name.clone());
    let mut body = vec![form.html()];
    if step.active {
        head = head.badge(Badge::busy(visit.say("step-is-active")));
    } else {
        let lede = visit.say("step-delete-lede");
        body.push(end(visit, lede, format!("{own}/delete"), name));
    }
    visit.form_page(head, Html::join(body), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let (here, id, stored) = step_of_path(visit).await?;
    let visit = &*visit;
    let target = Target { organization: here.id, home: &here.organization, id };
    match save(visit, target, Action::StepUpdated, |step| read(visit, step)).await? {
        Saved::Stored(step) => done(visit, &here, "step-saved", title(visit, &step.title)).await,
        Saved::Refused(step, problems) => show_edit(visit, &here, (id, &stored), &step, problems).await,
    }
}

pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    delete_page(visit, &here, id, &step, Vec::new()).await
}

async fn delete_page(
    visit: &Visit,
    here: &OpenedSpace,
    id: StepId,
    step: &Step,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let components = visit.panel.store().components().in_space(here.id, here.own, MOST_COMPONENTS).await?;
    let with_settings = components.iter().filter(|(_, c)| c.step_settings.contains_key(&id)).count();
    let confirm = visit
        .confirm(format!("{}/{id}", base(here)), visit.say("step-delete-button"), here.path())
        .delete()
        .effects([
            visit.say("step-delete-effect"),
            visit.words.count("step-delete-components", count(with_settings)),
        ])
        .stays(visit.say("step-delete-stays"));
    let name = title(visit, &step.title);
    let head =
        here.below(visit, visit.tell("delete-title", &[("name", name.into())])).here(visit.say("delete"));
    visit.form_page(head, confirm.html(&problems), problems).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    let visit = &*visit;
    let name = title(visit, &step.title);
    let deleted = visit
        .change(async |tx| {
            let removal = StepRemoval { steps: tx.steps(), components: tx.components() };
            removal.remove(here.id, id, visit.now).await?;
            let record = visit.record(Action::StepDeleted).of(Some(here.id));
            let record = record.on("step", &id.to_string(), &name);
            visit.append(tx, &record).await
        })
        .await;
    match deleted {
        Ok(()) => done(visit, &here, "step-deleted", name).await,
        Err(fault) => {
            let problems = Step::problems(visit, &here.organization, fault)?;
            delete_page(visit, &here, id, &step, problems).await
        }
    }
}
