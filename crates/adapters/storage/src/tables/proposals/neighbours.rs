//! The neighbours of a proposal in a list, found by its position in the order without reading the list.

use super::listing::{At, List};
use super::reading;
use crate::session::Session;
use crate::tables::two_parts::TwoParts;
use civitas_kernel::{Direction, Order, ProposalId, ReadContext, Result};
use civitas_proposals::{Neighbours, Position, ProposalDetail, ProposalQuery};

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
    let seeks = list.seeks(direction, id.0, At::Of(id.0))?;
    let found = reading::visible_with(session, read_context, id, query.within, seeks).await?;
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
