//! Connections: the pools, or the one connection of an open transaction. Every port is implemented on [`Session`],
//! so that each method is the same inside and outside a transaction.

mod cached;
mod guards;
mod replicas;
mod statements;
mod transactions;

pub(crate) use guards::{ConnectionGuard, TransactionScope};
#[cfg(feature = "postgres")]
pub use replicas::replica_states;
use replicas::{Replica, Replicas};
pub(crate) use statements::{ExecuteExt, LoadModelsExt, LoadRowsExt, borrowed_connection};
use transactions::OpenTransaction;

use crate::change_counters::ChangeCounters;
use crate::database_clock::{DatabaseClock, ProcessClock};
use crate::engine;
use crate::lookups::LookupCache;
use crate::page_rows::RowReadLimits;
use crate::pools::{DatabaseSettings, Pools, ProcessPools};
use civitas_kernel::{Error, Locales, PageRequest, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use tokio::sync::Notify;

/// The pools, or one open transaction.
pub(crate) struct Session {
    source: ConnectionSource,
    shared: Arc<SharedState>,
    locales: Locales,
    /// What is read of the rows of a page.
    pub(crate) bounds: RowReadLimits,
}

/// What the sessions of a process share.
struct SharedState {
    wakeups: Wakeups,
    clock: DatabaseClock,
    lookups: LookupCache,
}

/// The kinds of work that workers of this process wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WorkKind {
    Jobs,
    Tasks,
    Events,
    Deliveries,
}

/// The number of kinds.
const KINDS: usize = 4;

/// One for each kind of work.
type Wakeups = [Notify; KINDS];

enum ConnectionSource {
    Database(Arc<Database>, PoolUse),
    Transaction(Box<OpenTransaction>),
}

/// Which pools a session uses.
#[derive(Clone)]
enum PoolUse {
    Requests,
    Background,
    /// Those of requests; reads are made at this replica.
    Replica(Arc<Replica>),
}

tokio::task_local! {
    /// Set while a value is loaded that is cached: it is read on the primary.
    static ON_PRIMARY: ();
}

/// The database outside of transactions.
struct Database {
    pools: ProcessPools,
    /// The replicas at which requests may read.
    replicas: Option<Replicas>,
    /// The time of the last successful write of [`Session::note_write_check`].
    written: std::sync::Mutex<Option<Instant>>,
}

/// Locks the row of a query that selects its number, until the transaction ends; whether there is a row. A macro,
/// because the types of locking queries cannot be named.
macro_rules! lock_row {
    ($session:expr, $row:expr) => {
        $crate::session::LoadRowsExt::<i64>::row_from(
            $crate::engine::dialect::for_update!($row),
            $session.for_update(),
        )
        .await?
        .is_some()
    };
}
pub(crate) use lock_row;

impl Session {
    /// Opens the pools and checks that the database answers. `clock`: that of the process.
    ///
    /// # Errors
    /// `Unavailable` when it does not; `Internal` for invalid settings.
    pub(crate) async fn open(settings: &DatabaseSettings, clock: ProcessClock) -> Result<Self> {
        let changes = Arc::default();
        let pools = engine::pools(settings, &changes)?;
        let replicas = engine::replica_pools(settings, &changes, &pools.requests.writer)?;
        let replicas = replicas.map(|(primary, replicas)| Replicas::start(primary, replicas));
        drop(pools.requests.writer.connection().await?);
        let session = Self::new((pools, replicas), changes, settings.locales.clone(), clock);
        session.database_time(clock()).await?;
        Ok(session)
    }

    /// These pools, whose writers count these changes, and replicas.
    pub(crate) fn new(
        (pools, replicas): (ProcessPools, Option<Replicas>),
        changes: Arc<ChangeCounters>,
        locales: Locales,
        clock: ProcessClock,
    ) -> Self {
        let database = Database { pools, replicas, written: std::sync::Mutex::default() };
        let source = ConnectionSource::Database(Arc::new(database), PoolUse::Requests);
        let (clock, lookups) = (DatabaseClock::new(clock), LookupCache::new(changes));
        let shared = Arc::new(SharedState { wakeups: Wakeups::default(), clock, lookups });
        Self { source, shared, locales, bounds: RowReadLimits::NONE }
    }

