//! The one writer, and transactions that are committed together (group commit).
//!
//! SQLite has one writer, and each commit waits for the disk. A transaction that begins while others wait for their commit
//! joins them: each is a savepoint of one open transaction of the database, the group. A caller learns the end of its
//! transaction only after the commit of the group.
//!
//! The writer is never reserved for a caller that waits: on a busy thread it would be idle until that caller is polled.
//! Whoever is polled first takes it. A transaction that ended yields once, so that those that are ready join it; then it
//! commits the group, unless another one did.
//!
//! A transaction that fails is rolled back alone. When the commit fails, all transactions of the group fail.
//!
//! A commit runs on a blocking thread: it waits for the disk, and goes on when its caller is dropped.

use super::Conn;
use super::write_lock::{WriteLock, WriteLockGuard};
use crate::failure::DieselResultExt;
use crate::pools::ConnectionPool;
use civitas_application::metrics;
use civitas_kernel::{Error, Result};
use diesel::QueryResult;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AsyncConnection, SimpleAsyncConnection, TransactionManager};
use futures_util::FutureExt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::timeout;

/// The most transactions of a group.
const MAX_GROUP_TRANSACTIONS: usize = 256;
/// The name of the savepoint of a transaction.
const SAVEPOINT: &str = "SAVEPOINT part";
/// The end of a transaction that succeeded.
const RELEASE_SAVEPOINT: &str = "RELEASE part";
/// The end of a transaction that failed.
const ROLLBACK_TO_SAVEPOINT: &str = "ROLLBACK TO part; RELEASE part";

/// The writer of a database. Clones share it.
#[derive(Clone)]
pub struct Writer {
    pool: ConnectionPool,
    /// The time limit for the wait for other writers, and for the lock of another process.
    wait: Duration,
    lock: Arc<WriteLock<State>>,
}

/// The right to write.
type WriterGuard = WriteLockGuard<State>;

/// What the current writer uses.
#[derive(Default)]
struct State {
    group: Option<Group>,
}

/// An open transaction of the database, and the result of its commit for all transactions in it.
struct Group {
    connection: Object<Conn>,
    /// The number of transactions that began in it.
    members: usize,
    /// Whether it has a transaction that takes long, and the cache for it.
    is_long: bool,
    outcome: watch::Sender<Option<Outcome>>,
}

/// The outcome of a commit, or why it failed: then all transactions of the group were rolled back.
type Outcome = std::result::Result<(), Arc<str>>;

impl Writer {
    /// The writer whose connection is the only one of this pool. Its statements run on the thread of their caller.
    pub(crate) fn new(pool: ConnectionPool, wait: Duration) -> Self {
        Self { pool, wait, lock: Arc::default() }
    }

    /// Its connection, to see whether it opens. Not for writes.
    ///
    /// # Errors
    /// `Unavailable` when it does not open.
    pub(crate) async fn connection(&self) -> Result<Object<Conn>> {
        self.pool.connection().await
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// `Unavailable` when other writers, here or in another process, take too long.
    pub(crate) async fn begin(&self) -> Result<WriteTransaction> {
        let mut held = self.acquire().await?;
        if held.group.as_ref().is_some_and(|group| group.members >= MAX_GROUP_TRANSACTIONS) {
            held = commit(held).await?;
        }
        self.join(held).await
    }

    /// Begins a transaction that takes long: no transaction that has ended waits for it.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_long(&self) -> Result<WriteTransaction> {
        let held = commit(self.acquire().await?).await?;
        let mut transaction = self.join(held).await?;
        if let Some(group) = transaction.held.as_mut().and_then(|held| held.group.as_mut()) {
            group.is_long = true;
            group.connection.batch_execute(super::LARGE_CACHE_PRAGMA).await.map_db_error()?;
        }
        Ok(transaction)
    }

    /// Begins a transaction of one statement: its commit is that of all transactions that wait.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_one(&self) -> Result<WriteTransaction> {
        self.begin().await
    }

    /// The connection, outside of transactions.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn outside_transactions(&self) -> Result<WriterConnection> {
        let held = commit(self.acquire().await?).await?;
        let mut connection = self.pool.connection().await?;
        super::before_write(&mut connection, self.wait).await.map_db_error()?;
        Ok(WriterConnection { connection, _held: held })
    }

    async fn acquire(&self) -> Result<WriterGuard> {
        if let Some(held) = self.lock.try_acquire() {
            return Ok(held);
        }
        let begun = Instant::now();
        let held = timeout(self.wait, self.lock.acquire()).await;
        metrics::connection_waited(begun.elapsed(), held.is_ok());
        held.map_err(|_| Error::database("other writers took too long"))
    }

    async fn join(&self, mut held: WriterGuard) -> Result<WriteTransaction> {
        let is_first = held.group.is_none();
        if let Some(group) = &mut held.group {
            let begun = group.connection.batch_execute(SAVEPOINT).await.map_db_error();
            if let Err(error) = begun {
                held.fail(&error);
                return Err(error);
            }
            group.members += 1;
        } else {
            let mut connection = self.pool.connection().await?;
            super::begin(&mut connection, self.wait).await.map_db_error()?;
            held.group =
                Some(Group { connection, members: 1, is_long: false, outcome: watch::Sender::new(None) });
        }
        Ok(WriteTransaction { held: Some(held), is_first })
    }
}

/// Commits the group, if one is open, on a blocking thread.
async fn commit(mut held: WriterGuard) -> Result<WriterGuard> {
    if held.group.is_none() {
        return Ok(held);
    }
    let committing = spawn_blocking(move || {
        held.commit();
        held
    });
    committing.await.map_err(Error::internal)
}

