//! What SQLite says in its own words.

use super::Db;
use crate::columns::{Condition, Expr};
use diesel::expression::{AppearsOnTable, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

#[diesel::declare_sql_function]
extern "SQL" {
    /// A number to order by.
    fn random() -> diesel::sql_types::BigInt;
    /// The later of two moments.
    #[sql_name = "max"]
    fn later(
        x: diesel::sql_types::TimestamptzSqlite,
        y: diesel::sql_types::TimestamptzSqlite,
    ) -> diesel::sql_types::TimestamptzSqlite;
    /// Lower case in every script, where SQLite's own `lower` and `LIKE` know ASCII only.
    fn fold(x: Nullable<Text>) -> Nullable<Text>;
}

pub(super) fn register(connection: &mut SqliteConnection) -> QueryResult<()> {
    fold_utils::register_impl(connection, |x: Option<String>| x.map(|x| x.to_lowercase()))
}

/// Whether it is one of these. One text however many there are, so that the prepared statement is kept: Diesel's
/// `eq_any` writes a `?` for each, and keeps none.
pub fn among<QS: 'static>(on: Expr<QS, BigInt>, ids: &[i64]) -> Condition<QS> {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Box::new(Among { on, ids: format!("[{}]", ids.join(",")) })
}

// A literal, for a bound value would be one more to bind.
diesel::postfix_operator!(PlusZero, " + 0", Nullable<BigInt>);

/// The same number, for which no index is searched. Without statistics of a set of ids, SQLite may search an index
/// for each of them and sort what it finds, where the order of another index is asked for.
pub fn unindexed<QS: 'static>(on: Expr<QS, BigInt>) -> Expr<QS, BigInt> {
    Box::new(PlusZero::new(on))
}

/// The aggregate function that makes an array of JSON.
pub const JSON_ARRAY: &str = "json_group_array";

/// An expression, and the array of JSON it is looked for in.
struct Among<QS> {
    on: Expr<QS, BigInt>,
    ids: String,
}

impl<QS> Expression for Among<QS> {
    type SqlType = Nullable<Bool>;
}

impl<QS> AppearsOnTable<QS> for Among<QS> {}
impl<QS> SelectableExpression<QS> for Among<QS> {}

impl<QS, GB> ValidGrouping<GB> for Among<QS> {
    type IsAggregate = is_aggregate::No;
}

impl<QS> QueryId for Among<QS> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<QS> QueryFragment<Db> for Among<QS> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.on.walk_ast(pass.reborrow())?;
        pass.push_sql(" IN (SELECT value FROM json_each(");
        pass.push_bind_param::<Text, _>(&self.ids)?;
        pass.push_sql("))");
        Ok(())
    }
}

/// `LIKE` in any case, in every script. In the pattern `%` and `_` are wildcards, `\` escapes.
pub fn like<QS: 'static>(on: Expr<QS, Text>, pattern: &str) -> Condition<QS> {
    Box::new(fold(on).like(pattern.to_lowercase()).escape('\\'))
}

// A write transaction is alone on the database already.
macro_rules! for_update {
    ($query:expr) => {
        $query
    };
}
pub(crate) use {for_update, for_update as skip_locked};
