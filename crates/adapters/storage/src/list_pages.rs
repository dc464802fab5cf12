//! Pages of lists in the order that a request asks for, with their totals (contract 01 §6.2, §7).

use crate::engine::{Conn, Db};
use crate::failure::DieselResultExt;
use crate::page_rows::{LoadPage, RowReadLimits};
use crate::session::{LoadRowsExt, borrowed_connection};
use crate::tables::select::SqlTemplate;
use civitas_kernel::{Page, PageRequest, Result};
use diesel::query_builder::QueryFragment;
use diesel::query_dsl::methods::{LimitDsl, OffsetDsl};
use diesel::sql_types::BigInt;
use futures_util::future::BoxFuture;
use std::future::ready;

/// The rows of a boxed query in the order of a page, by id and times of their table: `in_order!(rows, page, users, users::id)`.
/// The last argument is the order of the list. Tables without these columns, or with ids that are not unique, name them:
/// `[id, created_at, updated_at; last]`, with what decides between rows of the same value.
macro_rules! in_order {
    ($rows:expr, $page:expr, [$id:expr, $created:expr, $updated:expr; $last:expr], $own:expr) => {{
        use ::civitas_kernel::{Direction, SortColumn};
        let rows = $rows;
        if let Some(sort) = $page.sort {
            let sorted = match (sort.column, sort.direction) {
                (SortColumn::CreatedAt, Direction::Ascending) => rows.order($created),
                (SortColumn::CreatedAt, Direction::Descending) => rows.order($created.desc()),
                (SortColumn::UpdatedAt, Direction::Ascending) => rows.order($updated),
                (SortColumn::UpdatedAt, Direction::Descending) => rows.order($updated.desc()),
                (_, Direction::Ascending) => rows.order($id),
                (_, Direction::Descending) => rows.order($id.desc()),
            };
            sorted.then_order_by($last)
        } else {
            rows.order($own)
        }
    }};
    ($rows:expr, $page:expr, $table:ident, $own:expr) => {
        $crate::list_pages::in_order!(
            $rows,
            $page,
            [$table::id, $table::created_at, $table::updated_at; $table::id],
            $own
        )
    };
}

/// One page of the rows of a boxed query that satisfy filters, in an order as of [`in_order`]:
/// `list_page!(connection, page, bounds; rows; filters, |filter| condition(filter); users, users::id)`.
macro_rules! list_page {
    (
        $connection:expr, $page:expr, $bounds:expr; $rows:expr;
        $filters:expr, |$filter:ident| $condition:expr; $table:tt, $own:expr
    ) => {{
        let listed = || {
            let mut rows = $rows;
            for $filter in $filters {
                rows = rows.filter($condition?);
            }
            ::civitas_kernel::Result::<_>::Ok(rows)
        };
        let all = $page.is_counted.then(listed).transpose()?;
        let rows = $crate::list_pages::in_order!(listed()?, $page, $table, $own);
        $crate::list_pages::page_of($connection, rows, all, $page, $bounds).await?
    }};
}
pub(crate) use {in_order, list_page};

/// The number of rows of a select; `None` without one.
pub(crate) fn count<'q, Q>(connection: &'q mut Conn, all: Option<Q>) -> BoxFuture<'q, Result<Option<i64>>>
where
    Q: QueryFragment<Db> + Send + 'static,
{
    let Some(all) = all else { return Box::pin(ready(Ok(None))) };
    let counted = SqlTemplate::<BigInt>::new("SELECT count(*) FROM (?) AS counted", vec![Box::new(all)]);
    let counted = LoadRowsExt::<'q, i64>::value_from(counted, borrowed_connection(connection));
    Box::pin(async move { counted.await.map(Some) })
}

/// One page of a list. `rows`: its boxed query, in order. `all`: the same query again, if the page has a total. One boxed
/// future, so that its callers are compiled without the types of their queries.
pub(crate) fn page_of<'q, R, Q>(
    connection: &'q mut Conn,
    rows: Q,
    all: Option<Q>,
    page: PageRequest,
    bounds: RowReadLimits,
) -> BoxFuture<'q, Result<Page<R>>>
where
    Q: QueryFragment<Db> + LimitDsl<Output = Q> + OffsetDsl<Output = Q> + LoadPage<R> + Send + 'static,
    R: Send + 'q,
{
    Box::pin(async move {
        let total = count(connection, all).await?;
        let rows = rows.limit(page.rows_to_fetch()).offset(page.offset());
        let rows = rows.load_page(connection, bounds).await.map_db_error()?;
        Ok(Page::from_fetched(rows, page).with_total(total))
    })
}
