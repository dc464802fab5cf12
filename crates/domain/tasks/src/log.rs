//! The tasks that wait, as administrators of the deployment see them.

use async_trait::async_trait;
use civitas_kernel::{LogPage, LogRequest, OrganizationId, Result, TaskId};
use time::OffsetDateTime;

/// Which tasks to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskFilter {
    /// Of these kinds.
    pub kinds: &'static [&'static str],
    /// Only those that had a failed attempt and wait for another one.
    pub is_retried: bool,
}

/// A task that is not done and was not given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingTask {
    /// Its id. It grows with the time at which the task was added.
    pub id: TaskId,
    /// The organization.
    pub organization: OrganizationId,
    /// Its kind.
    pub kind: String,
    /// What it is about, if there is one task for each subject.
    pub subject: Option<String>,
    /// The attempts that have begun.
    pub attempts: i64,
    /// Whether a worker has claimed it.
    pub is_claimed: bool,
    /// The time of the next attempt; for a claimed task, the time at which its lease expires.
    pub due_at: OffsetDateTime,
}

impl WaitingTask {
    /// The time at which it was added, in milliseconds; `None` if its id has no time.
    pub fn added_at(&self) -> Option<OffsetDateTime> {
        let (seconds, nanoseconds) = self.id.0.get_timestamp()?.to_unix();
        let nanoseconds = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()
    }
}

/// The log of waiting tasks. Not scoped to an organization: administrators of the deployment read it.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TaskLog: Send + Sync {
    /// Waiting tasks, the one that was added last first. The times in the start of the page are not used: ids have the
    /// order of the times.
    async fn page(&self, filter: &TaskFilter, page: LogRequest<TaskId>) -> Result<LogPage<WaitingTask>>;
    /// Makes tasks of these kinds that had a failed attempt due at `now`: all that are due later, at most `limit`, those
    /// that were added first. Claimed ones are left out. Returns their number.
    async fn bring_forward(&self, kinds: &[&'static str], now: OffsetDateTime, limit: i64) -> Result<u64>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::{clock, sortable_id};
    use uuid::Uuid;

    #[test]
    fn the_id_tells_when_a_task_was_added() {
        let task = |id| WaitingTask {
            id: TaskId(id),
            organization: OrganizationId(1),
            kind: "mail".to_owned(),
            subject: None,
            attempts: 0,
            is_claimed: false,
            due_at: OffsetDateTime::UNIX_EPOCH,
        };
        let added = task(sortable_id()).added_at().unwrap();
        assert!((clock::now() - added).whole_seconds().abs() < 60, "{added}");
        assert_eq!(task(Uuid::nil()).added_at(), None);
    }
}
