//! A participatory space: its steps and components, its texts and visibility (contract 05 §2, §3).

use super::content::{Here, field_of, number, title, with_changes};
use super::space_form::{changes, form, read, refusal};
use super::{components, steps};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Html, Problem};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Result, SpaceManifest};
use civitas_spaces::{Space, SpaceAdmin, check_title};

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let here = Here::of_path(visit).await?;
    let visit = &*visit;
    let steps = if here.own.manifest == SpaceManifest::ParticipatoryProcesses {
        visit.panel.store().steps().of_process(here.id, here.own, steps::MOST).await?
    } else {
        Vec::new()
    };
    let mut body = Vec::new();
    if here.own.manifest == SpaceManifest::ParticipatoryProcesses {
        body.push(steps::list(visit, &here, &steps));
    }
    body.push(components::list(visit, &here, &steps).await?);
    visit.page(here.head(visit, "content"), Html::join(body)).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let here = Here::of_path(visit).await?;
    show_edit(visit, &here, &here.space, Vec::new()).await
}

async fn show_edit(visit: &Visit, here: &Here, space: &Space, problems: Vec<Problem>) -> Result<Reply> {
    let form = form(visit, &here.organization, space, here.path(), "space-save", &problems, None)
        .method("put")
        .hidden("revision", visit.revision(here.space.revision()))
        .cancel(here.path());
    visit.form_page(here.head(visit, "edit"), form.html(), problems).await
}

/// Changes the space, with an entry in the audit trail.
async fn save(visit: &Visit, here: &Here, seen: Option<&str>, edit: impl Fn(&mut Space)) -> Result<Space> {
    visit
        .change(async |tx| {
            let before = find_revision_for_update::<Space>(tx.spaces(), here.id, here.own, seen).await?;
            let change = Change::of(before, visit.now, |space| edit(space));
            if change.is_empty() {
                return Ok(change.after);
            }
            if change.before.title != change.after.title {
                check_title("title", &change.after.title, here.organization.default_locale)?;
            }
            SpaceAdmin { spaces: tx.spaces() }.change(here.id, here.own, &change).await?;
            let label = title(visit, &change.after.title);
            let record = visit.record(Action::SpaceUpdated).of(Some(here.id));
            let record = record.on("space", &number(here.own), &label);
            let record = with_changes(record, changes(&change.before, &change.after));
            tx.audit().append(&record, visit.now).await?;
            Ok(change.after)
        })
        .await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let here = Here::of_path(visit).await?;
    let visit = &*visit;
    let (typed, problems) = read(visit, here.space.clone());
    if !problems.is_empty() {
        return show_edit(visit, &here, &typed, problems).await;
    }
    let saved = save(visit, &here, Some(visit.seen()), |space| *space = read(visit, space.clone()).0);
    match saved.await {
        Ok(space) => {
            let name = title(visit, &space.title);
            let notice = Notice::good(visit.tell("space-saved", &[("name", name.into())]));
            visit.redirect(format!("{}/edit", here.path()), notice).await
        }
        Err(fault) => {
            let problems =
                error::problems(&visit.words, fault, |f| field_of("space", &here.organization, f))?;
            show_edit(visit, &here, &typed, refusal(visit, problems)).await
        }
    }
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    set_published(visit, true).await
}

pub(crate) async fn unpublish(visit: &mut Visit) -> Result<Reply> {
    set_published(visit, false).await
}

async fn set_published(visit: &mut Visit, is_published: bool) -> Result<Reply> {
    let here = Here::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    save(visit, &here, None, |space| {
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
