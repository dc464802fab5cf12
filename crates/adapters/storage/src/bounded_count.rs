//! Counts that stop at a limit.

use crate::engine::Db;
use crate::session::{LoadRowsExt, Session};
use civitas_kernel::Result;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Nullable};
use futures_util::future::BoxFuture;

/// What [`BoundedCount`] returns: number of rows, number of rows with an organization, smallest, largest.
pub(crate) type BoundedCountRow = (i64, i64, Option<i64>, Option<i64>);

/// The number of rows of a select, with the smallest and the largest `organization_id` of them. The select has one
/// column, `organization_id`, and a limit. Rows without organization count, and have no part in smallest and largest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundedCount<Q>(pub(crate) Q);

impl<Q: QueryId> QueryId for BoundedCount<Q> {
    type QueryId = BoundedCount<Q::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = Q::HAS_STATIC_QUERY_ID;
}

impl<Q> Query for BoundedCount<Q> {
    type SqlType = (BigInt, BigInt, Nullable<BigInt>, Nullable<BigInt>);
}

impl<Q: QueryFragment<Db>> QueryFragment<Db> for BoundedCount<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        pass.push_sql(
            "SELECT count(*), count(organization_id), min(organization_id), max(organization_id) FROM (",
        );
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(") AS counted");
        Ok(())
    }
}

impl Session {
    /// The number of rows of a select, as [`BoundedCount`] takes it.
    pub(crate) fn count_bounded<'q, Q>(&'q self, some: Q) -> BoxFuture<'q, Result<i64>>
    where
        BoundedCount<Q>: LoadRowsExt<'q, BoundedCountRow>,
    {
        let counted = LoadRowsExt::<'q, BoundedCountRow>::value_from(BoundedCount(some), self.read_long());
        Box::pin(async move { counted.await.map(|(number, ..)| number) })
    }
}
