//! The neighbours of a record in a list, found by its position in the order without reading the list.

use super::{ListMembers, dated, drafts, in_order};
use crate::engine::{Conn, sql};
use crate::failure::DieselResultExt;
use crate::tables::planner::{BoxedSql, CheckedRows};
use crate::tables::select::{FirstId, Ids, correlated, number};
use civitas_kernel::{Direction, Result};
use diesel::IntoSql;
use diesel::sql_types::Nullable;
use diesel_async::RunQueryDsl;
use time::OffsetDateTime;

/// The ids of the next record and of the previous one.
pub(in crate::tables) type NeighbourIds = (Option<i64>, Option<i64>);

/// The direction of ids in which the next record is searched, and that for the previous one.
const NEXT: Direction = Direction::Ascending;
const PREVIOUS: Direction = Direction::Descending;

/// The direction of dates in which a neighbour is searched, in a list of this direction.
fn dates(direction: Direction, ids: Direction) -> Direction {
    if direction == ids { Direction::Ascending } else { Direction::Descending }
}

/// What the order compares of a record: this date, else the value of the record, which the statement reads.
fn order_value(list: &dyn ListMembers, id: i64, at: Option<OffsetDateTime>) -> BoxedSql {
    let table = list.base().table;
    if let Some(at) = at {
        return Box::new(at.into_sql::<Nullable<sql::Moment>>());
    }
    let organization = number(list.base().components.organization);
    let own = table.records().compare(table.column("organization_id"), " = ", organization);
    let this = own.compare(table.column("id"), " = ", number(id));
    Box::new(correlated(this.select(Ids::new("?", vec![list.key().sql()]))))
}

/// The next and the previous member with a date beside this record, as two values of a statement: one of the same date, else
/// one of another date. `at`: the date of the record, if it is known.
pub(in crate::tables) fn seeks(
    list: &dyn ListMembers,
    direction: Direction,
    id: i64,
    at: Option<OffsetDateTime>,
) -> Result<(FirstId, FirstId)> {
    let (table, at) = (list.base().table, || order_value(list, id, at));
    let beyond = |direction: Direction| if direction == Direction::Ascending { " > " } else { " < " };
    let seek = |ids: Direction| -> Result<FirstId> {
        let dates = dates(direction, ids);
        let same = dated(list, CheckedRows::Few)?.compare(list.key(), " = ", at());
        let same = same.compare(table.column("id"), beyond(ids), number(id)).order(table.column("id"), ids);
        let others = dated(list, CheckedRows::Few)?.compare(list.key(), beyond(dates), at());
        Ok(FirstId::first(vec![same.ids(), in_order(list, others, dates, ids).ids()]))
    };
    Ok((seek(NEXT)?, seek(PREVIOUS)?))
}

/// The neighbours of a record with a date, of which these have a date.
pub(in crate::tables) async fn with_drafts(
    list: &dyn ListMembers,
    connection: &mut Conn,
    direction: Direction,
    (mut next, mut previous): NeighbourIds,
) -> Result<NeighbourIds> {
    let drafts_are_last = direction == Direction::Ascending;
    if drafts_are_last && next.is_none() {
        next = drafts(list, connection).await?.into_iter().next();
    } else if !drafts_are_last && previous.is_none() {
        previous = drafts(list, connection).await?.pop();
    }
    Ok((next, previous))
}

/// The neighbours of a member whose date is `at`, or which is a draft.
pub(in crate::tables) async fn neighbours(
    list: &dyn ListMembers,
    connection: &mut Conn,
    direction: Direction,
    id: i64,
    at: Option<OffsetDateTime>,
) -> Result<NeighbourIds> {
    if at.is_some() || list.base().is_sorted() {
        let seeks = seeks(list, direction, id, at.filter(|_| !list.base().is_sorted()))?;
        let dated: NeighbourIds = diesel::select(seeks).get_result(connection).await.map_db_error()?;
        return with_drafts(list, connection, direction, dated).await;
    }
    let drafts_are_last = direction == Direction::Ascending;
    let drafts = drafts(list, connection).await?;
    let mut next = drafts.iter().copied().find(|draft| *draft > id);
    let mut previous = drafts.iter().copied().rev().find(|draft| *draft < id);
    if drafts_are_last && previous.is_none() {
        previous = outermost(list, connection, direction, PREVIOUS).await?;
    } else if !drafts_are_last && next.is_none() {
        next = outermost(list, connection, direction, NEXT).await?;
    }
    Ok((next, previous))
}

/// The first member with a date in a direction of ids: the first of the list for `NEXT`, the last for `PREVIOUS`.
async fn outermost(
    list: &dyn ListMembers,
    connection: &mut Conn,
    direction: Direction,
    ids: Direction,
) -> Result<Option<i64>> {
    let first = in_order(list, dated(list, CheckedRows::Few)?, dates(direction, ids), ids).ids();
    diesel::select(FirstId::first(vec![first])).get_result(connection).await.map_db_error()
}
