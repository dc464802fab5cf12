//! Inserts several rows with one statement. Diesel has no such statement for asynchronous connections to SQLite.

use crate::engine::Db;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;

/// The most rows of one statement: SQLite allows about 32,000 values.
pub(crate) const AT_ONCE: usize = 1_000;

/// A row whose columns [`inserted!`](crate::insert::inserted) lists.
pub(crate) trait InsertedRow {
    /// The statement, up to the values.
    const INTO: &'static str;

    /// Binds the values of the row.
    fn bind<'b>(&'b self, pass: AstPass<'_, 'b, Db>) -> QueryResult<()>;
}

/// The insert of these rows, at least one.
pub(crate) struct Insert<'a, R>(pub(crate) &'a [R]);

impl<R> QueryId for Insert<'_, R> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<R: InsertedRow> QueryFragment<Db> for Insert<'_, R> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        // The text depends on the number of rows.
        pass.unsafe_to_cache_prepared();
        pass.push_sql(R::INTO);
        for (place, row) in self.0.iter().enumerate() {
            pass.push_sql(if place == 0 { "(" } else { ", (" });
            row.bind(pass.reborrow())?;
            pass.push_sql(")");
        }
        Ok(())
    }
}

/// Lists the table and the columns of a row to insert, with their SQL types.
macro_rules! inserted {
    ($Row:ty as $table:ident { $first:ident: $First:ty $(, $column:ident: $Type:ty)* $(,)? }) => {
        impl $crate::insert::InsertedRow for $Row {
            const INTO: &'static str = concat!(
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
