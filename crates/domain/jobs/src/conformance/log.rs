//! Conformance tests of the log of jobs.

use super::{NOW, PERSON, SERVICE, World, job, pending, refusal};
use crate::{Job, JobLogFilter, JobOwner, JobStatus, JobUser, LEASE};
use civitas_kernel::{ClientId, JobId, LogRequest, LogStart, Result};
use serde_json::json;
use time::Duration;

impl World<'_> {
    /// A page of the log: ids, and whether there are newer and older jobs.
    async fn turn(&self, filter: &JobLogFilter, start: LogStart<JobId>) -> Result<(Vec<JobId>, bool, bool)> {
        let page = self.log.list(filter, LogRequest { start, limit: 2 }).await?;
        Ok((page.items.iter().map(|job| job.summary.id).collect(), page.has_newer, page.has_older))
    }
}

/// The log has the jobs of all owners and organizations, the newest first; its pages go to older and to newer jobs
/// without gaps, also between jobs of one moment.
pub async fn pages_of_the_log_do_not_overlap(world: World<'_>) -> Result<()> {
    let mut all = Vec::new();
    for (organization, owner, seconds) in [
        (world.mine, SERVICE, 3),
        (world.other, PERSON, 1),
        (world.mine, PERSON, 1),
        (world.mine, SERVICE, 1),
        (world.other, SERVICE, 2),
    ] {
        let job = job(organization, owner, seconds);
        world.jobs.add(&job).await?;
        all.push((job.created_at, job.id));
    }
    all.sort_unstable_by_key(|job| std::cmp::Reverse(*job));
    let ids = |range: std::ops::Range<usize>| all[range].iter().map(|(_, id)| *id).collect::<Vec<_>>();
    let every = JobLogFilter::default();
    let after = |position: usize| LogStart::OlderThan(all[position].0, all[position].1);
    let before = |position: usize| LogStart::NewerThan(all[position].0, all[position].1);
    assert_eq!(world.turn(&every, LogStart::Newest).await?, (ids(0..2), false, true));
    assert_eq!(world.turn(&every, after(1)).await?, (ids(2..4), true, true));
    assert_eq!(world.turn(&every, after(3)).await?, (ids(4..5), true, false));
    assert_eq!(world.turn(&every, before(4)).await?, (ids(2..4), true, true));
    assert_eq!(world.turn(&every, before(2)).await?, (ids(0..2), false, true));
    Ok(())
}

/// The log is filtered by organization, status, command, client and time, alone and together.
pub async fn filters_the_log(world: World<'_>) -> Result<()> {
    let own = JobOwner { client: world.client, user: Some(world.user) };
    let mine = job(world.mine, own, 0);
    let stranger = JobOwner { client: ClientId(i64::MAX), user: None };
    let foreign = job(world.other, stranger, 10);
    let vote = Job { command_key: "vote_proposals#create".to_owned(), ..job(world.mine, stranger, 20) };
    for job in [&mine, &foreign, &vote] {
        world.jobs.add(job).await?;
    }
    assert_eq!(world.jobs.claim("w", NOW, NOW + LEASE, 1).await?[0].id, mine.id);
    world.jobs.end("w", mine.id, Err(&refusal()), NOW).await?;
    let any = JobLogFilter::default;
    let at = |seconds| Some(NOW + Duration::seconds(seconds));
    for (filter, expected) in [
        (JobLogFilter { organization: Some(world.other), ..any() }, vec![foreign.id]),
        (JobLogFilter { status: Some(JobStatus::Failed), ..any() }, vec![mine.id]),
        (JobLogFilter { command: Some("vote_proposals#create".to_owned()), ..any() }, vec![vote.id]),
        (JobLogFilter { client: Some(world.client_uid.to_owned()), ..any() }, vec![mine.id]),
        (JobLogFilter { client: Some("no such client".to_owned()), ..any() }, vec![]),
        (JobLogFilter { from: at(10), to: at(20), ..any() }, vec![foreign.id]),
        (
            JobLogFilter { organization: Some(world.mine), status: Some(JobStatus::Pending), ..any() },
            vec![vote.id],
        ),
    ] {
        assert_eq!(world.turn(&filter, LogStart::Newest).await?, (expected, false, false), "{filter:?}");
    }
    Ok(())
}

