//! Shares: how much of what a process has one record, one API client and one organization use at once (contract 01 §3, 429).
//!
//! A caller over its share waits for its own permits, and is refused alone. Permits are taken from the narrowest level to the widest,
//! so a caller that waits holds only what is its own.

mod table;
#[cfg(test)]
mod tests;

pub use table::{MAX_REGISTRATIONS, ShareCapacity, ShareLimits, SharedResource};

use crate::metrics;
use async_trait::async_trait;
use civitas_kernel::{ClientId, Error, OrganizationId, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How old a count of stored bytes may be while less than the share is stored.
const COUNT_LIFETIME: Duration = Duration::from_secs(60);
/// How old it may be when the share is used up.
const FULL_LIFETIME: Duration = Duration::from_secs(5);
/// The most clients whose counts are kept.
const MAX_COUNTS: usize = 10_000;
/// How many callers may wait at one level; further ones are refused at once.
const WAITING: usize = 1024;
/// The number of levels in use at which unused ones are removed.
const MAX_UNUSED: usize = 10_000;
/// After how many seconds a caller that is over its share of stored bytes may try again.
const STORED_RETRY_SECONDS: u64 = 60;

/// Who uses a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareHolder<'a> {
    /// The organization.
    pub organization: OrganizationId,
    /// The API client, if one is known.
    pub client: Option<ClientId>,
    /// The record: any text that differs for others, such as the path of the request.
    pub record: Option<&'a str>,
}

/// What is used by whom.
pub struct Shares {
    capacity: ShareCapacity,
    permits: Mutex<HashMap<(SharedResource, Level), Arc<Permits>>>,
    refused: Mutex<HashMap<(SharedResource, OrganizationId), u64>>,
    counts: Mutex<HashMap<CountKey, Count>>,
}

/// What is counted in the database, and of whom.
type CountKey = (SharedResource, OrganizationId, Option<ClientId>);

/// Whose use is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Level {
    Record(OrganizationId, String),
    Client(OrganizationId, ClientId),
    Tenant(OrganizationId),
    Process,
}

/// The permits of one level.
struct Permits {
    free: Arc<Semaphore>,
    /// Those of callers that wait.
    waiting: Semaphore,
}

/// What was stored when it was counted, and what this process has added since.
#[derive(Debug, Clone, Copy)]
struct Count {
    stored: StoredUse,
    at: Instant,
}

/// How much is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredUse {
    /// Of the API client; 0 without one.
    pub client: u64,
    /// Of the organization.
    pub tenant: u64,
}

/// Counts what is stored.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait ShareStore: Send + Sync {
    /// How much of a stored share this organization and client use, with one statement.
    async fn count_stored(
        &self,
        share: SharedResource,
        organization: OrganizationId,
        client: Option<ClientId>,
    ) -> Result<StoredUse>;
    /// How much of a stored share each organization uses, at most `limit`, the largest first.
    async fn count_stored_by_tenant(
        &self,
        share: SharedResource,
        limit: i64,
    ) -> Result<Vec<(OrganizationId, u64)>>;
}

/// What an organization uses of a share in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenantUse {
    /// The share.
    pub share: SharedResource,
    /// The organization.
    pub organization: OrganizationId,
    /// The number in use; 0 for stored shares.
    pub used: u64,
    /// How many were refused since the start.
    pub refused: u64,
}

/// Permits that are in use until they are dropped.
pub struct SharePermit {
    shares: Arc<Shares>,
    share: SharedResource,
    permits: Vec<(Level, OwnedSemaphorePermit)>,
    /// Whether all levels were taken, and the metrics count it.
    is_complete: bool,
}

