//! Runs statements on the connection of a session.
//!
//! Each statement is one boxed future, so that the methods of the stores are compiled without the types of their statements.

use super::ConnectionGuard;
use crate::columns;
use crate::engine::{Conn, Db, any_statement};
use crate::failure::{DieselResultExt, require_changed};
use civitas_kernel::{Error, Page, PageRequest, Result};
use diesel::deserialize::FromSqlRow;
use diesel::dsl::{Limit, Offset, Select};
use diesel::expression::Selectable;
use diesel::query_builder::{AsQuery, Query, QueryFragment, QueryId};
use diesel::query_dsl::CompatibleType;
use diesel::query_dsl::methods::{LimitDsl, OffsetDsl, SelectDsl};
use diesel::result::{Error as Failure, QueryResult};
use diesel_async::AsyncConnectionCore;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::future::{Ready, ready};

/// A connection that is got when the statement runs, such as [`Session::read`](super::Session::read).
pub(crate) trait ConnectionFuture<'q>:
    Future<Output = Result<ConnectionGuard<'q>>> + Send + 'q
{
}

impl<'q, C: Future<Output = Result<ConnectionGuard<'q>>> + Send + 'q> ConnectionFuture<'q> for C {}

/// A connection that the caller has.
pub(crate) fn borrowed_connection(connection: &mut Conn) -> Ready<Result<ConnectionGuard<'_>>> {
    ready(Ok(ConnectionGuard::Borrowed(connection)))
}

/// Statements that return rows of type `R`. The errors are those of [`DieselResultExt::map_db_error`].
pub(crate) trait LoadRowsExt<'q, R: Send + 'static>: Sized {
    /// All rows, converted.
    fn rows_as<T: From<R> + Send + 'static>(
        self,
        connection: impl ConnectionFuture<'q>,
    ) -> BoxFuture<'q, Result<Vec<T>>>;

    /// The row, converted, if there is one.
    fn row_as<T: From<R> + Send + 'static>(
        self,
        connection: impl ConnectionFuture<'q>,
    ) -> BoxFuture<'q, Result<Option<T>>>;

    /// The row of a statement that always has one.
    fn value_from(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<R>>;

    /// All rows.
    fn rows_from(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<Vec<R>>> {
        LoadRowsExt::<'q, R>::rows_as(self, connection)
    }

    /// The row, if there is one.
    fn row_from(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<Option<R>>> {
        LoadRowsExt::<'q, R>::row_as(self, connection)
    }

    /// The first row, if there is one: with `LIMIT 1`.
    fn first_from(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<Option<R>>>
    where
        Self: LimitDsl,
        Limit<Self>: LoadRowsExt<'q, R>,
    {
        LoadRowsExt::<'q, R>::row_as(LimitDsl::limit(self, 1), connection)
    }
}

impl<'q, Q, R, ST> LoadRowsExt<'q, R> for Q
where
    Q: AsQuery,
    Q::Query: QueryFragment<Db> + QueryId + Send + 'q,
    Q::SqlType: CompatibleType<R, Db, SqlType = ST>,
    R: FromSqlRow<ST, Db> + Send + 'static,
    ST: 'static,
{
    fn rows_as<T: From<R> + Send + 'static>(
        self,
        connection: impl ConnectionFuture<'q>,
    ) -> BoxFuture<'q, Result<Vec<T>>> {
        Box::pin(load::<_, R, ST, T, _>(any_statement(self.as_query()), connection))
    }

    fn row_as<T: From<R> + Send + 'static>(
        self,
        connection: impl ConnectionFuture<'q>,
    ) -> BoxFuture<'q, Result<Option<T>>> {
        let rows = load::<_, R, ST, T, _>(any_statement(self.as_query()), connection);
        Box::pin(async move { rows.await.map(|rows| rows.into_iter().next()) })
    }

    fn value_from(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<R>> {
        let row = LoadRowsExt::<'q, R>::row_from(self, connection);
        Box::pin(async move { row.await.and_then(|row| row.ok_or(Failure::NotFound).map_db_error()) })
    }
}

/// Queries of a table, whose rows of a type `R` are read and converted.
pub(crate) trait LoadModelsExt: Sized {
    /// All rows.
    fn models_from<'q, R, T>(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<Vec<T>>>
    where
        R: Selectable<Db> + Send + 'static,
        T: From<R> + Send + 'static,
        Self: SelectDsl<R::SelectExpression>,
        Select<Self, R::SelectExpression>: LoadRowsExt<'q, R>,
    {
        LoadRowsExt::<'q, R>::rows_as(SelectDsl::select(self, columns::all_columns::<R>()), connection)
    }

