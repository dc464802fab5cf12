//! How statements are written so that the planners of both engines choose the plan that is meant, each with its reason.
//! The plans are checked by `tests/tests/storage/plans`. What an engine needs alone is in its `dialect`.

use crate::columns::{Expr, expressions};
use crate::engine::{Db, dialect, sql};
use civitas_kernel::PageRequest;
use diesel::dsl;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable};
use std::ops::Add;

/// A part of a statement.
pub(super) type Sql = Box<dyn QueryFragment<Db> + Send>;

/// How many rows a statement checks, as far as is known before. SQLite fills a table with a set of ids before it compares
/// many rows with them; for few rows a function searches the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    /// About as many as a page has.
    Few,
    /// Any number.
    Many,
}

/// Appended to an id: the order of the indexes of random pages. No other index has this order: PostgreSQL may expect to find
/// the first record of a component soon in the order of the primary key, and would read all records before it.
pub(super) const BY_RANDOM_PAGES: &str = " + 0";

/// The same number, for conditions on rows that another condition finds: with an index for this one, SQLite would read all
/// records of a component.
pub(super) fn without_index<C: Add<i64>>(column: C) -> C::Output {
    column + 0_i64
}

/// The time when a record of this table was published, for reads in another order than that of the times: SQLite would read a
/// range of an index of these, and sort its rows.
pub(super) fn published_without_index<QS: 'static>(table: &str) -> Expr<QS, sql::Moment> {
    Box::new(dsl::sql::<Nullable<sql::Moment>>(&format!("coalesce({table}.published_at, NULL)")))
}

/// Limit and offset of a select.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) limit: i64,
    pub(super) offset: i64,
}

impl From<PageRequest> for Rows {
    /// The rows of a page, and one more to detect whether another page follows.
    fn from(page: PageRequest) -> Self {
        Self { limit: page.fetch(), offset: page.offset() }
    }
}

impl Rows {
    /// The limits that are written into statements. With the limit in the text, the planners of both engines can use
    /// it; with few different limits, few prepared statements are cached.
    const LIMITS: [i64; 5] = [2, 11, 21, 51, 101];

    /// The largest offset of which few rows are checked.
    const NEAR: i64 = 200;

    /// How many rows are checked in the order of an index, if most are members.
    pub(super) fn checked(self) -> Checked {
        if self.offset <= Self::NEAR { Checked::Few } else { Checked::Many }
    }

    /// How many rows in the order are compared with a filter before an index is asked: few different numbers, as limits
    /// are written. `None` for rows so far from the first that the index costs less.
    pub(super) fn window(self) -> Option<i64> {
        const WINDOWS: [(i64, i64); 4] = [(21, 50), (101, 250), (420, 1000), (840, 2000)];
        let wanted = self.offset.saturating_add(self.limit);
        WINDOWS.into_iter().find_map(|(most, window)| (wanted <= most).then_some(window))
    }

    /// The smallest of the limits that is enough.
    fn written_limit(self) -> i64 {
        Self::LIMITS.into_iter().find(|limit| *limit >= self.limit).unwrap_or(self.limit)
    }

    /// Whether a list is better read with all columns in its order than by [`OnPage`].
    pub(super) fn are_direct(self) -> bool {
        (dialect::SKIPS_CHEAPLY || self.offset == 0) && self.written_limit() == self.limit
    }
}

/// The limit is written, and may be larger: unless the rows [are direct](Rows::are_direct), there may be too many.
impl QueryFragment<Db> for Rows {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql(&format!(" LIMIT {}", self.written_limit()));
        if self.offset > 0 {
            pass.push_sql(" OFFSET ");
            pass.push_bind_param::<BigInt, _>(&self.offset)?;
        }
        Ok(())
    }
}

/// `id IN (ids LIMIT .. OFFSET ..)`: whether a row is among these rows of a select of ids, which are found by an index alone.
/// The statement around it has to limit its rows to [`Rows::limit`]: this may let more through.
pub(super) struct OnPage {
    id: Sql,
    ids: Sql,
    rows: Rows,
}

impl OnPage {
    /// These rows of `ids`, which has the order.
    pub(super) fn of(
        id: impl QueryFragment<Db> + Send + 'static,
        ids: impl QueryFragment<Db> + Send + 'static,
        rows: Rows,
    ) -> Self {
        Self { id: Box::new(id), ids: Box::new(ids), rows }
    }
}

impl QueryFragment<Db> for OnPage {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let [begin, end] = dialect::AMONG;
        self.id.walk_ast(pass.reborrow())?;
        pass.push_sql(begin);
        self.ids.walk_ast(pass.reborrow())?;
        self.rows.walk_ast(pass.reborrow())?;
        pass.push_sql(end);
        Ok(())
    }
}

expressions! { OnPage: Nullable<Bool>; }
