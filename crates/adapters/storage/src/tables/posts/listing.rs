//! The rows of posts, and the lists that a reader sees.

use crate::columns::{self, Condition, Expr, columns};
use crate::engine::Conn;
use crate::engine::sql::Moment;
use crate::failure::DieselResultExt;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::schema::posts;
use crate::scoped::scoped;
use crate::session::Session;
use crate::tables::component_contexts::with_components;
use crate::tables::listing::{ListBase, ListKind, ListMembers, ListedField, ListedTable, Listing};
use crate::tables::planner::{CheckedRows, published_without_index};
use crate::tables::select::RecordSelect;
use crate::tables::texts::TextPart;
use async_trait::async_trait;
use civitas_blogs::{Post, PostDetail, PostField, PostQuery};
use civitas_kernel::{
    ComponentContext, ComponentId, OrganizationId, Page, PostId, ReadContext, Result, Translated, UserId,
};
use civitas_spaces::ComponentKind;
use diesel::prelude::*;
use time::OffsetDateTime;

columns! {
    /// A post as its row stores it.
    posts as Post;
    id PostId;
    fields {
        component as component_id: ComponentId,
        title: Translated,
        body: Translated,
        author as author_id: Option<UserId>,
        published_at: Option<OffsetDateTime>,
        hidden_at: Option<OffsetDateTime>,
        deleted_at: Option<OffsetDateTime>,
        created_at: OffsetDateTime,
        updated_at: OffsetDateTime,
    }
}

scoped! { pub(super) posts }

/// Whether a post is neither hidden nor deleted.
pub(in crate::tables) fn is_shown() -> Condition<posts::table> {
    Box::new(posts::hidden_at.is_null().and(posts::deleted_at.is_null()).nullable())
}

/// Whether a post is shown, and published at this time or written by this account (contract 07 A.1).
pub(in crate::tables) fn is_visible(author: Option<UserId>, now: OffsetDateTime) -> Condition<posts::table> {
    visible_at(Box::new(posts::published_at), author, now)
}

/// The same, for reads in another order than that of the times.
fn is_visible_in_any_order(author: Option<UserId>, now: OffsetDateTime) -> Condition<posts::table> {
    visible_at(published_without_index("posts"), author, now)
}

fn visible_at(
    published_at: Expr<posts::table, Moment>,
    author: Option<UserId>,
    now: OffsetDateTime,
) -> Condition<posts::table> {
    let (kept, published) = (is_shown(), published_at.le(now));
    match author {
        None => Box::new(kept.and(published)),
        Some(author) => Box::new(kept.and(published.or(posts::author_id.eq(author.0)))),
    }
}

/// The posts.
pub(super) const POSTS: ListedTable =
    ListedTable { name: "posts", order_column: "published_at", is_read_in_order: false };

/// The visible posts of a query (contract 07 A.1).
pub(super) struct PostList {
    pub(super) base: ListBase,
    /// The author whose drafts and scheduled posts are members.
    author: Option<UserId>,
    now: OffsetDateTime,
}

impl PostList {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        now: OffsetDateTime,
        query: &PostQuery,
    ) -> Result<Self> {
        let kind = ListKind { table: POSTS, component_kind: ComponentKind::Blogs, field };
        let query = (query.within, &query.filters[..], query.order);
        let base = ListBase::open(session, read_context, &kind, query).await?;
        Ok(Self { base, author: read_context.participant, now })
    }

    /// The members with a date that satisfy this condition, that of the partial indexes.
    fn dated_where(&self, of_components: Condition<()>, visible: Condition<posts::table>) -> RecordSelect {
        let records = POSTS.records().filter(of_components).filter(visible);
        if self.base.is_sorted() { records } else { records.filter(posts::published_at.is_not_null()) }
    }
}

/// What a field compares.
fn field(field: PostField) -> ListedField {
    match field {
        PostField::Id => ListedField::Number("id"),
        PostField::CreatedAt => ListedField::IndexedTime("created_at"),
        PostField::UpdatedAt => ListedField::IndexedTime("updated_at"),
        PostField::PublishedAt => ListedField::IndexedTime("published_at"),
        PostField::Title => ListedField::Translated("title", TextPart::Title),
        PostField::Body => ListedField::Translated("body", TextPart::Body),
        PostField::SearchText => ListedField::Searched(TextPart::Either),
        PostField::Component => ListedField::Component,
        PostField::SpaceId => ListedField::SpaceId,
        PostField::SpaceType => ListedField::SpaceType,
        PostField::Author => ListedField::Number("author_id"),
    }
}

impl ListMembers for PostList {
    fn base(&self) -> &ListBase {
        &self.base
    }

    fn unfiltered(&self, of_components: Condition<()>) -> RecordSelect {
        let is_visible = if self.base.is_sorted() { is_visible_in_any_order } else { is_visible };
        self.dated_where(of_components, is_visible(self.author, self.now))
    }

    fn unfiltered_by_id(&self, of_components: Condition<()>) -> RecordSelect {
        self.dated_where(of_components, is_visible_in_any_order(self.author, self.now))
    }

    fn drafts(&self) -> Option<RecordSelect> {
        let author = self.author.filter(|_| !self.base.is_sorted())?;
        let drafts = POSTS
            .records()
            .filter(posts::author_id.eq(author.0))
            .filter(posts::published_at.is_null())
            .filter(is_shown());
        Some(drafts.filter(self.base.components.contain_by_id::<()>(POSTS.name, CheckedRows::Few)))
    }
}

#[async_trait]
impl Listing for PostList {
    type Row = Row;

    async fn load(&self, connection: &mut Conn, records: RecordSelect) -> Result<Vec<Row>> {
        load(connection, records, self.base.bounds).await
    }
}

/// The rows of these posts.
pub(super) async fn load(
    connection: &mut Conn,
    posts: RecordSelect,
    bounds: RowReadLimits,
) -> Result<Vec<Row>> {
    posts.select(columns::all_columns::<Row>()).load_page(connection, bounds).await.map_db_error()
}

/// The posts of a page with their components.
pub(super) async fn load_details(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<Row>,
) -> Result<Page<PostDetail>> {
    let detail = |row: Row, context: ComponentContext| {
        let (id, post) = row.into();
        PostDetail { id, post, context }
    };
    with_components(connection, organization, page, |row| row.component_id, detail).await
}
