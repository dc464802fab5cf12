//! The job worker: claims jobs, runs them, renews its leases (contract 09 A.5).

use crate::metrics::{self, LeasedWork};
use crate::worker_loop::{POLL_INTERVAL, WorkSource, WorkerSlots, is_running, pause, run_loop};
use crate::{CommandExecutor, Store};
use async_trait::async_trait;
use civitas_jobs::{HEARTBEAT, Job, JobEndOutcome, JobFailure, JobStore, LEASE, MAX_ATTEMPTS, next_attempt};
use civitas_kernel::{Error, JobId, Result, clock, sortable_id};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

/// The interval of the search for jobs of lost workers.
const RECLAIM: Duration = Duration::from_secs(5);
/// The delays of a job after each fault of the machine; the last one repeats.
const WAITS: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Runs jobs until it is stopped.
pub struct JobWorker {
    commands: Arc<CommandExecutor>,
    /// Its name in leases.
    name: String,
    capacity: WorkerSlots,
    /// The jobs that it has: it renews the leases of these alone. A job that was claimed by a statement whose answer was
    /// lost is released when its lease ends.
    running: Mutex<HashSet<JobId>>,
}

impl JobWorker {
    /// A worker of these commands.
    pub fn new(commands: Arc<CommandExecutor>, capacity: WorkerSlots) -> Self {
        Self { commands, name: sortable_id().to_string(), capacity, running: Mutex::default() }
    }

    /// Runs jobs until `stop` is true; then waits for running jobs, and gives back those that do not end in time.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let capacity = self.capacity;
        let worker = Arc::new(self);
        let renewal = tokio::spawn(keep_leases(worker.clone()));
        run_loop(worker.clone(), capacity, stop).await;
        renewal.abort();
        worker.release().await;
    }

    fn jobs(&self) -> &dyn JobStore {
        self.commands.store().jobs()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn running(&self) -> MutexGuard<'_, HashSet<JobId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back the jobs that still run after the worker has stopped, without counting their start.
    async fn release(&self) {
        if self.running().is_empty() {
            return;
        }
        match self.jobs().release_all(self.name(), clock::now()).await {
            Ok(released) => tracing::info!(released, "jobs that did not end in time were given back"),
            Err(error) => tracing::warn!(%error, "jobs that did not end in time wait until their leases end"),
        }
    }
}

#[async_trait]
impl WorkSource for JobWorker {
    type Item = Job;

    async fn claim(&self, limit: i64) -> Vec<Job> {
        let now = clock::now();
        let claimed = self.jobs().claim(self.name(), now, now + LEASE, limit).await;
        let claimed = claimed.unwrap_or_else(|error| {
            tracing::warn!(%error, "no jobs could be claimed");
            Vec::new()
        });
        self.running().extend(claimed.iter().map(|job| job.id));
        claimed
    }

    async fn execute(&self, job: Job) {
        run_one(&self.commands, self.name(), &job).await;
        self.running().remove(&job.id);
    }

    async fn wait(&self) {
        self.jobs().wait(POLL_INTERVAL).await;
    }
}

/// Takes over the jobs of a previous process at once, before their leases expire. Call it before the workers start, and
/// only if no other worker is running. Tries until the database can be written, or `stop` is true.
pub async fn reclaim_all_jobs(store: &dyn Store, mut stop: watch::Receiver<bool>) {
    while is_running(&stop) {
        let now = clock::now();
        let taken = async {
            let jobs = store.jobs().reclaim_all(now, &JobFailure::worker_lost()).await?;
            Ok::<_, Error>(jobs + store.tasks().reclaim_all(now).await?)
        };
        match taken.await {
            Ok(0) => return,
            Ok(taken) => {
                return tracing::warn!(taken, "unfinished jobs of the previous server were taken over");
            }
            Err(error) => tracing::warn!(%error, "the search for unfinished jobs failed"),
        }
        pause(POLL_INTERVAL, &mut stop).await;
    }
}

/// Renews the leases of this worker, and releases jobs of lost workers. While the database cannot be written, no worker
/// can renew its leases; such workers are not lost. After such a fault the search for lost workers waits until all
/// running workers had time to renew.
async fn keep_leases(worker: Arc<JobWorker>) {
    let mut renewals = LeaseRenewals::new(HEARTBEAT.unsigned_abs());
    let mut ticks = interval(RECLAIM);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let jobs = worker.jobs();
    loop {
        ticks.tick().await;
        if renewals.is_due(Instant::now()) {
            let running: Vec<JobId> = worker.running().iter().copied().collect();
            let renewed = jobs.renew(worker.name(), &running, clock::now() + LEASE).await;
            if let Err(error) = &renewed {
                tracing::warn!(%error, "the leases could not be renewed");
            }
            renewals.record(Instant::now(), renewed.is_ok());
        }
        if !renewals.may_reclaim(Instant::now()) {
            continue;
        }
        match jobs.reclaim(clock::now(), &JobFailure::worker_lost()).await {
            Ok(0) => {}
            Ok(lost) => {
                tracing::warn!(lost, "jobs of lost workers were released");
                metrics::leases_lost(LeasedWork::Job, lost);
            }
            Err(error) => {
                tracing::warn!(%error, "the search for jobs of lost workers failed");
                renewals.record(Instant::now(), false);
            }
        }
    }
}

