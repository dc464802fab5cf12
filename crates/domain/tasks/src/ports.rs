//! Ports: what workers need from outside.

use crate::Task;
use async_trait::async_trait;
use civitas_kernel::Result;
use std::time::Duration;
use time::OffsetDateTime;

/// The queue of tasks for workers. Not scoped to an organization: workers serve all of them.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Claims tasks of these kinds that are due, at most `limit`, the one that is due longest first. Each counts one
    /// more attempt, and is due again at `until` unless it ends before: one task is claimed by one worker.
    /// Tasks of other kinds wait for another worker. A task that cannot be read is given up, and left out.
    async fn claim(
        &self,
        kinds: &[&'static str],
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Vec<Task>>;
    /// Makes all claimed tasks due at `now`. For a process without other workers. Returns their number.
    async fn reclaim_all(&self, now: OffsetDateTime) -> Result<u64>;
    /// Postpones a claimed task until `due`. Whether the worker still owned it: not when its lease has expired and
    /// another one claimed it, nor when it was replaced or withdrawn. The attempt can be not counted, after a fault of
    /// the database.
    async fn postpone(&self, task: &Task, due: OffsetDateTime, is_counted: bool) -> Result<bool>;
    /// Removes a claimed task: it is done, or given up. Whether the worker still owned it. In the transaction of the
    /// task's effect, roll back on `false`: then the effect happens once.
    async fn end(&self, task: &Task) -> Result<bool>;
    /// Waits until a task may have been added, at most this long.
    async fn wait(&self, at_most: Duration);
}
