//! Statements that are prepared once for each connection.
//!
//! Diesel prepares a statement again at each use when its text may differ: every `UPDATE`, every `ON CONFLICT .. DO UPDATE`,
//! and everything with an `sql()` literal. On PostgreSQL that costs two messages and a round trip, on SQLite it is done by the
//! writer.

use crate::columns::cached_by_text;
use crate::engine::Db;
use diesel::query_builder::{AstPass, Query, QueryFragment};
use diesel::result::QueryResult;

/// A statement that stays prepared.
pub(crate) struct PreparedOnce<Q>(Q);

/// Statements that may be prepared once.
pub(crate) trait PrepareOnce: Sized {
    /// Keeps the statement prepared. Only for statements with few different texts: each of them is kept for as long as its
    /// connection.
    fn prepare_once(self) -> PreparedOnce<Self> {
        PreparedOnce(self)
    }
}

impl<Q: QueryFragment<Db>> PrepareOnce for Q {}

cached_by_text! { [Q] PreparedOnce<Q> }

impl<Q: Query> Query for PreparedOnce<Q> {
    type SqlType = Q::SqlType;
}

impl<Q: QueryFragment<Db>> QueryFragment<Db> for PreparedOnce<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }

    fn is_safe_to_cache_prepared(&self, _: &Db) -> QueryResult<bool> {
        Ok(true)
    }
}
