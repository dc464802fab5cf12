//! Lists of posts: those of a reader, and the search by administrators.

use super::rows::{Row, visible, visible_in_any_order};
use crate::columns::{self, Condition};
use crate::engine::Conn;
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::posts;
use crate::session::Session;
use crate::tables::component_places::with_components;
use crate::tables::listing::{FilterCondition, ListedField, ListedTable, Listing, Members, compared};
use crate::tables::planner::Checked;
use crate::tables::select::Records;
use crate::tables::texts::{self, TextPart};
use crate::tables::visible_components::{PlaceColumn, VisibleComponents};
use async_trait::async_trait;
use civitas_blogs::{PostDetail, PostField, PostFilter, PostQuery, PostSearch, PostState};
use civitas_kernel::{
    ComponentPlace, Locales, Order, OrganizationId, Page, PageRequest, ReadContext, Result, UserId, filter,
};
use civitas_spaces::ComponentManifest;
use diesel::prelude::*;
use time::OffsetDateTime;

/// The posts.
const POSTS: ListedTable = ListedTable { name: "posts", date: "published_at", is_read_in_order: false };

/// The visible posts of a query (contract 07 A.1).
pub(super) struct List<'a> {
    pub(super) components: VisibleComponents,
    query: &'a PostQuery,
    /// The author whose drafts and scheduled posts are members.
    author: Option<UserId>,
    now: OffsetDateTime,
    locales: Locales,
    bounds: Bounds,
}

impl<'a> List<'a> {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        now: OffsetDateTime,
        query: &'a PostQuery,
    ) -> Result<Self> {
        let kind = ComponentManifest::Blogs;
        let places =
            query.filters.iter().filter_map(|filter| field(filter.field).of_place(&filter.condition));
        let places = places.collect::<Result<_>>()?;
        let components =
            VisibleComponents::load_filtered(session, read_context, query.within, kind, places).await?;
        let (locales, bounds) = (session.locales().clone(), session.bounds);
        Ok(Self { components, query, author: read_context.participant, now, locales, bounds })
    }

    /// The members with a date that satisfy this condition, that of the partial indexes.
    fn dated_where(&self, of_components: Condition<()>, visible: Condition<posts::table>) -> Records {
        let records = POSTS.records().filter(of_components).filter(visible);
        if self.is_sorted() { records } else { records.filter(posts::published_at.is_not_null()) }
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
        PostField::Component => ListedField::Place(PlaceColumn::Component),
        PostField::SpaceId => ListedField::Place(PlaceColumn::SpaceId),
        PostField::SpaceType => ListedField::Place(PlaceColumn::SpaceType),
        PostField::Author => ListedField::Number("author_id"),
    }
}

impl Members for List<'_> {
    fn table(&self) -> ListedTable {
        POSTS.sorted(self.query.order)
    }

    fn components(&self) -> &VisibleComponents {
        &self.components
    }

    fn unfiltered(&self, of_components: Condition<()>) -> Records {
        let visible = if self.is_sorted() { visible_in_any_order } else { visible };
        self.dated_where(of_components, visible(self.author, self.now))
    }

    fn unfiltered_by_id(&self, of_components: Condition<()>) -> Records {
        self.dated_where(of_components, visible_in_any_order(self.author, self.now))
    }

    fn filters(&self) -> Result<Vec<FilterCondition>> {
        let condition =
            |filter: &PostFilter| field(filter.field).condition(self, &self.locales, &filter.condition);
        let conditions = self.query.filters.iter().map(condition);
        conditions.filter_map(Result::transpose).collect()
    }

    fn is_sorted(&self) -> bool {
        matches!(self.query.order, Order::By(_))
    }

    fn drafts(&self) -> Result<Option<Records>> {
        let Some(author) = self.author.filter(|_| !self.is_sorted()) else { return Ok(None) };
        let drafts = POSTS
            .records()
            .filter(posts::author_id.eq(author.0))
            .filter(posts::published_at.is_null())
            .filter(posts::deleted_at.is_null())
            .filter(self.components.contain_records_by_id(POSTS.name, Checked::Few));
        Ok(Some(compared(drafts, self.filters()?)))
    }
}

#[async_trait]
impl Listing for List<'_> {
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

/// One page of a search. The conditions on drafts are those of their partial index, exactly.
pub(super) async fn search(
    connection: &mut Conn,
    organization: OrganizationId,
    now: OffsetDateTime,
    search: &PostSearch,
    page: PageRequest,
) -> Result<Page<PostDetail>> {
    let kind = ComponentManifest::Blogs;
    let components = VisibleComponents::of_kind(connection, organization, search.within, kind).await?;
    if components.is_empty() {
        return Ok(Page::of(Vec::new(), false));
    }
    let found = POSTS.records().filter(posts::deleted_at.is_null());
    let found = found.filter(components.contain_records(POSTS.name, Checked::Many));
    let dated = posts::published_at.is_not_null();
    let mut found = match search.state {
        Some(PostState::Draft) => found.filter(posts::published_at.is_null()),
        Some(PostState::Scheduled) => found.filter(dated).filter(posts::published_at.gt(now)),
        Some(PostState::Published) => found.filter(dated).filter(posts::published_at.le(now)),
        None => found,
    };
    if let Some(words) = search.text.as_deref().and_then(filter::Condition::words) {
        found = found.filter(texts::found::<()>(POSTS.name, organization, TextPart::Title, &words)?);
    }
    let found = found.order(POSTS.column("id"), search.direction).on_page(page.into());
    let rows = load(connection, found, Bounds::NONE).await?;
    details(connection, organization, Page::cut(rows, page)).await
}
