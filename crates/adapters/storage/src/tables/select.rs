//! Statements over the records of one table that are put together when they run. Their types do not have the table: the
//! compiler makes one of each for all lists.

use super::planner::{OnPage, Rows, Sql};
use crate::columns::expressions;
use crate::engine::dialect::BoundIds;
use crate::engine::{Conn, Db, dialect};
use crate::failure::Stored;
use civitas_kernel::{Direction, Result};
use diesel::IntoSql;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId, SelectQuery};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Nullable, SingleValue};
use diesel_async::RunQueryDsl;
use std::marker::PhantomData;

/// A column of a table, and what is appended to it. As an expression it is a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableColumn {
    table: &'static str,
    name: &'static str,
    suffix: &'static str,
}

impl TableColumn {
    /// The column of this name.
    pub(super) const fn of(table: &'static str, name: &'static str) -> Self {
        Self { table, name, suffix: "" }
    }

    /// The expression with this after the column.
    pub(super) const fn and(self, suffix: &'static str) -> Self {
        Self { suffix, ..self }
    }
}

impl QueryFragment<Db> for TableColumn {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_identifier(self.table)?;
        pass.push_sql(".");
        pass.push_identifier(self.name)?;
        pass.push_sql(self.suffix);
        Ok(())
    }
}

/// A column as an expression of this type. (Diesel does not cache statements with texts of SQL.)
#[derive(Debug, Clone)]
pub(super) struct TypedColumn<ST> {
    column: TableColumn,
    holds: PhantomData<ST>,
}

impl<ST> From<TableColumn> for TypedColumn<ST> {
    fn from(column: TableColumn) -> Self {
        Self { column, holds: PhantomData }
    }
}

impl<ST> QueryFragment<Db> for TypedColumn<ST> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        self.column.walk_ast(pass)
    }
}

impl<ST: SingleValue> Expression for TypedColumn<ST> {
    type SqlType = ST;
}

impl<QS, ST: SingleValue> AppearsOnTable<QS> for TypedColumn<ST> {}
impl<QS, ST: SingleValue> SelectableExpression<QS> for TypedColumn<ST> {}

impl<GB, ST> ValidGrouping<GB> for TypedColumn<ST> {
    type IsAggregate = is_aggregate::No;
}

/// Statements are cached by their text.
impl<ST> QueryId for TypedColumn<ST> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// What an order compares. As an expression it is a number.
#[derive(Debug, Clone)]
pub(super) enum Key {
    /// A column.
    Column(TableColumn),
    /// A column; 0 where another one, that of the component, has one of these values.
    Shown { column: TableColumn, component: TableColumn, hidden: BoundIds },
}

impl From<TableColumn> for Key {
    fn from(column: TableColumn) -> Self {
        Self::Column(column)
    }
}

impl QueryFragment<Db> for Key {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        match self {
            Self::Column(column) => column.walk_ast(pass),
            Self::Shown { column, component, hidden } => {
                pass.push_sql("(CASE WHEN ");
                dialect::push_among(component, hidden, pass.reborrow())?;
                pass.push_sql(" THEN 0 ELSE ");
                column.walk_ast(pass.reborrow())?;
                pass.push_sql(" END)");
                Ok(())
            }
        }
    }
}

/// A column, an operator, and a value.
struct Comparison(Key, &'static str, Sql);

impl QueryFragment<Db> for Comparison {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("(");
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(self.1);
        self.2.walk_ast(pass.reborrow())?;
        pass.push_sql(")");
        Ok(())
    }
}

/// A number as a bind parameter.
pub(super) fn number(value: i64) -> Sql {
    Box::new(value.into_sql::<BigInt>())
}

/// The records of a table that satisfy some conditions, in an order: a statement without its columns.
pub(super) struct Records {
    table: &'static str,
    conditions: Vec<Sql>,
    order: Vec<(Key, Direction)>,
    limit: Option<Sql>,
}

impl Records {
    /// All records of a table.
    pub(super) fn of(table: &'static str) -> Self {
        Self { table, conditions: Vec::new(), order: Vec::new(), limit: None }
    }