/// The times of the last renewal of the leases and of its last failure.
struct LeaseRenewals {
    period: Duration,
    /// The last success; `None` after a failure.
    succeeded: Option<Instant>,
    /// The last failure.
    failed: Option<Instant>,
}

impl LeaseRenewals {
    fn new(period: Duration) -> Self {
        Self { period, succeeded: None, failed: None }
    }

    /// Whether it is time to renew: a period after the last success, and after a failure at once.
    fn is_due(&self, now: Instant) -> bool {
        self.succeeded.is_none_or(|at| now - at >= self.period)
    }

    fn record(&mut self, now: Instant, success: bool) {
        if success {
            self.succeeded = Some(now);
        } else {
            self.succeeded = None;
            self.failed = Some(now);
        }
    }

    /// Whether every running worker had time to renew its leases since the last failure.
    fn may_reclaim(&self, now: Instant) -> bool {
        self.succeeded.is_some() && self.failed.is_none_or(|at| now - at >= self.period * 2)
    }
}

/// Runs one job to an outcome. After a panic the job has failed, and the worker continues. A fault of the machine
/// (database unreachable, disk full) is not an outcome: the worker keeps the lease and runs the job again until the
/// fault is over. This does not count as an attempt. A fault that concerns this job alone, such as a lock of another program,
/// does not keep the worker from others: the job is given back after a while.
async fn run_one(commands: &Arc<CommandExecutor>, worker: &str, job: &Job) {
    let (begun, mut waits) = (Instant::now(), WAITS.into_iter());
    loop {
        let outcome = {
            let (commands, worker, job) = (commands.clone(), worker.to_owned(), job.clone());
            tokio::spawn(async move { commands.execute_job(&worker, &job).await }).await
        };
        let outcome = outcome.unwrap_or_else(|panic| Err(Error::internal(panic)));
        let end = match outcome {
            Ok(finish) => Ok((finish, "completed")),
            Err(fault @ Error::Unavailable(_)) => Err(fault),
            Err(error) => store_failure(commands, worker, job, error).await,
        };
        match end {
            Ok((JobEndOutcome::Lost, _)) => {
                tracing::warn!(job = %job.id, "another worker owns the job; nothing was stored");
                return metrics::job_ended("lost");
            }
            Ok((_, outcome)) => return metrics::job_ended(outcome),
            Err(fault) => {
                metrics::job_ended("waited");
                let wait = waits.next().unwrap_or(MAX_WAIT);
                tracing::warn!(job = %job.id, %fault, ?wait, "the job waits until a fault of the machine is over");
                if begun.elapsed() > MAX_WAIT && give_back(commands, worker, job, wait).await {
                    return;
                }
                sleep(wait).await;
            }
        }
    }
}

/// Ends the lease of a job that is due again after a delay. Returns whether that was stored.
async fn give_back(commands: &CommandExecutor, worker: &str, job: &Job, delay: Duration) -> bool {
    commands.store().jobs().release(worker, job.id, clock::now() + delay, true).await.is_ok()
}

/// Stores a failure. A transient error is tried again after a delay, until the attempts are used up; other errors are
/// final. Returns the outcome beside the result of storing it.
async fn store_failure(
    commands: &CommandExecutor,
    worker: &str,
    job: &Job,
    error: Error,
) -> Result<(JobEndOutcome, &'static str)> {
    let jobs = commands.store().jobs();
    let now = clock::now();
    if error.is_transient() {
        tracing::warn!(job = %job.id, attempt = job.attempts, %error, "the job met a transient error");
        if let Some(delay) = next_attempt(job.attempts).filter(|_| job.attempts < MAX_ATTEMPTS) {
            return Ok((jobs.release(worker, job.id, now + delay, false).await?, "retried"));
        }
        return Ok((jobs.end(worker, job.id, Err(&JobFailure::worker_lost()), now).await?, "failed"));
    }
    if error.cause().is_some() {
        tracing::error!(job = %job.id, %error, "the job failed");
    }
    Ok((jobs.end(worker, job.id, Err(&JobFailure::from(&error)), now).await?, "failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_workers_are_looked_for_when_all_living_ones_could_renew_their_leases() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut renewals = LeaseRenewals::new(Duration::from_secs(20));
        assert!(renewals.is_due(at(0)) && !renewals.may_reclaim(at(0)));
        renewals.record(at(0), true);
        assert!(!renewals.is_due(at(19)) && renewals.is_due(at(20)) && renewals.may_reclaim(at(0)));
        renewals.record(at(20), false);
        assert!(renewals.is_due(at(21)), "a failure is made up for at once");
        assert!(!renewals.may_reclaim(at(100)), "not before it was");
        renewals.record(at(100), true);
        assert!(renewals.may_reclaim(at(100)), "long after the failure");
        renewals.record(at(120), false);
        renewals.record(at(125), true);
        assert!(!renewals.may_reclaim(at(159)) && renewals.may_reclaim(at(160)));
    }
}