    /// The first row, if there is one.
    fn model_from<'q, R, T>(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<Option<T>>>
    where
        R: Selectable<Db> + Send + 'static,
        T: From<R> + Send + 'static,
        Self: SelectDsl<R::SelectExpression>,
        Select<Self, R::SelectExpression>: LimitDsl,
        Limit<Select<Self, R::SelectExpression>>: LoadRowsExt<'q, R>,
    {
        let first = LimitDsl::limit(SelectDsl::select(self, columns::all_columns::<R>()), 1);
        LoadRowsExt::<'q, R>::row_as(first, connection)
    }

    /// A page of the rows.
    fn page_from<'q, R, T>(
        self,
        page: PageRequest,
        connection: impl ConnectionFuture<'q>,
    ) -> BoxFuture<'q, Result<Page<T>>>
    where
        R: Selectable<Db> + Send + 'static,
        T: From<R> + Send + 'static,
        Self: SelectDsl<R::SelectExpression>,
        Select<Self, R::SelectExpression>: LimitDsl,
        Limit<Select<Self, R::SelectExpression>>: OffsetDsl,
        Offset<Limit<Select<Self, R::SelectExpression>>>: LoadRowsExt<'q, R>,
    {
        let some =
            LimitDsl::limit(SelectDsl::select(self, columns::all_columns::<R>()), page.rows_to_fetch());
        let rows = LoadRowsExt::<'q, R>::rows_as(OffsetDsl::offset(some, page.offset()), connection);
        Box::pin(async move { rows.await.map(|rows| Page::from_fetched(rows, page)) })
    }
}

impl<Q> LoadModelsExt for Q {}

/// Statements that return the number of rows that they changed. Errors as of [`DieselResultExt::map_db_error`].
pub(crate) trait ExecuteExt<'q>: Sized {
    /// Executes the statement.
    fn run_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<u64>>;

    /// Executes the statement; whether it changes a row.
    fn any_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<bool>>;

    /// Executes the statement, however many rows it changes.
    fn done_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<()>>;

    /// Executes a statement that changes one row.
    ///
    /// # Errors
    /// `NotFound` when there was no row.
    fn change_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<()>>;

    /// The same, but this error when a unique value is taken. On PostgreSQL this aborts the open transaction: to continue
    /// after a conflict, use `ON CONFLICT DO NOTHING` instead.
    fn save_on(
        self,
        connection: impl ConnectionFuture<'q>,
        taken: fn() -> Error,
    ) -> BoxFuture<'q, Result<()>>;
}

impl<'q, Q: QueryFragment<Db> + QueryId + Send + 'q> ExecuteExt<'q> for Q {
    fn run_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<u64>> {
        let executed = execute(any_statement(self), connection);
        Box::pin(async move { executed.await?.map_db_error().map(|rows| rows as u64) })
    }

    fn any_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<bool>> {
        let executed = execute(any_statement(self), connection);
        Box::pin(async move { executed.await?.map_db_error().map(|rows| rows > 0) })
    }

    fn done_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<()>> {
        let executed = execute(any_statement(self), connection);
        Box::pin(async move { executed.await?.map_db_error().map(drop) })
    }

    fn change_on(self, connection: impl ConnectionFuture<'q>) -> BoxFuture<'q, Result<()>> {
        let executed = execute(any_statement(self), connection);
        Box::pin(async move { executed.await?.map_db_error().and_then(require_changed) })
    }

    fn save_on(
        self,
        connection: impl ConnectionFuture<'q>,
        taken: fn() -> Error,
    ) -> BoxFuture<'q, Result<()>> {
        let executed = execute(any_statement(self), connection);
        Box::pin(async move { executed.await?.map_unique_violation(taken).and_then(require_changed) })
    }
}

async fn load<'q, S, R, ST, T, C>(statement: S, connection: C) -> Result<Vec<T>>
where
    S: Query + QueryFragment<Db> + QueryId + Send + 'q,
    R: FromSqlRow<ST, Db>,
    T: From<R>,
    C: ConnectionFuture<'q>,
{
    let mut guard = connection.await?;
    let mut rows = AsyncConnectionCore::load(&mut *guard, statement).await.map_db_error()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().await {
        let row =
            R::build_from_row(&row.map_db_error()?).map_err(Failure::DeserializationError).map_db_error()?;
        found.push(T::from(row));
    }
    drop(rows);
    guard.commit().await?;
    Ok(found)
}

async fn execute<'q, S, C>(statement: S, connection: C) -> Result<QueryResult<usize>>
where
    S: QueryFragment<Db> + QueryId + Send + 'q,
    C: ConnectionFuture<'q>,
{
    let mut guard = connection.await?;
    let executed = AsyncConnectionCore::execute_returning_count(&mut *guard, statement).await;
    if executed.is_ok() {
        guard.commit().await?;
    }
    Ok(executed)
}
