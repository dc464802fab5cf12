//! Lists of proposals: the published ones in the order of an index, and the reader's own drafts, which are few and
//! come after the last of them or before the first.

use super::reading::{Facts, published_or_own, read, satisfies, shown};
use crate::columns::{self, Condition, Expr};
use crate::correlated::Correlated;
use crate::engine::{Conn, Db, sql};
use crate::failure::Stored;
use crate::page_rows::{Bounds, LoadPage};
use crate::schema::{proposal_authors, proposals, votes};
use crate::session::Session;
use crate::tables::pages::{By, Checked, InOrder, OnPage, Rows, Seek};
use crate::tables::places;
use crate::tables::random_pages::{self, ById, Part};
use crate::tables::two_parts::{TwoParts, Way};
use crate::tables::visible_components::VisibleComponents;
use async_trait::async_trait;
use civitas_kernel::{
    ComponentId, Direction, Order, OrganizationId, Page, PageRequest, ProposalId, ReadContext, Result, UserId,
};
use civitas_proposals::{ProposalDetail, ProposalField, ProposalFilter, ProposalQuery};
use civitas_spaces::ComponentManifest;
use diesel::dsl::{IntoBoxed, Select, count_star};
use diesel::prelude::*;
use diesel::sql_types::Nullable;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The ids of some proposals.
pub(super) type Ids = IntoBoxed<'static, Select<proposals::table, proposals::id>, Db>;

/// The time that the neighbours of a proposal are searched from.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    /// This one.
    Known(OffsetDateTime),
    /// That of this proposal of the organization, which the statement reads.
    Of(OrganizationId, ProposalId),
}

impl At {
    fn expression(self) -> Expr<proposals::table, sql::Moment> {
        match self {
            Self::Known(at) => Box::new(at.into_sql::<Nullable<sql::Moment>>()),
            Self::Of(organization, id) => Box::new(Correlated(
                super::of(organization).filter(proposals::id.eq(id.0)).select(proposals::published_at),
            )),
        }
    }
}

/// The members of a list.
pub(super) struct List<'a> {
    read_context: ReadContext,
    query: &'a ProposalQuery,
    components: VisibleComponents,
    /// The author whose drafts are members.
    author: Option<UserId>,
    bounds: Bounds,
}

impl<'a> List<'a> {
    /// Reads the visible components.
    pub(super) async fn open(
        session: &Session,
        read_context: ReadContext,
        query: &'a ProposalQuery,
    ) -> Result<Self> {
        let components =
            VisibleComponents::load(session, read_context, query.within, Some(ComponentManifest::Proposals))
                .await?;
        let has_drafts = query.filters.iter().all(|f| f.field != ProposalField::VotedWeight);
        let author = read_context.participant.filter(|_| has_drafts);
        Ok(Self { read_context, query, components, author, bounds: session.bounds })
    }

    /// Whether no component is visible; then the list is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// Whether drafts may be members.
    pub(super) fn has_drafts(&self) -> bool {
        self.author.is_some()
    }

    /// Proposals, published and drafts, that are shown and satisfy the filters.
    fn filtered(&self, place: Condition<proposals::table>) -> Result<Ids> {
        let mut ids = proposals::table.select(proposals::id).into_boxed::<Db>().filter(place).filter(shown());
        for filter in &self.query.filters {
            ids = ids.filter(satisfies(self.read_context.participant, filter)?);
        }
        if let Some(user) = self.voter() {
            let voted = votes::table.filter(votes::user_id.eq(user.0)).select(votes::proposal_id);
            ids = ids.filter(proposals::id.eq_any(voted));
        }
        Ok(ids)
    }

    /// The user whose votes all members have: they are found by these votes, which are few, and not by the list.
    fn voter(&self) -> Option<UserId> {
        let needs_vote = |filter: &ProposalFilter| {
            filter.field == ProposalField::VotedWeight && !filter.condition.holds_for_null()
        };
        self.read_context.participant.filter(|_| self.query.filters.iter().any(needs_vote))
    }

