//! A participatory space: its steps and components, its texts and visibility (contract 05 §2, §3).

use super::opened_space::OpenedSpace;
use super::space_form::{read_form, sections};
use super::{components, steps};
use crate::admin_request::AdminRequest;
use crate::parts::{FormErrors, Html};
use crate::records::{RecordAction, Saved, Target, change, save};
use crate::reply::Reply;
use crate::translated::title;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, RecordFields};
use civitas_kernel::{Result, SpaceKind};
use civitas_spaces::Space;

type SpaceAction = RecordAction<Space>;

const ACTIONS: &[SpaceAction] = &[
    SpaceAction::new("publish", Space::publish, |space, _| space.published_at.is_none()),
    SpaceAction::new("unpublish", |space, _| space.unpublish(), |space, _| space.published_at.is_some()),
];

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    let steps = components::steps_of_space(req, &opened).await?;
    let mut body = Vec::new();
    if opened.space_ref.kind == SpaceKind::ParticipatoryProcesses {
        body.push(steps::list_html(req, &opened, &steps));
    }
    body.push(components::list_html(req, &opened, &steps).await?);
    req.page(opened.tab_head(req, "content"), Html::join(body)).await
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    edit_page(req, &opened, &opened.space, Vec::new()).await
}

async fn edit_page(
    req: &AdminRequest,
    opened: &OpenedSpace,
    space: &Space,
    problems: FormErrors,
) -> Result<Reply> {
    let form = req
        .build_form(opened.path(), "space-save")
        .put(req.revision(opened.space.revision()))
        .sections(sections(req, &opened.organization, space, &problems, false))
        .cancel(opened.path());
    req.form_page(opened.tab_head(req, "edit"), form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    match save(req, Target::in_space(&opened, opened.space_ref), Action::SpaceUpdated, |space: &mut Space| {
        read_form(req, space)
    })
    .await?
    {
        Saved::Stored(space) => {
            let name = title(req, &space.title).into();
            req.redirect_done("space-saved", &[("name", name)], format!("{}/edit", opened.path())).await
        }
        Saved::Refused(space, problems) => edit_page(req, &opened, &space, problems).await,
    }
}

/// `POST .../{action}`
pub(crate) async fn perform(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    let action = RecordAction::from_path(req, ACTIONS)?;
    change(req, Target::in_space(&opened, opened.space_ref), Action::SpaceUpdated, |space| {
        (action.edit)(space, req.now);
    })
    .await?;
    req.redirect(opened.path(), action.notice(req, Space::NAME, opened.title(req))).await
}
