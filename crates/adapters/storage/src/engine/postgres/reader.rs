//! Connections for uses outside of the transactions of a caller.
//!
//! Behind a transaction pooler a session belongs to others between transactions. There each use is a transaction that begins
//! with the settings of its pool (`docs/decisions/0070-transaction-poolers.md`).

use super::Conn;
use crate::failure::DieselResultExt;
use crate::pools::ConnectionPool;
use civitas_kernel::Result;
use diesel_async::SimpleAsyncConnection;
use diesel_async::pooled_connection::deadpool::Object;
use futures_util::FutureExt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Ends a transaction that wrote. After a failed statement PostgreSQL answers COMMIT with a rollback and without an error; the
/// statement before it, sent with it, detects that.
pub(super) const COMMIT: &str = "SELECT 1; COMMIT";

/// Connections of a pool, to read with. Clones share the pool.
#[derive(Clone)]
pub struct Reader {
    pool: ConnectionPool,
    begin: Option<Arc<str>>,
}

impl Reader {
    /// `begin`: the statements that begin each use; `None` where a connection keeps its session.
    pub(super) fn new(pool: ConnectionPool, begin: Option<Arc<str>>) -> Self {
        Self { pool, begin }
    }

    /// A connection.
    ///
    /// # Errors
    /// `Unavailable` when none is free in time, or the database does not answer.
    pub(crate) async fn connection(&self) -> Result<PooledConnection> {
        PooledConnection::begin(&self.pool, self.begin.as_deref(), "COMMIT").await
    }
}

/// A connection for one use. If the use is a transaction and was not committed, it ends when this is dropped: its end is sent,
/// and not waited for.
pub struct PooledConnection {
    connection: Object<Conn>,
    /// What ends its transaction; `None` without one.
    end: Option<&'static str>,
}

impl PooledConnection {
    /// A connection of the pool, with a transaction if there are statements that begin one.
    ///
    /// # Errors
    /// As [`Reader::connection`].
    pub(super) async fn begin(pool: &ConnectionPool, begin: Option<&str>, end: &'static str) -> Result<Self> {
        let connection = pool.connection().await?;
        let Some(begin) = begin else { return Ok(Self { connection, end: None }) };
        let opened = Self { connection, end: Some(end) };
        send(&opened.connection, begin)?;
        Ok(opened)
    }

    /// Commits the transaction, if there is one; otherwise the statement has committed itself.
    ///
    /// # Errors
    /// `Conflict`, `Unavailable` or `Internal`: nothing was written, or that is not known.
    pub(crate) async fn commit(mut self) -> Result<()> {
        if self.end.is_none() {
            return Ok(());
        }
        // Of a commit that failed, or that nobody waits for any more.
        self.end = Some("ROLLBACK");
        SimpleAsyncConnection::batch_execute(&mut *self.connection, COMMIT).await.map_db_error()?;
        self.end = None;
        Ok(())
    }
}

impl Deref for PooledConnection {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.connection
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.connection
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(end) = self.end {
            // An error: the connection is closed, and its transaction is over.
            let _ = send(&self.connection, end);
        }
    }
}

/// Sends statements, and does not wait for the answer, which comes before that of the next statement.
///
/// # Errors
/// `Unavailable` when the connection is closed.
pub(super) fn send(mut connection: &Conn, statements: &str) -> Result<()> {
    // The first poll sends them.
    let sent = SimpleAsyncConnection::batch_execute(&mut connection, statements).now_or_never();
    sent.transpose().map_db_error().map(drop)
}
