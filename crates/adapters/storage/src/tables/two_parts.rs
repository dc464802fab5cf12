//! Lists in two parts: the dated records in the order of an index, and the reader's own drafts, which have no date, are
//! few, and are read by author.
//!
//! Ascending, the drafts are the end of the list, descending its beginning; ids ascend within a date and among drafts
//! (contract 06 §1.5, 07 A.3).

use super::pages::Rows;
use crate::engine::Conn;
use async_trait::async_trait;
use civitas_kernel::{Direction, Result};
use time::OffsetDateTime;

/// Which neighbour is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Next,
    Prev,
}

impl Way {
    /// The direction of dates in which it is searched.
    pub(super) fn of_dates(self, direction: Direction) -> Direction {
        if direction == self.of_ids() { Direction::Ascending } else { Direction::Descending }
    }

    /// The direction of ids in which it is searched.
    pub(super) fn of_ids(self) -> Direction {
        if self == Self::Next { Direction::Ascending } else { Direction::Descending }
    }
}

/// A list in two parts. Implementations read the tables; the order is implemented here.
#[async_trait]
pub(super) trait TwoParts: Sync {
    /// The type of a record.
    type Row: Send;

    /// Some of the dated records, in this direction.
    async fn dated(&self, connection: &mut Conn, direction: Direction, rows: Rows) -> Result<Vec<Self::Row>>;
    /// The number of dated records. Used only for pages that begin after all of them.
    async fn count_dated(&self, connection: &mut Conn) -> Result<i64>;
    /// The ids of the drafts, ascending.
    async fn drafts(&self, connection: &mut Conn) -> Result<Vec<i64>>;
    /// The records of these ids, ascending.
    async fn rows_of(&self, connection: &mut Conn, ids: &[i64]) -> Result<Vec<Self::Row>>;
    /// The dated neighbours of a record: the next, and the previous one.
    async fn beside(
        &self,
        connection: &mut Conn,
        direction: Direction,
        id: i64,
        at: OffsetDateTime,
    ) -> Result<(Option<i64>, Option<i64>)>;
    /// The first dated record in this direction: the first of the list for `Next`, the last for `Prev`.
    async fn outermost(&self, connection: &mut Conn, direction: Direction, way: Way) -> Result<Option<i64>>;

    /// Some rows of the list, in its order.
    async fn rows(&self, connection: &mut Conn, direction: Direction, rows: Rows) -> Result<Vec<Self::Row>> {
        if direction == Direction::Descending {
            let drafts = self.drafts(connection).await?;
            let mut found = self.rows_of(connection, part(&drafts, rows)).await?;
            let limit = rows.limit - length(&found);
            if limit > 0 {
                let rows = Rows { limit, offset: (rows.offset - length(&drafts)).max(0) };
                found.extend(self.dated(connection, direction, rows).await?);
            }
            return Ok(found);
        }
        let mut found = self.dated(connection, direction, rows).await?;
        let limit = rows.limit - length(&found);
        if limit > 0 {
            let drafts = self.drafts(connection).await?;
            let offset = if drafts.is_empty() || !found.is_empty() || rows.offset == 0 {
                0
            } else {
                rows.offset - self.count_dated(connection).await?
            };
            found.extend(self.rows_of(connection, part(&drafts, Rows { limit, offset })).await?);
        }
        Ok(found)
    }

    /// The neighbours of a dated record, of whom these are the dated ones.
    async fn with_drafts(
        &self,
        connection: &mut Conn,
        direction: Direction,
        (mut next, mut prev): (Option<i64>, Option<i64>),
    ) -> Result<(Option<i64>, Option<i64>)> {
        let drafts_are_last = direction == Direction::Ascending;
        if drafts_are_last && next.is_none() {
            next = self.drafts(connection).await?.into_iter().next();
        } else if !drafts_are_last && prev.is_none() {
            prev = self.drafts(connection).await?.pop();
        }
        Ok((next, prev))
    }

    /// The neighbours of a member whose date is `at`, or which is a draft: the next, and the previous one.
    async fn neighbours(
        &self,
        connection: &mut Conn,
        direction: Direction,
        id: i64,
        at: Option<OffsetDateTime>,
    ) -> Result<(Option<i64>, Option<i64>)> {
        if let Some(at) = at {
            let dated = self.beside(connection, direction, id, at).await?;
            return self.with_drafts(connection, direction, dated).await;
        }
        let drafts_are_last = direction == Direction::Ascending;
        let drafts = self.drafts(connection).await?;
        let mut next = drafts.iter().copied().find(|draft| *draft > id);
        let mut prev = drafts.iter().copied().rev().find(|draft| *draft < id);
        if drafts_are_last && prev.is_none() {
            prev = self.outermost(connection, direction, Way::Prev).await?;
        } else if !drafts_are_last && next.is_none() {
            next = self.outermost(connection, direction, Way::Next).await?;
        }
        Ok((next, prev))
    }
}

fn length<T>(rows: &[T]) -> i64 {
    i64::try_from(rows.len()).unwrap_or(i64::MAX)
}

/// These rows of a slice; fewer if the slice is shorter.
fn part(ids: &[i64], rows: Rows) -> &[i64] {
    let index = |at: i64| usize::try_from(at.max(0)).map_or(ids.len(), |at| at.min(ids.len()));
    let start = index(rows.offset);
    &ids[start..index(rows.offset.saturating_add(rows.limit)).max(start)]
}
