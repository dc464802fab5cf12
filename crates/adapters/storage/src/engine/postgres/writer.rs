//! Connections to write with.

use super::Conn;
use super::reader::{COMMIT, PooledConnection, send};
use crate::failure::DieselResultExt;
use crate::pools::ConnectionPool;
use civitas_kernel::Result;
use diesel_async::SimpleAsyncConnection;
use diesel_async::pooled_connection::deadpool::Object;
use std::sync::Arc;

/// Connections of a pool. A transaction has one of its own. Clones share the pool.
#[derive(Clone)]
pub struct Writer {
    pool: ConnectionPool,
    /// The statements that begin a transaction with its settings, behind a transaction pooler.
    begin: Option<Arc<str>>,
}

/// A connection for one statement.
pub type WriterConnection = PooledConnection;

impl Writer {
    /// The writers whose connections are of this pool. `begin`: the statements that begin each use; `None` where a connection
    /// keeps its session.
    pub(super) fn new(pool: ConnectionPool, begin: Option<Arc<str>>) -> Self {
        Self { pool, begin }
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
            send(connection, self.begin.as_deref().unwrap_or("BEGIN"))?;
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

    /// A connection for one statement, which is committed when it ends; behind a transaction pooler a transaction.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_one(&self) -> Result<WriteTransaction> {
        if self.begin.is_some() {
            return self.begin().await;
        }
        Ok(WriteTransaction { connection: Some(self.connection().await?), is_begun: false })
    }

    /// A connection outside of transactions.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn outside_transactions(&self) -> Result<WriterConnection> {
        PooledConnection::begin(&self.pool, self.begin.as_deref(), "ROLLBACK").await
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

    /// Commits it.
    ///
    /// # Errors
    /// `Conflict`, `Unavailable` or `Internal`: nothing was written, or that is not known.
    pub(crate) async fn commit(mut self) -> Result<()> {
        let Some(connection) = self.connection.as_mut().filter(|_| self.is_begun) else { return Ok(()) };
        SimpleAsyncConnection::batch_execute(&mut **connection, COMMIT).await.map_db_error()?;
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
