//! The form of a post: texts, and the time of publication; acts that are refused when a text is missing.

use super::content::{languages, title, typed};
use super::post::{Own, acts, refusal, save};
use super::posts::list_path;
use super::publications::{Components, component, head, opened, read_time, time_field};
use crate::notice::Notice;
use crate::parts::{Form, Html, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_blogs::{Post, PostAdmin};
use civitas_kernel::records::{Entity, RecordAdmin};
use civitas_kernel::{Error, OrganizationId, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::{ComponentManifest, component_for_record};

const TITLE: &str = "post[title]";
const BODY: &str = "post[body]";
const PUBLISHED: &str = "post[published_at]";
const COMPONENT: &str = "post[component]";

/// The post with what was typed, and what cannot be read. What was not sent stays as it is.
fn read(visit: &Visit, organization: &Organization, mut post: Post) -> (Post, Vec<Problem>) {
    let locales = languages(organization, &[&post.title, &post.body]);
    let mut problems = Vec::new();
    post.title = typed(visit, TITLE, &locales, &post.title);
    post.body = typed(visit, BODY, &locales, &post.body);
    read_time(visit, PUBLISHED, &mut post.published_at, &mut problems);
    (post, problems)
}

/// The form. `of_new` has the fields of a new post only.
fn form<'a>(
    visit: &'a Visit,
    organization: &Organization,
    post: &Post,
    (action, save): (String, &str),
    problems: &[Problem],
    of_new: Option<Html>,
) -> Form<'a> {
    let words = &visit.words;
    let locales = languages(organization, &[&post.title, &post.body]);
    let texts = Texts::new("post-texts", visit.say("texts"), &locales, organization.default_locale)
        .text(TITLE, visit.say("column-title"), "", &post.title, 1)
        .text(BODY, visit.say("post-body"), visit.say("html-hint"), &post.body, 12)
        .html(words, problems);
    let mut identity = Section::new("post", visit.say("post-one"));
    if let Some(of_new) = of_new {
        identity = identity.field(of_new);
    }
    let published = time_field(visit, PUBLISHED, "post-published-at", post.published_at)
        .hint(visit.say("post-published-at-hint"))
        .class("medium")
        .optional()
        .check(problems)
        .html(words);
    let when = Section::new("when", visit.say("post-publication")).field(published);
    Form::new(words, action, visit.token(), save).section(identity.field(texts)).section(when)
}

fn blank(visit: &Visit) -> Post {
    let component = component(visit, COMPONENT);
    Post::new(component, Translated::default(), Translated::default(), visit.now)
}

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    show_new(visit, id, &organization, &blank(visit), Vec::new()).await
}

async fn show_new(
    visit: &Visit,
    id: OrganizationId,
    organization: &Organization,
    post: &Post,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let components = Components::load(visit, id, ComponentManifest::Blogs).await?;
    let of_new = components.field(visit, COMPONENT, &problems);
    let path = list_path(id);
    let form = form(visit, organization, post, (path.clone(), "post-create"), &problems, Some(of_new))
        .cancel(path.clone());
    let head = head(visit, id, organization, visit.say("post-new"))
        .crumb(visit.say("nav-posts"), path)
        .lede(visit.say("post-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (post, problems) = read(visit, &organization, blank(visit));
    if !problems.is_empty() {
        return show_new(visit, id, &organization, &post, problems).await;
    }
    let name = title(visit, &post.title);
    let created = visit.change(async |tx| {
        let kind = ComponentManifest::Blogs;
        match component_for_record(tx.components(), id, post.component, kind).await {
            Err(Error::NotFound) => return Ok(None),
            found => found?,
        };
        let admin = PostAdmin { store: tx.posts(), default_locale: organization.default_locale };
        let own = admin.create(id, &post).await?;
        let record = visit.record(Action::PostCreated).of(Some(id));
        tx.audit().append(&record.on("post", &own.to_string(), &name), visit.now).await?;
        Ok(Some(own))
    });
    let problems = match created.await {
        Ok(Some(own)) => {
            let notice = Notice::good(visit.tell("post-created", &[("title", name.into())]));
            return visit.redirect(format!("{}/{own}/edit", list_path(id)), notice).await;
        }
        Ok(None) => vec![Problem::new(COMPONENT, visit.say("problem-choose"))],
        Err(fault) => refusal(visit, &organization, fault)?,
    };
    show_new(visit, id, &organization, &post, problems).await
}

pub(crate) async fn edit(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    show_edit(visit, &own, own.post(), Vec::new()).await
}

/// The page of a post: its form and its acts.
async fn show_edit(visit: &Visit, own: &Own, post: &Post, problems: Vec<Problem>) -> Result<Reply> {
    let form = form(visit, &own.organization, post, (own.path(), "post-save"), &problems, None)
        .method("put")
        .hidden("revision", visit.revision(own.post().revision()))
        .cancel(list_path(own.id));
    let head = own.head(visit).await?;
    visit.form_page(head, Html::join([form.html(), acts(visit, own)]), problems).await
}

pub(crate) async fn update(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let (post, problems) = read(visit, &own.organization, own.post().clone());
    if !problems.is_empty() {
        return show_edit(visit, &own, &post, problems).await;
    }
    let saved = save(visit, &own, Some(visit.seen()), Action::PostUpdated, |post| {
        *post = read(visit, &own.organization, post.clone()).0;
    });
    match saved.await {
        Ok(post) => {
            let name = title(visit, &post.title);
            let notice = Notice::good(visit.tell("post-saved", &[("title", name.into())]));
            visit.redirect(format!("{}/edit", own.path()), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &own.organization, fault)?;
            show_edit(visit, &own, &post, problems).await
        }
    }
}

/// Publishes the post or makes it a draft. Where a text is missing, its form says so.
async fn set_published(visit: &mut Visit, is_published: bool) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    let saved = save(visit, &own, None, Action::PostUpdated, |post| {
        if is_published { post.publish(now) } else { post.unpublish() }
    });
    match saved.await {
        Ok(post) => {
            let key = if is_published { "post-publish-done" } else { "post-unpublish-done" };
            let done = visit.tell(key, &[("title", title(visit, &post.title).into())]);
            let notice = Notice::good(done).text(visit.say(&format!("{key}-undo")));
            visit.redirect(format!("{}/edit", own.path()), notice).await
        }
        Err(fault) => {
            let problems = refusal(visit, &own.organization, fault)?;
            show_edit(visit, &own, own.post(), problems).await
        }
    }
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    set_published(visit, true).await
}

pub(crate) async fn unpublish(visit: &mut Visit) -> Result<Reply> {
    set_published(visit, false).await
}
