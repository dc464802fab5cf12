//! Settings of the connections, and their pools.

use crate::engine::{Conn, Writer};
use crate::waiters::Waiters;
use civitas_application::metrics;
use civitas_kernel::{Error, Locales, Result};
use deadpool::Runtime;
use deadpool::managed::Timeouts;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use futures_util::FutureExt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// The settings of the connections.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `sqlite://PATH` or `postgres://...`.
    pub url: String,
    /// The most connections; on SQLite the most readers, in addition to the one writer.
    pub pool_size: usize,
    /// The time limit for getting a connection; then the error is `Unavailable`.
    pub wait: Duration,
    /// The languages of the deployment: filters search the texts of each.
    pub locales: Locales,
    /// The time limits of statements.
    pub limits: StatementLimits,
    /// Whether PostgreSQL itself keeps transactions of one organization away from rows of others. Ignored on SQLite.
    pub row_level_security: bool,
    /// Whether lookups are cached, and answers where the engine has an epoch.
    pub caches: bool,
}

/// The time limits of single statements; then the error is `Timeout`. Ten times the default in builds without
/// optimization, which are slow.
#[derive(Debug, Clone, Copy)]
pub struct StatementLimits {
    /// For a statement outside a transaction that reads.
    pub read: Duration,
    /// For any other statement.
    pub write: Duration,
}

impl Default for StatementLimits {
    fn default() -> Self {
        let slowness = if cfg!(debug_assertions) { 10 } else { 1 };
        Self { read: Duration::from_secs(2) * slowness, write: Duration::from_secs(10) * slowness }
    }
}

/// The pools of a process.
pub(crate) struct ProcessPools {
    /// For requests.
    pub(crate) requests: Pools,
    /// For background work: requests that wait for a connection do not delay it.
    pub(crate) background: Pools,
}

/// The pools of connections; on some engines several of them are one. Clones share the connections.
#[derive(Clone)]
pub(crate) struct Pools {
    /// For reads.
    pub(crate) reader: ConnectionPool,
    /// For reads that may take long: their statements do not run on the caller's thread. `None` where `reader` is for
    /// them too.
    pub(crate) searcher: Option<ConnectionPool>,
    /// For writes.
    pub(crate) writer: Writer,
}

impl Pools {
    /// Whether a request that begins now would wait so long for a connection that it is better refused. A request that
    /// writes reads before.
    pub(crate) fn are_overloaded(&self, writes: bool) -> bool {
        self.reader.is_overloaded() || writes && self.writer.is_overloaded()
    }
}

/// A pool of connections. Clones share them.
#[derive(Clone)]
pub(crate) struct ConnectionPool {
    pool: Pool<Conn>,
    waiters: Arc<Waiters>,
    /// The time limit for getting a connection.
    wait: Duration,
}

impl ConnectionPool {
    /// A pool of at most `size` connections. They are opened when they are needed.
    pub(crate) fn new(
        manager: AsyncDieselConnectionManager<Conn>,
        size: usize,
        wait: Duration,
    ) -> Result<Self> {
        let timeouts = Timeouts { wait: Some(wait), create: Some(wait), recycle: Some(wait) };
        let builder = Pool::builder(manager).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1);
        let pool = builder.build().map_err(Error::internal)?;
        Ok(Self { pool, waiters: Arc::default(), wait })
    }

    /// A connection. Measures the wait if there is no idle one.
    ///
    /// # Errors
    /// `Unavailable` when none is free in time, or the database does not answer.
    pub(crate) async fn connection(&self) -> Result<Object<Conn>> {
        let mut connection = pin!(self.pool.get());
        if let Some(connection) = connection.as_mut().now_or_never() {
            return connection.map_err(Error::database);
        }
        let waiter = self.waiters.enter();
        let connection = connection.await;
        metrics::connection_waited(waiter.elapsed(), connection.is_ok());
        connection.map_err(Error::database)
    }

    /// Whether callers that come now would wait long for a connection.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.waiters.are_late(self.wait)
    }
}
