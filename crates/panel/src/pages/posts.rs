//! The pages of posts (contract 07 part A).

use super::content::title;
use super::proposals::authors;
use crate::parts::{Badge, Cell, Head, Section};
use crate::records::{
    Components, EditableRecord, FormInput, FormView, ListFilters, OpenedRecord, RecordAct, RecordPages,
    ShownList, TextField,
};
use crate::visit::Visit;
use civitas_accounts::User;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_blogs::{Post, PostAdmin, PostDetail, PostSearch, PostState};
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{ComponentId, OrganizationId, Page, PageRequest, PostId, Result, Translated, UserId};
use civitas_organizations::Organization;
use civitas_spaces::ComponentManifest;
use std::collections::HashMap;
use time::OffsetDateTime;

impl EditableRecord for Post {
    fn admin<'a>(ports: &'a dyn Ports, home: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(PostAdmin { store: ports.posts(), default_locale: home.default_locale })
    }

    fn label(&self, visit: &Visit) -> String {
        title(visit, &self.title)
    }
}

type PostAct = RecordAct<Post>;

impl RecordPages for Post {
    const PATH: &'static str = "posts";
    const PARAM: &'static str = "bid";
    const COMPONENTS: ComponentManifest = ComponentManifest::Blogs;
    const ACTIONS: [Action; 3] = [Action::PostCreated, Action::PostUpdated, Action::PostDeleted];
    const AFTER_CREATION: Option<&'static str> = None;
    const ACTS: &'static [PostAct] = &[
        PostAct::new("publish", Post::publish, |p, now| !p.is_published(now)).primary(),
        PostAct::new("unpublish", |p, _| p.unpublish(), |p, _| p.published_at.is_some()),
        PostAct::deletion(Post::delete, &["gone", "attachments"]),
    ];
    const COLUMNS: &'static [(&'static str, bool)] = &[
        ("column-title", false),
        ("column-state", false),
        ("post-author", false),
        ("component-one", true),
        ("column-created", true),
    ];
    const SORTED: usize = 4;
    type Summary = PostDetail;

    fn id(number: i64) -> PostId {
        PostId(number)
    }

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), Translated::default(), now)
    }

    fn component(&self) -> ComponentId {
        self.component
    }

    fn title(&self) -> &Translated {
        &self.title
    }

    fn read(&mut self, input: &mut FormInput<'_>) {
        input.texts("title", &mut self.title);
        input.texts("body", &mut self.body);
        input.optional_time("published_at", &mut self.published_at);
    }

    fn sections(&self, form: &FormView<'_>) -> Vec<Section> {
        let texts = form.texts(
            "post-texts",
            &[
                TextField::line("title", "column-title", &self.title),
                TextField::html("body", "post-body", &self.body, 12),
            ],
        );
        let published = form.time("published_at", "post-published-at", self.published_at);
        let published = published.hint(form.visit.say("post-published-at-hint")).class("medium").optional();
        vec![
            form.section("post", "post-one").field(texts),
            form.section("when", "post-publication").field(form.html(published)),
        ]
    }

    async fn search(
        filters: &mut ListFilters<'_>,
        components: &Components,
        organization: OrganizationId,
        page: PageRequest,
    ) -> Result<Page<PostDetail>> {
        let states = [
            ("published", "published", PostState::Published),
            ("scheduled", "post-scheduled", PostState::Scheduled),
            ("draft", "post-draft", PostState::Draft),
        ];
        let search = PostSearch {
            text: filters.text("publications-search"),
            within: filters.place(components),
            state: filters.choice("state", "column-state", &states),
            direction: filters.order("oldest", ["newest-first", "oldest-first"]),
        };
        let visit = filters.visit;
        visit.panel.store().posts().search(organization, visit.now, &search, page).await
    }

    async fn rows(list: &ShownList<'_>, summaries: &[PostDetail]) -> Result<Vec<Vec<Cell>>> {
        let written_by = summaries.iter().filter_map(|detail| detail.post.author).map(|user| user.0);
        let authors = authors(list.visit, list.organization, written_by.collect()).await?;
        Ok(summaries.iter().map(|detail| row(list, detail, &authors)).collect())
    }

    async fn complete_head(visit: &Visit, own: &OpenedRecord<Self>, head: Head) -> Result<Head> {
        let ids = own.record.author.iter().map(|user| user.0).collect();
        let authors = authors(visit, own.organization, ids).await?;
        let facts = [
            ("id", own.id.to_string().into()),
            ("component", title(visit, &own.component.name).into()),
            ("author", author(visit, &own.record, &authors).into()),
        ];
        Ok(head.lede(visit.tell("post-lede", &facts)).badge(badge(visit, &own.record)))
    }
}

fn row(list: &ShownList<'_>, detail: &PostDetail, authors: &HashMap<UserId, User>) -> Vec<Cell> {
    let (visit, post) = (list.visit, &detail.post);
    let time = post.published_at.map(|at| visit.time(at)).unwrap_or_default();
    let act =
        if post.is_published(visit.now) { ("unpublish", "unpublish") } else { ("publish", "post-publish") };
    let cells = vec![
        Cell::badge_with_sub(&badge(visit, post), &time),
        Cell::text(&author(visit, post, authors)),
        list.place(&detail.place.name, detail.place.space),
        Cell::text(&visit.date(post.created_at)),
    ];
    list.row((detail.id, &post.title), act, cells)
}

/// Whether it is published.
fn badge(visit: &Visit, post: &Post) -> Badge {
    match post.state(visit.now) {
        PostState::Published => Badge::good(visit.say("published")),
        PostState::Scheduled => Badge::busy(visit.say("post-scheduled")),
        PostState::Draft => Badge::warn(visit.say("post-draft")),
    }
}

/// The name of the author.
fn author(visit: &Visit, post: &Post, authors: &HashMap<UserId, User>) -> String {
    match post.author {
        None => visit.say("post-of-organization"),
        Some(id) => authors.get(&id).map_or_else(|| visit.say("deleted"), |user| user.name.clone()),
    }
}
