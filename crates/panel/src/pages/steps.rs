//! The steps of a process (contract 05 §2.8): list, creation, change, activation, deletion.

use super::content::{Here, end, field_of, line, title, with_changes};
use super::publications::{moment, read_time, time_field};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Badge, Field, Form, Head, Html, Problem, Section, Texts, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Error, Result, SpaceManifest, StepId, Translated};
use civitas_spaces::{Step, StepAdmin, StepRemoval, check_title, refusals};
use time::OffsetDateTime;

/// The most steps that a page shows.
pub(crate) const MOST: i64 = 100;
/// The most components that a page counts or lists changes of.
pub(super) const MOST_COMPONENTS: i64 = 100;
const TITLE: &str = "step[title]";
const PLACE: &str = "step[place]";

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
pub(super) fn base(here: &Here) -> String {
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
pub(crate) fn list(visit: &Visit, here: &Here, steps: &[(StepId, Step)]) -> Html {
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
async fn process(visit: &mut Visit) -> Result<Here> {
    let here = Here::of_path(visit).await?;
    if here.own.manifest == SpaceManifest::ParticipatoryProcesses { Ok(here) } else { Err(Error::NotFound) }
}

/// The step of the path, with its process.
pub(super) async fn step_of_path(visit: &mut Visit) -> Result<(Here, StepId, Step)> {
    let here = process(visit).await?;
    let id = StepId(visit.id("step")?);
    let found = visit.panel.store().steps().find(here.id, id).await?;
    let step = found.filter(|step| step.space == here.own).ok_or(Error::NotFound)?;
    Ok((here, id, step))
}

/// The step with what was typed, and what cannot be read.
fn read(visit: &Visit, mut step: Step) -> (Step, Vec<Problem>) {
    let form = &visit.form;
    let mut problems = Vec::new();
    if form.has("step[title][") {
        step.title = form.texts(TITLE, &visit.panel.settings.site.locales);
    }
    if form.has(PLACE) {
        match form.text(PLACE).parse::<i64>() {
            Ok(place) => step.position = place.saturating_sub(1),
            Err(_) => problems.push(Problem::new(PLACE, visit.say("problem-number"))),
        }
    }
    let times = [("step[starts_at]", &mut step.starts_at), ("step[ends_at]", &mut step.ends_at)];
    for (name, time) in times {
        read_time(visit, name, time, &mut problems);
    }
    (step, problems)
}

/// The problems of a refused step, beside their fields.
fn refusal(visit: &Visit, here: &Here, fault: Error) -> Result<Vec<Problem>> {
    let mut problems = error::problems(&visit.words, fault, |f| field_of("step", &here.organization, f))?;
    for problem in &mut problems {
        if problem.text == refusals::STEP_POSITION {
            *problem = Problem::new(PLACE, visit.say("problem-greater"));
        } else if problem.text == refusals::STEP_IS_ACTIVE {
            *problem = Problem::new("", visit.say("problem-step-active"));
        }
    }
    Ok(problems)
}

fn form<'a>(
    visit: &'a Visit,
    here: &Here,
    step: &Step,
    action: String,
    save: &str,
    problems: &[Problem],
) -> Form<'a> {
    let (words, locales) = (&visit.words, &visit.panel.settings.site.locales);
    let texts = Texts::new("step-texts", visit.say("texts"), locales, here.organization.default_locale)
        .text(TITLE, visit.say("column-title"), "", &step.title, 1)
        .html(words, problems);
    let time = |name: &str, label: &str, at: Option<OffsetDateTime>| {
        time_field(visit, name, label, at).optional().check(problems).html(words)
    };
    let place = step.position.saturating_add(1).to_string();
    let place = visit.form.get(PLACE).map_or(place, str::to_owned);
    let section = Section::new("step", visit.say("step")).field(texts).field(
        Field::number(PLACE, visit.say("step-order"), place)
            .hint(visit.say("step-order-hint"))
            .check(problems)
            .html(words),
    );
    let when = Section::new("when", visit.say("step-dates"))
        .hint(visit.say("steps-dates-hint"))
        .field(time("step[starts_at]", "step-starts", step.starts_at))
        .field(time("step[ends_at]", "step-ends", step.ends_at));
    Form::new(words, action, visit.token(), save).section(section).section(when).cancel(here.path())
}

