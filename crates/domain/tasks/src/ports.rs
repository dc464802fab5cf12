//! Ports: what workers need from outside.

use crate::Task;
use async_trait::async_trait;
use civitas_kernel::Result;
use std::time::Duration;
use time::OffsetDateTime;

/// Where tasks wait for workers. Not scoped to an organization: workers serve all of them.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Claims tasks of these kinds that are due, at most `limit`, the one that is due longest first. Each is started
    /// once more, and comes back at `until` unless its turn ends before: one task is claimed by one worker.
    ///
    /// Tasks of other kinds wait for a worker that knows them.
    async fn claim(
        &self,
        kinds: &[&'static str],
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Task>>;
    /// Makes all claimed tasks due at `now`. For a process without other workers. How many there were.
    async fn take_over(&self, now: OffsetDateTime) -> Result<u64>;
    /// Lets a claimed task wait until `due`. Whether it was still the worker's: not when its lease has ended and
    /// another one claimed it, nor when another task has taken its place or it was withdrawn.
    async fn postpone(&self, task: &Task, due: OffsetDateTime) -> Result<bool>;
    /// Removes a claimed task: it is done, or given up. Whether it was still the worker's. In the transaction of what
    /// the task does, a `false` that is answered with a rollback makes it take effect once.
    async fn end(&self, task: &Task) -> Result<bool>;
    /// Waits until a task may have been added, or for so long.
    async fn wait(&self, at_most: Duration);
}
