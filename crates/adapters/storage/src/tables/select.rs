//! Statements over the records of one table that are put together when they run. Their types do not have the table: the
//! compiler makes one of each for all lists.

use super::planner::{BoxedSql, LimitOffset};
use crate::columns::expressions;
use crate::engine::dialect::BoundIds;
use crate::engine::{Conn, Db, dialect};
use crate::failure::DieselResultExt;
use civitas_kernel::{Direction, Result};
use diesel::IntoSql;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId, SelectQuery};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, IntoNullable, Nullable, SingleValue, Text};
use diesel_async::RunQueryDsl;
use std::borrow::Cow;
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
    pub(super) const fn new(table: &'static str, name: &'static str) -> Self {
        Self { table, name, suffix: "" }
    }

    /// The expression with this after the column.
    pub(super) const fn with_suffix(self, suffix: &'static str) -> Self {
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

/// A text of a statement with a part for each `?`. As an expression it has this type: a condition by default. (Diesel does
/// not cache statements with its own texts of SQL.)
pub(crate) struct SqlTemplate<ST = Nullable<Bool>> {
    text: Cow<'static, str>,
    parts: Vec<BoxedSql>,
    holds: PhantomData<fn() -> ST>,
}

impl<ST> SqlTemplate<ST> {
    /// This text with these parts.
    pub(crate) fn new(text: impl Into<Cow<'static, str>>, parts: Vec<BoxedSql>) -> Self {
        Self { text: text.into(), parts, holds: PhantomData }
    }
}

impl SqlTemplate {
    /// The condition of this text with these parts.
    pub(crate) fn condition(text: impl Into<Cow<'static, str>>, parts: Vec<BoxedSql>) -> Self {
        Self::new(text, parts)
    }
}

impl<ST> QueryFragment<Db> for SqlTemplate<ST> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        let mut texts = self.text.split('?');
        pass.push_sql(texts.next().unwrap_or_default());
        for (part, text) in self.parts.iter().zip(texts) {
            part.walk_ast(pass.reborrow())?;
            pass.push_sql(text);
        }
        Ok(())
    }
}

impl<ST: SingleValue> Expression for SqlTemplate<ST> {
    type SqlType = ST;
}

impl<QS, ST: SingleValue> AppearsOnTable<QS> for SqlTemplate<ST> {}
impl<QS, ST: SingleValue> SelectableExpression<QS> for SqlTemplate<ST> {}

impl<GB, ST> ValidGrouping<GB> for SqlTemplate<ST> {
    type IsAggregate = is_aggregate::No;
}

/// A template can be a whole statement.
impl<ST> Query for SqlTemplate<ST> {
    type SqlType = ST;
}

impl<ST> SelectQuery for SqlTemplate<ST> {
    type SqlType = ST;
}

/// Statements are cached by their text.
impl<ST> QueryId for SqlTemplate<ST> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

/// A part of a statement: see [`SqlTemplate`].
pub(super) fn sql(text: impl Into<Cow<'static, str>>, parts: Vec<BoxedSql>) -> BoxedSql {
    Box::new(SqlTemplate::<()>::new(text, parts))
}

/// A number as a bind parameter.
pub(super) fn number(value: i64) -> BoxedSql {
    Box::new(value.into_sql::<BigInt>())
}

impl LimitOffset {
    /// The limit, written, and the offset. The limit may be larger: unless the rows [are direct](Self::reads_rows_directly), there
    /// may be too many.
    pub(super) fn written_limit_sql(self) -> BoxedSql {
        self.limit_sql(sql(self.written_limit().to_string(), Vec::new()))
    }

    /// This limit, and the offset.
    pub(super) fn limit_sql(self, limit: BoxedSql) -> BoxedSql {
        if self.offset > 0 {
            sql(" LIMIT ? OFFSET ?", vec![limit, number(self.offset)])
        } else {
            sql(" LIMIT ?", vec![limit])
        }
    }
}

/// A text as a bind parameter.
pub(crate) fn text(value: String) -> BoxedSql {
    Box::new(value.into_sql::<Text>())
}

/// `id IN (ids)`: whether an id is one of those that a select reads.
pub(super) fn in_subquery(id: impl SqlFragment, ids: impl SqlFragment) -> SqlTemplate {
    let [begin, end] = dialect::IN_SUBQUERY;
    SqlTemplate::condition(format!("?{begin}?{end}"), vec![Box::new(id), Box::new(ids)])
}

/// `id IN (ids LIMIT .. OFFSET ..)`: whether a row is among these rows of a select of ids, which are found by an index alone.
/// The statement around it has to limit its rows to [`LimitOffset::limit`]: this may let more through.
pub(super) fn on_page(id: impl SqlFragment, ids: impl SqlFragment, rows: LimitOffset) -> SqlTemplate {
    in_subquery(id, SqlTemplate::<()>::new("??", vec![Box::new(ids), rows.written_limit_sql()]))
}

/// The single value of a select that also uses the tables of the outer statement; null without a row. Diesel's own
/// `single_value` checks at compile time that each outer statement has the tables. This does not, so that one select
/// can be used in statements over different tables: document the tables it requires.
pub(super) fn correlated<Q>(select: Q) -> SqlTemplate<<Q::SqlType as IntoNullable>::Nullable>
where
    Q: SelectQuery + SqlFragment,
    Q::SqlType: IntoNullable,
{
    SqlTemplate::new("(?)", vec![Box::new(select)])
}