/// A job is shown with the names of its client and user, its failure, and its request until it ends.
pub async fn shows_a_job_to_administrators(world: World<'_>) -> Result<()> {
    let own = JobOwner { client: world.client, user: Some(world.user) };
    let job = job(world.mine, own, 0);
    world.jobs.add(&job).await?;
    let shown = world.log.find(job.id).await?.expect("it is stored");
    assert_eq!(shown.request, Some(job.payload.command.clone()));
    assert_eq!(shown.answer.summary, pending(&job));
    assert_eq!((shown.job.organization, shown.job.client.id), (world.mine, world.client));
    let uid = shown.job.client.uid_and_name.as_ref().map(|(uid, _)| uid.as_str());
    assert_eq!(uid, Some(world.client_uid));
    assert_eq!(shown.job.user, Some(JobUser { id: world.user, nickname: Some(world.nickname.to_owned()) }));
    world.claim("w", NOW).await?;
    world.jobs.end("w", job.id, Err(&refusal()), NOW).await?;
    let ended = world.log.find(job.id).await?.expect("it is stored");
    assert_eq!((ended.request, ended.answer.failure), (None, Some(refusal())));
    assert_eq!(ended.job.error_class.as_deref(), Some("ValidationError"));
    assert!(world.log.remove(job.id).await?);
    assert!(!world.log.remove(job.id).await?);
    assert_eq!(world.log.find(job.id).await?, None);
    Ok(())
}

/// The jobs of a user are removed in any status, in batches; those of service tokens and of other organizations stay.
pub async fn removes_the_jobs_of_a_user(world: World<'_>) -> Result<()> {
    let owner = JobOwner { client: world.client, user: Some(world.user) };
    let own_job = |seconds| job(world.mine, owner, seconds);
    let (ended, waiting, service) = (own_job(1), own_job(400), job(world.mine, SERVICE, 2));
    let foreign = job(world.other, owner, 3);
    for job in [&ended, &waiting, &service, &foreign] {
        world.jobs.add(job).await?;
    }
    let soon = NOW + Duration::minutes(1);
    assert_eq!(world.claim("w", soon).await?.len(), 3);
    world.jobs.end("w", ended.id, Ok(&json!({"data": "of the person"})), soon).await?;
    assert_eq!(world.log.remove_of_user(world.mine, world.user, 1).await?, 1);
    assert_eq!(world.log.remove_of_user(world.mine, world.user, 9).await?, 1);
    assert_eq!(world.log.remove_of_user(world.mine, world.user, 9).await?, 0);
    for (job, is_there) in [(&ended, false), (&waiting, false), (&service, true), (&foreign, true)] {
        assert_eq!(world.log.find(job.id).await?.is_some(), is_there, "{:?}", job.owner);
    }
    Ok(())
}

/// Jobs that ended before a time are removed, the oldest first, in batches; those that have not ended stay.
pub async fn removes_jobs_that_ended(world: World<'_>) -> Result<()> {
    let [first, second, waiting] = [1, 2, 400].map(|seconds| job(world.mine, SERVICE, seconds));
    for job in [&first, &second, &waiting] {
        world.jobs.add(job).await?;
    }
    let (soon, later) = (NOW + Duration::minutes(1), NOW + Duration::minutes(2));
    assert_eq!(world.claim("w", soon).await?.len(), 2);
    world.jobs.end("w", first.id, Ok(&json!(1)), soon).await?;
    world.jobs.end("w", second.id, Err(&refusal()), later).await?;
    assert_eq!(world.log.remove_ended(soon, 9).await?, 0, "the time is not included");
    assert_eq!(world.log.remove_ended(later + Duration::seconds(1), 1).await?, 1);
    assert_eq!(world.log.find(first.id).await?, None, "the oldest is first");
    assert_eq!(world.log.remove_ended(later + Duration::seconds(1), 9).await?, 1);
    assert_eq!(world.log.remove_ended(later + Duration::days(9), 9).await?, 0);
    assert_eq!(world.find(&waiting).await?.summary.status, JobStatus::Pending);
    Ok(())
}
