//! The pages of posts (contract 07 part A).

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::pages::people::persons::{Accounts, accounts};
use crate::parts::{Badge, Cell, Head, Section};
use crate::records::{
    AuditActions, ComponentChoice, EditableRecord, FormInput, FormView, OpenedRecord, RecordAction,
    RecordPages, RowContext, TextField,
};
use crate::translated::title;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_blogs::{Post, PostAdministration, PostDetail, PostSearch, PostState};
use civitas_kernel::records::RecordAdministration;
use civitas_kernel::{ComponentId, OrganizationId, Page, PageRequest, PostId, Result, Translated};
use civitas_organizations::Organization;
use civitas_spaces::ComponentKind;
use time::OffsetDateTime;

impl EditableRecord for Post {
    fn admin<'a>(
        ports: &'a dyn Ports,
        organization: &Organization,
    ) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(PostAdministration { store: ports.posts(), default_locale: organization.default_locale })
    }

    fn label(&self, req: &AdminRequest) -> String {
        title(req, &self.title)
    }
}

type PostAction = RecordAction<Post>;

impl RecordPages for Post {
    const PATH: &'static str = "posts";
    const PARAM: &'static str = "bid";
    const COMPONENT_KIND: ComponentKind = ComponentKind::Blogs;
    const AUDIT_ACTIONS: AuditActions = AuditActions {
        created: Action::PostCreated,
        updated: Action::PostUpdated,
        deleted: Action::PostDeleted,
    };
    const AFTER_CREATION: Option<&'static str> = None;
    const ACTIONS: &'static [PostAction] = &[
        PostAction::new("publish", Post::publish, |p, now| !p.is_published(now)).primary(),
        PostAction::new("unpublish", |p, _| p.unpublish(), |p, _| p.published_at.is_some()),
        PostAction::new("show", |p, _| p.show(), |p, _| p.hidden_at.is_some()).primary(),
        PostAction::new("hide", Post::hide, |p, _| p.hidden_at.is_none()),
        PostAction::deletion(Post::delete, &["gone", "attachments"]),
    ];
    const COLUMNS: &'static str =
        "column-title column-state post-author component-one:low column-created:low column-acts";
    const SORTED: usize = 4;
    const ID: fn(i64) -> PostId = PostId;
    const COMPONENT: fn(&Self) -> ComponentId = |post| post.component;
    const TITLE: fn(&Self) -> &Translated = |post| &post.title;
    type Summary = PostDetail;

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), Translated::default(), now)
    }

    fn read_form(&mut self, input: &mut FormInput<'_>) {
        input.read_texts("title", &mut self.title);
        input.read_texts("body", &mut self.body);
        input.read_optional_time("published_at", &mut self.published_at);
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
        let published = published.hint(form.req.tr("post-published-at-hint")).class("medium").optional();
        vec![
            form.section("post", "post-one").field(texts),
            form.section("when", "post-publication").field(form.html(published)),
        ]
    }

    async fn search(
        list: &mut List<'_>,
        components: &ComponentChoice,
        organization: OrganizationId,
        request: PageRequest,
    ) -> Result<Page<PostDetail>> {
        let states = [
            ("published", "published", PostState::Published),
            ("scheduled", "post-scheduled", PostState::Scheduled),
            ("draft", "post-draft", PostState::Draft),
            ("hidden", "post-hidden", PostState::Hidden),
        ];
        let search = PostSearch {
            text: list.search("publications-search"),
            within: components.location_filter(list),
            state: list.choice("state", "column-state", &states),
            direction: list.order("oldest", ["newest-first", "oldest-first"]),
        };
        let req = list.req;
        req.store().posts().search(organization, req.now, &search, request).await
    }

    async fn rows(context: &RowContext<'_>, summaries: &[PostDetail]) -> Result<Vec<Vec<Cell>>> {
        let written_by = summaries.iter().filter_map(|detail| detail.post.author).map(|user| user.0);
        let authors = accounts(context.req, context.organization, written_by.collect()).await?;
        Ok(summaries.iter().map(|detail| row(context, detail, &authors)).collect())
    }

    async fn complete_head(req: &AdminRequest, opened: &OpenedRecord<Self>, head: Head) -> Result<Head> {
        let ids = opened.record.author.iter().map(|user| user.0).collect();
        let authors = accounts(req, opened.organization_id, ids).await?;
        let facts = [
            ("id", opened.id.to_string().into()),
            ("component", title(req, &opened.component.name).into()),
            ("author", author(req, &opened.record, &authors).into()),
        ];
        Ok(head.lede(req.tr_args("post-lede", &facts)).badge(state_badge(req, &opened.record)))
    }
}

fn row(context: &RowContext<'_>, detail: &PostDetail, authors: &Accounts) -> Vec<Cell> {
    let (req, post) = (context.req, &detail.post);
    let time = post.published_at.map(|at| req.time(at)).unwrap_or_default();
    let (action, key) =
        if post.is_published(req.now) { ("unpublish", "unpublish") } else { ("publish", "post-publish") };
    let cells = vec![
        Cell::badge_with_subtext(&state_badge(req, post), &time),
        Cell::text(&author(req, post, authors)),
        context.component(&detail.context.name, detail.context.space),
        Cell::text(&req.date(post.created_at)),
    ];
    context.row(&detail.id, &post.title, action, key, cells)
}

/// The state of a post.
fn state_badge(req: &AdminRequest, post: &Post) -> Badge {
    match post.state(req.now) {
        PostState::Published => Badge::good(req.tr("published")),
        PostState::Scheduled => Badge::busy(req.tr("post-scheduled")),
        PostState::Draft => Badge::warn(req.tr("post-draft")),
        PostState::Hidden => Badge::bad(req.tr("post-hidden")),
    }
}

/// The name of the author.
fn author(req: &AdminRequest, post: &Post, authors: &Accounts) -> String {
    match post.author {
        None => req.tr("post-of-organization"),
        Some(id) => authors.get(&id).map_or_else(|| req.tr("deleted"), |user| user.name.clone()),
    }
}
