//! The worker: claims jobs, runs them, keeps its leases alive (contract 09 A.5).

use crate::Commands;
use crate::shift::{POLL, Shift, work};
use async_trait::async_trait;
use civitas_jobs::{Failure, Finish, HEARTBEAT, Job, LEASE, MOST_ATTEMPTS, next_attempt};
use civitas_kernel::{Error, Result, clock, sortable_id};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// How often jobs of lost workers are looked for.
const RECLAIM: Duration = Duration::from_secs(5);

/// Runs jobs until it is told to stop.
pub struct Worker {
    commands: Arc<Commands>,
    /// Its name in leases.
    name: Arc<str>,
    /// How many jobs it runs at once.
    concurrency: usize,
}

impl Worker {
    /// A worker that runs so many jobs at once.
    pub fn new(commands: Arc<Commands>, concurrency: usize) -> Self {
        Self { commands, name: sortable_id().to_string().into(), concurrency }
    }

    /// Runs jobs until `stop` says so; then ends what runs, or lets its lease expire.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let keeper = tokio::spawn(keep_leases(self.commands.clone(), self.name.clone()));
        let concurrency = self.concurrency;
        work(Arc::new(self), concurrency, stop).await;
        keeper.abort();
    }
}

#[async_trait]
impl Shift for Worker {
    type Piece = Job;

    async fn claim(&self, limit: i64) -> Vec<Job> {
        let now = clock::now();
        let claimed = self.commands.store().jobs().claim(&self.name, now, now + LEASE, limit).await;
        claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "no jobs could be claimed");
            Vec::new()
        })
    }

    async fn carry_out(&self, job: Job) {
        run_one(&self.commands, &self.name, &job).await;
    }

    async fn wait(&self) {
        self.commands.store().jobs().wait(POLL).await;
    }
}

/// Renews the leases of this worker, and takes jobs of lost ones back.
async fn keep_leases(commands: Arc<Commands>, name: Arc<str>) {
    let mut heartbeat = interval(HEARTBEAT.unsigned_abs());
    let mut reclaim = interval(RECLAIM);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    reclaim.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let jobs = commands.store().jobs();
    loop {
        tokio::select! {
            _ = heartbeat.tick() => {
                if let Err(error) = jobs.renew(&name, clock::now() + LEASE).await {
                    tracing::warn!(%error, "the leases could not be renewed");
                }
            }
            _ = reclaim.tick() => match jobs.reclaim(clock::now(), &Failure::worker_lost()).await {
                Ok(0) => {}
                Ok(lost) => tracing::warn!(lost, "jobs of lost workers were taken back"),
                Err(error) => tracing::warn!(%error, "jobs of lost workers could not be looked for"),
            },
        }
    }
}

/// Runs one job to one of its ends. A panic is an end too: the job has failed, and the worker goes on.
async fn run_one(commands: &Arc<Commands>, worker: &str, job: &Job) {
    let outcome = {
        let (commands, worker, job) = (commands.clone(), worker.to_owned(), job.clone());
        tokio::spawn(async move { commands.perform(&worker, &job).await }).await
    };
    let outcome = outcome.unwrap_or_else(|panic| Err(Error::internal(panic)));
    let end = match outcome {
        Ok(Finish::Lost) => {
            tracing::warn!(job = %job.id, "another worker owns the job; nothing was kept");
            return;
        }
        Ok(_) => return,
        Err(error) => end_badly(commands, worker, job, error).await,
    };
    if let Err(error) = end {
        tracing::error!(job = %job.id, %error, "the end of the job could not be recorded; its lease will expire");
    }
}

/// A refusal is final; a passing fault is tried again after a delay, until the attempts are used up.
async fn end_badly(commands: &Commands, worker: &str, job: &Job, error: Error) -> Result<Finish> {
    let jobs = commands.store().jobs();
    let now = clock::now();
    if error.is_transient() {
        tracing::warn!(job = %job.id, attempt = job.attempts, %error, "the job met a passing fault");
        if let Some(delay) = next_attempt(job.attempts).filter(|_| job.attempts < MOST_ATTEMPTS) {
            return jobs.release(worker, job.id, now + delay, false).await;
        }
        return jobs.fail(worker, job.id, &Failure::worker_lost(), now).await;
    }
    if error.cause().is_some() {
        tracing::error!(job = %job.id, %error, "the job failed");
    }
    jobs.fail(worker, job.id, &Failure::from(&error), now).await
}
