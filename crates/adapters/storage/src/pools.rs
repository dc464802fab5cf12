//! Settings of the connections, and their pools.

use crate::engine::{Conn, Reader, Writer};
use civitas_application::metrics;
use civitas_kernel::{Error, Locales, Result};
use deadpool::Runtime;
use deadpool::managed::Timeouts;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use futures_util::FutureExt;
use std::pin::pin;
use std::time::{Duration, Instant};

/// The settings of the connections.
#[derive(Debug, Clone)]
pub struct DatabaseSettings {
    /// `sqlite://PATH` or `postgres://...`.
    pub url: String,
    /// The address of a transaction pooler in front of the same PostgreSQL database. The pools connect to it, and each use of a
    /// connection is a transaction that begins with its settings. `None`: they connect to `url`.
    pub pooler_url: Option<String>,
    /// The addresses of replicas of the same PostgreSQL database, each a host of this address. `None`: there are none.
    pub read_url: Option<String>,
    /// The most connections; on SQLite the most readers, in addition to the one writer.
    pub pool_size: usize,
    /// The time limit for getting a connection; then the error is `Unavailable`.
    pub wait: Duration,
    /// The languages of the deployment: filters search the texts of each.
    pub locales: Locales,
    /// The time limits of statements.
    pub limits: StatementLimits,
}

/// The time limits of single statements; then the error is `Timeout`. Ten times the default in builds without
/// optimization, which are slow.
#[derive(Debug, Clone, Copy)]
pub struct StatementLimits {
    /// For a statement outside a transaction that reads.
    pub read: Duration,
    /// For any other statement.
    pub write: Duration,
    /// Until the system of a PostgreSQL server confirms what was sent to it; then the connection is lost. A network that
    /// loses everything costs so much, a server that does not answer the limit of the statement. Ignored on SQLite.
    pub unconfirmed: Duration,
    /// For the wait of a request's write for a lock, such as that of a row: then it gives its connection back, with the error
    /// `Unavailable`. Many times as long as a write holds a row (1 MB of extended data: a tenth of a second). Background work
    /// waits four fifths of the limit of its statement. Ignored on SQLite.
    pub lock: Duration,
}

impl StatementLimits {
    /// For work that nobody waits for, and that sends more than the system of a server buffers, as an import: while one of
    /// its statements waits for a lock, what follows is not confirmed.
    #[must_use]
    pub fn for_long_work(self) -> Self {
        Self { unconfirmed: self.write, lock: self.write * 4 / 5, ..self }
    }
}

impl Default for StatementLimits {
    fn default() -> Self {
        let slowness = if cfg!(debug_assertions) { 10 } else { 1 };
        let seconds = |number| Duration::from_secs(number) * slowness;
        Self { read: seconds(2), write: seconds(10), unconfirmed: seconds(2), lock: seconds(2) }
    }
}

/// The pools of a process.
pub(crate) struct ProcessPools {
    /// For requests.
    pub(crate) requests: Pools,
    /// For background work: requests that wait for a connection do not delay it.
    pub(crate) background: Pools,
}

/// The connections to a replica.
pub(crate) struct ReplicaPools {
    /// Its host and port.
    pub(crate) name: String,
    /// For requests. Their writer is that of the primary.
    pub(crate) requests: Pools,
    /// To measure its position.
    pub(crate) monitor: Reader,
}

/// The pools of connections; on some engines several of them are one. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Pools {
    /// For reads.
    pub(crate) reader: Reader,
    /// For reads that may take long: their statements do not run on the caller's thread. `None` where `reader` is for
    /// them too.
    pub(crate) searcher: Option<Reader>,
    /// For writes.
    pub(crate) writer: Writer,
}

/// A pool of connections. Clones share them.
#[derive(Clone)]
pub(crate) struct ConnectionPool(Pool<Conn>);

impl ConnectionPool {
    /// A pool of at most `size` connections. They are opened when they are needed.
    pub(crate) fn new(
        manager: AsyncDieselConnectionManager<Conn>,
        size: usize,
        wait: Duration,
    ) -> Result<Self> {
        let timeouts = Timeouts { wait: Some(wait), create: Some(wait), recycle: Some(wait) };
        let builder = Pool::builder(manager).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1);
        builder.build().map(Self).map_err(Error::internal)
    }

    /// A connection. Measures the wait if there is no idle one.
    ///
    /// # Errors
    /// `Unavailable` when none is free in time, or the database does not answer.
    pub(crate) async fn connection(&self) -> Result<Object<Conn>> {
        let mut connection = pin!(self.0.get());
        if let Some(connection) = connection.as_mut().now_or_never() {
            return connection.map_err(Error::database);
        }
        let begun = Instant::now();
        let connection = connection.await;
        metrics::connection_waited(begun.elapsed(), connection.is_ok());
        connection.map_err(Error::database)
    }
}
