//! Rows of pages, decoded one by one: a page whose answer would be too long is not read to its end.

use crate::engine::{Conn, Db, load_rows};
use civitas_kernel::Error;
use diesel::deserialize::FromSqlRow;
use diesel::expression::QueryMetadata;
use diesel::query_builder::{AsQuery, QueryFragment, QueryId};
use diesel::query_dsl::CompatibleType;
use diesel::result::{Error as Failure, QueryResult};
use diesel::row::Row;
use std::cell::Cell;

thread_local! {
    /// The bytes of JSON and long texts that this thread has decoded.
    static DECODED: Cell<usize> = const { Cell::new(0) };
    /// Whether extended data is left out of the row that this thread decodes.
    static LEAVES_OUT_DATA: Cell<bool> = const { Cell::new(false) };
}

/// Includes extended data again when it is dropped, after a panic too.
struct IncludeDataOnDrop;

impl Drop for IncludeDataOnDrop {
    fn drop(&mut self) {
        LEAVES_OUT_DATA.set(false);
    }
}

/// Counts decoded bytes.
pub(crate) fn count_decoded_bytes(bytes: usize) {
    DECODED.set(DECODED.get().wrapping_add(bytes));
}

/// Whether extended data is left out.
pub(crate) fn omits_extended_data() -> bool {
    LEAVES_OUT_DATA.get()
}

/// What is read of the rows of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowReadLimits {
    /// The most bytes of JSON and long texts of all rows.
    pub(crate) bytes: usize,
    /// Whether extended data is read; otherwise it is empty.
    pub(crate) with_data: bool,
}

impl RowReadLimits {
    /// Everything.
    pub(crate) const NONE: Self = Self { bytes: usize::MAX, with_data: true };

    /// Decodes the next row.
    ///
    /// # Errors
    /// Those of the row; [`Error::AnswerTooLong`] inside of a `DeserializationError`.
    pub(crate) fn decode<'r, R: FromSqlRow<ST, Db>, ST>(&mut self, row: &impl Row<'r, Db>) -> QueryResult<R> {
        let before = DECODED.get();
        LEAVES_OUT_DATA.set(!self.with_data);
        let _reset = IncludeDataOnDrop;
        let decoded = R::build_from_row(row);
        let left = self.bytes.checked_sub(DECODED.get().wrapping_sub(before));
        self.bytes = left.ok_or_else(|| Failure::DeserializationError(Box::new(Error::AnswerTooLong)))?;
        decoded.map_err(Failure::DeserializationError)
    }
}

/// Queries of rows of type `R`.
pub(crate) trait LoadPage<R>: Sized {
    /// Loads the rows of a page.
    fn load_page(
        self,
        connection: &mut Conn,
        bounds: RowReadLimits,
    ) -> impl Future<Output = QueryResult<Vec<R>>> + Send;
}

impl<Q, R, ST> LoadPage<R> for Q
where
    Q: AsQuery,
    Q::Query: QueryFragment<Db> + QueryId + Send + 'static,
    Q::SqlType: CompatibleType<R, Db, SqlType = ST>,
    R: FromSqlRow<ST, Db> + Send + 'static,
    Db: QueryMetadata<Q::SqlType>,
    ST: 'static,
{
    fn load_page(
        self,
        connection: &mut Conn,
        bounds: RowReadLimits,
    ) -> impl Future<Output = QueryResult<Vec<R>>> + Send {
        load_rows(connection, self.as_query(), bounds)
    }
}
