//! Where statements run, and how long they may take.

use crate::pools::StatementLimits;
use civitas_statement_limit::{Cancellation, run};
use diesel_async::sync_connection_wrapper::SpawnBlocking;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;

type Outcome<R> = Result<R, Box<dyn Error + Send + Sync>>;

/// Runs the statements of one connection. diesel-async's own runtime panics on current-thread runtimes, such as
/// actix-web's workers, when its caller is dropped during a statement: it waits in `block_in_place`.
pub struct Runtime {
    thread: StatementThread,
    limit: Duration,
}

/// The thread of a statement.
#[derive(Debug, Clone)]
pub enum StatementThread {
    /// That of the caller: for statements of a few microseconds.
    Caller,
    /// One of the blocking threads of the caller's runtime, when one of the slots is free: for searches. A search waits for
    /// its slot on its blocking thread: a wait in its caller would go on until that one is polled, which takes long on a
    /// busy thread.
    Blocking(Arc<Semaphore>),
}

impl Runtime {
    /// A runtime whose statements end with the error `interrupted` after `limit`.
    pub fn new(thread: StatementThread, limit: Duration) -> Self {
        Self { thread, limit }
    }
}

impl SpawnBlocking for Runtime {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Outcome<R>> {
        // As one type: what follows is compiled once, not for each statement of the program.
        let task: Box<dyn FnOnce() -> R + Send> = Box::new(task);
        match &self.thread {
            StatementThread::Caller => {
                std::future::ready(Ok(run(self.limit, Cancellation::default(), task))).boxed()
            }
            StatementThread::Blocking(slots) => {
                RunningStatement::start(slots.clone(), self.limit, task).boxed()
            }
        }
    }

    /// Diesel calls it to open a connection by itself, which nothing here does.
    fn get_runtime() -> Self {
        Self::new(StatementThread::Caller, StatementLimits::default().write)
    }
}

/// A statement on another thread. When dropped, it is cancelled, and the caller waits for its end: the connection is
/// free afterwards. SQLite notices the cancellation after a few microseconds.
struct RunningStatement<R> {
    /// `None` of a search that was cancelled before it had a slot.
    result: JoinHandle<Option<R>>,
    cancellation: Cancellation,
    /// Ends the wait for a slot.
    cancelled: Arc<Notify>,
    /// Closed when the statement has ended, or will never start.
    ended: mpsc::Receiver<()>,
}

impl<R: Send + 'static> RunningStatement<R> {
    fn start(slots: Arc<Semaphore>, limit: Duration, task: impl FnOnce() -> R + Send + 'static) -> Self {
        let (cancellation, cancelled) = (Cancellation::default(), Arc::new(Notify::new()));
        let (running, ended) = mpsc::channel();
        let result = tokio::task::spawn_blocking({
            let (cancellation, cancelled) = (cancellation.clone(), cancelled.clone());
            move || {
                let begun = Instant::now();
                let turn = Handle::current().block_on(async {
                    tokio::select! {
                        biased;
                        () = cancelled.notified() => None,
                        slot = timeout(limit, slots.acquire()) => Some(slot),
                    }
                });
                // Without a slot no time is left: it is interrupted at its start, as if it had run for its time.
                let left = limit.saturating_sub(begun.elapsed());
                let outcome = turn.map(|_slot| run(left, cancellation, task));
                drop(running);
                outcome
            }
        });
        Self { result, cancellation, cancelled, ended }
    }
}

impl<R> Future for RunningStatement<R> {
    type Output = Outcome<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = self.result.poll_unpin(context);
        outcome.map(|outcome| outcome?.ok_or_else(|| "the search was cancelled".into()))
    }
}

impl<R> Drop for RunningStatement<R> {
    fn drop(&mut self) {
        self.cancellation.cancel();
        self.cancelled.notify_one();
        self.result.abort();
        // An error in each case: nothing is ever sent.
        let _ = self.ended.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::connection::SimpleConnection;
    use diesel::{Connection, SqliteConnection};

    /// A statement that never ends by itself.
    const ENDLESS: &str =
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

    fn connection() -> SqliteConnection {
        civitas_statement_limit::install();
        SqliteConnection::establish(":memory:").unwrap()
    }

    fn searching(slots: usize) -> StatementThread {
        StatementThread::Blocking(Arc::new(Semaphore::new(slots)))
    }

    fn endless(mut connection: SqliteConnection) -> impl FnOnce() -> String + Send {
        move || connection.batch_execute(ENDLESS).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_statement_that_takes_too_long_is_interrupted() {
        for thread in [StatementThread::Caller, searching(1)] {
            let mut runtime = Runtime::new(thread.clone(), Duration::from_millis(100));
            let message = runtime.spawn_blocking(endless(connection())).await.unwrap();
            assert_eq!(message, "interrupted", "{thread:?}");
        }
    }

    #[tokio::test]
    async fn a_search_does_not_delay_other_requests_of_its_thread() {
        let mut runtime = Runtime::new(searching(1), Duration::from_secs(1));
        let search = runtime.spawn_blocking(endless(connection()));
        let mut turns = 0;
        let others = async {
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                turns += 1;
            }
        };
        tokio::select! { _ = search => {}, () = others => {} }
        assert!(turns > 10, "the thread was free {turns} times");
    }

    #[tokio::test]
    async fn a_dropped_search_ends_at_once() {
        let mut runtime = Runtime::new(searching(1), Duration::from_secs(60));
        let (ended, results) = mpsc::channel();
        let statement = endless(connection());
        let search = runtime.spawn_blocking(move || ended.send(statement()));
        let started = Instant::now();
        assert!(tokio::time::timeout(Duration::from_millis(100), search).await.is_err());
        assert_eq!(results.recv().unwrap(), "interrupted");
        assert!(started.elapsed() < Duration::from_secs(30), "long before its limit");
    }

    #[tokio::test]
    async fn a_search_that_gets_no_slot_in_its_time_is_interrupted() {
        let thread = searching(1);
        let mut first = Runtime::new(thread.clone(), Duration::from_secs(60));
        let running = first.spawn_blocking(endless(connection()));
        tokio::time::sleep(Duration::from_millis(50)).await;
        let begun = Instant::now();
        let mut second = Runtime::new(thread, Duration::from_millis(100));
        assert_eq!(second.spawn_blocking(endless(connection())).await.unwrap(), "interrupted");
        assert!(begun.elapsed() < Duration::from_secs(30), "the other one still runs");
        drop(running);
    }

    #[tokio::test]
    async fn a_search_waits_for_a_slot_until_it_is_cancelled() {
        let thread = searching(1);
        let limit = Duration::from_secs(60);
        let (mut first, mut second) = (Runtime::new(thread.clone(), limit), Runtime::new(thread, limit));
        let begun = Instant::now();
        let running = first.spawn_blocking(endless(connection()));
        tokio::time::sleep(Duration::from_millis(50)).await;
        let waiting = second.spawn_blocking(|| panic!("it has no slot"));
        assert!(tokio::time::timeout(Duration::from_millis(50), waiting).await.is_err());
        assert!(begun.elapsed() < limit / 2, "a search that waits for a slot ends at once");
        drop(running);
        assert_eq!(second.spawn_blocking(|| 7).await.unwrap(), 7, "its slot is free again");
    }
}