    /// Those that also satisfy this condition. That it uses columns of the table is not checked by the compiler.
    pub(super) fn filter(mut self, condition: impl QueryFragment<Db> + Send + 'static) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    /// Those of which a column has this relation to a value.
    pub(super) fn compare(self, key: impl Into<Key>, operator: &'static str, value: Sql) -> Self {
        self.filter(Comparison(key.into(), operator, value))
    }

    /// The same in the order of a column, within that of the columns before.
    pub(super) fn order(mut self, key: impl Into<Key>, direction: Direction) -> Self {
        self.order.push((key.into(), direction));
        self
    }

    /// These rows of them, or more: the limit is written.
    pub(super) fn at_least(self, rows: Rows) -> Self {
        Self { limit: Some(Box::new(rows)), ..self }
    }

    /// These rows of them. The limit is a bind parameter.
    pub(super) fn limited(self, rows: impl Into<Rows>) -> Self {
        Self { limit: Some(Box::new(Bound(rows.into()))), ..self }
    }

    /// These rows of them, found by a select of ids: see [`OnPage`].
    pub(super) fn on_page(self, rows: Rows) -> Self {
        let (table, order) = (self.table, self.order.clone());
        let page = OnPage::of(TableColumn::of(table, "id"), self.ids(), rows);
        Self { order, ..Self::of(table).filter(page).limited(Rows { offset: 0, ..rows }) }
    }

    /// A statement with these columns of them.
    pub(super) fn select<C>(self, columns: C) -> Select<C> {
        Select { columns, from: self }
    }

    /// A statement with their ids.
    pub(super) fn ids(self) -> Select<TableColumn> {
        let id = TableColumn::of(self.table, "id");
        self.select(id)
    }

    /// Reads their ids.
    pub(super) async fn load_ids(self, connection: &mut Conn) -> Result<Vec<i64>> {
        let ids: Vec<Option<i64>> = self.ids().load(connection).await.stored()?;
        Ok(ids.into_iter().flatten().collect())
    }
}

impl QueryFragment<Db> for Records {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql(" FROM ");
        pass.push_identifier(self.table)?;
        for (at, condition) in self.conditions.iter().enumerate() {
            pass.push_sql(if at == 0 { " WHERE " } else { " AND " });
            condition.walk_ast(pass.reborrow())?;
        }
        for (at, (key, direction)) in self.order.iter().enumerate() {
            pass.push_sql(if at == 0 { " ORDER BY " } else { ", " });
            key.walk_ast(pass.reborrow())?;
            pass.push_sql(if *direction == Direction::Ascending { " ASC" } else { " DESC" });
        }
        self.limit.walk_ast(pass)
    }
}

/// Limit and offset as bind parameters.
struct Bound(Rows);

impl QueryFragment<Db> for Bound {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql(" LIMIT ");
        pass.push_bind_param::<BigInt, _>(&self.0.limit)?;
        if self.0.offset > 0 {
            pass.push_sql(" OFFSET ");
            pass.push_bind_param::<BigInt, _>(&self.0.offset)?;
        }
        Ok(())
    }
}

/// Whether a column has one of the values of a select of ids.
pub(super) struct Among {
    column: TableColumn,
    ids: Select<TableColumn>,
}

impl Among {
    pub(super) fn of(column: TableColumn, ids: Select<TableColumn>) -> Self {
        Self { column, ids }
    }
}

impl QueryFragment<Db> for Among {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let [begin, end] = dialect::AMONG;
        self.column.walk_ast(pass.reborrow())?;
        pass.push_sql(begin);
        self.ids.walk_ast(pass.reborrow())?;
        pass.push_sql(end);
        Ok(())
    }
}

/// These columns of records.
pub(super) struct Select<C> {
    columns: C,
    from: Records,
}

impl<C: QueryFragment<Db>> QueryFragment<Db> for Select<C> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql("SELECT ");
        self.columns.walk_ast(pass.reborrow())?;
        self.from.walk_ast(pass)
    }
}

impl<C: Expression> Query for Select<C> {
    type SqlType = C::SqlType;
}

impl<C: Expression> SelectQuery for Select<C> {
    type SqlType = C::SqlType;
}

/// Statements are cached by their text.
impl<C> QueryId for Select<C> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// The first id of the first select that has one, else null. Each select is a range of an index.
pub(super) struct Seek(pub(super) Vec<Select<TableColumn>>);

impl QueryFragment<Db> for Seek {
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

expressions! {
    Key: Nullable<BigInt>;
    TableColumn: Nullable<BigInt>;
    Seek: Nullable<BigInt>;
}
