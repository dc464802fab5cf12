//! The neighbours of a proposal in a list, found by its position in the order without reading the list.

use super::listing::List;
use crate::session::Session;
use crate::tables::two_parts::TwoParts;
use civitas_kernel::{Direction, Order, ProposalId, ReadContext, Result};
use civitas_proposals::{Neighbours, Position, ProposalQuery};

/// The neighbours of a proposal in the list of a query; none when it is not in that list. In random order the next one
/// is any other proposal, and there is no previous one.
pub(super) async fn neighbours(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    position: Position,
) -> Result<Neighbours> {
    let direction = match query.order {
        Order::Column(direction) => direction,
        Order::Random => Direction::Ascending,
    };
    let list = List::open(session, read_context, query).await?;
    if !list.may_have(position.component) {
        return Ok(Neighbours::default());
    }
    let connection = &mut *session.read().await?;
    if !query.filters.is_empty() && !list.has(connection, position.id).await? {
        return Ok(Neighbours::default());
    }
    let Position { id, published_at, .. } = position;
    let (next, prev) = list.neighbours(connection, direction, id.0, published_at).await?;
    let (next, prev) = (next.map(ProposalId), prev.map(ProposalId));
    Ok(match query.order {
        Order::Column(_) => Neighbours { next, prev },
        Order::Random => Neighbours { next: next.or(prev), prev: None },
    })
}
