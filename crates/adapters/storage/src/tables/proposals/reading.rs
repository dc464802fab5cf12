//! Proposals as somebody reads them: which are visible, and what is read of each.

use super::rows::{Row, authors_of};
use crate::columns::{self, Condition, Expr};
use crate::correlated::Correlated;
use crate::engine::{Conn, Db, dialect, sql};
use crate::failure::Stored;
use crate::filter::{Column, holds};
use crate::schema::{api_clients, components, proposal_authors, proposals, spaces, votes};
use crate::tables::components::{OfSpace, of_space};
use crate::tables::places;
use crate::visibility::Rule;
use civitas_kernel::{
    Direction, Order, OrganizationId, Page, PageRequest, ProposalId, Result, Sight, UserId, Viewer, Within,
};
use civitas_proposals::{Place, ProposalDetail, ProposalField, ProposalFilter, ProposalQuery};
use diesel::dsl::{InnerJoin, InnerJoinOn, InnerJoinQuerySource};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;
use std::sync::Arc;
use time::OffsetDateTime;

/// Proposals with their components and spaces.
pub(super) type Standing =
    InnerJoinQuerySource<InnerJoinQuerySource<proposals::table, components::table>, spaces::table, OfSpace>;
/// The same, as a statement begins.
pub(super) type Joined = InnerJoinOn<InnerJoin<proposals::table, components::table>, spaces::table, OfSpace>;

/// Proposals with their components and spaces.
pub(super) fn joined() -> Joined {
    proposals::table.inner_join(components::table).inner_join(spaces::table.on(of_space()))
}

/// What is read of a proposal beside its place.
#[derive(Queryable)]
pub(super) struct Facts {
    row: Row,
    client_uid: Option<String>,
    voted: Option<i64>,
    voted_at: Option<OffsetDateTime>,
}

/// A proposal and its place, flat as Diesel reads them.
#[derive(Queryable)]
struct Whole {
    row: Row,
    client_uid: Option<String>,
    voted: Option<i64>,
    voted_at: Option<OffsetDateTime>,
    component: places::Columns,
    space_scope: Option<i64>,
    space_changed_at: OffsetDateTime,
    active_step: Option<i64>,
    steps_changed_at: Option<OffsetDateTime>,
    participates: Option<bool>,
}

impl Whole {
    fn parts(self) -> (Facts, places::Row) {
        let Self { row, client_uid, voted, voted_at, component, space_scope, space_changed_at, .. } = self;
        let Self { active_step, steps_changed_at, participates, .. } = self;
        let facts = Facts { row, client_uid, voted, voted_at };
        let place = places::Row {
            component,
            space_scope,
            space_changed_at,
            active_step,
            steps_changed_at,
            participates,
        };
        (facts, place)
    }
}

type ReadFacts = (
    <Row as Selectable<Db>>::SelectExpression,
    Expr<Standing, Text>,
    Expr<Standing, BigInt>,
    Expr<Standing, sql::Moment>,
);

/// What to read for [`Facts`].
fn read(reader: Option<UserId>) -> ReadFacts {
    let client = api_clients::table
        .filter(proposals::api_client_id.eq(api_clients::id.nullable()))
        .select(api_clients::uid);
    let voted_at: Expr<Standing, sql::Moment> = match reader {
        None => Box::new(None::<OffsetDateTime>.into_sql::<Nullable<sql::Moment>>()),
        Some(user) => Box::new(Correlated(
            votes::table
                .filter(votes::proposal_id.eq(proposals::id))
                .filter(votes::user_id.eq(user.0))
                .select(votes::updated_at),
        )),
    };
    (columns::of::<Row>(), Box::new(Correlated(client)), own_weight(reader), voted_at)
}

/// The weight of the reader's vote; null without one.
fn own_weight(reader: Option<UserId>) -> Expr<Standing, BigInt> {
    match reader {
        None => Box::new(None::<i64>.into_sql::<Nullable<BigInt>>()),
        Some(user) => Box::new(Correlated(
            votes::table
                .filter(votes::proposal_id.eq(proposals::id))
                .filter(votes::user_id.eq(user.0))
                .select(votes::weight),
        )),
    }
}

impl Facts {
    fn detail(self, authors: Vec<UserId>, place: Arc<Place>) -> ProposalDetail {
        let id = ProposalId(self.row.id);
        let state = self.row.public_state();
        let proposal = self.row.into_model(authors);
        let newest = proposal.updated_at.max(place.changed_at);
        ProposalDetail {
            id,
            client_uid: self.client_uid,
            state,
            voted: self.voted,
            changed_at: self.voted_at.map_or(newest, |at| newest.max(at)),
            place,
            proposal,
        }
    }
}

/// Which drafts a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drafts {
    /// None.
    No,
    /// Those this user is an author of.
    Of(UserId),
}

impl Drafts {
    /// Those of the token's user. A condition on votes leaves all out.
    pub(super) fn seen(sight: Sight, filters: &[ProposalFilter]) -> Self {
        match sight.participant {
            Some(user) if filters.iter().all(|f| f.field != ProposalField::VotedWeight) => Self::Of(user),
            _ => Self::No,
        }
    }
}