/// What can be a part of a statement.
pub(super) trait SqlFragment: QueryFragment<Db> + Send + 'static {}
impl<F: QueryFragment<Db> + Send + 'static> SqlFragment for F {}

/// What an order compares.
#[derive(Debug, Clone)]
pub(super) enum OrderKey {
    /// A column.
    Column(TableColumn),
    /// A column; 0 where another one, that of the component, has one of these values.
    Shown { column: TableColumn, component: TableColumn, hidden: BoundIds },
}

impl From<TableColumn> for OrderKey {
    fn from(column: TableColumn) -> Self {
        Self::Column(column)
    }
}

impl OrderKey {
    /// The part of a statement.
    pub(super) fn sql(&self) -> BoxedSql {
        match self {
            Self::Column(column) => Box::new(*column),
            Self::Shown { column, component, hidden } => {
                let is_hidden = dialect::is_one_of_few::<()>(Box::new(*component), hidden);
                sql("(CASE WHEN ? THEN 0 ELSE ? END)", vec![Box::new(is_hidden), Box::new(*column)])
            }
        }
    }
}

/// The records of a table that satisfy some conditions, in an order: a statement without its columns.
pub(super) struct RecordSelect {
    table: &'static str,
    conditions: Vec<BoxedSql>,
    order: Vec<(OrderKey, Direction)>,
    limit: Option<BoxedSql>,
}

impl RecordSelect {
    /// All records of a table.
    pub(super) fn from_table(table: &'static str) -> Self {
        Self { table, conditions: Vec::new(), order: Vec::new(), limit: None }
    }

    /// Those that also satisfy this condition. That it uses columns of the table is not checked by the compiler.
    pub(super) fn filter(mut self, condition: impl SqlFragment) -> Self {
        self.conditions.push(Box::new(condition));
        self
    }

    /// Those of which a column has this relation to a value.
    pub(super) fn compare(self, key: impl Into<OrderKey>, operator: &'static str, value: BoxedSql) -> Self {
        let key: OrderKey = key.into();
        self.filter(sql(format!("(?{operator}?)"), vec![key.sql(), value]))
    }

    /// The same in the order of a column, within that of the columns before.
    pub(super) fn order(mut self, key: impl Into<OrderKey>, direction: Direction) -> Self {
        self.order.push((key.into(), direction));
        self
    }

    /// These rows of them, or more: the limit is written.
    pub(super) fn with_written_limit(self, rows: LimitOffset) -> Self {
        Self { limit: Some(rows.written_limit_sql()), ..self }
    }

    /// These rows of them. The limit is a bind parameter.
    pub(super) fn with_limit(self, rows: impl Into<LimitOffset>) -> Self {
        let rows: LimitOffset = rows.into();
        Self { limit: Some(rows.limit_sql(number(rows.limit))), ..self }
    }

    /// These rows of them, found by a select of ids: see [`on_page`].
    pub(super) fn on_page(self, rows: LimitOffset) -> Self {
        let (table, order) = (self.table, self.order.clone());
        let page = on_page(TableColumn::new(table, "id"), self.ids(), rows);
        Self { order, ..Self::from_table(table).filter(page).with_limit(LimitOffset { offset: 0, ..rows }) }
    }

    /// A statement with these columns of them.
    pub(super) fn select<C: Expression + SqlFragment>(self, columns: C) -> SqlTemplate<C::SqlType> {
        let wanted = clause(" WHERE ", &vec!["?"; self.conditions.len()], " AND ");
        let direction =
            |direction: Direction| if direction == Direction::Ascending { "? ASC" } else { "? DESC" };
        let directions: Vec<&str> = self.order.iter().map(|(_, of)| direction(*of)).collect();
        let text = format!("SELECT ? FROM ?{wanted}{}?", clause(" ORDER BY ", &directions, ", "));
        let from: [BoxedSql; 2] = [Box::new(columns), Box::new(TableName(self.table))];
        let keys = self.order.iter().map(|(key, _)| key.sql());
        let parts = from.into_iter().chain(self.conditions).chain(keys).chain(self.limit).collect();
        SqlTemplate::new(text, parts)
    }

    /// A statement with their ids.
    pub(super) fn ids(self) -> Ids {
        let id = TableColumn::new(self.table, "id");
        self.select(id)
    }

    /// Reads their ids.
    pub(super) async fn load_ids(self, connection: &mut Conn) -> Result<Vec<i64>> {
        let ids: Vec<Option<i64>> = self.ids().load(connection).await.map_db_error()?;
        Ok(ids.into_iter().flatten().collect())
    }
}

/// The text of a part of a statement, if there is any.
fn clause(begin: &str, parts: &[&str], between: &str) -> String {
    if parts.is_empty() { String::new() } else { format!("{begin}{}", parts.join(between)) }
}

/// The name of a table.
struct TableName(&'static str);

impl QueryFragment<Db> for TableName {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_identifier(self.0)
    }
}

/// A select of ids.
pub(super) type Ids = SqlTemplate<Nullable<BigInt>>;
/// The first id of the first select that has one, else null. Each select is a range of an index.
pub(super) type FirstId = Ids;

impl FirstId {
    /// The first id of these.
    pub(super) fn first(selects: Vec<Ids>) -> Self {
        let text = format!("coalesce({}NULL)", "(? LIMIT 1), ".repeat(selects.len()));
        Self::new(text, selects.into_iter().map(|select| -> BoxedSql { Box::new(select) }).collect())
    }
}

expressions! { TableColumn: Nullable<BigInt>; }
