//! A post: its form, publication, deletion.

use super::content::{languages, line, title, typed};
use super::posts::{author, badge};
use super::proposals::authors;
use super::publication::{Own, Publication, act};
use super::publications::{moment, read_time, time_field};
use crate::parts::{Head, Html, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_blogs::{Post, PostAdmin};
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{ComponentId, Locale, OrganizationId, PostId, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::ComponentManifest;
use time::OffsetDateTime;

const TITLE: &str = "post[title]";
const BODY: &str = "post[body]";
const PUBLISHED: &str = "post[published_at]";

impl Publication for Post {
    const NAME: &'static str = "post";
    const LIST: &'static str = "posts";
    const PARAMETER: &'static str = "bid";
    const COMPONENTS: ComponentManifest = ComponentManifest::Blogs;
    const ACTIONS: [Action; 3] = [Action::PostCreated, Action::PostUpdated, Action::PostDeleted];
    const NEXT: Option<&'static str> = None;

    fn id(number: i64) -> PostId {
        PostId(number)
    }

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), Translated::default(), now)
    }

    async fn find(
        visit: &Visit,
        organization: OrganizationId,
        id: PostId,
    ) -> Result<Option<(Self, Translated)>> {
        let found = visit.panel.store().posts().detail(organization, id).await?;
        Ok(found.map(|detail| (detail.post, detail.place.name)))
    }

    fn admin<'a>(tx: &'a dyn Transaction, default_locale: Locale) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(PostAdmin { store: tx.posts(), default_locale })
    }

    fn title(&self) -> &Translated {
        &self.title
    }

    fn component(&self) -> ComponentId {
        self.component
    }

    fn remove(&mut self, now: OffsetDateTime) {
        self.delete(now);
    }

    fn read(mut self, visit: &Visit, organization: &Organization, _: bool) -> (Self, Vec<Problem>) {
        let locales = languages(organization, &[&self.title, &self.body]);
        let mut problems = Vec::new();
        self.title = typed(visit, TITLE, &locales, &self.title);
        self.body = typed(visit, BODY, &locales, &self.body);
        read_time(visit, PUBLISHED, &mut self.published_at, &mut problems);
        (self, problems)
    }

    fn sections(
        &self,
        visit: &Visit,
        organization: &Organization,
        problems: &[Problem],
        of_new: Option<Html>,
    ) -> Vec<Section> {
        let words = &visit.words;
        let locales = languages(organization, &[&self.title, &self.body]);
        let texts = Texts::new("post-texts", visit.say("texts"), &locales, organization.default_locale)
            .text(TITLE, visit.say("column-title"), "", &self.title, 1)
            .text(BODY, visit.say("post-body"), visit.say("html-hint"), &self.body, 12)
            .html(words, problems);
        let identity = Section::new("post", visit.say("post-one"));
        let identity = of_new.into_iter().chain([texts]).fold(identity, Section::field);
        let published = time_field(visit, PUBLISHED, "post-published-at", self.published_at)
            .hint(visit.say("post-published-at-hint"))
            .class("medium")
            .optional()
            .check(problems)
            .html(words);
        vec![identity, Section::new("when", visit.say("post-publication")).field(published)]
    }

    fn changes(before: &Self, after: &Self) -> Vec<(&'static str, String, String)> {
        vec![
            ("title", line(&before.title), line(&after.title)),
            ("body", line(&before.body), line(&after.body)),
            ("published_at", moment(before.published_at), moment(after.published_at)),
        ]
    }

    async fn head(own: &Own<Self>, visit: &Visit) -> Result<Head> {
        let ids = own.record.author.iter().map(|user| user.0).collect();
        let authors = authors(visit, own.id, ids).await?;
        let facts = [
            ("id", own.number.to_string().into()),
            ("component", title(visit, &own.component).into()),
            ("author", author(visit, &own.record, &authors).into()),
        ];
        let head = own.below(visit, own.title(visit)).lede(visit.tell("post-lede", &facts));
        Ok(head.badge(badge(visit, &own.record)))
    }

    fn acts(&self, now: OffsetDateTime) -> Vec<(&'static str, Option<&'static str>)> {
        let publish = (!self.is_published(now)).then_some(("publish", Some("primary")));
        let unpublish = self.published_at.is_some().then_some(("unpublish", Some("")));
        publish.into_iter().chain(unpublish).chain([("delete", None)]).collect()
    }
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "publish", Post::publish).await
}

pub(crate) async fn unpublish(visit: &mut Visit) -> Result<Reply> {
    act(visit, "unpublish", |post: &mut Post, _| post.unpublish()).await
}

pub(crate) async fn ask_delete(visit: &mut Visit) -> Result<Reply> {
    let own = Own::<Post>::of_path(visit).await?;
    let visit = &*visit;
    let confirm = visit
        .confirm(own.path(), visit.say("post-delete-button"), format!("{}/edit", own.path()))
        .delete()
        .effects([visit.say("post-delete-gone"), visit.say("post-delete-attachments")])
        .stays(visit.say("post-delete-stays"));
    let title = visit.tell("delete-title", &[("name", own.title(visit).into())]);
    visit.page(own.under(visit, title).here(visit.say("delete")), confirm.html(&[])).await
}
