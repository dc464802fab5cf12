//! The activation of a step: the page that asks, and the act (contract 05 §2.8).

use super::component_settings::phase_changes;
use super::content::{OpenedSpace, title};
use super::steps::{MOST_COMPONENTS, admin, base, count, step_of_path};
use crate::notice::Notice;
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::{Change, RecordAdmin, find_for_update};
use civitas_kernel::{Ability, Result, StepId};
use civitas_spaces::Step;

/// The number of webhook registrations that receive the event of an activation.
async fn receivers(visit: &Visit, here: &OpenedSpace) -> Result<i64> {
    let all = visit.panel.store().registrations().receivers(&[here.id]).await?;
    let own = all.iter().filter(|receiver| receiver.receives(here.id, Ability::StepActivated));
    Ok(i64::try_from(own.count()).unwrap_or(i64::MAX))
}

/// The components of the process whose settings change, with what changes.
async fn component_changes(
    visit: &Visit,
    here: &OpenedSpace,
    active: Option<StepId>,
    next: StepId,
) -> Result<Vec<String>> {
    let components = visit.panel.store().components().in_space(here.id, here.own, MOST_COMPONENTS).await?;
    let length = here.organization.comments_max_length;
    let of_one = components.iter().filter_map(|(_, component)| {
        let changes = phase_changes(visit, component, length, active, next);
        let name = title(visit, &component.name);
        let values = [("name", name.into()), ("changes", changes.join("; ").into())];
        (!changes.is_empty()).then(|| visit.tell("step-activate-component", &values))
    });
    Ok(of_one.collect())
}

pub(crate) async fn ask(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    let visit = &*visit;
    if step.active {
        return already_active(visit, &here, &step).await;
    }
    let mut effects = Vec::new();
    let active = visit.panel.store().steps().active(here.id, here.own).await?;
    if let Some((_, active)) = &active {
        let name = title(visit, &active.title);
        effects.push(visit.tell("step-activate-ends", &[("name", name.into())]));
    }
    let changes = component_changes(visit, &here, active.map(|(active, _)| active), id).await?;
    if changes.is_empty() {
        effects.push(visit.say("step-activate-nothing"));
    }
    effects.extend(changes);
    effects.push(visit.words.count("step-activate-receivers", receivers(visit, &here).await?));
    let name = title(visit, &step.title);
    let confirm = visit
        .confirm(format!("{}/{id}/activate", base(&here)), visit.say("step-activate-button"), here.path())
        .effects(effects)
        .stays(visit.say("step-activate-stays"));
    let head = here
        .below(visit, visit.tell("step-activate-title", &[("name", name.into())]))
        .here(visit.say("step-activate-button"));
    visit.page(head, confirm.html(&[])).await
}

async fn already_active(visit: &Visit, here: &OpenedSpace, step: &Step) -> Result<Reply> {
    let name = title(visit, &step.title);
    let notice = Notice::bad(visit.tell("step-already-active", &[("name", name.into())]));
    visit.redirect(here.path(), notice).await
}

pub(crate) async fn activate(visit: &mut Visit) -> Result<Reply> {
    let (here, id, step) = step_of_path(visit).await?;
    let visit = &*visit;
    let name = title(visit, &step.title);
    let active = visit.panel.store().steps().active(here.id, here.own).await?.map(|(active, _)| active);
    let changed = component_changes(visit, &here, active, id).await?.len();
    let is_new = visit
        .change(async |tx| {
            let before = find_for_update::<Step>(tx.steps(), here.id, id).await?;
            let change = Change::of(before, visit.now, |step| step.active = true);
            if change.is_empty() {
                return Ok(false);
            }
            let last = tx.steps().active(here.id, here.own).await?;
            let last = last.map(|(_, step)| title(visit, &step.title));
            admin(tx).change(here.id, id, &change).await?;
            let record = visit.record(Action::StepActivated).of(Some(here.id));
            let record = record.on("step", &id.to_string(), &name);
            let record = record.changed("active step", last.as_deref(), Some(&name));
            visit.append(tx, &record).await?;
            Ok(true)
        })
        .await?;
    if !is_new {
        return already_active(visit, &here, &step).await;
    }
    let text = visit.tell(
        "step-activated-text",
        &[
            ("components", visit.words.count("components-changed", count(changed)).into()),
            (
                "registrations",
                visit.words.count("registrations-receive", receivers(visit, &here).await?).into(),
            ),
        ],
    );
    let notice = Notice::good(visit.tell("step-activated", &[("name", name.into())])).text(text);
    visit.redirect(here.path(), notice).await
}
