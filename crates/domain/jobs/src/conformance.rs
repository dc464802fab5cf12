//! Conformance tests: what every implementation of the ports must pass. Each is a function that fails on a violation.

mod fairness;
mod log;

pub use fairness::{
    a_flood_of_one_organization_delays_others_by_a_few_jobs, alternates_between_organizations,
    keeps_the_order_within_an_organization, retries_in_turn,
};
pub use log::{
    filters_the_log, pages_of_the_log_do_not_overlap, removes_jobs_that_ended, removes_the_jobs_of_a_user,
    shows_a_job_to_administrators,
};

use crate::{
    JOB_FIELDS, Job, JobAnswer, JobEndOutcome, JobFailure, JobField, JobFilter, JobLog, JobOwner, JobPayload,
    JobStatus, JobStore, JobSummary, LEASE,
};
use civitas_kernel::conformance::check_list;
use civitas_kernel::filter::{Comparison, FilterCondition, read_filters};
use civitas_kernel::testing::ALL;
use civitas_kernel::{
    AnswerLanguages, ClientId, FieldError, Locale, OrganizationId, PageRequest, Result, TokenId, UserId,
    conformance_world, random_job_id,
};
use serde_json::{Value, json};
use std::slice::from_ref;
use std::time::Instant;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

conformance_world! {
    /// A store, and two existing organizations.
    pub struct World {
        ports(jobs: JobStore, log: JobLog)
        /// A client that exists.
        client: ClientId,
        /// Its `client_id`.
        client_uid: &'static str,
        /// A user that exists.
        user: UserId,
        /// Its nickname.
        nickname: &'static str,
    }
}

const NOW: OffsetDateTime = datetime!(2026-03-01 09:30:00.123456 UTC);
const SERVICE: JobOwner = JobOwner { client: ClientId(1), user: None };
const PERSON: JobOwner = JobOwner { client: ClientId(1), user: Some(UserId(7)) };

fn job(organization: OrganizationId, owner: JobOwner, seconds: i64) -> Job {
    Job {
        id: random_job_id(),
        organization,
        owner,
        token: TokenId(3),
        command_key: "draft_proposals#create".to_owned(),
        payload: JobPayload {
            name: "votes#create".to_owned(),
            command: json!({"title": "Été", "n": seconds}),
            languages: AnswerLanguages::default(),
        },
        attempts: 0,
        created_at: NOW + Duration::seconds(seconds),
    }
}

/// A job that was not started, as listed.
fn pending(job: &Job) -> JobSummary {
    JobSummary {
        id: job.id,
        command_key: job.command_key.clone(),
        status: JobStatus::Pending,
        attempts: 0,
        created_at: job.created_at,
        updated_at: job.created_at,
    }
}

fn refusal() -> JobFailure {
    JobFailure {
        class: "ValidationError".into(),
        message: "Title cannot be blank".to_owned(),
        details: vec![FieldError::new("title", "blank", "Title cannot be blank")],
    }
}

impl World<'_> {
    async fn claim(&self, worker: &str, now: OffsetDateTime) -> Result<Vec<Job>> {
        self.jobs.claim(worker, now, now + LEASE, 100).await
    }

    async fn find(&self, job: &Job) -> Result<JobAnswer> {
        self.jobs.find(self.mine, job.id).await?.ok_or(civitas_kernel::Error::NotFound)
    }

    async fn listed(&self, owner: JobOwner, filters: &[JobFilter]) -> Result<Vec<JobSummary>> {
        Ok(self.jobs.list(self.mine, owner, filters, ALL).await?.items)
    }
}

/// A claimed job has all members of the work that was stored.
pub async fn keeps_every_member(world: World<'_>) -> Result<()> {
    let job = Job {
        payload: JobPayload {
            name: "votes#create".to_owned(),
            command: json!({"deep": [{"a": 1}], "nothing": null}),
            languages: AnswerLanguages {
                locales: Some([Locale::FR].into_iter().collect()),
                language: Some(Locale::FR),
            },
        },
        ..job(world.mine, PERSON, 0)
    };
    world.jobs.add(&job).await?;
    assert_eq!(
        world.find(&job).await?,
        JobAnswer { owner: PERSON, summary: pending(&job), result: None, failure: None }
    );
    assert_eq!(world.claim("w", NOW).await?, [Job { attempts: 1, ..job }]);
    Ok(())
}

/// No organization sees or removes another's jobs.
pub async fn isolates_organizations(world: World<'_>) -> Result<()> {
    let mine = job(world.mine, SERVICE, 0);
    world.jobs.add(&mine).await?;
    assert_eq!(world.jobs.find(world.other, mine.id).await?, None);
    assert!(world.jobs.list(world.other, SERVICE, &[], ALL).await?.items.is_empty());
    assert!(!world.jobs.remove(world.other, SERVICE, mine.id).await?);
    assert_eq!(world.find(&mine).await?.summary, pending(&mine));
    Ok(())
}

