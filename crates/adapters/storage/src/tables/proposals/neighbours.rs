//! The neighbours of a proposal in a list, found by its position in the order without reading the list.

use super::listing::{At, Ids, List};
use super::reading::{self, Facts};
use crate::engine::Db;
use crate::failure::Stored;
use crate::schema::proposals;
use crate::session::Session;
use crate::tables::pages::Seek;
use crate::tables::places;
use crate::tables::two_parts::TwoParts;
use civitas_kernel::{Direction, Order, ProposalId, ReadContext, Result, Within};
use civitas_proposals::{Neighbours, Position, ProposalDetail, ProposalQuery};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

/// The neighbours of a proposal in the list of a query; none when it is not in that list. In random order the next one
/// is any other proposal, and there is no previous one.
pub(super) async fn neighbours(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    position: Position,
) -> Result<Neighbours> {
    let list = List::open(session, read_context, query).await?;
    if !list.may_have(position.component) {
        return Ok(Neighbours::default());
    }
    let connection = &mut *session.read().await?;
    if !query.filters.is_empty() && !list.has(connection, position.id).await? {
        return Ok(Neighbours::default());
    }
    let Position { id, published_at, .. } = position;
    Ok(in_order(query.order, list.neighbours(connection, direction(query.order), id.0, published_at).await?))
}

/// The visible proposal of this id inside, and its neighbours: one statement for a published one, without filters.
pub(super) async fn with_neighbours(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    id: ProposalId,
) -> Result<Option<(ProposalDetail, Neighbours)>> {
    if !query.filters.is_empty() {
        let found = reading::visible(session, read_context, id, query.within, Vec::new()).await?;
        let Some(detail) = found else { return Ok(None) };
        let beside = neighbours(session, read_context, query, detail.position()).await?;
        return Ok(Some((detail, beside)));
    }
    let list = List::open(session, read_context, query).await?;
    let direction = direction(query.order);
    let seeks = list.seeks(direction, id.0, At::Of(read_context.organization, id))?;
    let found = visible_with(session, read_context, (id, query.within), seeks).await?;
    let Some((detail, dated)) = found else { return Ok(None) };
    let Position { component, published_at, .. } = detail.position();
    let beside = if !list.may_have(component) {
        (None, None)
    } else if published_at.is_some() && !list.has_drafts() {
        dated
    } else {
        let connection = &mut *session.read().await?;
        match published_at {
            Some(_) => list.with_drafts(connection, direction, dated).await?,
            None => list.neighbours(connection, direction, id.0, None).await?,
        }
    };
    Ok(Some((detail, in_order(query.order, beside))))
}

/// The visible proposal of this id inside, and what these seeks find, in one statement.
async fn visible_with(
    session: &Session,
    read_context: ReadContext,
    (id, within): (ProposalId, Within),
    (next, prev): (Seek<Ids>, Seek<Ids>),
) -> Result<Option<(ProposalDetail, (Option<i64>, Option<i64>))>> {
    let mut found = super::of(read_context.organization)
        .filter(proposals::id.eq(id.0))
        .select((reading::read(read_context.participant), next, prev))
        .into_boxed::<Db>();
    for condition in reading::visible_itself(read_context, within) {
        found = found.filter(condition);
    }
    let row: Option<(Facts, Option<i64>, Option<i64>)> =
        found.first(&mut *session.read().await?).await.found()?;
    let Some((facts, next, prev)) = row else { return Ok(None) };
    let place = places::visible(session, read_context, within, facts.component()).await?;
    Ok(place.map(|place| (facts.detail(place), (next, prev))))
}

/// The direction in which neighbours are searched.
fn direction(order: Order) -> Direction {
    match order {
        Order::Column(direction) => direction,
        Order::Random => Direction::Ascending,
    }
}

fn in_order(order: Order, (next, prev): (Option<i64>, Option<i64>)) -> Neighbours {
    let (next, prev) = (next.map(ProposalId), prev.map(ProposalId));
    match order {
        Order::Column(_) => Neighbours { next, prev },
        Order::Random => Neighbours { next: next.or(prev), prev: None },
    }
}