/// What is visible (contract 06 §1.3), inside a part of the organization.
pub(super) fn visible(sight: Sight, drafts: Drafts, within: Within) -> Vec<Condition<Standing>> {
    let mut all: Vec<Condition<Standing>> = vec![
        Box::new(Rule::ComponentIsVisible(sight.viewer)),
        Box::new(proposals::hidden_at.is_null().and(proposals::deleted_at.is_null()).nullable()),
    ];
    all.push(match drafts {
        Drafts::No => Box::new(proposals::published_at.is_not_null().nullable()),
        Drafts::Of(user) => {
            // Not `EXISTS`: this is asked once, that would be asked of each draft of everybody.
            let own = proposal_authors::table
                .filter(proposal_authors::user_id.eq(user.0))
                .select(proposal_authors::proposal_id)
                .into_boxed::<Db>();
            Box::new(proposals::published_at.is_not_null().or(proposals::id.eq_any(own)).nullable())
        }
    });
    all.extend(inside(sight.organization, within));
    all
}

/// The part of the organization.
pub(super) fn inside(organization: OrganizationId, within: Within) -> Vec<Condition<Standing>> {
    // One of the two ids is that of an index of proposals in their order; offered both, SQLite may take the wrong one.
    let mut all: Vec<Condition<Standing>> = match within.component {
        None => vec![Box::new(proposals::organization_id.eq(organization.0).nullable())],
        Some(component) => vec![
            Box::new(components::organization_id.eq(organization.0).nullable()),
            Box::new(proposals::component_id.eq(component.0).nullable()),
        ],
    };
    all.push(Box::new(Rule::StandsIn(within)));
    all
}

/// What a query lists: what is visible, inside, and satisfies its filters.
pub(super) fn listed(
    sight: Sight,
    query: &ProposalQuery,
    drafts: Drafts,
) -> Result<Vec<Condition<Standing>>> {
    let mut all = visible(sight, drafts, query.within);
    for filter in &query.filters {
        let column = match filter.field {
            ProposalField::State => Column::Text(Box::new(proposals::public_state.nullable())),
            ProposalField::VotedWeight => Column::Integer(own_weight(sight.participant)),
            ProposalField::ExtendedData => Column::Text(Box::new(proposals::extended_data_text.nullable())),
            ProposalField::Id => Column::Integer(Box::new(proposals::id.nullable())),
        };
        all.push(holds(column, &filter.condition)?);
    }
    Ok(all)
}

/// One page of a list.
pub(super) async fn list(
    connection: &mut Conn,
    sight: Sight,
    query: &ProposalQuery,
    page: PageRequest,
) -> Result<Page<ProposalDetail>> {
    let drafts = Drafts::seen(sight, &query.filters);
    let mut rows = joined().select(read(sight.participant)).into_boxed::<Db>();
    for condition in listed(sight, query, drafts)? {
        rows = rows.filter(condition);
    }
    rows = match (query.order, drafts) {
        (Order::Random, _) => rows.order(dialect::random()),
        // Where no null can be, none is spoken of: the index then gives the order.
        (Order::Column(Direction::Ascending), Drafts::No) => {
            rows.order((proposals::published_at.asc(), proposals::id))
        }
        (Order::Column(Direction::Descending), Drafts::No) => {
            rows.order((proposals::published_at.desc(), proposals::id))
        }
        (Order::Column(Direction::Ascending), Drafts::Of(_)) => {
            rows.order((NullsLast::new(proposals::published_at.asc()), proposals::id))
        }
        (Order::Column(Direction::Descending), Drafts::Of(_)) => {
            rows.order((NullsFirst::new(proposals::published_at.desc()), proposals::id))
        }
    };
    let rows: Vec<Facts> = rows.limit(page.fetch()).offset(page.offset()).load(connection).await.stored()?;
    let page = Page::cut(rows, page);
    let ids: Vec<i64> = page.items.iter().map(|f| f.row.id).collect();
    let mut authors = authors_of(connection, &ids).await?;
    let mut ids: Vec<i64> = page.items.iter().map(|f| f.row.component_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let places = places::of_components(connection, sight.organization, sight.viewer.user(), &ids).await?;
    let items = page.items.into_iter().filter_map(|facts| {
        let place = places.get(&facts.row.component_id)?.clone();
        let authors = authors.remove(&facts.row.id).unwrap_or_default();
        Some(facts.detail(authors, place))
    });
    Ok(Page { items: items.collect(), has_more: page.has_more })
}

/// The proposal that satisfies these conditions, with its place.
pub(super) async fn one(
    connection: &mut Conn,
    viewer: Viewer,
    participant: Option<UserId>,
    conditions: Vec<Condition<Standing>>,
) -> Result<Option<ProposalDetail>> {
    let (row, client_uid, voted, voted_at) = read(participant);
    let (component, scope, space_at, step, steps_at, participates) = places::read(viewer.user());
    let mut found = joined()
        .select((row, client_uid, voted, voted_at, component, scope, space_at, step, steps_at, participates))
        .into_boxed::<Db>();
    for condition in conditions {
        found = found.filter(condition);
    }
    let found: Option<Whole> = found.first(connection).await.optional().stored()?;
    let Some((facts, place)) = found.map(Whole::parts) else { return Ok(None) };
    let id = facts.row.id;
    let authors = authors_of(connection, &[id]).await?.remove(&id).unwrap_or_default();
    Ok(Some(facts.detail(authors, Arc::new(place.into()))))
}

diesel::postfix_operator!(NullsLast, " NULLS LAST", diesel::expression::expression_types::NotSelectable);
diesel::postfix_operator!(NullsFirst, " NULLS FIRST", diesel::expression::expression_types::NotSelectable);
