//! Lists of posts: the dated ones in the order of an index, and the reader's own drafts.

use super::rows::{Row, visible, visible_in_any_order};
use crate::columns::{self, Condition};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::posts;
use crate::session::Session;
use crate::tables::pages::{By, Checked, OnPage, Rows, Seek};
use crate::tables::random_pages::{self, ById, Part};
use crate::tables::two_parts::{TwoParts, Way};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{Direction, ReadContext, Result, UserId, Within};
use civitas_spaces::ComponentManifest;
use diesel::dsl::{IntoBoxed, Select, count_star};
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

    /// Whether no component is visible; then the list is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// The members with a date that satisfy this condition, that of the partial indexes.
    fn with_date_where(&self, checked: Checked, visible: Condition<posts::table>) -> Ids {
        let organization = Box::new(posts::organization_id.nullable());
        let component = Box::new(posts::component_id.nullable());
        posts::table
            .select(posts::id)
            .into_boxed::<Db>()
            .filter(self.components.contain(organization, component, checked))
            .filter(visible)
            .filter(posts::published_at.is_not_null())
    }

    /// The members with a date.
    fn with_date(&self, checked: Checked) -> Ids {
        self.with_date_where(checked, visible(self.author, self.now))
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
        let (dates, members) = (way.of_dates(direction), self.with_date(checked));
        let members = match (at, dates) {
            (Some(at), Direction::Ascending) => members.filter(posts::published_at.gt(at)),
            (Some(at), Direction::Descending) => members.filter(posts::published_at.lt(at)),
            (None, _) => members,
        };
        members.order((By(posts::published_at, dates), By(posts::id, way.of_ids())))
    }

    /// Some members in random order.
    pub(super) async fn shuffled(&self, connection: &mut Conn, rows: Rows) -> Result<Vec<Row>> {
        let drafts = self.drafts(connection).await?;
        let ids = random_pages::draw(self, connection, rows, &drafts).await?;
        let found = self.rows_of(connection, &ids).await?;
        Ok(random_pages::in_order_of(&ids, found, |row| row.id))
    }
}

impl ById for List {
    type Ids = Ids;

    fn part(&self, part: Part) -> Result<Ids> {
        let id = || random_pages::id(Box::new(posts::id.nullable()));
        let members = self.with_date_where(Checked::Few, visible_in_any_order(self.author, self.now));
        Ok(match part {
            Part::All => members.order(id().asc()),
            Part::Reversed => members.order(id().desc()),
            Part::From(from) => members.filter(id().ge(from)).order(id().asc()),
            Part::Before(to) => members.filter(id().lt(to)).order(id().asc()),
        })
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
            .into_boxed::<Db>()
            .order((By(posts::published_at, direction), posts::id));
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