impl Shares {
    /// All shares of a process.
    pub fn new(capacity: ShareCapacity) -> Arc<Self> {
        let (permits, refused, counts) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { capacity, permits, refused, counts })
    }

    /// The row of the table of shares.
    pub fn limits(&self, share: SharedResource) -> ShareLimits {
        self.capacity.limits(share)
    }

    /// Takes a permit at each level. Waits a limited time where all are in use, unless many wait already.
    ///
    /// # Errors
    /// `TooManyRequests` when the permits of the record, the client or the organization are in use; `Unavailable` when those
    /// of the process are.
    pub async fn acquire(
        self: &Arc<Self>,
        share: SharedResource,
        holder: ShareHolder<'_>,
    ) -> Result<SharePermit> {
        let mut taken = SharePermit::nothing(self, share);
        let mut at = Level::Process;
        let taking = async {
            for (level, most) in self.levels(share, holder) {
                at = level.clone();
                let permits = self.permits(share, &level, most);
                let free = permits.free.clone();
                let permit = if let Ok(permit) = free.clone().try_acquire_owned() {
                    permit
                } else {
                    let Ok(_waiting) = permits.waiting.try_acquire() else { return Ok(false) };
                    free.acquire_owned().await.map_err(Error::internal)?
                };
                taken.permits.push((level, permit));
            }
            Ok(true)
        };
        if timeout(share.longest_wait(), taking).await.unwrap_or(Ok(false))? {
            return Ok(taken.completed());
        }
        if at == Level::Process {
            let cause = format!("all places of the process are in use: {}", share.as_str());
            return Err(Error::Unavailable(cause.into()));
        }
        self.refuse(share, holder.organization);
        Err(Error::TooManyRequests(1))
    }

    /// The same without a wait; `None` when a permit is in use.
    pub fn try_take(self: &Arc<Self>, share: SharedResource, holder: ShareHolder<'_>) -> Option<SharePermit> {
        let mut taken = SharePermit::nothing(self, share);
        for (level, most) in self.levels(share, holder) {
            let permit = self.permits(share, &level, most).free.clone().try_acquire_owned().ok()?;
            taken.permits.push((level, permit));
        }
        Some(taken.completed())
    }

    /// The same, while less than half of the own permits are in use, and less than seven eighths of those of the process: for more
    /// than one permit for one thing. The rest is for the first permits of others.
    pub fn try_take_spare(
        self: &Arc<Self>,
        share: SharedResource,
        holder: ShareHolder<'_>,
    ) -> Option<SharePermit> {
        let mut levels = self.levels(share, holder);
        let is_spare = levels.all(|(level, most)| {
            let free = if level == Level::Process { most * 7 / 8 } else { most.div_ceil(2) };
            self.in_use(share, level, most) < free
        });
        if is_spare { self.try_take(share, holder) } else { None }
    }

    /// How many permits an organization uses in this process.
    pub fn used(&self, share: SharedResource, organization: OrganizationId) -> u64 {
        self.in_use(share, Level::Tenant(organization), self.limits(share).tenant)
    }

    fn in_use(&self, share: SharedResource, level: Level, most: u64) -> u64 {
        let permits = locked(&self.permits);
        permits.get(&(share, level)).map_or(0, |permits| permits.used(most))
    }

    /// Checks that so many more may be stored, and counts them until the next count in the database, which is at most a
    /// minute later: several processes may store more together.
    ///
    /// # Errors
    /// `TooManyRequests`, and those of the store.
    pub async fn check_stored(
        &self,
        store: &dyn ShareStore,
        share: SharedResource,
        (organization, client): (OrganizationId, Option<ClientId>),
        more: u64,
    ) -> Result<()> {
        let key = (share, organization, client);
        let limits = self.limits(share);
        let fits = |stored: StoredUse| {
            stored.tenant.saturating_add(more) <= limits.tenant
                && (client.is_none() || stored.client.saturating_add(more) <= limits.client)
        };
        let known = locked(&self.counts).get(&key).copied();
        let is_new = |count: &Count| {
            count.at.elapsed() < if fits(count.stored) { COUNT_LIFETIME } else { FULL_LIFETIME }
        };
        let count = if let Some(count) = known.filter(is_new) {
            count
        } else {
            // Others use the former count meanwhile: one at a time counts.
            locked(&self.counts).entry(key).and_modify(|known| known.at = Instant::now());
            match (store.count_stored(share, organization, client).await, known) {
                (Ok(stored), _) => Count { stored, at: Instant::now() },
                // It took too long: the former sum counts.
                (Err(_), Some(known)) => known,
                (Err(error), None) => return Err(error),
            }
        };
        let fits = fits(count.stored);
        let mut counts = locked(&self.counts);
        if counts.len() >= MAX_COUNTS {
            counts.clear();
        }
        let kept = counts.entry(key).or_insert(count);
        if kept.at < count.at {
            *kept = count;
        }
        drop(counts);
        if fits {
            self.add_stored(share, (organization, client), more);
            return Ok(());
        }
        self.refuse(share, organization);
        Err(Error::TooManyRequests(STORED_RETRY_SECONDS))
    }

    /// Counts what is stored whatever the limit, until the next count in the database.
    pub fn add_stored(
        &self,
        share: SharedResource,
        (organization, client): (OrganizationId, Option<ClientId>),
        more: u64,
    ) {
        if let Some(Count { stored, .. }) = locked(&self.counts).get_mut(&(share, organization, client)) {
            stored.client = stored.client.saturating_add(more);
            stored.tenant = stored.tenant.saturating_add(more);
        }
    }

    /// Counts a refusal for the metrics and the page of shares.
    pub fn refuse(&self, share: SharedResource, organization: OrganizationId) {
        metrics::share_refused(share.as_str());
        *locked(&self.refused).entry((share, organization)).or_default() += 1;
    }

    /// What organizations use in this process, and what was refused to them.
    pub fn by_tenant(&self) -> Vec<TenantUse> {
        let mut uses: HashMap<(SharedResource, OrganizationId), TenantUse> = HashMap::new();
        let empty = |share, organization| TenantUse { share, organization, used: 0, refused: 0 };
        for ((share, level), permits) in locked(&self.permits).iter() {
            let Level::Tenant(organization) = *level else { continue };
            let most = self.limits(*share).tenant;
            let of = uses.entry((*share, organization)).or_insert_with(|| empty(*share, organization));
            of.used = permits.used(most);
        }
        for ((share, organization), refused) in locked(&self.refused).iter() {
            let of = uses.entry((*share, *organization)).or_insert_with(|| empty(*share, *organization));
            of.refused = *refused;
        }
        let mut uses: Vec<_> = uses.into_values().collect();
        uses.sort_by_key(|of| (of.share, of.organization.0));
        uses
    }

    /// The levels that are limited, from the narrowest.
    fn levels(
        &self,
        share: SharedResource,
        holder: ShareHolder<'_>,
    ) -> impl Iterator<Item = (Level, u64)> + use<> {
        let ShareLimits { record, client, tenant, process } = self.limits(share);
        let ShareHolder { organization, .. } = holder;
        let levels = [
            holder.record.map(|of| (Level::Record(organization, of.to_owned()), record)),
            holder.client.map(|of| (Level::Client(organization, of), client)),
            Some((Level::Tenant(organization), tenant)),
            Some((Level::Process, process)),
        ];
        levels.into_iter().flatten().filter(|(_, most)| *most < u64::MAX)
    }

    fn permits(&self, share: SharedResource, level: &Level, most: u64) -> Arc<Permits> {
        let mut permits = locked(&self.permits);
        if permits.len() >= MAX_UNUSED {
            // Those of callers that stopped waiting.
            permits.retain(|_, of| !of.are_unused());
        }
        permits.entry((share, level.clone())).or_insert_with(|| Permits::new(most)).clone()
    }
}

impl Permits {
    fn new(most: u64) -> Arc<Self> {
        let bounded = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Arc::new(Self { free: Arc::new(Semaphore::new(bounded(most))), waiting: Semaphore::new(WAITING) })
    }

    fn used(&self, most: u64) -> u64 {
        most.saturating_sub(self.free.available_permits() as u64)
    }

    /// Whether nobody has a permit or waits for one. Copies are made under the lock of the map.
    fn are_unused(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.free) == 1
    }
}

impl SharePermit {
    fn nothing(shares: &Arc<Shares>, share: SharedResource) -> Self {
        Self { shares: shares.clone(), share, permits: Vec::with_capacity(4), is_complete: false }
    }

    fn completed(mut self) -> Self {
        metrics::share_used(self.share.as_str(), 1);
        self.is_complete = true;
        self
    }
}

impl Drop for SharePermit {
    fn drop(&mut self) {
        if self.is_complete {
            metrics::share_used(self.share.as_str(), -1);
        }
        let mut permits = locked(&self.shares.permits);
        for (level, permit) in self.permits.drain(..) {
            drop(permit);
            let key = (self.share, level);
            if permits.get(&key).is_some_and(Permits::are_unused) {
                permits.remove(&key);
            }
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
