//! Tasks: the handlers, and the worker that runs them.
//!
//! A new kind is a payload in a domain crate ([`civitas_kernel::TaskPayload`]), a [`TaskHandler`], and a line in
//! `server/src/wiring.rs`. Domain crates add tasks with [`civitas_kernel::TaskQueue`].

use crate::metrics::{self, LeasedWork};
use crate::worker_loop::{POLL_INTERVAL, WorkSource, WorkerSlots, run_loop};
use crate::{EventCommitter, Store};
use async_trait::async_trait;
use civitas_kernel::{Error, Result, clock};
use civitas_tasks::{LEASE, MAX_RUN, Task, TaskOutcome};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};
use tokio::sync::watch;

/// How long a task waits after a fault of the database.
const DATABASE_WAIT: Duration = Duration::seconds(5);

/// The environment of one run of a task.
#[derive(Clone, Copy)]
pub struct TaskContext<'a> {
    /// The ports on the pool; begins transactions.
    pub store: &'a dyn Store,
    /// Commits transactions with events.
    pub committer: &'a EventCommitter,
    /// The current time.
    pub now: OffsetDateTime,
}

/// Executes the tasks of one kind.
#[async_trait]
pub trait TaskHandler: Send + Sync + 'static {
    /// The [`civitas_kernel::TaskPayload::KIND`] of its tasks.
    fn kind(&self) -> &'static str;

    /// Executes a task. After a crash it may run again although it was done; its effect must be idempotent.
    ///
    /// # Errors
    /// After `Rejected`, `NotFound` and the like the task is given up. Any other error is tried again with increasing
    /// delays, eight times in all ([`civitas_tasks::next_attempt`]); so are a panic, and a run longer than
    /// [`MAX_RUN`]. A fault of the database ([`Error::is_database_error`]) does not count as an attempt.
    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome>;
}

/// Executes the tasks of one kind until it is stopped. Each kind has a worker of its own, so that a service that does not
/// answer delays only the tasks that wait for it. Tasks of other kinds are not claimed.
pub struct TaskWorker {
    store: Arc<dyn Store>,
    committer: EventCommitter,
    handler: Arc<dyn TaskHandler>,
}

impl TaskWorker {
    /// A worker with this handler.
    pub fn new(store: Arc<dyn Store>, committer: EventCommitter, handler: Arc<dyn TaskHandler>) -> Self {
        Self { store, committer, handler }
    }

    /// Executes at most `concurrency` tasks at once, until `stop` is true.
    pub async fn run(self, concurrency: usize, stop: watch::Receiver<bool>) {
        run_loop(Arc::new(self), WorkerSlots { running: concurrency, ahead: 0 }, stop).await;
    }

    /// Runs the handler; errors, panics and timeouts become an outcome.
    async fn outcome(&self, task: &Task) -> End {
        let (store, committer) = (self.store.clone(), self.committer.clone());
        let (handler, claimed) = (self.handler.clone(), task.clone());
        let turn = tokio::spawn(async move {
            let turn = TaskContext { store: &*store, committer: &committer, now: clock::now() };
            tokio::time::timeout(MAX_RUN.unsigned_abs(), handler.run(turn, &claimed)).await
        });
        let fault = match turn.await {
            Ok(Ok(Ok(outcome))) => return End::Counted(outcome),
            Ok(Ok(Err(error))) => error,
            Ok(Err(too_long)) => Error::Unavailable(too_long.into()),
            Err(panic) => Error::internal(panic),
        };
        if fault.is_database_error() {
            tracing::warn!(attempt = task.attempt, %fault, "the task waits until a fault of the database is over");
            return End::Uncounted(clock::now() + DATABASE_WAIT);
        }
        End::Counted(Self::after(task, &fault))
    }

    /// The outcome of an error that counts as an attempt.
    fn after(task: &Task, fault: &Error) -> TaskOutcome {
        if fault.cause().is_none() {
            return TaskOutcome::GiveUp(fault.description().into_owned().into());
        }
        if fault.is_transient() {
            tracing::warn!(attempt = task.attempt, %fault, "the task met a transient error");
        } else {
            tracing::error!(attempt = task.attempt, %fault, "the task met an internal error");
        }
        TaskOutcome::after_error(fault, task.attempt, clock::now())
    }

    async fn settle(&self, task: &Task, end: End) -> Result<bool> {
        let tasks = self.store.tasks();
        match end {
            End::Counted(TaskOutcome::Done) => {
                metrics::task_ended(&task.kind, "done");
                tasks.end(task).await
            }
            End::Counted(TaskOutcome::Again(due)) => {
                metrics::task_ended(&task.kind, "retried");
                tasks.postpone(task, due, true).await
            }
            End::Uncounted(due) => {
                metrics::task_ended(&task.kind, "waited");
                tasks.postpone(task, due, false).await
            }
            End::Counted(TaskOutcome::GiveUp(reason)) => {
                tracing::warn!(attempt = task.attempt, %reason, "the task is given up");
                metrics::task_ended(&task.kind, "given_up");
                tasks.end(task).await
            }
        }
    }
}

/// The end of a run.
enum End {
    /// The run counts as an attempt.
    Counted(TaskOutcome),
    /// A fault of the database: it does not count; retry not before this time.
    Uncounted(OffsetDateTime),
}

#[async_trait]
impl WorkSource for TaskWorker {
    type Item = Task;

    async fn claim(&self, limit: i64) -> Vec<Task> {
        let now = clock::now();
        let claimed = self.store.tasks().claim(&[self.handler.kind()], now, now + LEASE, limit).await;
        claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "no tasks could be claimed");
            Vec::new()
        })
    }

    #[tracing::instrument(
        name = "application.tasks.execute", skip_all,
        fields(task = %task.id, kind = task.kind, organization = task.organization.0)
    )]
    async fn execute(&self, task: Task) {
        let end = self.outcome(&task).await;
        match self.settle(&task, end).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::debug!("the task has ended, or was replaced by another one");
                metrics::leases_lost(LeasedWork::Task, 1);
            }
            Err(error) => {
                tracing::error!(%error, "the outcome of the task could not be stored; it will run again");
            }
        }
    }

    async fn wait(&self) {
        self.store.tasks().wait(POLL_INTERVAL).await;
    }
}
