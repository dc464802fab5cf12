//! Connections that are borrowed for a statement, and statements that are committed together.

use super::Session;
use crate::engine::{Conn, Reader, WriterConnection};
use civitas_kernel::Result;
use std::ops::{Deref, DerefMut};
use tokio::sync::MappedMutexGuard;

/// A connection. It is returned when the guard is dropped.
pub(crate) enum ConnectionGuard<'a> {
    /// Of a pool, to read with.
    Reader(Box<dyn DerefMut<Target = Conn> + Send>),
    /// Of the writer, outside of transactions.
    Writer(Box<WriterConnection>),
    /// Of the open transaction.
    Shared(MappedMutexGuard<'a, Conn>),
    /// Of a caller.
    Borrowed(&'a mut Conn),
}

impl ConnectionGuard<'static> {
    /// A connection of a pool.
    pub(super) async fn from_pool(pool: &Reader) -> Result<Self> {
        Ok(Self::Reader(Box::new(pool.connection().await?)))
    }
}

impl ConnectionGuard<'_> {
    /// Commits what a statement outside of transactions wrote, where that has not committed itself.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Writer(connection) => connection.commit().await,
            Self::Reader(_) | Self::Shared(_) | Self::Borrowed(_) => Ok(()),
        }
    }
}

impl Deref for ConnectionGuard<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        match self {
            Self::Reader(connection) => connection,
            Self::Writer(connection) => connection,
            Self::Shared(connection) => connection,
            Self::Borrowed(connection) => connection,
        }
    }
}

impl DerefMut for ConnectionGuard<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        match self {
            Self::Reader(connection) => &mut *connection,
            Self::Writer(connection) => &mut *connection,
            Self::Shared(connection) => connection,
            Self::Borrowed(connection) => connection,
        }
    }
}

/// Several statements that are committed together. When dropped, they are rolled back (or left to the open
/// transaction).
pub(crate) enum TransactionScope<'a> {
    /// A separate transaction.
    Own(Box<Session>),
    /// A part of the open transaction.
    Joined(&'a Session),
}

impl TransactionScope<'_> {
    /// Its connection. Hold one at a time, and none during the commit.
    pub(crate) async fn connection(&self) -> Result<ConnectionGuard<'_>> {
        self.session().write().await
    }

    /// Commits, or leaves that to the open transaction.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Own(session) => Session::commit(&session).await,
            Self::Joined(_) => Ok(()),
        }
    }

    /// The session of the transaction.
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Own(session) => session,
            Self::Joined(session) => session,
        }
    }
}
