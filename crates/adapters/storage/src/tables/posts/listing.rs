//! Lists of posts: the dated ones in the order of an index, and the reader's own drafts.

use super::rows::{Row, visible_if};
use crate::columns::{self, Condition};
use crate::engine::{Conn, Db, dialect};
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::posts;
use crate::session::Session;
use crate::tables::pages::{Checked, OnPage, Rows, Seek};
use crate::tables::samples::{self, Sampled};
use crate::tables::two_parts::{TwoParts, Way};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{Direction, ReadContext, Result, UserId, Within};
use civitas_spaces::ComponentManifest;
use diesel::dsl::{IntoBoxed, Select, count_star, not};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The ids of some posts.
type Ids = IntoBoxed<'static, Select<posts::table, posts::id>, Db>;

/// The visible posts of a part of an organization (contract 07 A.1).
pub(super) struct List {
    components: VisibleComponents,
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

    /// As [`VisibleComponents::skip_many`].
    pub(super) fn skips_many(&self) -> bool {
        self.components.skip_many()
    }

    /// Whether no component is visible; then the list is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// The members, with a date or without.
    fn members(&self, checked: Checked) -> Ids {
        self.members_if(Box::new(posts::published_at.le(self.now)), checked)
    }

    /// The members, by a condition that tells whether a post is published.
    fn members_if(&self, published: Condition<posts::table>, checked: Checked) -> Ids {
        let organization = Box::new(posts::organization_id.nullable());
        let component = Box::new(posts::component_id.nullable());
        posts::table
            .select(posts::id)
            .into_boxed::<Db>()
            .filter(self.components.contain(organization, component, checked))
            .filter(visible_if(published, self.author))
    }

    /// The members with a date; the condition is that of the partial indexes.
    fn with_date(&self, checked: Checked) -> Ids {
        self.members(checked).filter(posts::published_at.is_not_null())
    }

    /// The members at this time that are in this direction from an id, nearest first.
    fn at_the_same_time(&self, id: i64, at: OffsetDateTime, way: Way) -> Ids {
        let members = self.with_date(Checked::Few).filter(posts::published_at.eq(at));
        match way {
            Way::Next => members.filter(posts::id.gt(id)).order(posts::id.asc()),
            Way::Prev => members.filter(posts::id.lt(id)).order(posts::id.desc()),
        }
    }

    /// The members in this direction from a time, or all of them, nearest first.
    fn at_other_times(
        &self,
        at: Option<OffsetDateTime>,
        way: Way,
        direction: Direction,
        checked: Checked,
    ) -> Ids {
        let forward = way.is_forward(direction);
        let members = self.with_date(checked);
        let members = match at {
            Some(at) if forward => members.filter(posts::published_at.gt(at)),
            Some(at) => members.filter(posts::published_at.lt(at)),
            None => members,
        };
        match (way, forward) {
            (Way::Next, true) => members.order((posts::published_at.asc(), posts::id.asc())),
            (Way::Prev, true) => members.order((posts::published_at.asc(), posts::id.desc())),
            (Way::Next, false) => members.order((posts::published_at.desc(), posts::id.asc())),
            (Way::Prev, false) => members.order((posts::published_at.desc(), posts::id.desc())),
        }
    }

    /// Some members in random order.
    pub(super) async fn shuffled(&self, connection: &mut Conn, rows: Rows) -> Result<Vec<Row>> {
        let drafts = self.drafts(connection).await?;
        if let Some(ids) = samples::draw(self, connection, rows, &drafts).await? {
            let rows = self.rows_of(connection, &ids).await?;
            return Ok(samples::in_order_of(&ids, rows, |row| row.id));
        }
        posts::table
            .filter(OnPage::of(
                Box::new(posts::id.nullable()),
                self.members(Checked::Many).order(dialect::random()),
                rows,
            ))
            .select(columns::of::<Row>())
            .order(dialect::random())
            .limit(rows.limit)
            .load_page(connection, self.bounds)
            .await
            .stored()
    }
}

#[async_trait]
impl Sampled for List {
    async fn in_buckets(&self, connection: &mut Conn, buckets: &[i64]) -> Result<Vec<i64>> {
        // Not as a range, which SQLite would read instead of the buckets.
        let published = Box::new(not(posts::published_at.gt(self.now)));
        let members = self
            .members_if(published, Checked::Few)
            .filter(posts::published_at.is_not_null())
            .filter(samples::in_bucket(Box::new(posts::id.nullable())));
        samples::read(connection, buckets, members).await
    }
}

#[async_trait]
impl TwoParts for List {
    type Row = Row;

    async fn dated(&self, connection: &mut Conn, direction: Direction, rows: Rows) -> Result<Vec<Row>> {
        let ids = self.at_other_times(None, Way::Next, direction, rows.checked());
        let found = posts::table
            .filter(OnPage::of(Box::new(posts::id.nullable()), ids, rows))
            .select(columns::of::<Row>())
            .limit(rows.limit)
            .into_boxed::<Db>();
        let found = match direction {
            Direction::Ascending => found.order((posts::published_at.asc(), posts::id)),
            Direction::Descending => found.order((posts::published_at.desc(), posts::id)),
        };
        found.load_page(connection, self.bounds).await.stored()
    }

    async fn count_dated(&self, connection: &mut Conn) -> Result<i64> {
        self.with_date(Checked::Many).select(count_star()).first(connection).await.stored()
    }

    async fn drafts(&self, connection: &mut Conn) -> Result<Vec<i64>> {
        let Some(author) = self.author else { return Ok(Vec::new()) };
        posts::table
            .filter(posts::author_id.eq(author.0))
            .filter(posts::published_at.is_null())
            .filter(posts::deleted_at.is_null())
            .filter(self.components.contain_one(Box::new(posts::component_id.nullable()), Checked::Few))
            .order(posts::id)
            .select(posts::id)
            .load(connection)
            .await
            .stored()
    }

    async fn rows_of(&self, connection: &mut Conn, ids: &[i64]) -> Result<Vec<Row>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        posts::table
            .filter(columns::any_of(posts::id.nullable(), ids))
            .select(columns::of::<Row>())
            .order(posts::id)
            .load_page(connection, self.bounds)
            .await
            .stored()
    }

    async fn beside(
        &self,
        connection: &mut Conn,
        direction: Direction,
        id: i64,
        at: OffsetDateTime,
    ) -> Result<(Option<i64>, Option<i64>)> {
        let seek = |way| {
            Seek(vec![
                self.at_the_same_time(id, at, way),
                self.at_other_times(Some(at), way, direction, Checked::Few),
            ])
        };
        diesel::select((seek(Way::Next), seek(Way::Prev))).get_result(connection).await.stored()
    }

    async fn outermost(&self, connection: &mut Conn, direction: Direction, way: Way) -> Result<Option<i64>> {
        let seek = Seek(vec![self.at_other_times(None, way, direction, Checked::Few)]);
        diesel::select(seek).get_result(connection).await.stored()
    }
}
