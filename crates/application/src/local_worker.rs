//! The worker of jobs in the same process, as the requests see it: a new job gets one of its free slots, and need not be
//! claimed then.
//!
//! Source: docs/decisions/0058-jobs-of-a-free-worker.md.

use crate::worker_loop::{Slot, Slots};
use civitas_jobs::{Job, JobStore, LEASE};
use civitas_kernel::{JobId, Result, clock, sortable_id};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A job that the worker gets from a request.
pub(crate) enum Given {
    /// It is stored, and claimed by the worker: run it in this slot.
    Claimed(Job, Slot),
    /// Whether it is stored is not known. Nobody runs it: release it.
    Unknown(JobId),
}

/// The worker of this process. Without one it has no slots.
pub(crate) struct LocalWorker {
    /// Its name in leases.
    pub(crate) name: String,
    pub(crate) slots: Slots,
    give: UnboundedSender<Given>,
    /// `None` after the worker has taken it.
    given: Mutex<Option<UnboundedReceiver<Given>>>,
}

impl Default for LocalWorker {
    fn default() -> Self {
        let (give, given) = unbounded_channel();
        let name = sortable_id().to_string();
        Self { name, slots: Slots::default(), give, given: Mutex::new(Some(given)) }
    }
}

impl LocalWorker {
    /// The jobs that it gets. `None` after the first call.
    pub(crate) fn given(&self) -> Option<UnboundedReceiver<Given>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes a free slot for this new job. `None`: the job must wait to be claimed.
    pub(crate) fn reserve(&self, id: JobId) -> Option<Reserved<'_>> {
        self.slots.take().map(|slot| Reserved { worker: self, id, slot: Some(slot) })
    }
}

/// A slot for a new job that is not stored yet.
pub(crate) struct Reserved<'a> {
    worker: &'a LocalWorker,
    id: JobId,
    /// `None` after the job has started.
    slot: Option<Slot>,
}

impl Reserved<'_> {
    /// Stores the job as claimed by the worker.
    pub(crate) async fn store(&self, jobs: &dyn JobStore, job: &Job) -> Result<()> {
        jobs.add_claimed(job, &self.worker.name, clock::now() + LEASE).await
    }

    /// Runs the job, which is stored.
    pub(crate) fn start(mut self, job: Job) {
        if let Some(slot) = self.slot.take() {
            // The worker takes its jobs until all slots are free.
            let _ = self.worker.give.send(Given::Claimed(job, slot));
        }
    }
}

impl Drop for Reserved<'_> {
    /// An error, or the end of the request, before it was known that the job is stored.
    fn drop(&mut self) {
        if self.slot.take().is_some() {
            let _ = self.worker.give.send(Given::Unknown(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_jobs::{JobOwner, JobPayload, MockJobStore};
    use civitas_kernel::{AnswerLanguages, ClientId, Error, OrganizationId, TokenId, random_job_id};
    use serde_json::Value;
    use tokio::sync::mpsc::error::TryRecvError;

    fn job() -> Job {
        let payload =
            JobPayload { name: String::new(), command: Value::Null, languages: AnswerLanguages::default() };
        Job {
            id: random_job_id(),
            organization: OrganizationId(1),
            owner: JobOwner { client: ClientId(1), user: None },
            token: TokenId(1),
            command_key: String::new(),
            payload,
            attempts: 1,
            created_at: clock::now(),
        }
    }

    #[test]
    fn without_a_worker_every_job_waits() {
        assert!(LocalWorker::default().reserve(random_job_id()).is_none());
    }

    #[tokio::test]
    async fn a_job_that_gets_a_slot_is_stored_as_claimed_and_runs_in_that_slot() {
        let local = LocalWorker::default();
        local.slots.add(1, 1);
        let (job, mut given) = (job(), local.given().unwrap());
        let mut jobs = MockJobStore::new();
        let name = local.name.clone();
        jobs.expect_add_claimed()
            .withf(move |_, worker, until| worker == name && *until > clock::now() + LEASE / 2)
            .once()
            .returning(|_, _, _| Ok(()));

        let slot = local.reserve(job.id).unwrap();
        assert!(local.reserve(random_job_id()).is_none(), "there is one slot");
        slot.store(&jobs, &job).await.unwrap();
        assert_eq!(given.try_recv().err(), Some(TryRecvError::Empty), "the job is not committed yet");
        slot.start(job.clone());

        let Given::Claimed(claimed, slot) = given.try_recv().unwrap() else { panic!("it is stored") };
        assert_eq!(claimed, job);
        assert!(local.reserve(random_job_id()).is_none(), "the job runs");
        drop(slot);
        assert!(local.reserve(random_job_id()).is_some());
    }

    #[tokio::test]
    async fn a_job_that_may_be_stored_is_released_and_its_slot_is_free() {
        let local = LocalWorker::default();
        local.slots.add(1, 1);
        let (job, mut given) = (job(), local.given().unwrap());
        let mut jobs = MockJobStore::new();
        jobs.expect_add_claimed().returning(|_, _, _| Err(Error::internal("the answer is lost")));

        let slot = local.reserve(job.id).unwrap();
        slot.store(&jobs, &job).await.unwrap_err();
        drop(slot);

        let Given::Unknown(id) = given.try_recv().unwrap() else { panic!("nobody knows") };
        assert_eq!(id, job.id);
        assert!(local.reserve(random_job_id()).is_some());
    }
}
