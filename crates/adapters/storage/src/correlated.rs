//! Correlated subqueries.

use crate::engine::Db;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, QueryFragment, QueryId, SelectQuery};
use diesel::result::QueryResult;
use diesel::sql_types::{IntoNullable, SqlType};

/// The single value of a select that also uses the tables of the outer statement; null without a row. Diesel's own
/// `single_value` checks at compile time that each outer statement has the tables. This does not, so that one select
/// can be used in statements over different tables: document the tables it requires.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Correlated<Q>(pub(crate) Q);

impl<Q> Expression for Correlated<Q>
where
    Q: SelectQuery,
    Q::SqlType: SqlType + IntoNullable,
    <Q::SqlType as IntoNullable>::Nullable: diesel::expression::TypedExpressionType,
{
    type SqlType = <Q::SqlType as IntoNullable>::Nullable;
}

impl<Q, QS> AppearsOnTable<QS> for Correlated<Q> where Self: Expression {}
impl<Q, QS> SelectableExpression<QS> for Correlated<Q> where Self: Expression {}

impl<Q, GB> ValidGrouping<GB> for Correlated<Q> {
    type IsAggregate = is_aggregate::No;
}

impl<Q: QueryId> QueryId for Correlated<Q> {
    type QueryId = Correlated<Q::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = Q::HAS_STATIC_QUERY_ID;
}

impl<Q: QueryFragment<Db>> QueryFragment<Db> for Correlated<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("(");
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(")");
        Ok(())
    }
}