    /// The published members. The conditions are those of the partial indexes, exactly.
    pub(super) fn published(&self, checked: Checked) -> Result<Ids> {
        Ok(self.filtered(self.in_order(checked))?.filter(proposals::published_at.is_not_null()))
    }

    /// How many rows are checked for the first ones in an order; with filters, all may be.
    fn checked_for(&self, rows: Rows) -> Checked {
        if self.query.filters.is_empty() { rows.checked() } else { Checked::Many }
    }

    /// The published members for a seek.
    fn nearest(&self) -> Result<Ids> {
        self.published(self.checked_for(Rows { limit: 1, offset: 0 }))
    }

    /// Whether proposals of a component are members. Without filters all are members that the reader sees.
    pub(super) fn may_have(&self, component: ComponentId) -> bool {
        self.components.has(component.0)
    }

    /// Whether a proposal is a member.
    pub(super) async fn has(&self, connection: &mut Conn, id: ProposalId) -> Result<bool> {
        let member = self
            .filtered(self.by_id())?
            .filter(proposals::id.eq(id.0))
            .filter(published_or_own(self.author))
            .first::<i64>(connection)
            .await
            .found()?;
        Ok(member.is_some())
    }

    fn in_order(&self, checked: Checked) -> Condition<proposals::table> {
        if self.voter().is_some() {
            return self.by_id();
        }
        let organization = Box::new(proposals::organization_id.nullable());
        self.components.contain(organization, Box::new(proposals::component_id.nullable()), checked)
    }

    fn by_id(&self) -> Condition<proposals::table> {
        self.components.contain_one(Box::new(proposals::component_id.nullable()), Checked::Few)
    }

    /// Some rows of the list, in its order.
    async fn page_rows(&self, connection: &mut Conn, rows: Rows) -> Result<Vec<Facts>> {
        match self.query.order {
            Order::Random => self.shuffled(connection, rows).await,
            Order::Column(direction) => self.rows(connection, direction, rows).await,
        }
    }

    /// The members at this time that are in this direction from an id, nearest first.
    fn at_the_same_time(&self, id: i64, at: At, way: Way) -> Result<Ids> {
        let members = self.nearest()?.filter(proposals::published_at.eq(at.expression()));
        Ok(match way {
            Way::Next => members.filter(proposals::id.gt(id)).order(proposals::id.asc()),
            Way::Prev => members.filter(proposals::id.lt(id)).order(proposals::id.desc()),
        })
    }

    /// The published members in this direction from a time, or all of them, nearest first.
    fn at_other_times(&self, at: Option<At>, way: Way, direction: Direction) -> Result<Ids> {
        let (dates, members) = (way.of_dates(direction), self.nearest()?);
        let members = match (at, dates) {
            (Some(at), Direction::Ascending) => members.filter(proposals::published_at.gt(at.expression())),
            (Some(at), Direction::Descending) => members.filter(proposals::published_at.lt(at.expression())),
            (None, _) => members,
        };
        Ok(members.order((By(proposals::published_at, dates), By(proposals::id, way.of_ids()))))
    }

    /// The next and the previous published member beside a proposal, as two values of a statement.
    pub(super) fn seeks(&self, direction: Direction, id: i64, at: At) -> Result<(Seek<Ids>, Seek<Ids>)> {
        let seek = |way| -> Result<_> {
            Ok(Seek(vec![
                self.at_the_same_time(id, at, way)?,
                self.at_other_times(Some(at), way, direction)?,
            ]))
        };
        Ok((seek(Way::Next)?, seek(Way::Prev)?))
    }

    /// Some members in random order.
    async fn shuffled(&self, connection: &mut Conn, rows: Rows) -> Result<Vec<Facts>> {
        let ids = if self.voter().is_some() {
            let all = self.published(Checked::Few)?.load(connection).await.stored()?;
            random_pages::page_of(all, rows)
        } else {
            let drafts = self.drafts(connection).await?;
            random_pages::draw(self, connection, rows, &drafts).await?
        };
        let found = self.rows_of(connection, &ids).await?;
        Ok(random_pages::in_order_of(&ids, found, Facts::id))
    }
}

