//! Connections: the pools, or the one connection of an open transaction. Every port is implemented on [`Session`],
//! so that each method is the same inside and outside a transaction.

use crate::database_clock::{DatabaseClock, ProcessClock};
use crate::engine::{self, Conn, Epoch};
use crate::failure::Stored;
use crate::pools::{Pools, Settings};
use civitas_application::metrics;
use civitas_kernel::{Error, Event, Locales, OrganizationId, PageRequest, Result, clock};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::{AsyncConnection, TransactionManager};
use futures_util::FutureExt;
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, Notify};

/// The pools, or one open transaction.
pub(crate) struct Session {
    source: Source,
    shared: Arc<Shared>,
    locales: Locales,
}

/// What the sessions of a process share.
struct Shared {
    wakeups: Wakeups,
    clock: DatabaseClock,
}

/// The kinds of work that workers of this process wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    Jobs,
    Tasks,
    Events,
    Deliveries,
}

/// The most rows that a list skips on the thread of its caller.
const SHORT_OFFSET: i64 = 1000;
/// The number of kinds.
const KINDS: usize = 4;

/// One for each kind of work.
type Wakeups = [Notify; KINDS];

enum Source {
    Database(Box<Database>),
    Transaction(Box<Open>),
}

/// The database outside of transactions.
struct Database {
    pools: Pools,
    epoch: Option<Epoch>,
    /// How long a write waits for the lock of another process.
    wait: Duration,
    /// The time of the last successful write of [`Session::note_write_check`].
    written: std::sync::Mutex<Option<Instant>>,
    /// As the setting `row_level_security`.
    confines: bool,
}

/// An open transaction.
struct Open {
    /// `None` after commit or rollback.
    connection: Mutex<Option<Object<Conn>>>,
    announced: std::sync::Mutex<Vec<(OrganizationId, Event)>>,
    /// The kinds of work that were added; their workers are notified after the commit.
    has_work: [AtomicBool; KINDS],
    /// As the setting `row_level_security`.
    confines: bool,
}

/// Locks the row of a query that selects its number, until the transaction ends; whether there is a row. A macro,
/// because the types of locking queries cannot be named.
macro_rules! lock_row {
    ($session:expr, $row:expr) => {
        $crate::engine::dialect::for_update!($row)
            .get_result::<i64>(&mut *$session.for_update().await?)
            .await
            .optional()
            .stored()?
            .is_some()
    };
}
pub(crate) use lock_row;

impl Session {
    /// Opens the pools and checks that the database answers.
    ///
    /// # Errors
    /// `Unavailable` when it does not; `Internal` for invalid settings.
    pub(crate) async fn open(settings: &Settings) -> Result<Self> {
        let pools = engine::pools(settings)?;
        drop(pools.writer.get().await.map_err(unavailable)?);
        if settings.row_level_security {
            let mut connection = pools.writer.get().await.map_err(unavailable)?;
            engine::check_confinement(&mut connection).await?;
        }
        let (epoch, confines) = (Epoch::open(settings)?, settings.row_level_security);
        let session = Self::over(pools, Some(epoch), settings.wait, settings.locales.clone(), confines);
        session.database_time(clock::now()).await?;
        Ok(session)
    }

    /// The same, with another clock as that of the process.
    pub(crate) async fn open_with_clock(settings: &Settings, clock: ProcessClock) -> Result<Self> {
        let session = Self::open(settings).await?;
        let shared = Shared { wakeups: Wakeups::default(), clock: DatabaseClock::new(clock) };
        Ok(Self { shared: Arc::new(shared), ..session })
    }

    /// These pools. `epoch`: `None` where nothing counts the commits.
    pub(crate) fn over(
        pools: Pools,
        epoch: Option<Epoch>,
        wait: Duration,
        locales: Locales,
        confines: bool,
    ) -> Self {
        let database = Database { pools, epoch, wait, written: std::sync::Mutex::default(), confines };
        let shared = Shared { wakeups: Wakeups::default(), clock: DatabaseClock::new(clock::now) };
        Self { source: Source::Database(Box::new(database)), shared: Arc::new(shared), locales }
    }

    /// The languages of the deployment.
    pub(crate) fn locales(&self) -> &Locales {
        &self.locales
    }

