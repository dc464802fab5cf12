//! Connections to write with.

use super::Conn;
use crate::failure::DieselResultExt;
use crate::pools::ConnectionPool;
use civitas_kernel::Result;
use diesel_async::SimpleAsyncConnection;
use diesel_async::pooled_connection::deadpool::Object;
use futures_util::FutureExt;

/// Connections of a pool. A transaction has one of its own. Clones share the pool.
#[derive(Clone)]
pub struct Writer {
    pool: ConnectionPool,
}

/// A connection outside of transactions.
pub type WriterConnection = Object<Conn>;

impl Writer {
    /// The writers whose connections are of this pool.
    pub(crate) fn new(pool: ConnectionPool) -> Self {
        Self { pool }
    }

    /// A connection, to see whether there is one.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn connection(&self) -> Result<Object<Conn>> {
        self.pool.connection().await
    }

    /// Begins a transaction. Its BEGIN is sent, and not waited for: the answer comes before that of the first statement, which
    /// fails if there is none.
    ///
    /// # Errors
    /// `Unavailable` when no connection is free in time, or the connection is closed.
    pub(crate) async fn begin(&self) -> Result<WriteTransaction> {
        let connection = self.connection().await?;
        // Wrapped before BEGIN, so that a dropped future leaves no transaction open.
        let mut transaction = WriteTransaction { connection: Some(connection), is_begun: true };
        if let Some(connection) = transaction.connection() {
            let mut shared = &*connection;
            // The first poll sends it.
            let begun = SimpleAsyncConnection::batch_execute(&mut shared, "BEGIN").now_or_never();
            begun.transpose().map_db_error()?;
        }
        Ok(transaction)
    }

    /// Begins a transaction that takes long.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_long(&self) -> Result<WriteTransaction> {
        self.begin().await
    }

    /// A connection for one statement, which is committed when it ends.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_one(&self) -> Result<WriteTransaction> {
        Ok(WriteTransaction { connection: Some(self.connection().await?), is_begun: false })
    }

    /// A connection outside of transactions.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn outside_transactions(&self) -> Result<WriterConnection> {
        self.connection().await
    }
}

/// An open transaction. When dropped, its connection is closed, which rolls back at once: in the pool it would keep its
/// locks until its next use.
pub struct WriteTransaction {
    /// `None` after its end.
    connection: Option<Object<Conn>>,
    /// Whether it has more than one statement; otherwise its one statement has committed itself.
    is_begun: bool,
}

impl WriteTransaction {
    /// Its connection.
    pub(crate) fn connection(&mut self) -> Option<&mut Conn> {
        self.connection.as_deref_mut()
    }

    /// Commits it. After a failed statement PostgreSQL answers COMMIT with a rollback and without an error; the statement
    /// before it, sent with it, detects that.
    ///
    /// # Errors
    /// `Conflict`, `Unavailable` or `Internal`: nothing was written, or that is not known.
    pub(crate) async fn commit(mut self) -> Result<()> {
        let Some(connection) = self.connection.as_mut().filter(|_| self.is_begun) else { return Ok(()) };
        SimpleAsyncConnection::batch_execute(&mut **connection, "SELECT 1; COMMIT").await.map_db_error()?;
        // Back to the pool.
        drop(self.connection.take());
        Ok(())
    }

    /// Rolls it back.
    pub(crate) async fn rollback(mut self) -> Result<()> {
        let Some(connection) = self.connection() else { return Ok(()) };
        SimpleAsyncConnection::batch_execute(connection, "ROLLBACK").await.map_db_error()?;
        drop(self.connection.take());
        Ok(())
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        if self.is_begun {
            drop(self.connection.take().map(Object::take));
        }
    }
}