impl ById for List<'_> {
    type Ids = Ids;

    fn part(&self, part: Part) -> Result<Ids> {
        let id = || random_pages::id(Box::new(proposals::id.nullable()));
        let members = self.nearest()?;
        Ok(match part {
            Part::All => members.order(id().asc()),
            Part::Reversed => members.order(id().desc()),
            Part::From(from) => members.filter(id().ge(from)).order(id().asc()),
            Part::Before(to) => members.filter(id().lt(to)).order(id().asc()),
        })
    }
}

#[async_trait]
impl TwoParts for List<'_> {
    type Row = Facts;

    async fn dated(&self, connection: &mut Conn, direction: Direction, rows: Rows) -> Result<Vec<Facts>> {
        let order = (By(proposals::published_at, direction), proposals::id);
        let ids = self.published(self.checked_for(rows))?.order(order);
        let columns = read(self.read_context.participant);
        if rows.are_direct() {
            let found = InOrder { select: ids.select(columns), rows };
            return found.load_page(connection, self.bounds).await.stored();
        }
        let found = proposals::table
            .filter(OnPage::of(Box::new(proposals::id.nullable()), ids, rows))
            .select(columns)
            .limit(rows.limit)
            .into_boxed::<Db>()
            .order((By(proposals::published_at, direction), proposals::id));
        found.load_page(connection, self.bounds).await.stored()
    }

    async fn rows_of(&self, connection: &mut Conn, ids: &[i64]) -> Result<Vec<Facts>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        proposals::table
            .filter(columns::any_of(proposals::id.nullable(), ids))
            .select(read(self.read_context.participant))
            .order(proposals::id)
            .load_page(connection, self.bounds)
            .await
            .stored()
    }

    async fn count_dated(&self, connection: &mut Conn) -> Result<i64> {
        self.published(Checked::Many)?.select(count_star()).first(connection).await.stored()
    }

    async fn drafts(&self, connection: &mut Conn) -> Result<Vec<i64>> {
        let Some(user) = self.author else { return Ok(Vec::new()) };
        let own = proposal_authors::table
            .filter(proposal_authors::user_id.eq(user.0))
            .select(proposal_authors::proposal_id)
            .into_boxed::<Db>();
        self.filtered(self.by_id())?
            .filter(proposals::id.eq_any(own))
            .filter(proposals::published_at.is_null())
            .order(proposals::id)
            .load(connection)
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
        diesel::select(self.seeks(direction, id, At::Known(at))?).get_result(connection).await.stored()
    }

    async fn outermost(&self, connection: &mut Conn, direction: Direction, way: Way) -> Result<Option<i64>> {
        let seek = Seek(vec![self.at_other_times(None, way, direction)?]);
        diesel::select(seek).get_result(connection).await.stored()
    }
}

/// One page of a list.
pub(super) async fn page(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    page: PageRequest,
) -> Result<Page<ProposalDetail>> {
    let list = List::open(session, read_context, query).await?;
    let rows = if list.is_empty() {
        Vec::new()
    } else {
        let is_long = !query.filters.is_empty() || query.order == Order::Random;
        list.page_rows(&mut *session.read_page(page, is_long).await?, page.into()).await?
    };
    let reader = read_context.viewer.user();
    details(session, read_context.organization, reader, Page::cut(rows, page)).await
}

/// The proposals of a page with their places.
pub(super) async fn details(
    session: &Session,
    organization: OrganizationId,
    reader: Option<UserId>,
    page: Page<Facts>,
) -> Result<Page<ProposalDetail>> {
    let mut ids: Vec<i64> = page.items.iter().map(Facts::component).collect();
    ids.sort_unstable();
    ids.dedup();
    let places = places::of_components(session, organization, reader, &ids).await?;
    let items = page.items.into_iter().filter_map(|facts| {
        let place = places.get(&facts.component())?.clone();
        Some(facts.detail(place))
    });
    Ok(Page { items: items.collect(), has_more: page.has_more })
}
