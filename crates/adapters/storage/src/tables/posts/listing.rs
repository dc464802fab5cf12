//! Lists of posts: those of a reader, and the search by administrators.

use super::rows::{Row, visible, visible_in_any_order};
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::filter::{contains, translated};
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::posts;
use crate::session::Session;
use crate::tables::component_places::with_components;
use crate::tables::listing::{ListedTable, Listing, Members};
use crate::tables::planner::Checked;
use crate::tables::select::Records;
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_blogs::{MOST_SEARCHED, PostDetail, PostSearch, PostState};
use civitas_kernel::{
    ComponentPlace, Locales, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, Within,
};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use time::OffsetDateTime;

/// The posts.
const POSTS: ListedTable = ListedTable { name: "posts", date: "published_at", is_read_in_order: false };

/// The visible posts of a part of an organization (contract 07 A.1).
pub(super) struct List {
    pub(super) components: VisibleComponents,
    /// The author whose drafts and scheduled posts are members.
    author: Option<UserId>,
    now: OffsetDateTime,
    bounds: Bounds,
}

impl List {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        now: OffsetDateTime,
        within: Within,
    ) -> Result<Self> {
        let components =
            VisibleComponents::load(session, read_context, within, Some(ComponentManifest::Blogs)).await?;
        Ok(Self { components, author: read_context.participant, now, bounds: session.bounds })
    }

    /// The members with a date that satisfy this condition, that of the partial indexes.
    fn dated_where(&self, checked: Checked, visible: Condition<posts::table>) -> Records {
        let records = POSTS.records().filter(self.components.contain_records(POSTS.name, checked));
        records.filter(visible).filter(posts::published_at.is_not_null())
    }
}

impl Members for List {
    fn table(&self) -> ListedTable {
        POSTS
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn dated(&self, checked: Checked) -> Result<Records> {
        Ok(self.dated_where(checked, visible(self.author, self.now)))
    }

    fn dated_by_id(&self) -> Result<Records> {
        Ok(self.dated_where(Checked::Few, visible_in_any_order(self.author, self.now)))
    }

    fn drafts(&self) -> Result<Option<Records>> {
        let Some(author) = self.author else { return Ok(None) };
        let drafts = POSTS
            .records()
            .filter(posts::author_id.eq(author.0))
            .filter(posts::published_at.is_null())
            .filter(posts::deleted_at.is_null())
            .filter(self.components.contain_records_by_id(POSTS.name, Checked::Few));
        Ok(Some(drafts))
    }
}

#[async_trait]
impl Listing for List {
    type Row = Row;

    async fn load(&self, connection: &mut Conn, records: Records) -> Result<Vec<Row>> {
        load(connection, records, self.bounds).await
    }
}

/// The rows of these posts.
async fn load(connection: &mut Conn, posts: Records, bounds: Bounds) -> Result<Vec<Row>> {
    posts.select(columns::of::<Row>()).load_page(connection, bounds).await.stored()
}

/// The posts of a page with their components.
pub(super) async fn details(
    connection: &mut Conn,
    organization: OrganizationId,
    page: Page<Row>,
) -> Result<Page<PostDetail>> {
    let detail = |row: Row, place: ComponentPlace| {
        let (id, post) = row.into();
        PostDetail { id, post, place }
    };
    with_components(connection, organization, page, |row| row.component_id, detail).await
}

/// One page of a search. `locales` are the languages whose titles are searched. The conditions on drafts are those of their
/// partial index, exactly.
pub(super) async fn search(
    connection: &mut Conn,
    organization: OrganizationId,
    now: OffsetDateTime,
    search: &PostSearch,
    page: PageRequest,
    locales: &Locales,
) -> Result<Page<PostDetail>> {
    let kind = ComponentManifest::Blogs;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page { items: Vec::new(), has_more: false });
    }
    let found = POSTS.records().filter(posts::deleted_at.is_null());
    let found = found.filter(components.contain_records(POSTS.name, Checked::Many));
    let dated = posts::published_at.is_not_null();
    let found = match search.state {
        Some(PostState::Draft) => found.filter(posts::published_at.is_null()),
        Some(PostState::Scheduled) => found.filter(dated).filter(posts::published_at.gt(now)),
        Some(PostState::Published) => found.filter(dated).filter(posts::published_at.le(now)),
        None => found,
    };
    let has_text = |text: &str| contains::<posts::table>(translated!(posts::title, locales), text);
    let has_text = search.text.as_deref().map(has_text).transpose()?;
    let found = found.order(POSTS.column("id"), search.direction).searched(has_text, MOST_SEARCHED, page);
    let rows = load(connection, found, Bounds::NONE).await?;
    details(connection, organization, Page::cut(rows, page)).await
}
