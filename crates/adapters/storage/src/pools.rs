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
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};

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
    pub fn of_long_work(self) -> Self {
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

/// A pool of connections. Clones share them.
///
/// It may have several parts, one for each thread of the interface. On PostgreSQL tokio drives a connection on the thread
/// that opened it, and each answer for another thread has to wake that one; on SQLite what a connection holds stays in the
/// cache of one core. A thread whose part is in use takes a connection of another part, if that one has one or can open one.
#[derive(Clone)]
pub(crate) struct ConnectionPool {
    parts: Arc<[Pool<Conn>]>,
}

impl ConnectionPool {
    /// A pool of at most `size` connections. They are opened when they are needed.
    pub(crate) fn new(
        manager: AsyncDieselConnectionManager<Conn>,
        size: usize,
        wait: Duration,
    ) -> Result<Self> {
        Ok(Self { parts: [part(manager, size, wait)?].into() })
    }

    /// A pool of at most `size` connections, with a part for each thread that runs requests, if the parts are large enough.
    pub(crate) fn by_thread(
        manager: impl Fn() -> AsyncDieselConnectionManager<Conn>,
        size: usize,
        wait: Duration,
    ) -> Result<Self> {
        let threads = available_parallelism().map_or(1, usize::from);
        Self::for_threads(threads, manager, size, wait)
    }

    fn for_threads(
        threads: usize,
        manager: impl Fn() -> AsyncDieselConnectionManager<Conn>,
        size: usize,
        wait: Duration,
    ) -> Result<Self> {
        let parts = part_sizes(size, threads).map(|size| part(manager(), size, wait));
        Ok(Self { parts: parts.collect::<Result<_>>()? })
    }

    /// A connection. Measures the wait if there is no idle one.
    ///
    /// # Errors
    /// `Unavailable` when none is free in time, or the database does not answer.
    pub(crate) async fn connection(&self) -> Result<Object<Conn>> {
        let own = thread_number() % self.parts.len();
        let mut connection = pin!(self.parts[own].get());
        if let Some(connection) = connection.as_mut().now_or_never() {
            return connection.map_err(Error::database);
        }
        if let Some(other) = self.free_besides(own) {
            return other.get().await.map_err(Error::database);
        }
        let begun = Instant::now();
        let connection = connection.await;
        metrics::connection_waited(begun.elapsed(), connection.is_ok());
        connection.map_err(Error::database)
    }

    /// Another part with an idle connection, or one that can be opened, if this one already has its most connections.
    fn free_besides(&self, own: usize) -> Option<&Pool<Conn>> {
        let is_free = |part: &Pool<Conn>| {
            let status = part.status();
            status.available > 0 || status.size < status.max_size
        };
        if self.parts.len() == 1 || is_free(&self.parts[own]) {
            return None;
        }
        self.parts.iter().find(|part| is_free(part))
    }
}

fn part(manager: AsyncDieselConnectionManager<Conn>, size: usize, wait: Duration) -> Result<Pool<Conn>> {
    let timeouts = Timeouts { wait: Some(wait), create: Some(wait), recycle: Some(wait) };
    let builder = Pool::builder(manager).max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1);
    builder.build().map_err(Error::internal)
}

/// The sizes of the parts of a pool for so many threads: they differ by one at most.
fn part_sizes(size: usize, threads: usize) -> impl Iterator<Item = usize> {
    /// With fewer connections a part would often be in use while others have idle ones.
    const LEAST: usize = 4;
    let parts = (size / LEAST).clamp(1, threads.max(1));
    (0..parts).map(move |number| size / parts + usize::from(number < size % parts))
}

/// The number of this thread among those that run a runtime of their own, as the threads of the interface do; 0 for others,
/// whose tasks move from thread to thread.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::CurrentThread) => NEXT.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
    }
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_all_connections_of_a_pool_and_at_least_four_each() {
        let sizes = |size, threads| part_sizes(size, threads).collect::<Vec<_>>();
        assert_eq!(sizes(16, 2), [8, 8]);
        assert_eq!(sizes(16, 8), [4; 4]);
        assert_eq!(sizes(11, 4), [6, 5]);
        assert_eq!(sizes(16, 1), [16]);
        assert_eq!(sizes(3, 8), [3]);
        assert_eq!(sizes(1, 0), [1]);
    }

    #[cfg(feature = "sqlite")]
    mod with_connections {
        use super::super::*;

        const WAIT: Duration = Duration::from_millis(200);

        #[tokio::test]
        async fn a_thread_whose_part_is_in_use_takes_connections_of_another_one() {
            let manager = || AsyncDieselConnectionManager::new(":memory:");
            let pool = ConnectionPool::for_threads(2, manager, 8, WAIT).unwrap();
            let mut held = Vec::new();
            for _ in 0..8 {
                held.push(pool.connection().await.unwrap());
            }
            assert!(pool.parts.iter().all(|part| part.status().size == 4));
            assert!(pool.connection().await.is_err(), "all are in use");
            held.clear();
            assert!(pool.connection().await.is_ok());
        }
    }
}
