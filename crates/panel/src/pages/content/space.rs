//! A participatory space: its steps and components, its texts and visibility (contract 05 §2, §3).

use super::shared::{OpenedSpace, title};
use super::space_form::{form, read_form};
use super::{components, steps};
use crate::admin_request::AdminRequest;
use crate::notice::Notice;
use crate::parts::{FormErrors, Html};
use crate::records::{Saved, Target, change, save};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Result, SpaceKind};
use civitas_spaces::Space;

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    let steps = components::steps_of_space(req, &opened).await?;
    let mut body = Vec::new();
    if opened.space_ref.kind == SpaceKind::ParticipatoryProcesses {
        body.push(steps::list_html(req, &opened, &steps));
    }
    body.push(components::list_html(req, &opened, &steps).await?);
    req.page(opened.head(req, "content"), Html::join(body)).await
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    show_edit(req, &opened, &opened.space, Vec::new()).await
}

async fn show_edit(
    req: &AdminRequest,
    opened: &OpenedSpace,
    space: &Space,
    problems: FormErrors,
) -> Result<Reply> {
    let form = form(req, &opened.organization, space, opened.path(), "space-save", &problems, None)
        .method("put")
        .hidden("revision", req.revision(opened.space.revision()))
        .cancel(opened.path());
    req.form_page(opened.head(req, "edit"), form.html(), problems).await
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
        Saved::Refused(space, problems) => show_edit(req, &opened, &space, problems).await,
    }
}

/// `POST .../publish` and `POST .../unpublish`
pub(crate) async fn set_published(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedSpace::from_path(req).await?;
    let (now, is_published) = (req.now, req.action == "publish");
    change(req, Target::in_space(&opened, opened.space_ref), Action::SpaceUpdated, |space: &mut Space| {
        space.published_at = is_published.then(|| space.published_at.unwrap_or(now));
    })
    .await?;
    let name = opened.title(req);
    let (key, back) = if is_published {
        ("space-published", "publish-back")
    } else {
        ("space-unpublished", "unpublish-back")
    };
    let notice = Notice::success(req.tr_with(key, "name", name)).text(req.tr(back));
    req.redirect(opened.path(), notice).await
}