    /// A connection to read with. Hold one at a time: in a transaction there is only one.
    pub(crate) async fn read(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            Source::Database(database) => guard(&database.pools.reader).await,
            Source::Transaction(open) => open.guard().await,
        }
    }

    /// A connection for a read that may take long: a search, a filter, a count, a page far from the first. Hold one at
    /// a time.
    pub(crate) async fn read_long(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            Source::Database(database) => guard(&database.pools.searcher).await,
            Source::Transaction(open) => open.guard().await,
        }
    }

    /// A connection for one page of a list: [`Self::read`] for one of the first pages without filters, whose cost does
    /// not depend on the length of the list, otherwise [`Self::read_long`].
    pub(crate) async fn read_page(
        &self,
        page: PageRequest,
        is_filtered: bool,
    ) -> Result<ConnectionGuard<'_>> {
        if is_filtered || page.offset() > SHORT_OFFSET { self.read_long().await } else { self.read().await }
    }

    /// A connection to write one statement with. Hold one at a time.
    pub(crate) async fn write(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            Source::Database(database) => {
                let mut connection = guard(&database.pools.writer).await?;
                engine::before_write(&mut connection, database.wait).await.stored()?;
                Ok(connection)
            }
            Source::Transaction(open) => open.guard().await,
        }
    }

    /// Whether the last successful write of [`Store::check_writable`](civitas_application::Store::check_writable) is
    /// more than 5 s ago. Never in a transaction.
    pub(crate) fn is_write_check_due(&self) -> bool {
        const INTERVAL: Duration = Duration::from_secs(5);
        let Source::Database(database) = &self.source else { return false };
        let last = *database.written.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|at| at.elapsed() >= INTERVAL)
    }

    /// Notes that such a write succeeded.
    pub(crate) fn note_write_check(&self) {
        if let Source::Database(database) = &self.source {
            *database.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }

    /// A connection for a locking read. Hold one at a time.
    ///
    /// # Errors
    /// `Internal` outside a transaction: the lock would end with its statement.
    pub(crate) async fn for_update(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            Source::Database(_) => Err(Error::internal("a locking read needs a transaction")),
            Source::Transaction(open) => open.guard().await,
        }
    }

    /// Groups several statements, all or nothing: in a new transaction on the pool, in the open transaction otherwise.
    pub(crate) async fn atomic(&self) -> Result<Atomic<'_>> {
        Ok(match &self.source {
            Source::Database(_) => Atomic::Own(Box::new(self.begin_own().await?)),
            Source::Transaction(_) => Atomic::Joined(self),
        })
    }

    /// Checks that events can be recorded: always in a transaction, never on the pool, where they would be lost.
    /// Call it before the write.
    ///
    /// # Errors
    /// `Internal` when there are events and no transaction.
    pub(crate) fn check_recordable<T>(&self, events: &[T]) -> Result<()> {
        match &self.source {
            Source::Database(_) if !events.is_empty() => {
                Err(Error::internal("a write that announces events needs a transaction"))
            }
            _ => Ok(()),
        }
    }

    /// Records events of an organization in the transaction.
    ///
    /// # Errors
    /// As [`Self::check_recordable`].
    pub(crate) fn record_events(
        &self,
        organization: OrganizationId,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<()> {
        let events: Vec<_> = events.into_iter().map(|event| (organization, event)).collect();
        self.check_recordable(&events)?;
        if let Source::Transaction(open) = &self.source {
            open.announced.lock().unwrap_or_else(PoisonError::into_inner).extend(events);
        }
        Ok(())
    }

    /// The events recorded since the last call.
    pub(crate) fn take_announced(&self) -> Vec<(OrganizationId, Event)> {
        let Source::Transaction(open) = &self.source else { return Vec::new() };
        std::mem::take(&mut open.announced.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notifies workers of new work: at once, or after the commit.
    pub(crate) fn notify(&self, work: Work) {
        match &self.source {
            Source::Database(_) => notify(&self.shared.wakeups[work as usize]),
            Source::Transaction(open) => open.has_work[work as usize].store(true, Ordering::Relaxed),
        }
    }

    /// Waits for a notification of this work, at most this long.
    pub(crate) async fn listen(&self, work: Work, at_most: Duration) {
        // The caller polls in both cases.
        let _ = tokio::time::timeout(at_most, self.shared.wakeups[work as usize].notified()).await;
    }

    /// This time of the process as a time of the database's clock, in which the times of leases and the times at which
    /// work is due are stored: so that a node with a wrong clock neither takes the work of others nor leaves it.
    pub(crate) async fn database_time(&self, at: OffsetDateTime) -> Result<OffsetDateTime> {
        let clock = &self.shared.clock;
        if clock.is_outdated() {
            clock.measure(&mut *self.read().await?).await?;
        }
        Ok(at + clock.offset())
    }

    /// A number that changes with each commit, if the engine has a cheap one.
    pub(crate) fn epoch(&self) -> Option<u64> {
        match &self.source {
            Source::Database(database) => database.epoch.as_ref()?.now(),
            Source::Transaction(_) => None,
        }
    }

    /// Begins a transaction.
    pub(crate) async fn begin_own(&self) -> Result<Session> {
        let Source::Database(database) = &self.source else {
            return Err(Error::internal("a transaction begins none"));
        };
        let connection = connection(&database.pools.writer).await?;
        // Wrapped before BEGIN, so that a dropped future leaves no transaction open.
        let open = Open {
            connection: Mutex::new(Some(connection)),
            announced: std::sync::Mutex::default(),
            has_work: Default::default(),
            confines: database.confines,
        };
        let source = Source::Transaction(Box::new(open));
        let session = Session { source, shared: self.shared.clone(), locales: self.locales.clone() };
        engine::begin(&mut *session.write().await?, database.wait).await.stored()?;
        Ok(session)
    }

    /// Keeps the open transaction away from rows of other organizations, if the setting `row_level_security` is on.
    pub(crate) async fn confine(&self, organization: OrganizationId) -> Result<()> {
        let Source::Transaction(open) = &self.source else {
            return Err(Error::internal("only a transaction can be confined"));
        };
        if open.confines {
            engine::confine(&mut *open.guard().await?, organization).await.stored()?;
        }
        Ok(())
    }

    /// Commits the open transaction.
    pub(crate) async fn commit(&self) -> Result<()> {
        let Source::Transaction(open) = &self.source else {
            return Err(Error::internal("only a transaction can be committed"));
        };
        let mut connection = open.guard().await?;
        engine::commit(&mut connection).await.stored()?;
        drop(connection);
        open.connection.lock().await.take(); // back to the pool
        for (wakeup, has_work) in self.shared.wakeups.iter().zip(&open.has_work) {
            if has_work.load(Ordering::Relaxed) {
                notify(wakeup);
            }
        }
        Ok(())
    }

    /// Rolls the open transaction back.
    pub(crate) async fn rollback(&self) -> Result<()> {
        let Source::Transaction(open) = &self.source else { return Ok(()) };
        let mut connection = open.guard().await?;
        <Conn as AsyncConnection>::TransactionManager::rollback_transaction(&mut *connection)
            .await
            .stored()?;
        drop(connection);
        open.connection.lock().await.take();
        Ok(())
    }
}

impl Open {
    async fn guard(&self) -> Result<ConnectionGuard<'_>> {
        let connection = MutexGuard::try_map(self.connection.lock().await, |c| c.as_mut().map(|c| &mut **c));
        connection.map(ConnectionGuard::Shared).map_err(|_| Error::internal("the transaction is over"))
    }
}

/// Closes the connection of a transaction that was not ended (error, panic, dropped request), which rolls back at once.
/// In the pool it would keep its locks until its next use.
impl Drop for Open {
    fn drop(&mut self) {
        drop(self.connection.get_mut().take().map(Object::take));
    }
}

async fn guard(pool: &Pool<Conn>) -> Result<ConnectionGuard<'static>> {
    Ok(ConnectionGuard::Pooled(Box::new(connection(pool).await?)))
}

