//! Connections that are borrowed for a statement, and statements that are committed together.

use super::Session;
use crate::engine::{Alone, Conn};
use crate::pools::ConnectionPool;
use civitas_kernel::Result;
use std::ops::{Deref, DerefMut};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

/// A connection. It is returned when the guard is dropped.
pub(crate) enum ConnectionGuard<'a> {
    /// Of a pool or of the writer, outside of transactions.
    Own(Box<dyn DerefMut<Target = Conn> + Send>),
    /// Of the open transaction.
    Shared(MappedMutexGuard<'a, Conn>),
}

impl ConnectionGuard<'static> {
    /// A connection of a pool.
    pub(super) async fn of_pool(pool: &ConnectionPool) -> Result<Self> {
        Ok(Self::Own(Box::new(pool.connection().await?)))
    }
}

impl Deref for ConnectionGuard<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        match self {
            Self::Own(connection) => connection,
            Self::Shared(connection) => connection,
        }
    }
}

impl DerefMut for ConnectionGuard<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        match self {
            Self::Own(connection) => &mut *connection,
            Self::Shared(connection) => connection,
        }
    }
}

/// Several statements that are committed together. When dropped, they are rolled back (or left to the open
/// transaction).
pub(crate) struct Atomic<'a> {
    pub(super) session: AtomicSession<'a>,
    /// Whether they may change rows that are cached.
    pub(super) changes_lookups: bool,
}

/// The transaction of such statements.
pub(super) enum AtomicSession<'a> {
    /// A separate transaction.
    Own(Box<Session>),
    /// A part of the open transaction.
    Joined(&'a Session),
}

impl Atomic<'_> {
    /// Its connection. Hold one at a time, and none during the commit.
    pub(crate) async fn connection(&self) -> Result<ConnectionGuard<'_>> {
        let session = self.session();
        if self.changes_lookups { session.write().await } else { session.write_uncached().await }
    }

    /// Commits, or leaves that to the open transaction.
    pub(crate) async fn commit(self) -> Result<()> {
        match self.session {
            AtomicSession::Own(session) => Session::commit(&session).await,
            AtomicSession::Joined(_) => Ok(()),
        }
    }

    /// The session of the transaction.
    pub(crate) fn session(&self) -> &Session {
        match &self.session {
            AtomicSession::Own(session) => session,
            AtomicSession::Joined(session) => session,
        }
    }
}

/// One statement that writes.
pub(crate) enum Single<'a> {
    /// It is committed when it ends.
    Alone(Box<Mutex<Alone>>),
    /// It is committed with others.
    Part(Atomic<'a>),
}

impl Single<'_> {
    /// Its connection. Do not hold it during the commit.
    pub(crate) async fn connection(&self) -> Result<ConnectionGuard<'_>> {
        match self {
            Self::Alone(connection) => {
                let connection = connection.lock().await;
                Ok(ConnectionGuard::Shared(MutexGuard::map(connection, |connection| &mut **connection)))
            }
            Self::Part(atomic) => atomic.connection().await,
        }
    }

    /// Commits, if that is left to do.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Alone(_) => Ok(()),
            Self::Part(atomic) => atomic.commit().await,
        }
    }
}