/// A service token does not see jobs of its client's user tokens, user tokens do not see those of the service token,
/// and another client sees none of them.
pub async fn keeps_owners_apart(world: World<'_>) -> Result<()> {
    let stranger = JobOwner { client: ClientId(2), user: None };
    let other_person = JobOwner { user: Some(UserId(8)), ..PERSON };
    let owners = [SERVICE, PERSON, stranger, other_person];
    let mut jobs = Vec::new();
    for owner in owners {
        let job = job(world.mine, owner, 0);
        world.jobs.add(&job).await?;
        jobs.push(job);
    }
    for (owner, job) in owners.into_iter().zip(&jobs) {
        assert_eq!(world.listed(owner, &[]).await?, [pending(job)], "{owner:?}");
        for foreign in owners.into_iter().filter(|o| *o != owner) {
            assert!(!world.jobs.remove(world.mine, foreign, job.id).await?, "{foreign:?}");
        }
        assert!(world.jobs.remove(world.mine, owner, job.id).await?);
        assert!(!world.jobs.remove(world.mine, owner, job.id).await?, "there is nothing left to remove");
    }
    Ok(())
}

/// Lists are ordered from the newest to the oldest; each job is on exactly one page.
pub async fn pages_do_not_overlap(world: World<'_>) -> Result<()> {
    let mut all = Vec::new();
    for seconds in [3, 1, 2, 1, 1] {
        let job = job(world.mine, SERVICE, seconds);
        world.jobs.add(&job).await?;
        all.push(pending(&job));
    }
    all.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    let mut seen = Vec::new();
    for number in 1..=3 {
        let request = PageRequest::new(number, 2);
        let page = world.jobs.list(world.mine, SERVICE, &[], request).await?;
        assert_eq!(page.has_more, number < 3);
        seen.extend(page.items);
    }
    assert_eq!(seen, all);
    check_list(async |raw, page| {
        let page = world.jobs.list(world.mine, SERVICE, &read_filters(JOB_FIELDS, &raw)?, page).await?;
        Ok(page.map(|job| (job.id, job.created_at, job.updated_at)))
    })
    .await
}

/// Jobs are found by command key and status.
pub async fn filters_by_key_and_status(world: World<'_>) -> Result<()> {
    let vote = Job { command_key: "vote_proposals#create".to_owned(), ..job(world.mine, SERVICE, 1) };
    let failed = job(world.mine, SERVICE, 0);
    for job in [&failed, &vote] {
        world.jobs.add(job).await?;
    }
    assert_eq!(world.jobs.claim("w", NOW, NOW + LEASE, 1).await?[0].id, failed.id);
    world.jobs.end("w", failed.id, Err(&refusal()), NOW).await?;
    let failed = JobSummary { status: JobStatus::Failed, attempts: 1, ..pending(&failed) };
    let vote = pending(&vote);
    let by = |field, condition| [JobFilter { field, condition }];
    let status = |name: &str| by(JobField::Status, FilterCondition::Text(Comparison::Eq(name.to_owned())));
    assert_eq!(world.listed(SERVICE, &status("failed")).await?, from_ref(&failed));
    assert!(world.listed(SERVICE, &status("completed")).await?.is_empty());
    let drafts = by(JobField::CommandKey, FilterCondition::Start("DRAFT_".to_owned()));
    assert_eq!(world.listed(SERVICE, &drafts).await?, [failed]);
    let both = [
        JobFilter { field: JobField::CommandKey, condition: FilterCondition::Matches("%#create".to_owned()) },
        JobFilter {
            field: JobField::Status,
            condition: FilterCondition::Text(Comparison::NotEq("failed".to_owned())),
        },
    ];
    assert_eq!(world.listed(SERVICE, &both).await?, [vote]);
    Ok(())
}

/// The due jobs that were added first are claimed, up to the limit, each by one worker.
pub async fn claims_the_oldest_due_jobs(world: World<'_>) -> Result<()> {
    let [late, early, future] = [20, 10, 90].map(|seconds| job(world.mine, SERVICE, seconds));
    for job in [&future, &early, &late] {
        world.jobs.add(job).await?;
    }
    let now = NOW + Duration::seconds(60);
    let first = world.jobs.claim("a", now, now + LEASE, 1).await?;
    let processing =
        JobSummary { status: JobStatus::Processing, attempts: 1, updated_at: now, ..pending(&early) };
    assert_eq!(world.find(&early).await?.summary, processing);
    assert_eq!(first, [Job { attempts: 1, ..early }]);
    let second = world.claim("b", now).await?;
    assert_eq!(second.iter().map(|job| job.id).collect::<Vec<_>>(), [late.id], "not what is not due");
    assert!(world.claim("c", now).await?.is_empty());
    Ok(())
}

