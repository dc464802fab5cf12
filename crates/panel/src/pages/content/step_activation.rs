//! The activation of a step: the confirmation page, and the action (contract 05 §2.8).

use super::component_settings::step_setting_changes;
use super::components::MAX_SPACE_COMPONENTS;
use super::opened_space::OpenedSpace;
use super::steps::{OpenedStep, admin};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::records::{Change, RecordAdministration, find_for_update};
use civitas_kernel::{Ability, Result, StepId};
use civitas_spaces::Step;

/// The number of webhook registrations that receive the event of an activation.
async fn receivers(req: &AdminRequest, opened: &OpenedSpace) -> Result<usize> {
    let all = req.store().registrations().receivers(&[opened.organization_id]).await?;
    let receiving =
        all.iter().filter(|receiver| receiver.receives(opened.organization_id, Ability::StepActivated));
    Ok(receiving.count())
}

/// The components of the process whose settings change, with what changes.
async fn component_changes(
    req: &AdminRequest,
    opened: &OpenedSpace,
    active: Option<StepId>,
    next: StepId,
) -> Result<Vec<String>> {
    let components = req
        .store()
        .components()
        .list_in_space(opened.organization_id, opened.space_ref, MAX_SPACE_COMPONENTS)
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
    let opened_step = OpenedStep::from_path(req).await?;
    let (opened, id) = (&opened_step.space, opened_step.id);
    if opened_step.step.active {
        return already_active(req, &opened_step).await;
    }
    let mut effects = Vec::new();
    let active = req.store().steps().active(opened.organization_id, opened.space_ref).await?;
    if let Some((_, active)) = &active {
        let name = title(req, &active.title);
        effects.push(req.tr_with("step-activate-ends", "name", name));
    }
    let changes = component_changes(req, opened, active.map(|(active, _)| active), id).await?;
    if changes.is_empty() {
        effects.push(req.tr("step-activate-nothing"));
    }
    effects.extend(changes);
    effects.push(req.tr_count("step-activate-receivers", receivers(req, opened).await?));
    let url = format!("{}/activate", opened_step.path());
    let confirm = req
        .confirmation(url, req.tr("step-activate-button"), opened.path())
        .effects(effects)
        .stays(req.tr("step-activate-stays"));
    let title = req.tr_with("step-activate-title", "name", opened_step.title(req));
    let head = opened.subpage_head(req, title).current(req.tr("step-activate-button"));
    req.page(head, confirm.html(&[])).await
}

async fn already_active(req: &AdminRequest, opened: &OpenedStep) -> Result<Reply> {
    let notice = Notice::failure(req.tr_with("step-already-active", "name", opened.title(req)));
    req.redirect(opened.space.path(), notice).await
}

pub(crate) async fn activate(req: &AdminRequest) -> Result<Reply> {
    let opened_step = OpenedStep::from_path(req).await?;
    let (opened, id, name) = (&opened_step.space, opened_step.id, opened_step.title(req));
    let active = req.store().steps().active(opened.organization_id, opened.space_ref).await?;
    let changed = component_changes(req, opened, active.map(|(active, _)| active), id).await?.len();
    let (is_new, _) = req
        .change_with_audit(
            async |tx| {
                let before = find_for_update::<Step>(tx.steps(), opened.organization_id, id).await?;
                let change = Change::from_edit(before, req.now, |step| step.active = true);
                if change.is_empty() {
                    return Ok((false, None));
                }
                let last = tx.steps().active(opened.organization_id, opened.space_ref).await?;
                admin(tx).change(opened.organization_id, id, &change).await?;
                Ok((true, last.map(|(_, step)| title(req, &step.title))))
            },
            |(is_new, last)| {
                let entry = req.audit_entry(Action::StepActivated).in_organization(opened.organization_id);
                let entry = entry.with_object("step", &id.to_string(), &name);
                is_new.then(|| entry.with_change("active step", last.as_deref(), Some(&name)))
            },
        )
        .await?;
    if !is_new {
        return already_active(req, &opened_step).await;
    }
    let text = req.tr_args(
        "step-activated-text",
        &[
            ("components", req.tr_count("components-changed", changed).into()),
            ("registrations", req.tr_count("registrations-receive", receivers(req, opened).await?).into()),
        ],
    );
    let notice = Notice::success(req.tr_with("step-activated", "name", name)).text(text);
    req.redirect(opened.path(), notice).await
}
