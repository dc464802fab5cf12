//! Settings of the connections, and their pools.

use crate::engine::{Conn, Writer};
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

/// The pools of connections; on some engines several of them are one.
pub(crate) struct Pools {
    /// For reads.
    pub(crate) reader: Pool<Conn>,
    /// For reads that may take long: their statements do not run on the caller's thread.
    pub(crate) searcher: Pool<Conn>,
    /// For writes.
    pub(crate) writer: Writer,
}

/// The settings of pools of both engines.
pub(crate) fn pool(
    manager: AsyncDieselConnectionManager<Conn>,
    size: usize,
    wait: Duration,
) -> Result<Pool<Conn>> {
    let timeouts = Timeouts { wait: Some(wait), create: Some(wait), recycle: Some(wait) };
    let builder = Pool::builder(manager).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1);
    builder.build().map_err(Error::internal)
}

/// A connection of the pool. Measures the wait if there is no idle one.
///
/// # Errors
/// `Unavailable` when none is free in time, or the database does not answer.
pub(crate) async fn connection(pool: &Pool<Conn>) -> Result<Object<Conn>> {
    let mut connection = pin!(pool.get());
    if let Some(connection) = connection.as_mut().now_or_never() {
        return connection.map_err(Error::database);
    }
    let begun = Instant::now();
    let connection = connection.await;
    metrics::connection_waited(begun.elapsed(), connection.is_ok());
    connection.map_err(Error::database)
}
