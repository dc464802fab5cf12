//! Random pages: the members of a list from a random id on, and from the smallest one again after the largest
//! (docs/decisions/0066).

use super::{ListMembers, are_found, components_condition, dated, drafts, filtered, filters, length};
use crate::engine::Conn;
use crate::failure::DieselResultExt;
use crate::tables::planner::{CheckedRows, LimitOffset, RANDOM_PAGE_INDEX_SUFFIX};
use crate::tables::select::{FirstId, RecordSelect, number};
use civitas_kernel::{Direction, Result};
use diesel_async::RunQueryDsl;

/// An operator and a number: the members whose id has this relation to it.
type Part = Option<(&'static str, i64)>;

/// The ids of the rows of a page.
pub(super) async fn ids(
    list: &dyn ListMembers,
    connection: &mut Conn,
    rows: LimitOffset,
) -> Result<Vec<i64>> {
    if are_found(&filters(list)?) {
        let mut all = dated(list, CheckedRows::Few)?.load_ids(connection).await?;
        fastrand::shuffle(&mut all);
        let [limit, offset] = [rows.limit, rows.offset].map(|rows| usize::try_from(rows).unwrap_or(0));
        return Ok(all.into_iter().skip(offset).take(limit).collect());
    }
    let drafts = drafts(list, connection).await?;
    let end =
        |direction| -> Result<FirstId> { Ok(FirstId::first(vec![members(list, None, direction)?.ids()])) };
    let ends = (end(Direction::Ascending)?, end(Direction::Descending)?);
    let (smallest, largest): (Option<i64>, Option<i64>) =
        diesel::select(ends).get_result(connection).await.map_db_error()?;
    let smallest = drafts.iter().copied().chain(smallest).min();
    let largest = drafts.iter().copied().chain(largest).max();
    let (Some(smallest), Some(largest)) = (smallest, largest) else { return Ok(Vec::new()) };
    let mut limit = rows.limit;
    if rows.offset > 0 {
        // As many as an ordered list has on this page.
        let before = length(&drafts) - rows.offset;
        let rows = LimitOffset { offset: (-before).max(0), ..rows };
        limit = limit.min(length(&read(list, connection, None, rows).await?) + before.max(0));
    }
    if limit == 0 {
        return Ok(Vec::new());
    }
    let start = fastrand::i64(smallest..=largest);
    let mut ids = read(list, connection, Some((" >= ", start)), LimitOffset { limit, offset: 0 }).await?;
    let missing = limit - length(&ids);
    if missing > 0 {
        ids.extend(
            read(list, connection, Some((" < ", start)), LimitOffset { limit: missing, offset: 0 }).await?,
        );
    }
    ids.extend(drafts);
    ids.sort_unstable_by_key(|id| (*id < start, *id));
    // A draft that was published meanwhile.
    ids.dedup();
    ids.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(ids)
}

/// A part of the members with a date, or all, by id.
fn members(list: &dyn ListMembers, part: Part, direction: Direction) -> Result<RecordSelect> {
    let id = list.base().table.column("id").with_suffix(RANDOM_PAGE_INDEX_SUFFIX);
    let filters = filters(list)?;
    let of_components = components_condition(
        list,
        &filters,
        if filters.is_empty() { CheckedRows::Few } else { CheckedRows::Many },
    );
    let mut members = filtered(list.unfiltered_by_id(of_components), filters);
    if let Some((operator, value)) = part {
        members = members.compare(id, operator, number(value));
    }
    Ok(members.order(id, direction))
}

async fn read(
    list: &dyn ListMembers,
    connection: &mut Conn,
    part: Part,
    rows: LimitOffset,
) -> Result<Vec<i64>> {
    let some = members(list, part, Direction::Ascending)?.with_written_limit(rows);
    let mut ids = some.load_ids(connection).await?;
    ids.truncate(usize::try_from(rows.limit).unwrap_or(0));
    Ok(ids)
}