/// The result of a statement of the writer. It has ended when its future is polled: it ran on this thread.
fn poll_ended(statement: impl Future<Output = QueryResult<()>>) -> QueryResult<()> {
    statement.now_or_never().unwrap_or(Err(diesel::result::Error::BrokenTransactionManager))
}

impl State {
    /// Commits the group, if one is open, and publishes the result to its transactions. Waits for the disk.
    fn commit(&mut self) {
        let Some(Group { mut connection, outcome, is_long, .. }) = self.group.take() else { return };
        let committed =
            poll_ended(<Conn as AsyncConnection>::TransactionManager::commit_transaction(&mut *connection));
        if committed.is_err() {
            // Closes it, which rolls back whatever is open.
            drop(Object::take(connection));
        } else if is_long && poll_ended(connection.batch_execute(super::SMALL_CACHE_PRAGMAS)).is_err() {
            tracing::warn!("the writer keeps the cache of a long transaction");
        }
        outcome.send_replace(Some(committed.map_err(|error| error.to_string().into())));
    }

    /// Rolls back the current transaction. The others of its group are left to be committed.
    fn undo(&mut self, is_first: bool) -> Result<()> {
        let Some(group) = &mut self.group else { return Ok(()) };
        let connection = &mut *group.connection;
        let undone = if is_first {
            poll_ended(<Conn as AsyncConnection>::TransactionManager::rollback_transaction(connection))
        } else {
            poll_ended(connection.batch_execute(ROLLBACK_TO_SAVEPOINT))
        };
        let undone = undone.map_db_error();
        match &undone {
            Ok(()) if is_first => self.group = None,
            Ok(()) => {}
            Err(error) => self.fail(error),
        }
        undone
    }

    /// Ends the group: SQLite has rolled it back, or cannot.
    fn fail(&mut self, cause: &Error) {
        let Some(Group { connection, outcome, .. }) = self.group.take() else { return };
        drop(Object::take(connection));
        outcome.send_replace(Some(Err(cause.to_string().into())));
    }
}

/// An open transaction. When dropped, it is rolled back at once.
pub struct WriteTransaction {
    /// `None` after its end.
    held: Option<WriterGuard>,
    /// Whether it is the first of its group. It has no savepoint: its rollback is that of the group, which no other
    /// transaction has joined.
    is_first: bool,
}

impl WriteTransaction {
    /// Its connection.
    pub(crate) fn connection(&mut self) -> Option<&mut Conn> {
        Some(&mut *self.held.as_mut()?.group.as_mut()?.connection)
    }

    /// Commits it, together with others.
    ///
    /// # Errors
    /// `Unavailable` when the commit fails: nothing was written.
    pub(crate) async fn commit(mut self) -> Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        let Some(group) = &mut held.group else { return Err(Error::internal("the transaction is over")) };
        if !self.is_first
            && let Err(error) = group.connection.batch_execute(RELEASE_SAVEPOINT).await.map_db_error()
        {
            held.fail(&error);
            return Err(error);
        }
        let waiting = CommitWaiter { outcome: group.outcome.subscribe(), lock: held.lock() };
        drop(held);
        waiting.committed().await
    }

    /// Rolls it back. Commits those of its group that have ended: their callers may have been dropped.
    ///
    /// # Errors
    /// `Unavailable` or `Internal` when SQLite cannot; its connection is closed then.
    pub(crate) async fn rollback(mut self) -> Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        held.undo(self.is_first)?;
        commit(held).await.map(drop)
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        let Some(mut held) = self.held.take() else { return };
        match held.undo(self.is_first) {
            Ok(()) => held.commit(),
            Err(error) => tracing::warn!(%error, "a dropped transaction could not be rolled back"),
        }
    }
}

/// A transaction that ended, and waits for the commit.
struct CommitWaiter {
    lock: Arc<WriteLock<State>>,
    outcome: watch::Receiver<Option<Outcome>>,
}

impl CommitWaiter {
    async fn committed(self) -> Result<()> {
        yield_now().await;
        let mut outcome = self.outcome.clone();
        let held = tokio::select! {
            biased;
            _ = outcome.changed() => None,
            held = self.lock.acquire() => Some(held),
        };
        // It may have been committed meanwhile, and the next group begun.
        if let Some(mut held) = held
            && self.outcome.borrow().is_none()
        {
            // The blocking thread gives the right back: this one may be busy.
            spawn_blocking(move || held.commit()).await.map_err(Error::internal)?;
        }
        let outcome = self.outcome.borrow().clone();
        let committed = outcome.unwrap_or_else(|| Err("it was interrupted".into()));
        committed.map_err(|cause| Error::database(format!("the commit failed: {cause}")))
    }
}

/// Commits, if its caller was dropped while it waited: there may be no next writer. If another transaction is open, that
/// one commits.
impl Drop for CommitWaiter {
    fn drop(&mut self) {
        if self.outcome.borrow().is_none()
            && let Some(mut held) = self.lock.try_acquire()
        {
            held.commit();
        }
    }
}

/// The connection of the writer, outside of transactions.
pub struct WriterConnection {
    connection: Object<Conn>,
    _held: WriterGuard,
}

impl WriterConnection {
    /// Its statement has committed itself.
    #[expect(clippy::unused_async, reason = "on the other engine it may be a statement")]
    pub(crate) async fn commit(self) -> Result<()> {
        Ok(())
    }
}

impl Deref for WriterConnection {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.connection
    }
}

impl DerefMut for WriterConnection {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.connection
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
