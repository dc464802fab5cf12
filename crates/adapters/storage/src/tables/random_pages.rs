//! Random pages: the members of a list from a random id on, and from the smallest one again after the largest, in random order
//! (docs/decisions/0066).

use super::pages::{InOrder, Rows, Seek};
use crate::columns::{self, Expr};
use crate::engine::{Conn, Db};
use crate::failure::Stored;
use civitas_kernel::Result;
use diesel::query_builder::{Query, QueryFragment};
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use std::collections::HashMap;

/// The members that a select has, in the order of [`id`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    All,
    /// All, from the largest id to the smallest.
    Reversed,
    /// Those from this id on.
    From(i64),
    /// Those before this id.
    Before(i64),
}

/// A list of which random pages are read.
pub(super) trait ById: Sync {
    /// A select of ids.
    type Ids: Query<SqlType = BigInt> + QueryFragment<Db> + Send + 'static;

    /// These members.
    fn part(&self, part: Part) -> Result<Self::Ids>;
}

/// The id, as in the indexes of random pages. No other index has this order: PostgreSQL may expect to find the first record of a
/// component soon in the order of the primary key, and would read all records before it.
pub(super) fn id<QS: 'static>(id: Expr<QS, BigInt>) -> Expr<QS, BigInt> {
    columns::plus_zero(id)
}

/// The ids of a page in random order. `others`: members that the index does not have, as drafts.
pub(super) async fn draw<L: ById>(
    list: &L,
    connection: &mut Conn,
    rows: Rows,
    others: &[i64],
) -> Result<Vec<i64>> {
    let ends = (Seek(vec![list.part(Part::All)?]), Seek(vec![list.part(Part::Reversed)?]));
    let (smallest, largest): (Option<i64>, Option<i64>) =
        diesel::select(ends).get_result(connection).await.stored()?;
    let smallest = others.iter().copied().chain(smallest).min();
    let largest = others.iter().copied().chain(largest).max();
    let (Some(smallest), Some(largest)) = (smallest, largest) else { return Ok(Vec::new()) };
    let mut wanted = rows.limit;
    if rows.offset > 0 {
        // As many as an ordered list has on this page.
        let before = length(others) - rows.offset;
        let rows = Rows { offset: (-before).max(0), ..rows };
        let found = read(list, connection, Part::All, rows).await?;
        wanted = wanted.min(length(&found) + before.max(0));
    }
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let start = fastrand::i64(smallest..=largest);
    let mut ids = read(list, connection, Part::From(start), Rows { limit: wanted, offset: 0 }).await?;
    let missing = Rows { limit: wanted - length(&ids), offset: 0 };
    if missing.limit > 0 {
        ids.extend(read(list, connection, Part::Before(start), missing).await?);
    }
    ids.extend(others);
    ids.sort_unstable_by_key(|id| (*id < start, *id));
    // A draft that was published meanwhile.
    ids.dedup();
    Ok(page_of(
        ids.into_iter().take(usize::try_from(wanted).unwrap_or(0)).collect(),
        Rows { offset: 0, ..rows },
    ))
}

/// The ids of a page in random order, of all members of a list.
pub(super) fn page_of(mut ids: Vec<i64>, rows: Rows) -> Vec<i64> {
    let [limit, offset] = [rows.limit, rows.offset].map(|rows| usize::try_from(rows).unwrap_or(0));
    fastrand::shuffle(&mut ids);
    ids.into_iter().skip(offset).take(limit).collect()
}

async fn read<L: ById>(list: &L, connection: &mut Conn, part: Part, rows: Rows) -> Result<Vec<i64>> {
    let select = list.part(part)?;
    let mut ids: Vec<i64> = InOrder { select, rows }.load(connection).await.stored()?;
    // The limit that is written may be larger.
    ids.truncate(usize::try_from(rows.limit).unwrap_or(0));
    Ok(ids)
}

/// Rows in the order of these ids.
pub(super) fn in_order_of<R>(ids: &[i64], mut rows: Vec<R>, id: impl Fn(&R) -> i64) -> Vec<R> {
    let places: HashMap<i64, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    rows.sort_by_key(|row| places.get(&id(row)).copied());
    rows
}

fn length(ids: &[i64]) -> i64 {
    i64::try_from(ids.len()).unwrap_or(i64::MAX)
}
