//! The neighbours of a proposal in a list, found by its position in the order without reading the list.

use super::listing::List;
use super::reading::{self, Facts};
use crate::failure::Stored;
use crate::session::Session;
use crate::tables::component_places::visible_of_proposals;
use crate::tables::listing::{self, Beside};
use crate::tables::select::Seek;
use civitas_kernel::{Direction, Order, ProposalId, ReadContext, Result, Sort, Within};
use civitas_proposals::{Neighbours, Position, ProposalDetail, ProposalQuery};
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
    let direction = direction(query.order);
    let beside = listing::neighbours(&list, connection, direction, id.0, published_at).await?;
    Ok(in_order(query.order, beside))
}

/// The visible proposal of this id inside, and its neighbours: one statement for a published one, without filters.
pub(super) async fn with_neighbours(
    session: &Session,
    read_context: ReadContext,
    query: &ProposalQuery,
    id: ProposalId,
) -> Result<Option<(ProposalDetail, Neighbours)>> {
    if !query.filters.is_empty() {
        let found = reading::visible(read_context, id, query.within);
        let found = reading::find(session, read_context, query.within, found).await?;
        let Some(detail) = found else { return Ok(None) };
        let beside = neighbours(session, read_context, query, detail.position()).await?;
        return Ok(Some((detail, beside)));
    }
    let list = List::open(session, read_context, query).await?;
    let direction = direction(query.order);
    let seeks = listing::seeks(&list, direction, id.0, None)?;
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
            Some(_) => listing::with_drafts(&list, connection, direction, dated).await?,
            None => listing::neighbours(&list, connection, direction, id.0, None).await?,
        }
    };
    Ok(Some((detail, in_order(query.order, beside))))
}

/// The visible proposal of this id inside, and what these seeks find, in one statement.
async fn visible_with(
    session: &Session,
    read_context: ReadContext,
    (id, within): (ProposalId, Within),
    (next, prev): (Seek, Seek),
) -> Result<Option<(ProposalDetail, Beside)>> {
    let columns = (reading::read(read_context.participant), next, prev);
    let found = reading::visible(read_context, id, within).select(columns);
    let rows: Vec<(Facts, Option<i64>, Option<i64>)> =
        found.load(&mut *session.read().await?).await.stored()?;
    let Some((facts, next, prev)) = rows.into_iter().next() else { return Ok(None) };
    let place = visible_of_proposals(session, read_context, within, facts.component()).await?;
    Ok(place.map(|place| (facts.detail(place), (next, prev))))
}

/// The direction in which neighbours are searched.
fn direction(order: Order) -> Direction {
    match order {
        Order::Column(direction) | Order::By(Sort { direction, .. }) => direction,
        Order::Random => Direction::Ascending,
    }
}

fn in_order(order: Order, (next, prev): Beside) -> Neighbours {
    let (next, prev) = (next.map(ProposalId), prev.map(ProposalId));
    match order {
        Order::Column(_) | Order::By(_) => Neighbours { next, prev },
        Order::Random => Neighbours { next: next.or(prev), prev: None },
    }
}