pub(super) fn admin(tx: &dyn Transaction) -> StepAdmin<'_> {
    StepAdmin { spaces: tx.spaces(), steps: tx.steps() }
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let here = process(visit).await?;
    let steps = visit.panel.store().steps().of_process(here.id, here.own, MOST).await?;
    let position = steps.iter().map(|(_, step)| step.position + 1).max().unwrap_or_default();
    show_new(visit, &here, &blank(&here, position), Vec::new()).await
}

fn blank(here: &Here, position: i64) -> Step {
    let title = Translated::default();
    Step { space: here.own, title, position, active: false, starts_at: None, ends_at: None }
}

async fn show_new(visit: &Visit, here: &Here, step: &Step, problems: Vec<Problem>) -> Result<Reply> {
    let form = form(visit, here, step, base(here), "step-create", &problems);
    let head = here.below(visit, visit.say("step-new")).lede(visit.say("step-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let here = process(visit).await?;
    let visit = &*visit;
    let (step, problems) = read(visit, blank(&here, 0));
    if !problems.is_empty() {
        return show_new(visit, &here, &step, problems).await;
    }
    let name = title(visit, &step.title);
    let created = visit
        .change(async |tx| {
            check_title("title", &step.title, here.organization.default_locale)?;
            let id = admin(tx).create(here.id, &step).await?;
            let record = visit.record(Action::StepCreated).of(Some(here.id));
            let record = record.on("step", &id.to_string(), &name);
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match created {
        Ok(()) => {
            let notice = Notice::good(visit.tell("step-created", &[("name", name.into())]));
            visit.redirect(here.path(), notice).await
        }
        Err(fault) => show_new(visit, &here, &step, refusal(visit, &here, fault)?).await,
    }
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    show_edit(visit, &here, (id, &step), &step, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    here: &Here,
    (id, stored): (StepId, &Step),
    step: &Step,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let own = format!("{}/{id}", base(here));
    let form = form(visit, here, step, own.clone(), "step-save", &problems)
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

/// What differs, for the audit trail.
fn changes(before: &Step, after: &Step) -> Vec<(&'static str, String, String)> {
    vec![
        ("title", line(&before.title), line(&after.title)),
        ("position", before.position.to_string(), after.position.to_string()),
        ("starts_at", moment(before.starts_at), moment(after.starts_at)),
        ("ends_at", moment(before.ends_at), moment(after.ends_at)),
    ]
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    let visit = &*visit;
    let (typed, problems) = read(visit, step.clone());
    if !problems.is_empty() {
        return show_edit(visit, &here, (id, &step), &typed, problems).await;
    }
    let name = title(visit, &typed.title);
    let saved = visit
        .change(async |tx| {
            check_title("title", &typed.title, here.organization.default_locale)?;
            let before =
                find_revision_for_update::<Step>(tx.steps(), here.id, id, Some(visit.seen())).await?;
            let change = Change::of(before, visit.now, |step| *step = read(visit, step.clone()).0);
            if change.is_empty() {
                return Ok(());
            }
            admin(tx).change(here.id, id, &change).await?;
            let record = visit.record(Action::StepUpdated).of(Some(here.id));
            let record = record.on("step", &id.to_string(), &name);
            let record = with_changes(record, changes(&change.before, &change.after));
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match saved {
        Ok(()) => {
            let notice = Notice::good(visit.tell("step-saved", &[("name", name.into())]));
            visit.redirect(here.path(), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &here, fault)?;
            show_edit(visit, &here, (id, &step), &typed, problems).await
        }
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
    here: &Here,
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
    let head: Head =
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
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match deleted {
        Ok(()) => {
            let notice = Notice::good(visit.tell("step-deleted", &[("name", name.into())]));
            visit.redirect(here.path(), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &here, fault)?;
            delete_page(visit, &here, id, &step, problems).await
        }
    }
}
