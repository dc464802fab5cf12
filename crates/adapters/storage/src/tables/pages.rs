//! The rows of a page of a list, and the neighbours of a record: parts of statements.

use crate::columns::Expr;
use crate::engine::{Db, dialect};
use civitas_kernel::{Direction, PageRequest};
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable};

/// How many rows a statement checks, as far as is known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    /// About as many as a page has.
    Few,
    /// Any number.
    Many,
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

    /// The smallest of the limits that is enough.
    fn written_limit(self) -> i64 {
        Self::LIMITS.into_iter().find(|limit| *limit >= self.limit).unwrap_or(self.limit)
    }

    /// Whether a list is better read with all columns in its order, by [`InOrder`], than by [`OnPage`].
    pub(super) fn are_direct(self) -> bool {
        (dialect::SKIPS_CHEAPLY || self.offset == 0) && self.written_limit() == self.limit
    }

    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql(&format!(" LIMIT {}", self.written_limit()));
        if self.offset > 0 {
            pass.push_sql(" OFFSET ");
            pass.push_bind_param::<BigInt, _>(&self.offset)?;
        }
        Ok(())
    }
}

/// An expression that rows are ordered by, in a direction.
pub(super) struct By<E>(pub(super) E, pub(super) Direction);

impl<E: Expression> Expression for By<E> {
    type SqlType = E::SqlType;
}

impl<QS, E: AppearsOnTable<QS>> AppearsOnTable<QS> for By<E> {}

impl<E: QueryFragment<Db>> QueryFragment<Db> for By<E> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(if self.1 == Direction::Ascending { " ASC" } else { " DESC" });
        Ok(())
    }
}

/// These rows of a select that has the order. Only for rows that [are direct](Rows::are_direct): others may be too many.
pub(super) struct InOrder<Q> {
    pub(super) select: Q,
    pub(super) rows: Rows,
}

impl<Q: QueryFragment<Db>> QueryFragment<Db> for InOrder<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.select.walk_ast(pass.reborrow())?;
        self.rows.walk_ast(pass)
    }
}

impl<Q: Query> Query for InOrder<Q> {
    type SqlType = Q::SqlType;
}

/// `id IN (ids LIMIT .. OFFSET ..)`: whether a row is among these rows of a select of ids. The statement around it
/// has to limit its rows to [`Rows::limit`]: this may let more through.
pub(super) struct OnPage<QS, Q> {
    id: Expr<QS, BigInt>,
    ids: Q,
    rows: Rows,
}

impl<QS, Q> OnPage<QS, Q> {
    /// These rows of `ids`, which has the order.
    pub(super) fn of(id: Expr<QS, BigInt>, ids: Q, rows: Rows) -> Self {
        Self { id, ids, rows }
    }
}

impl<QS, Q: QueryFragment<Db>> QueryFragment<Db> for OnPage<QS, Q> {
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

/// The first id of the first select that has one, else null. Each select is a range of an index.
pub(super) struct Seek<Q>(pub(super) Vec<Q>);

impl<Q: QueryFragment<Db>> QueryFragment<Db> for Seek<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("coalesce(");
        for select in &self.0 {
            pass.push_sql("(");
            select.walk_ast(pass.reborrow())?;
            pass.push_sql(" LIMIT 1), ");
        }
        pass.push_sql("NULL)");
        Ok(())
    }
}

impl<QS, Q> Expression for OnPage<QS, Q> {
    type SqlType = Nullable<Bool>;
}

impl<Q> Expression for Seek<Q> {
    type SqlType = Nullable<BigInt>;
}

impl<QS, Q> AppearsOnTable<QS> for OnPage<QS, Q> {}
impl<QS, Q> SelectableExpression<QS> for OnPage<QS, Q> {}
impl<QS, Q> AppearsOnTable<QS> for Seek<Q> {}
impl<QS, Q> SelectableExpression<QS> for Seek<Q> {}

impl<QS, Q, GB> ValidGrouping<GB> for OnPage<QS, Q> {
    type IsAggregate = is_aggregate::No;
}

impl<Q, GB> ValidGrouping<GB> for Seek<Q> {
    type IsAggregate = is_aggregate::No;
}

/// Statements are cached by their text.
impl<QS, Q> QueryId for OnPage<QS, Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> QueryId for InOrder<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> QueryId for Seek<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
