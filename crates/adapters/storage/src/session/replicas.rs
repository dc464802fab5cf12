//! Replicas of the database, at which requests may read (docs/decisions/0071-read-replicas.md).
//!
//! A replica is in use while it has what the log of the primary had [`MAX_LATENESS`] ago. Positions of the log are compared, and
//! no clocks.

use super::{ConnectionGuard, LoadRowsExt, PoolUse, Session};
use crate::engine::{Reader, dialect};
use crate::pools::{Pools, ReplicaPools};
use crate::prepared::PrepareOnce;
use civitas_application::{LogPosition, PositionHolder, metrics};
use civitas_kernel::{Error, Result};
use diesel::dsl::sql;
use diesel::sql_types::{BigInt, Nullable, Text};
use std::collections::{HashMap, VecDeque};
use std::future::ready;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How old the state may be that a replica shows.
const MAX_LATENESS: Duration = Duration::from_secs(5);
/// How often the positions are measured, and the time limit for it.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// How long a read waits for a position, before it is made on the primary.
const MAX_WAIT: Duration = Duration::from_millis(50);
/// How often the position of a replica is measured while a read waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The most holders of positions.
const MAX_HOLDERS: usize = 10_000;
/// The position of a replica that is not in use.
const UNUSED: u64 = 0;

/// The replicas of a process.
pub(crate) struct Replicas {
    primary: Arc<Primary>,
    all: Vec<Arc<Replica>>,
    /// The number of the replica that is tried first.
    first: AtomicUsize,
    needed: Mutex<NeededPositions>,
    /// They end when this is dropped.
    _monitors: JoinSet<()>,
}

struct Primary {
    reader: Reader,
    /// The position that its log had at least.
    position: AtomicU64,
}

struct Replica {
    pools: ReplicaPools,
    /// What it has of the log, or [`UNUSED`].
    position: AtomicU64,
    /// Whether a read waits for it.
    is_wanted: Notify,
}

/// The position of the log that a server has, and the name of the database.
type ServerState = (Option<u64>, String);

impl Replicas {
    /// Measures these replicas from now on.
    pub(super) fn start(primary: Reader, pools: Vec<ReplicaPools>) -> Self {
        let primary = Arc::new(Primary { reader: primary, position: AtomicU64::new(0) });
        let mut monitors = JoinSet::new();
        let all = pools.into_iter().map(|pools| {
            let replica = Replica { pools, position: AtomicU64::new(UNUSED), is_wanted: Notify::new() };
            let replica = Arc::new(replica);
            monitors.spawn(monitor(replica.clone(), primary.clone()));
            replica
        });
        let all = all.collect();
        Self { primary, all, first: AtomicUsize::new(0), needed: Mutex::default(), _monitors: monitors }
    }