/// The end of a job is stored once, by its owner: a null result means no result, and it cannot change later.
pub async fn records_the_end_of_a_job_once(world: World<'_>) -> Result<()> {
    let [done, silent, refused] = [1, 2, 3].map(|seconds| job(world.mine, SERVICE, seconds));
    for job in [&done, &silent, &refused] {
        world.jobs.add(job).await?;
    }
    let now = NOW + Duration::minutes(1);
    assert_eq!(world.claim("w", now).await?.len(), 3);
    let end = now + Duration::seconds(1);
    let document = json!({"data": {"id": "1"}});
    assert_eq!(world.jobs.end("thief", done.id, Ok(&document), end).await?, JobEndOutcome::Lost);
    assert_eq!(world.jobs.end("w", done.id, Ok(&document), end).await?, JobEndOutcome::Recorded);
    assert_eq!(world.jobs.end("w", silent.id, Ok(&Value::Null), end).await?, JobEndOutcome::Recorded);
    assert_eq!(world.jobs.end("w", refused.id, Err(&refusal()), end).await?, JobEndOutcome::Recorded);
    let summary =
        JobSummary { status: JobStatus::Completed, attempts: 1, updated_at: end, ..pending(&silent) };
    assert_eq!(
        world.find(&silent).await?,
        JobAnswer { owner: SERVICE, summary, result: None, failure: None }
    );
    let failed = world.find(&refused).await?;
    assert_eq!((failed.summary.status, failed.failure), (JobStatus::Failed, Some(refusal())));
    let kept = world.find(&done).await?;
    let result = kept.result.as_deref().map(serde_json::from_str::<Value>);
    assert_eq!(result.expect("it has a result").expect("it is JSON"), document);
    assert_eq!(world.jobs.end("w", done.id, Ok(&json!(2)), end).await?, JobEndOutcome::Lost);
    assert_eq!(world.jobs.end("w", done.id, Err(&refusal()), end).await?, JobEndOutcome::Lost);
    assert_eq!(world.jobs.reclaim(end + LEASE * 9, &JobFailure::worker_lost()).await?, 0);
    assert_eq!(world.find(&done).await?, kept, "a job that ended never changes");
    Ok(())
}

/// The worker of a job that was removed while it ran gets [`JobEndOutcome::Gone`].
pub async fn tells_a_worker_that_its_job_is_gone(world: World<'_>) -> Result<()> {
    let job = job(world.mine, SERVICE, 0);
    world.jobs.add(&job).await?;
    world.claim("w", NOW).await?;
    assert!(world.jobs.remove(world.mine, SERVICE, job.id).await?);
    assert_eq!(world.jobs.end("w", job.id, Ok(&json!(1)), NOW).await?, JobEndOutcome::Gone);
    assert_eq!(world.jobs.end("w", job.id, Err(&refusal()), NOW).await?, JobEndOutcome::Gone);
    assert_eq!(world.jobs.release("w", job.id, NOW, true).await?, JobEndOutcome::Gone);
    Ok(())
}

/// After a lost lease the job is due again after 5 s, then after 30 s; after the third loss it has failed.
pub async fn brings_lost_jobs_back_until_the_third_loss(world: World<'_>) -> Result<()> {
    let job = job(world.mine, SERVICE, 0);
    world.jobs.add(&job).await?;
    let lost = JobFailure::worker_lost();
    let mut now = NOW;
    for delay in [5, 30] {
        assert_eq!(world.claim("w", now).await?.len(), 1);
        assert_eq!(world.jobs.reclaim(now + LEASE, &lost).await?, 0, "the lease has not ended");
        now = now + LEASE + Duration::seconds(1);
        assert_eq!(world.jobs.reclaim(now, &lost).await?, 1);
        let back = world.find(&job).await?;
        assert_eq!((back.summary.status, back.summary.updated_at), (JobStatus::Pending, now));
        assert_eq!(world.jobs.end("w", job.id, Ok(&json!(1)), now).await?, JobEndOutcome::Lost);
        now += Duration::seconds(delay);
        assert!(world.claim("w", now - Duration::microseconds(1)).await?.is_empty(), "not before {delay} s");
    }
    assert_eq!(world.claim("w", now).await?.len(), 1);
    now = now + LEASE + Duration::seconds(1);
    assert_eq!(world.jobs.reclaim(now, &lost).await?, 1);
    let failed = world.find(&job).await?;
    assert_eq!((failed.summary.status, failed.failure), (JobStatus::Failed, Some(lost)));
    assert_eq!(failed.summary.attempts, 3);
    Ok(())
}

