//! The acts on a post: publication and deletion.

use super::content::{field_of, line, title};
use super::posts::{author, badge, list_path};
use super::proposals::authors;
use super::publications::{head, moment, opened, with_changes};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Confirm, Head, Html, Problem, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::Action;
use civitas_blogs::{Post, PostAdmin, PostDetail};
use civitas_kernel::records::{Change, RecordAdmin, find_revision_for_update};
use civitas_kernel::{Error, OrganizationId, PostId, Result};
use civitas_organizations::Organization;

/// A post of the path, with its organization.
pub(super) struct Own {
    pub(super) id: OrganizationId,
    pub(super) organization: Organization,
    number: PostId,
    detail: PostDetail,
}

impl Own {
    /// The post of the path, which is not deleted.
    pub(super) async fn of_path(visit: &mut Visit) -> Result<Self> {
        let (id, organization) = opened(visit).await?;
        let own = PostId(visit.id("bid")?);
        let detail = visit.panel.store().posts().detail(id, own).await?.ok_or(Error::NotFound)?;
        Ok(Self { id, organization, number: own, detail })
    }

    pub(super) fn post(&self) -> &Post {
        &self.detail.post
    }

    /// The address of the post.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", list_path(self.id), self.number)
    }

    fn title(&self, visit: &Visit) -> String {
        title(visit, &self.post().title)
    }

    /// The head of the page of the post.
    pub(super) async fn head(&self, visit: &Visit) -> Result<Head> {
        let ids = self.post().author.iter().map(|user| user.0).collect();
        let authors = authors(visit, self.id, ids).await?;
        let facts = [
            ("id", self.number.to_string().into()),
            ("component", title(visit, &self.detail.place.name).into()),
            ("author", author(visit, self.post(), &authors).into()),
        ];
        let head = self.below(visit, self.title(visit)).lede(visit.tell("post-lede", &facts));
        Ok(head.badge(badge(visit, self.post())))
    }

    /// The head of a page below the list.
    fn below(&self, visit: &Visit, title: String) -> Head {
        head(visit, self.id, &self.organization, title).crumb(visit.say("nav-posts"), list_path(self.id))
    }
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    words: &'a Words,
    /// Buttons with what they do.
    acts: Vec<(Html, String)>,
}

/// The acts, each with what it does.
pub(super) fn acts(visit: &Visit, own: &Own) -> Html {
    let post = |act: &str, class: &'static str| {
        let (action, label) = (format!("{}/{act}", own.path()), visit.say(&format!("post-{act}")));
        let button = Act::Post { action, label, class, fields: Vec::new(), token: visit.token() }.html();
        (button, visit.say(&format!("post-{act}-hint")))
    };
    let mut acts = Vec::new();
    if !own.post().is_published(visit.now) {
        acts.push(post("publish", "primary"));
    }
    if own.post().published_at.is_some() {
        acts.push(post("unpublish", ""));
    }
    let link = Act::danger(format!("{}/delete", own.path()), visit.say("post-delete-link"));
    acts.push((link.html(), visit.say("post-delete-hint")));
    render(&Moderation { words: &visit.words, acts })
}

/// The problems of a refused post, beside their fields.
pub(super) fn refusal(visit: &Visit, organization: &Organization, fault: Error) -> Result<Vec<Problem>> {
    error::problems(&visit.words, fault, |fault| field_of("post", organization, fault))
}

/// What differs, for the audit trail.
fn changes(before: &Post, after: &Post) -> Vec<(&'static str, String, String)> {
    vec![
        ("title", line(&before.title), line(&after.title)),
        ("body", line(&before.body), line(&after.body)),
        ("published_at", moment(before.published_at), moment(after.published_at)),
    ]
}

/// Changes the post, with an entry in the audit trail. A change without effect is not recorded.
pub(super) async fn save(
    visit: &Visit,
    own: &Own,
    seen: Option<&str>,
    action: Action,
    edit: impl Fn(&mut Post),
) -> Result<Post> {
    visit
        .change(async |tx| {
            let before = find_revision_for_update::<Post>(tx.posts(), own.id, own.number, seen).await?;
            let change = Change::of(before, visit.now, |post| edit(post));
            if change.is_empty() {
                return Ok(change.after);
            }
            let default_locale = own.organization.default_locale;
            PostAdmin { store: tx.posts(), default_locale }.change(own.id, own.number, &change).await?;
            let label = title(visit, &change.after.title);
            let record = visit.record(action).of(Some(own.id));
            let record = record.on("post", &own.number.to_string(), &label);
            let record = with_changes(record, changes(&change.before, &change.after));
            tx.audit().append(&record, visit.now).await?;
            Ok(change.after)
        })
        .await
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let confirm = Confirm {
        words: &visit.words,
        action: own.path(),
        method: "delete",
        token: visit.token(),
        effects: vec![visit.say("post-delete-gone"), visit.say("post-delete-attachments")],
        stays: visit.say("post-delete-stays"),
        name: String::new(),
        name_label: String::new(),
        button: visit.say("post-delete-button"),
        cancel: format!("{}/edit", own.path()),
    };
    let name = own.title(visit);
    let head = own
        .below(visit, visit.tell("delete-title", &[("name", name.as_str().into())]))
        .crumb(name, format!("{}/edit", own.path()))
        .here(visit.say("delete"));
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn delete(visit: &mut Visit) -> Result<Reply> {
    let own = Own::of_path(visit).await?;
    let visit = &*visit;
    let now = visit.now;
    save(visit, &own, None, Action::PostDeleted, |post| post.delete(now)).await?;
    let notice = Notice::good(visit.tell("post-deleted", &[("title", own.title(visit).into())]));
    visit.redirect(list_path(own.id), notice).await
}
