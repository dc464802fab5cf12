//! How statements are written so that the planners of both engines choose the plan that is meant, each with its reason.
//! The plans are checked by `tests/tests/storage/plans`. What an engine needs alone is in its `dialect`.

use crate::columns::Expr;
use crate::engine::sql::Moment;
use crate::engine::{Db, dialect};
use civitas_kernel::PageRequest;
use diesel::dsl;
use diesel::query_builder::QueryFragment;
use diesel::sql_types::Nullable;
use std::ops::Add;

/// A part of a statement.
pub(super) type BoxedSql = Box<dyn QueryFragment<Db> + Send>;

/// How many rows a statement checks, as far as is known before. SQLite fills a table with a set of ids before it compares
/// many rows with them; for few rows a function searches the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckedRows {
    /// About as many as a page has.
    Few,
    /// Any number.
    Many,
}

/// Appended to an id: the order of the indexes of random pages. No other index has this order: PostgreSQL may expect to find
/// the first record of a component soon in the order of the primary key, and would read all records before it.
pub(super) const RANDOM_PAGE_INDEX_SUFFIX: &str = " + 0";

/// The same number, for conditions on rows that another condition finds: with an index for this one, SQLite would read all
/// records of a component.
pub(super) fn without_index<C: Add<i64>>(column: C) -> C::Output {
    column + 0_i64
}

/// The time when a record of this table was published, for reads in another order than that of the times: SQLite would read a
/// range of an index of these, and sort its rows.
pub(super) fn published_without_index<QS: 'static>(table: &str) -> Expr<QS, Moment> {
    Box::new(dsl::sql::<Nullable<Moment>>(&format!("coalesce({table}.published_at, NULL)")))
}

/// Limit and offset of a select.
#[derive(Debug, Clone, Copy)]
pub(super) struct LimitOffset {
    pub(super) limit: i64,
    pub(super) offset: i64,
}

impl From<PageRequest> for LimitOffset {
    /// The rows of a page, and one more to detect whether another page follows.
    fn from(page: PageRequest) -> Self {
        Self { limit: page.rows_to_fetch(), offset: page.offset() }
    }
}

impl LimitOffset {
    /// The limits that are written into statements. With the limit in the text, the planners of both engines can use
    /// it; with few different limits, few prepared statements are cached.
    const LIMITS: [i64; 5] = [2, 11, 21, 51, 101];

    /// The largest offset of which few rows are checked.
    const NEAR: i64 = 200;

    /// How many rows are checked in the order of an index, if most are members.
    pub(super) fn checked_rows(self) -> CheckedRows {
        if self.offset <= Self::NEAR { CheckedRows::Few } else { CheckedRows::Many }
    }

    /// How many rows in the order are compared with a filter before an index is asked: few different numbers, as limits
    /// are written. `None` for rows so far from the first that the index costs less.
    pub(super) fn window(self) -> Option<i64> {
        const WINDOWS: [(i64, i64); 4] = [(21, 50), (101, 250), (420, 1000), (840, 2000)];
        let wanted = self.offset.saturating_add(self.limit);
        WINDOWS.into_iter().find_map(|(most, window)| (wanted <= most).then_some(window))
    }

    /// The smallest of the limits that is enough.
    pub(super) fn written_limit(self) -> i64 {
        Self::LIMITS.into_iter().find(|limit| *limit >= self.limit).unwrap_or(self.limit)
    }

    /// Whether a list is better read with all columns in its order than by the ids of a page.
    pub(super) fn reads_rows_directly(self) -> bool {
        (dialect::SKIPS_CHEAPLY || self.offset == 0) && self.written_limit() == self.limit
    }
}
