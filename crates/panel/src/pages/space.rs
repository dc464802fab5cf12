//! A participatory space: its steps and components, its texts and visibility (contract 05 §2, §3).

use super::content::{OpenedSpace, title};
use super::space_form::{form, read};
use super::{components, steps};
use crate::notice::Notice;
use crate::parts::{Html, Problem};
use crate::records::{Saved, Target, change, save};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Result, SpaceManifest};
use civitas_spaces::Space;

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let here = OpenedSpace::of_path(visit).await?;
    let visit = &*visit;
    let (mut steps, mut body) = (Vec::new(), Vec::new());
    if here.own.manifest == SpaceManifest::ParticipatoryProcesses {
        steps = visit.panel.store().steps().of_process(here.id, here.own, steps::MOST).await?;
        body.push(steps::list(visit, &here, &steps));
    }
    body.push(components::list(visit, &here, &steps).await?);
    visit.page(here.head(visit, "content"), Html::join(body)).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let here = OpenedSpace::of_path(visit).await?;
    show_edit(visit, &here, &here.space, Vec::new()).await
}

async fn show_edit(
    visit: &Visit,
    here: &OpenedSpace,
    space: &Space,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let form = form(visit, &here.organization, space, (here.path(), "space-save"), &problems, None)
        .method("put")
        .hidden("revision", visit.revision(here.space.revision()))
        .cancel(here.path());
    visit.form_page(here.head(visit, "edit"), form.html(), problems).await
}

fn target(here: &OpenedSpace) -> Target<'_, Space> {
    Target { organization: here.id, home: &here.organization, id: here.own }
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let here = OpenedSpace::of_path(visit).await?;
    let visit = &*visit;
    match save(visit, target(&here), Action::SpaceUpdated, |space| read(visit, space)).await? {
        Saved::Stored(space) => {
            let name = title(visit, &space.title).into();
            visit.done("space-saved", &[("name", name)], format!("{}/edit", here.path())).await
        }
        Saved::Refused(space, problems) => show_edit(visit, &here, &space, problems).await,
    }
}

/// `POST .../publish` and `POST .../unpublish`
pub(crate) async fn set_published(visit: &mut Visit) -> Result<Reply> {
    let here = OpenedSpace::of_path(visit).await?;
    let visit = &*visit;
    let (now, is_published) = (visit.now, visit.act == "publish");
    change(visit, target(&here), Action::SpaceUpdated, |space| {
        space.published_at = is_published.then(|| space.published_at.unwrap_or(now));
    })
    .await?;
    let name = here.title(visit);
    let (key, back) = if is_published {
        ("space-published", "publish-back")
    } else {
        ("space-unpublished", "unpublish-back")
    };
    let notice = Notice::good(visit.tell(key, &[("name", name.into())])).text(visit.say(back));
    visit.redirect(here.path(), notice).await
}