    /// The number of a replica that has this position, and what the holder wrote. Waits for it without a connection; `None`
    /// when no replica has it in time. A position that the primary is not known to have is not waited for.
    pub(super) async fn find(&self, holder: &PositionHolder, position: Option<LogPosition>) -> Option<usize> {
        let position = position.map_or(0, |position| position.0).max(self.needed().of(holder));
        let begun = Instant::now();
        loop {
            if let Some(found) = self.with_position(position) {
                return Some(found);
            }
            let used: Vec<_> = self.all.iter().filter(|replica| replica.is_used()).collect();
            let is_known = position <= self.primary.position.load(Ordering::Relaxed);
            if used.is_empty() || !is_known || begun.elapsed() >= MAX_WAIT {
                return None;
            }
            for replica in used {
                replica.is_wanted.notify_one();
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// One of the replicas with this position, in turns.
    fn with_position(&self, position: u64) -> Option<usize> {
        let first = self.first.fetch_add(1, Ordering::Relaxed);
        let numbers = (0..self.all.len()).map(|number| first.wrapping_add(number) % self.all.len());
        let has = |number: &usize| self.all[*number].position() >= position.max(UNUSED + 1);
        numbers.into_iter().find(has)
    }

    /// Notes what the holder has to see from now on; `None`: it reads at the primary.
    pub(super) fn note(&self, holder: PositionHolder, position: Option<LogPosition>) {
        if let Some(position) = position {
            self.primary.position.fetch_max(position.0, Ordering::Relaxed);
        }
        self.needed().set(holder, position.map_or(u64::MAX, |position| position.0));
    }

    /// The pools of a replica.
    pub(super) fn pools(&self, number: usize) -> &Pools {
        &self.all[number].pools.requests
    }

    /// A connection of the replica was not to be had: it is not used until it was measured again.
    pub(super) fn leave(&self, number: usize, error: &Error) {
        let replica = &self.all[number];
        if replica.position.swap(UNUSED, Ordering::Relaxed) != UNUSED {
            tracing::warn!(replica = replica.pools.name, %error, "a replica is not used");
        }
        replica.is_wanted.notify_one();
    }

    fn needed(&self) -> std::sync::MutexGuard<'_, NeededPositions> {
        self.needed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Replica {
    fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    fn is_used(&self) -> bool {
        self.position() != UNUSED
    }

    /// What it has of the log of this database.
    async fn measure(&self, database: &str) -> Result<u64> {
        match state(&self.pools.monitor, dialect::REPLICA_STATE).await? {
            (None, _) => Err(Error::database("it is no standby")),
            (Some(_), other) if other != database => {
                Err(Error::database("it is a standby of another database"))
            }
            (Some(position), _) => Ok(position),
        }
    }
}

async fn state(reader: &Reader, statement: &str) -> Result<ServerState> {
    let statement = sql::<(Nullable<BigInt>, Text)>(statement).prepare_once();
    let connection = ready(Ok(ConnectionGuard::from_pool(reader).await?));
    let found: (Option<i64>, String) = statement.value_from(connection).await?;
    Ok((found.0.and_then(|position| position.try_into().ok()), found.1))
}

/// The state of each replica of these settings, by measurements of its own.
///
/// # Errors
/// `Unavailable` when one cannot be reached, is no standby of this database, or is too late.
#[cfg(feature = "postgres")]
pub async fn replica_states(settings: &crate::pools::DatabaseSettings) -> Result<Vec<String>> {
    let writer = crate::engine::pools(settings, &Arc::default())?.requests.writer;
    let Some((primary, pools)) = crate::engine::replica_pools(settings, &Arc::default(), &writer)? else {
        return Ok(Vec::new());
    };
    let mut states = Vec::new();
    for pools in pools {
        let replica = Replica { pools, position: AtomicU64::new(UNUSED), is_wanted: Notify::new() };
        let follows = async {
            let (position, database) = state(&primary, dialect::PRIMARY_STATE).await?;
            let begun = Instant::now();
            while Some(replica.measure(&database).await?) < position {
                sleep(POLL_INTERVAL).await;
            }
            Ok(begun.elapsed().as_millis())
        };
        let late = || Err(Error::database("it is more than 5 s late"));
        let name = &replica.pools.name;
        let delay: Result<u128> = timeout(MAX_LATENESS, follows).await.unwrap_or_else(|_| late());
        let text = |error: Error| error.cause().map_or_else(|| error.to_string(), ToString::to_string);
        let delay = delay.map_err(|error| Error::database(format!("replica {name}: {}", text(error))))?;
        states.push(format!("replica {name} is a standby, {delay} ms behind"));
    }
    Ok(states)
}

/// Measures a replica as long as it runs: every second, and while reads wait for it.
async fn monitor(replica: Arc<Replica>, primary: Arc<Primary>) {
    let (mut past, mut was_used) = (PastPositions::default(), false);
    let name = &replica.pools.name;
    for round in 0_u64.. {
        let begun = Instant::now();
        let found = timeout(MEASURE_EVERY, past.measure(&replica, &primary)).await;
        let found = found.unwrap_or_else(|_| Err(Error::database("it or the primary does not answer")));
        if found.is_err() {
            past = PastPositions::default();
        }
        let required = past.required(replica.is_used());
        let found = match found {
            Ok(position) if position < required => Err(Error::database("it is late")),
            found => found,
        };
        replica.position.store(found.as_ref().map_or(UNUSED, |position| *position), Ordering::Relaxed);
        match found {
            Ok(_) if !was_used => tracing::info!(replica = name, "a replica is used"),
            // At the start it lacks what was just written.
            Err(error) if was_used || round == 3 => {
                tracing::warn!(replica = name, %error, "a replica is not used");
            }
            _ => {}
        }
        was_used = replica.is_used();
        // Elapsed or wanted: it is measured again.
        let _ = timeout(MEASURE_EVERY, replica.is_wanted.notified()).await;
        sleep(POLL_INTERVAL.saturating_sub(begun.elapsed())).await;
    }
}

/// The positions that the primary had: one from [`MAX_LATENESS`] ago, and those after it.
#[derive(Default)]
struct PastPositions {
    positions: VecDeque<(Instant, u64)>,
    database: String,
}

impl PastPositions {
    /// The position of the replica, after that of the primary if it was not measured for a second.
    async fn measure(&mut self, replica: &Replica, primary: &Primary) -> Result<u64> {
        let now = Instant::now();
        if self.positions.back().is_none_or(|(at, _)| now.duration_since(*at) >= MEASURE_EVERY) {
            let (position, database) = state(&primary.reader, dialect::PRIMARY_STATE).await?;
            let position = position.ok_or_else(|| Error::internal("the primary has no position"))?;
            primary.position.store(position, Ordering::Relaxed);
            self.database = database;
            self.add(now, position);
        }
        replica.measure(&self.database).await
    }

    fn add(&mut self, now: Instant, position: u64) {
        self.positions.push_back((now, position));
        let is_old = |(at, _): &(Instant, u64)| now.duration_since(*at) >= MAX_LATENESS;
        while self.positions.get(1).is_some_and(is_old) {
            self.positions.pop_front();
        }
    }

    /// The position that a replica must have: to stay in use that of some seconds ago, to come into use that of a second ago.
    fn required(&self, is_used: bool) -> u64 {
        let number = if is_used { 0 } else { self.positions.len().saturating_sub(2) };
        self.positions.get(number).map_or(u64::MAX, |(_, position)| *position)
    }
}

/// The positions that holders have to see, after their own writes.
#[derive(Default)]
struct NeededPositions {
    of_holders: HashMap<PositionHolder, u64>,
    /// That of all holders whose own one was dropped.
    of_others: u64,
}

impl NeededPositions {
    fn set(&mut self, holder: PositionHolder, position: u64) {
        if self.of_holders.len() >= MAX_HOLDERS {
            // Not earlier than those before it.
            self.of_others = position;
            self.of_holders.clear();
        }
        self.of_holders.insert(holder, position);
    }

    fn of(&self, holder: &PositionHolder) -> u64 {
        self.of_holders.get(holder).copied().unwrap_or(self.of_others)
    }
}

impl Session {
    /// The session that reads at a replica with this position, and with what the holder wrote.
    pub(crate) async fn on_replica(
        &self,
        holder: &PositionHolder,
        position: Option<LogPosition>,
    ) -> Option<Self> {
        let found = self.replicas()?.find(holder, position).await;
        metrics::replica_read(if found.is_some() { "replica" } else { "primary" });
        self.another(PoolUse::Replica(found?), self.bounds).ok()
    }

    /// The position of the log, which the holder has to see from now on.
    pub(crate) async fn note_position(&self, holder: PositionHolder) -> Option<LogPosition> {
        let replicas = self.replicas()?;
        let found = sql::<BigInt>(dialect::LOG_POSITION).prepare_once().value_from(self.read()).await;
        let found = found.inspect_err(|error| tracing::warn!(%error, "the position of a write is not known"));
        let position = found.ok().and_then(|position: i64| position.try_into().ok()).map(LogPosition);
        replicas.note(holder, position);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_jobs::{JobAnswer, JobOwner, JobStatus, JobSummary};
    use civitas_kernel::{ClientId, JobId, OrganizationId, clock};

    fn holder(client: i64) -> PositionHolder {
        let owner = JobOwner { client: ClientId(client), user: None };
        let (created_at, updated_at) = (clock::now(), clock::now());
        let summary = JobSummary {
            id: JobId(uuid::Uuid::nil()),
            command_key: String::new(),
            status: JobStatus::Completed,
            attempts: 1,
            created_at,
            updated_at,
        };
        let job = JobAnswer { owner, summary, result: None, failure: None };
        PositionHolder::of_ended_job(OrganizationId(1), &job).unwrap()
    }

    #[test]
    fn a_replica_may_be_five_seconds_late_and_comes_back_when_it_is_one_second_late() {
        let (begun, mut past) = (Instant::now(), PastPositions::default());
        assert_eq!(past.required(false), u64::MAX, "nothing was measured");
        for second in 0..10 {
            past.add(begun + Duration::from_secs(second), 100 + second);
            let at_least = |seconds| 100 + second.saturating_sub(seconds);
            assert_eq!((past.required(true), past.required(false)), (at_least(5), at_least(1)));
        }
    }

    #[test]
    fn a_holder_needs_what_it_wrote_and_a_dropped_one_no_less() {
        let mut needed = NeededPositions::default();
        for (client, position) in (1..).zip(1..).take(MAX_HOLDERS) {
            needed.set(holder(client), position);
        }
        assert_eq!((needed.of(&holder(7)), needed.of(&holder(0))), (7, 0));
        needed.set(holder(0), 20_000);
        needed.set(holder(7), 20_001);
        assert_eq!([7, 8, 0].map(|number| needed.of(&holder(number))), [20_001, 20_000, 20_000]);
        assert_eq!(needed.of_holders.len(), 2);
    }
}
