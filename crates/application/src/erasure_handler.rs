//! The handler of tasks that remove the data of a deleted account from other records.

use crate::{TaskContext, TaskHandler};
use async_trait::async_trait;
use civitas_accounts::EraseAccount;
use civitas_kernel::{Result, TaskPayload, clock};
use civitas_tasks::{Task, TaskOutcome};
use std::time::Duration;
use tokio::time::sleep;

/// The most rows of one batch.
const BATCH: i64 = 200;
/// The pause between two batches, in which others write.
const BETWEEN: Duration = Duration::from_millis(50);
/// The most batches of one run, which then ends before its lease.
const BATCHES: usize = 200;

/// The pause after the log could not be emptied, because somebody reads a former state. Most read for less than 10 s.
const LOG_PAUSE: Duration = Duration::from_secs(60);

/// Removes the jobs of a deleted account with their commands and results, the events with its data with their
/// deliveries, its refs of archives, the details of entries of the audit trail, and its links and sessions. The entries themselves stay:
/// their chain could not be verified without them. Then empties the log beside the database.
pub struct ErasureHandler;

#[async_trait]
impl TaskHandler for ErasureHandler {
    fn kind(&self) -> &'static str {
        EraseAccount::KIND
    }

    async fn run(&self, turn: TaskContext<'_>, task: &Task) -> Result<TaskOutcome> {
        let (EraseAccount { user }, of, store) = (task.read()?, task.organization, turn.store);
        let found = store.users().find(of, user).await?;
        if found.is_none_or(|found| found.deleted_at.is_none()) {
            return Ok(TaskOutcome::Done);
        }
        store.ended_credentials().remove_of_user(of, user).await?;
        store.idempotency_keys().remove_answers_of_user(of, user).await?;
        store.refs().remove(of, "user", &user.to_string()).await?;
        for _ in 0..BATCHES {
            let removed = store.job_log().remove_of_user(of, user, BATCH).await?
                + store.outbox().remove_of_user(of, user, BATCH).await?
                + store.audit().erase_user(of, user, BATCH).await?;
            if removed == 0 {
                let is_done = store.truncate_log().await?;
                return Ok(if is_done {
                    TaskOutcome::Done
                } else {
                    TaskOutcome::Again(clock::now() + LOG_PAUSE)
                });
            }
            sleep(BETWEEN).await;
        }
        Ok(TaskOutcome::Again(clock::now()))
    }
}