/// A single worker takes over running jobs: they are due at once, except a job that lost its last attempt.
pub async fn takes_over_what_a_dead_process_left(world: World<'_>) -> Result<()> {
    let [first, third, waiting] = [1, 2, 900].map(|seconds| job(world.mine, SERVICE, seconds));
    let third = Job { attempts: 2, ..third };
    for job in [&first, &third, &waiting] {
        world.jobs.add(job).await?;
    }
    let now = NOW + Duration::seconds(60);
    assert_eq!(world.claim("dead", now).await?.len(), 2);
    let lost = JobFailure::worker_lost();
    assert_eq!(world.jobs.reclaim_all(now, &lost).await?, 2);
    assert_eq!(world.find(&first).await?.summary.status, JobStatus::Pending);
    let failed = world.find(&third).await?;
    assert_eq!((failed.summary.status, failed.failure), (JobStatus::Failed, Some(lost.clone())));
    let again = world.claim("alive", now).await?;
    assert_eq!(again.iter().map(|job| (job.id, job.attempts)).collect::<Vec<_>>(), [(first.id, 2)]);
    assert_eq!(world.jobs.end("dead", first.id, Ok(&json!(1)), now).await?, JobEndOutcome::Lost);
    Ok(())
}

/// A heartbeat extends the leases of the given jobs of its worker only.
pub async fn renews_the_leases_of_one_worker(world: World<'_>) -> Result<()> {
    let [alive, dead] = [1, 2].map(|seconds| job(world.mine, SERVICE, seconds));
    world.jobs.add(&alive).await?;
    world.claim("alive", NOW + Duration::seconds(5)).await?;
    world.jobs.add(&dead).await?;
    world.claim("dead", NOW + Duration::seconds(5)).await?;
    let both = [alive.id, dead.id];
    world.jobs.renew("alive", &both, NOW + LEASE * 3).await?;
    world.jobs.renew("dead", &[], NOW + LEASE * 3).await?;
    assert_eq!(world.jobs.reclaim(NOW + LEASE * 2, &JobFailure::worker_lost()).await?, 1);
    assert_eq!(world.find(&alive).await?.summary.status, JobStatus::Processing);
    assert_eq!(world.find(&dead).await?.summary.status, JobStatus::Pending);
    Ok(())
}

/// A job that is given back waits until it is due; its attempt may be not counted.
pub async fn takes_back_what_a_worker_releases(world: World<'_>) -> Result<()> {
    let job = job(world.mine, SERVICE, 0);
    world.jobs.add(&job).await?;
    let due = NOW + Duration::seconds(30);
    world.claim("w", NOW).await?;
    assert_eq!(world.jobs.release("thief", job.id, due, false).await?, JobEndOutcome::Lost);
    assert_eq!(world.jobs.release("w", job.id, due, false).await?, JobEndOutcome::Recorded);
    assert!(world.claim("w", due - Duration::microseconds(1)).await?.is_empty());
    assert_eq!(world.claim("w", due).await?[0].attempts, 2);
    assert_eq!(world.jobs.release("w", job.id, due, true).await?, JobEndOutcome::Recorded);
    assert_eq!(world.claim("w", due).await?[0].attempts, 2, "the second attempt was forgiven");
    Ok(())
}

/// A worker that stops gives back its jobs, at once and without a lost attempt; those of others stay.
pub async fn takes_back_all_jobs_of_a_worker_that_stops(world: World<'_>) -> Result<()> {
    let [mine, other] = [1, 2].map(|seconds| job(world.mine, SERVICE, seconds));
    let now = NOW + Duration::seconds(5);
    world.jobs.add(&mine).await?;
    world.claim("w", now).await?;
    world.jobs.add(&other).await?;
    world.claim("other", now).await?;
    assert_eq!(world.jobs.release_all("w", now).await?, 1);
    assert_eq!(world.jobs.release_all("w", now).await?, 0);
    assert_eq!(world.jobs.end("w", mine.id, Ok(&json!(1)), now).await?, JobEndOutcome::Lost);
    let again = world.claim("next", now).await?;
    assert_eq!(again.iter().map(|job| (job.id, job.attempts)).collect::<Vec<_>>(), [(mine.id, 1)]);
    Ok(())
}

/// A waiting worker is notified of an added job, also of one added just before the wait; otherwise the wait times out.
pub async fn wakes_who_waits(world: World<'_>) -> Result<()> {
    let begun = Instant::now();
    world.jobs.wait(std::time::Duration::from_millis(50)).await;
    assert!(begun.elapsed() >= std::time::Duration::from_millis(50), "nothing was added");
    world.jobs.add(&job(world.mine, SERVICE, 0)).await?;
    let begun = Instant::now();
    world.jobs.wait(std::time::Duration::from_secs(60)).await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "a job was added before the wait");
    Ok(())
}
