//! Organizations take turns.

use super::{LEASE, NOW, SERVICE, World, job};
use crate::Job;
use civitas_kernel::{JobId, OrganizationId, Result};
use time::{Duration, OffsetDateTime};

/// The jobs of a flood.
const FLOOD: i64 = 1_000;

impl World<'_> {
    /// Adds a job, `seconds` after the beginning.
    async fn add(&self, organization: OrganizationId, seconds: i64) -> Result<JobId> {
        let job = job(organization, SERVICE, seconds);
        self.jobs.add(&job).await?;
        Ok(job.id)
    }

    /// Claims one job after the other.
    async fn claim_each(&self, times: usize, now: OffsetDateTime) -> Result<Vec<Job>> {
        let mut claimed = Vec::new();
        for _ in 0..times {
            claimed.extend(self.jobs.claim("w", now, now + LEASE, 1).await?);
        }
        Ok(claimed)
    }
}

fn organizations(jobs: &[Job]) -> Vec<OrganizationId> {
    jobs.iter().map(|job| job.organization).collect()
}

/// An organization with a thousand waiting jobs delays a new job of another one by a few jobs, at the beginning and
/// after many of them are done.
pub async fn a_flood_of_one_organization_delays_others_by_a_few_jobs(world: World<'_>) -> Result<()> {
    for n in 0..FLOOD {
        world.add(world.mine, n / 100).await?;
    }
    let now = NOW + Duration::minutes(1);
    for round in 0..3 {
        let id = world.add(world.other, 30 + round).await?;
        let claimed = world.claim_each(3, now).await?;
        assert!(claimed.iter().any(|job| job.id == id), "{:?}", organizations(&claimed));
        world.jobs.claim("w", now, now + LEASE, 100).await?;
    }
    Ok(())
}

/// The waiting jobs of two organizations are claimed alternately, one by one and together, also when those of the
/// second one were added later.
pub async fn alternates_between_organizations(world: World<'_>) -> Result<()> {
    let (mine, other, now) = (world.mine, world.other, NOW + Duration::minutes(1));
    for n in 0..6 {
        world.add(mine, n).await?;
    }
    for n in 0..3 {
        world.add(other, 10 + n).await?;
    }
    assert_eq!(
        organizations(&world.claim_each(2, now).await?),
        [mine, mine],
        "the first waits for the second"
    );
    let together = world.jobs.claim("w", now, now + LEASE, 4).await?;
    assert_eq!(organizations(&together), [other, mine, other, mine]);
    assert_eq!(organizations(&world.claim_each(9, now).await?), [other, mine, mine]);
    Ok(())
}

/// The jobs of an organization are claimed in the order in which they were added.
pub async fn keeps_the_order_within_an_organization(world: World<'_>) -> Result<()> {
    let mut added = Vec::new();
    for n in 0..4 {
        added.push(world.add(world.mine, n).await?);
        world.add(world.other, n).await?;
    }
    let now = NOW + Duration::minutes(1);
    let claimed = world.claim_each(8, now).await?;
    let own: Vec<JobId> =
        claimed.iter().filter(|job| job.organization == world.mine).map(|job| job.id).collect();
    assert_eq!(own, added);
    Ok(())
}

/// A job that waits for its retry delays no other one, and is claimed when it is due, before a flood that was added
/// meanwhile.
pub async fn retries_in_turn(world: World<'_>) -> Result<()> {
    let now = NOW + Duration::minutes(1);
    for n in 0..20 {
        world.add(world.mine, n).await?;
    }
    let claimed = world.claim_each(20, now).await?;
    let due = now + Duration::seconds(30);
    world.jobs.release("w", claimed[19].id, due, false).await?;
    for _ in 0..30 {
        world.add(world.other, 61).await?;
    }
    let now = now + Duration::seconds(2);
    assert_eq!(world.claim_each(2, now).await?.len(), 2, "others go on");
    let again = world.claim_each(1, due).await?;
    assert_eq!(again.iter().map(|job| job.id).collect::<Vec<_>>(), [claimed[19].id]);
    Ok(())
}