/// A connection of the pool. Measures the wait if there is no idle one.
async fn connection(pool: &Pool<Conn>) -> Result<Object<Conn>> {
    let mut connection = pin!(pool.get());
    if let Some(connection) = connection.as_mut().now_or_never() {
        return connection.map_err(unavailable);
    }
    let begun = Instant::now();
    let connection = connection.await;
    metrics::connection_waited(begun.elapsed(), connection.is_ok());
    connection.map_err(unavailable)
}

/// Wakes all waiting workers; if there is none, the next one that waits.
fn notify(wakeup: &Notify) {
    wakeup.notify_one();
    wakeup.notify_waiters();
}

fn unavailable(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::database(cause)
}

/// A connection. It is returned when the guard is dropped.
pub(crate) enum ConnectionGuard<'a> {
    /// Of the pool.
    Pooled(Box<Object<Conn>>),
    /// Of the open transaction.
    Shared(MappedMutexGuard<'a, Conn>),
}

impl Deref for ConnectionGuard<'_> {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        match self {
            Self::Pooled(connection) => connection,
            Self::Shared(connection) => connection,
        }
    }
}

impl DerefMut for ConnectionGuard<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        match self {
            Self::Pooled(connection) => connection,
            Self::Shared(connection) => connection,
        }
    }
}

/// Several statements that are committed together. When dropped, they are rolled back (or left to the open
/// transaction).
pub(crate) enum Atomic<'a> {
    /// A separate transaction.
    Own(Box<Session>),
    /// A part of the open transaction.
    Joined(&'a Session),
}

impl Atomic<'_> {
    /// Its connection. Hold one at a time, and none during the commit.
    pub(crate) async fn connection(&self) -> Result<ConnectionGuard<'_>> {
        match self {
            Self::Own(session) => session.write().await,
            Self::Joined(session) => session.write().await,
        }
    }

    /// Commits, or leaves that to the open transaction.
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Own(session) => Session::commit(&session).await,
            Self::Joined(_) => Ok(()),
        }
    }
}
