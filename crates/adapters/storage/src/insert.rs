//! Inserts several rows with one statement. Diesel has no such statement for asynchronous connections to SQLite.

use crate::columns::cached_by_text;
use crate::engine::{Conn, Db, dialect};
use crate::failure::DieselResultExt;
use crate::session::{ExecuteExt, borrowed_connection};
use civitas_kernel::{Error, OrganizationId, Result};
use diesel::dsl::sql_query;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;

/// The most rows of one statement. Statements of so many rows, and of one, stay prepared; the text of others depends on their
/// number of rows.
const AT_ONCE: usize = 100;

/// Whether a statement that inserts so many rows stays prepared.
fn stays_prepared(rows: usize) -> bool {
    rows == 1 || rows == AT_ONCE
}

/// A row whose columns [`inserted!`](crate::insert::inserted) lists.
pub(crate) trait InsertedRow {
    /// The statement, up to the values.
    const INSERT_INTO: &'static str;
    /// What follows the values.
    const AFTER_VALUES: &'static str;

    /// Binds the values of the row.
    fn bind<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()>;
}

/// The insert of these rows, at least one.
pub(crate) struct Insert<'a, R>(pub(crate) &'a [R]);

cached_by_text! { [R] Insert<'_, R> }

impl<R: InsertedRow> QueryFragment<Db> for Insert<'_, R> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        if !stays_prepared(self.0.len()) {
            pass.unsafe_to_cache_prepared();
        }
        pass.push_sql(R::INSERT_INTO);
        for (position, row) in self.0.iter().enumerate() {
            pass.push_sql(if position == 0 { "(" } else { ", (" });
            row.bind(pass.reborrow())?;
            pass.push_sql(")");
        }
        pass.push_sql(R::AFTER_VALUES);
        Ok(())
    }
}

/// The columns of a record to insert, without `id` and `organization_id`; implemented by `columns!`.
pub(crate) trait Columns: Send + Sync {
    /// Their names.
    const NAMES: &'static [&'static str];

    /// Binds their values, each after a comma.
    fn bind<'b>(&'b self, pass: &mut AstPass<'_, 'b, Db>) -> QueryResult<()>;
}

/// The most ids of one removal: SQLite allows a text of 1,000,000 bytes.
const MAX_IDS: usize = 30_000;

/// The insert of these records of an organization, at least one. Leaves out those whose key another record has, and
/// returns the ids of the others.
struct InsertRecords<'a, C> {
    table: &'static str,
    organization: i64,
    /// Those of the rows; empty: the engine assigns them.
    ids: &'a [i64],
    rows: &'a [C],
}

cached_by_text! { [C] InsertRecords<'_, C>: BigInt }

impl<C: Columns> QueryFragment<Db> for InsertRecords<'_, C> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        if !stays_prepared(self.rows.len()) {
            pass.unsafe_to_cache_prepared();
        }
        pass.push_sql("INSERT INTO ");
        pass.push_identifier(self.table)?;
        pass.push_sql(if self.ids.is_empty() { " (" } else { " (id, " });
        pass.push_sql("organization_id");
        for name in C::NAMES {
            pass.push_sql(", ");
            pass.push_identifier(name)?;
        }
        pass.push_sql(") VALUES ");
        for (position, row) in self.rows.iter().enumerate() {
            pass.push_sql(if position == 0 { "(" } else { ", (" });
            if let Some(id) = self.ids.get(position) {
                pass.push_bind_param::<BigInt, _>(id)?;
                pass.push_sql(", ");
            }
            pass.push_bind_param::<BigInt, _>(&self.organization)?;
            row.bind(&mut pass)?;
            pass.push_sql(")");
        }
        pass.push_sql(" ON CONFLICT DO NOTHING RETURNING id");
        Ok(())
    }
}

/// Inserts records of an organization with few statements. Returns their ids in the same order; `None`: nothing was
/// inserted, because another record has the key of one of them. `assigned`: their ids; empty: the engine assigns them.
///
/// # Errors
/// `Internal` when there are ids for some rows only.
pub(crate) async fn insert_records<C: Columns>(
    connection: &mut Conn,
    table: &'static str,
    organization: OrganizationId,
    assigned: Vec<i64>,
    rows: &[C],
) -> Result<Option<Vec<i64>>> {
    if !assigned.is_empty() && assigned.len() != rows.len() {
        return Err(Error::internal("ids for some rows only"));
    }
    let mut assigned_parts = assigned.chunks(AT_ONCE);
    let parts = rows.chunks(AT_ONCE).map(|rows| (assigned_parts.next().unwrap_or_default(), rows));
    let mut added: Vec<Vec<i64>> = dialect::for_each_part!(parts, connection, |connection, part| {
        InsertRecords { table, organization: organization.0, ids: part.0, rows: part.1 }.load(connection)
    })
    .map_db_error()?;
    // Rows are inserted in their order, each with a higher id than those before it. The order in which an engine returns
    // them is not defined.
    for ids in &mut added {
        ids.sort_unstable();
    }
    let ids: Vec<i64> = added.into_iter().flatten().collect();
    if ids.len() == rows.len() {
        return Ok(Some(if assigned.is_empty() { ids } else { assigned }));
    }
    for some in ids.chunks(MAX_IDS) {
        // Ids are numbers, so that they can be part of the text.
        let some = some.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        sql_query(format!("DELETE FROM \"{table}\" WHERE id IN ({some})"))
            .done_on(borrowed_connection(connection))
            .await?;
    }
    Ok(None)
}

/// Inserts rows with few statements.
pub(crate) async fn insert_rows<R: InsertedRow + Sync>(connection: &mut Conn, rows: &[R]) -> Result<()> {
    let parts = rows.chunks(AT_ONCE);
    dialect::for_each_part!(parts, connection, |connection, rows| Insert(rows).execute(connection))
        .map_db_error()
        .map(drop)
}

/// Lists the table and the columns of a row to insert, with their SQL types, and what is done if its key is taken. In brackets
/// without the types, which are those of the schema.
macro_rules! inserted {
    ($Row:ty as $table:ident [$($column:ident),+ $(,)?]) => {
        $crate::insert::inserted! {
            $Row as $table { $($column: ::diesel::dsl::SqlTypeOf<$crate::schema::$table::$column>),+ }
        }
    };
    ($Row:ty as $table:ident { $first:ident: $First:ty $(, $column:ident: $Type:ty)* $(,)? } $(or $end:literal)?) => {
        impl $crate::insert::InsertedRow for $Row {
            const AFTER_VALUES: &'static str = concat!("" $(, $end)?);
            const INSERT_INTO: &'static str = concat!(
                "INSERT INTO ", stringify!($table), " (", stringify!($first) $(, ", ", stringify!($column))*, ") VALUES "
            );

            fn bind<'b>(
                &'b self,
                mut pass: ::diesel::query_builder::AstPass<'_, 'b, $crate::engine::Db>,
            ) -> ::diesel::result::QueryResult<()> {
                pass.push_bind_param::<$First, _>(&self.$first)?;
                $(
                    pass.push_sql(", ");
                    pass.push_bind_param::<$Type, _>(&self.$column)?;
                )*
                Ok(())
            }
        }
    };
}
pub(crate) use inserted;
