//! Statements as one type.

use super::Db;
use crate::columns::cached_by_text;
use diesel::QueryResult;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::sql_types::Untyped;

/// A statement of any type.
pub struct AnyStatement<'q>(Box<dyn QueryFragment<Db> + Send + 'q>);

/// The statement as one type: what runs it is compiled once, not for each statement of the program. Prepared statements are
/// found by their text in any case.
pub fn any_statement<'q>(statement: impl QueryFragment<Db> + Send + 'q) -> AnyStatement<'q> {
    AnyStatement(Box::new(statement))
}

cached_by_text! { [] AnyStatement<'_>: Untyped }

impl QueryFragment<Db> for AnyStatement<'_> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }

    fn is_safe_to_cache_prepared(&self, backend: &Db) -> QueryResult<bool> {
        (*self.0).is_safe_to_cache_prepared(backend)
    }
}