    /// The same database with the connections of background work.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    pub(crate) fn for_background(&self) -> Result<Self> {
        self.another(PoolUse::Background, self.bounds)
    }

    /// The same database; what is read of the rows of a page is within these bounds.
    ///
    /// # Errors
    /// `Internal` in a transaction.
    pub(crate) fn with_read_limits(&self, bounds: RowReadLimits) -> Result<Self> {
        let usage = match &self.source {
            ConnectionSource::Database(_, usage) => usage.clone(),
            ConnectionSource::Transaction(_) => PoolUse::Requests,
        };
        self.another(usage, bounds)
    }

    fn another(&self, usage: PoolUse, bounds: RowReadLimits) -> Result<Self> {
        let ConnectionSource::Database(database, _) = &self.source else {
            return Err(Error::internal("a transaction has one session"));
        };
        let source = ConnectionSource::Database(database.clone(), usage);
        Ok(Self { source, shared: self.shared.clone(), locales: self.locales.clone(), bounds })
    }

    /// The languages of the deployment.
    pub(crate) fn locales(&self) -> &Locales {
        &self.locales
    }

    /// A connection to read with. Hold one at a time: in a transaction there is only one.
    pub(crate) async fn read(&self) -> Result<ConnectionGuard<'_>> {
        self.read_with(|pools| &pools.reader).await
    }

    /// A connection for a read that may take long: a search, a filter, a count, a page far from the first. Hold one at
    /// a time.
    pub(crate) async fn read_long(&self) -> Result<ConnectionGuard<'_>> {
        self.read_with(|pools| pools.searcher.as_ref().unwrap_or(&pools.reader)).await
    }

    async fn read_with(&self, pool: fn(&Pools) -> &engine::Reader) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            ConnectionSource::Database(_, PoolUse::Replica(replica))
                if ON_PRIMARY.try_with(|()| ()).is_err() =>
            {
                let connection = ConnectionGuard::from_pool(pool(&replica.pools.requests)).await;
                connection.inspect_err(|error| replica.leave(error))
            }
            ConnectionSource::Database(database, usage) => {
                ConnectionGuard::from_pool(pool(database.pools(usage))).await
            }
            ConnectionSource::Transaction(open) => open.guard().await,
        }
    }

    /// A connection for one page of a list: [`Self::read`] for one of the first pages, whose cost does not depend on the
    /// length of the list, otherwise, and with a total, [`Self::read_long`]. `is_long`: the cost depends on it in any case,
    /// by filters, random order, or many records that are skipped.
    pub(crate) async fn read_page(&self, page: PageRequest, is_long: bool) -> Result<ConnectionGuard<'_>> {
        let is_long = is_long || page.is_counted || page.offset() > engine::dialect::SHORT_OFFSET;
        if is_long { self.read_long().await } else { self.read().await }
    }

    /// A connection to write one statement with. Hold one at a time, and [commit](ConnectionGuard::commit) it.
    pub(crate) async fn write(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            ConnectionSource::Database(database, usage) => Ok(ConnectionGuard::Writer(Box::new(
                database.pools(usage).writer.outside_transactions().await?,
            ))),
            ConnectionSource::Transaction(open) => open.guard().await,
        }
    }

    /// Whether the last successful write of [`Store::check_writable`](civitas_application::Store::check_writable) is
    /// more than 5 s ago. Never in a transaction.
    pub(crate) fn is_write_check_due(&self) -> bool {
        const INTERVAL: Duration = Duration::from_secs(5);
        let ConnectionSource::Database(database, _) = &self.source else { return false };
        let last = *database.written.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|at| at.elapsed() >= INTERVAL)
    }

    /// Notes that such a write succeeded.
    pub(crate) fn note_write_check(&self) {
        if let ConnectionSource::Database(database, _) = &self.source {
            *database.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
    }

    /// As [`Self::write`], for a locking read.
    ///
    /// # Errors
    /// `Internal` outside a transaction: the lock would end with its statement.
    pub(crate) async fn for_update(&self) -> Result<ConnectionGuard<'_>> {
        match &self.source {
            ConnectionSource::Database(..) => Err(Error::internal("a locking read needs a transaction")),
            ConnectionSource::Transaction(open) => open.guard().await,
        }
    }

    /// Groups several statements, all or nothing: in a new transaction on the pool, in the open transaction otherwise.
    pub(crate) async fn transaction(&self) -> Result<TransactionScope<'_>> {
        match &self.source {
            ConnectionSource::Database(..) => Ok(TransactionScope::Own(Box::new(self.begin_own().await?))),
            ConnectionSource::Transaction(_) => Ok(TransactionScope::Joined(self)),
        }
    }

    /// The same for one statement: where commits are not grouped, it costs no more than the statement.
    pub(crate) async fn transaction_of_one(&self) -> Result<TransactionScope<'_>> {
        let ConnectionSource::Database(database, usage) = &self.source else {
            return Ok(TransactionScope::Joined(self));
        };
        let transaction = database.pools(usage).writer.begin_one().await?;
        Ok(TransactionScope::Own(Box::new(self.in_transaction(transaction))))
    }

    /// Notifies workers of new work: at once, or after the commit.
    pub(crate) fn notify(&self, work: WorkKind) {
        match &self.source {
            ConnectionSource::Database(..) => notify(&self.shared.wakeups[work as usize]),
            ConnectionSource::Transaction(open) => {
                open.has_work[work as usize].store(true, Ordering::Relaxed);
            }
        }
    }

    /// Waits for a notification of this work, at most this long.
    pub(crate) async fn listen(&self, work: WorkKind, at_most: Duration) {
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

    /// The replicas, if there are any. Never in a transaction.
    fn replicas(&self) -> Option<&Replicas> {
        match &self.source {
            ConnectionSource::Database(database, _) => database.replicas.as_ref(),
            ConnectionSource::Transaction(_) => None,
        }
    }

    fn pools(&self) -> Result<&Pools> {
        match &self.source {
            ConnectionSource::Database(database, usage) => Ok(database.pools(usage)),
            ConnectionSource::Transaction(_) => Err(Error::internal("a transaction begins none")),
        }
    }
}

impl Database {
    fn pools(&self, usage: &PoolUse) -> &Pools {
        match usage {
            PoolUse::Background => &self.pools.background,
            PoolUse::Requests | PoolUse::Replica(_) => &self.pools.requests,
        }
    }
}

/// Wakes all waiting workers; if there is none, the next one that waits.
fn notify(wakeup: &Notify) {
    wakeup.notify_one();
    wakeup.notify_waiters();
}
