//! The activation of a step: the confirmation page, and the action (contract 05 §2.8).

use super::component_settings::step_setting_changes;
use super::shared::{OpenedSpace, title};
use super::steps::{MAX_COMPONENTS, admin, step_of_path, steps_path};
use crate::admin_request::AdminRequest;
use crate::format::saturating_i64;
use crate::notice::Notice;
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::records::{Change, RecordAdmin, find_for_update};
use civitas_kernel::{Ability, Result, StepId};
use civitas_spaces::Step;

/// The number of webhook registrations that receive the event of an activation.
async fn receivers(req: &AdminRequest, opened: &OpenedSpace) -> Result<i64> {
    let all = req.panel.store().registrations().receivers(&[opened.organization_id]).await?;
    let receiving =
        all.iter().filter(|receiver| receiver.receives(opened.organization_id, Ability::StepActivated));
    Ok(i64::try_from(receiving.count()).unwrap_or(i64::MAX))
}

/// The components of the process whose settings change, with what changes.
async fn component_changes(
    req: &AdminRequest,
    opened: &OpenedSpace,
    active: Option<StepId>,
    next: StepId,
) -> Result<Vec<String>> {
    let components = req
        .panel
        .store()
        .components()
        .in_space(opened.organization_id, opened.space_ref, MAX_COMPONENTS)
        .await?;
    let comments_max_length = opened.organization.comments_max_length;
    let of_one = components.iter().filter_map(|(_, component)| {
        let changes = step_setting_changes(req, component, comments_max_length, active, next);
        let name = title(req, &component.name);
        let values = [("name", name.into()), ("changes", changes.join("; ").into())];
        (!changes.is_empty()).then(|| req.tr_args("step-activate-component", &values))
    });
    Ok(of_one.collect())
}

pub(crate) async fn confirm(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_of_path(req).await?;
    if step.active {
        return already_active(req, &opened, &step).await;
    }
    let mut effects = Vec::new();
    let active = req.panel.store().steps().active(opened.organization_id, opened.space_ref).await?;
    if let Some((_, active)) = &active {
        let name = title(req, &active.title);
        effects.push(req.tr_with("step-activate-ends", "name", name));
    }
    let changes = component_changes(req, &opened, active.map(|(active, _)| active), id).await?;
    if changes.is_empty() {
        effects.push(req.tr("step-activate-nothing"));
    }
    effects.extend(changes);
    effects.push(req.translator.count("step-activate-receivers", receivers(req, &opened).await?));
    let name = title(req, &step.title);
    let confirm = req
        .confirm(
            format!("{}/{id}/activate", steps_path(&opened)),
            req.tr("step-activate-button"),
            opened.path(),
        )
        .effects(effects)
        .stays(req.tr("step-activate-stays"));
    let head = opened
        .head_below_space(req, req.tr_with("step-activate-title", "name", name))
        .current(req.tr("step-activate-button"));
    req.page(head, confirm.html(&[])).await
}

async fn already_active(req: &AdminRequest, opened: &OpenedSpace, step: &Step) -> Result<Reply> {
    let name = title(req, &step.title);
    let notice = Notice::bad(req.tr_with("step-already-active", "name", name));
    req.redirect(opened.path(), notice).await
}

pub(crate) async fn activate(req: &AdminRequest) -> Result<Reply> {
    let (opened, id, step) = step_of_path(req).await?;
    let name = title(req, &step.title);
    let active = req
        .panel
        .store()
        .steps()
        .active(opened.organization_id, opened.space_ref)
        .await?
        .map(|(active, _)| active);
    let changed = component_changes(req, &opened, active, id).await?.len();
    let is_new = req
        .change(async |tx| {
            let before = find_for_update::<Step>(tx.steps(), opened.organization_id, id).await?;
            let change = Change::of(before, req.now, |step| step.active = true);
            if change.is_empty() {
                return Ok(false);
            }
            let last = tx.steps().active(opened.organization_id, opened.space_ref).await?;
            let last = last.map(|(_, step)| title(req, &step.title));
            admin(tx).change(opened.organization_id, id, &change).await?;
            let entry = req.audit_entry(Action::StepActivated).of(Some(opened.organization_id));
            let entry = entry.on("step", &id.to_string(), &name);
            let entry = entry.changed("active step", last.as_deref(), Some(&name));
            req.append_audit_entry(tx, &entry).await?;
            Ok(true)
        })
        .await?;
    if !is_new {
        return already_active(req, &opened, &step).await;
    }
    let text = req.tr_args(
        "step-activated-text",
        &[
            ("components", req.translator.count("components-changed", saturating_i64(changed)).into()),
            (
                "registrations",
                req.translator.count("registrations-receive", receivers(req, &opened).await?).into(),
            ),
        ],
    );
    let notice = Notice::good(req.tr_with("step-activated", "name", name)).text(text);
    req.redirect(opened.path(), notice).await
}
