//! Replicas of the database, at which requests may read (docs/decisions/0071-read-replicas.md).
//!
//! A replica is in use while it has what the log of the primary had [`MAX_LATENESS`] ago. Positions of the log are compared, and
//! no clocks.

use super::{ConnectionGuard, LoadRowsExt, PoolUse, Session};
use crate::engine::{Reader, dialect};
use crate::pools::ReplicaPools;
use crate::prepared::PrepareOnce;
use civitas_application::metrics;
use civitas_jobs::JobOwner;
use civitas_kernel::{Error, Result};
use diesel::dsl::sql;
use diesel::sql_types::{BigInt, Nullable, Text};
use std::collections::{HashMap, VecDeque};
use std::future::ready;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
/// The most writers whose positions are kept.
const MAX_WRITERS: usize = 10_000;
/// The position of a replica that is not in use.
const UNUSED: i64 = 0;

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
    position: AtomicI64,
}

pub(super) struct Replica {
    pub(super) pools: ReplicaPools,
    /// What it has of the log, or [`UNUSED`].
    position: AtomicI64,
    /// Whether a read waits for it.
    is_wanted: Notify,
}

/// The position of the log that a server has, and the name of the database.
type ServerState = (Option<i64>, String);

impl Replicas {
    /// Measures these replicas from now on.
    pub(super) fn start(primary: Reader, pools: Vec<ReplicaPools>) -> Self {
        let primary = Arc::new(Primary { reader: primary, position: AtomicI64::new(0) });
        let mut monitors = JoinSet::new();
        let all = pools.into_iter().map(|pools| {
            let (position, is_wanted) = (AtomicI64::new(UNUSED), Notify::new());
            let replica = Arc::new(Replica { pools, position, is_wanted });
            monitors.spawn(monitor(replica.clone(), primary.clone()));
            replica
        });
        let all = all.collect();
        Self { primary, all, first: AtomicUsize::new(0), needed: Mutex::default(), _monitors: monitors }
    }

    /// One of the replicas that have this position, and what the caller wrote; they take turns. Waits for it without a
    /// connection; `None` when no replica has it in time. A position that the primary is not known to have is not waited for.
    async fn find(&self, caller: JobOwner, position: i64) -> Option<Arc<Replica>> {
        let position = position.max(self.needed().of(caller)).max(UNUSED + 1);
        let begun = Instant::now();
        loop {
            let first = self.first.fetch_add(1, Ordering::Relaxed) % self.all.len();
            let mut candidates = self.all[first..].iter().chain(&self.all[..first]);
            if let Some(found) = candidates.find(|replica| replica.position() >= position) {
                return Some(found.clone());
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

    fn needed(&self) -> MutexGuard<'_, NeededPositions> {
        self.needed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Replica {
    fn position(&self) -> i64 {
        self.position.load(Ordering::Relaxed)
    }

    fn is_used(&self) -> bool {
        self.position() != UNUSED
    }

    /// A connection was not to be had: the replica is not used until it was measured again.
    pub(super) fn leave(&self, error: &Error) {
        if self.position.swap(UNUSED, Ordering::Relaxed) != UNUSED {
            tracing::warn!(replica = self.pools.name, %error, "a replica is not used");
        }
        self.is_wanted.notify_one();
    }
}

impl ReplicaPools {
    /// What the replica has of the log of this database.
    async fn measure(&self, database: &str) -> Result<i64> {
        match state(&self.monitor, dialect::REPLICA_STATE).await? {
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
    let connection = ConnectionGuard::from_pool(reader).await?;
    statement.value_from(ready(Ok(connection))).await
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
        let follows = async {
            let (position, database) = state(&primary, dialect::PRIMARY_STATE).await?;
            let begun = Instant::now();
            while Some(pools.measure(&database).await?) < position {
                sleep(POLL_INTERVAL).await;
            }
            Ok(begun.elapsed().as_millis())
        };
        let late = || Err(Error::database("it is more than 5 s late"));
        let delay: Result<u128> = timeout(MAX_LATENESS, follows).await.unwrap_or_else(|_| late());
        let (name, text) = (&pools.name, |error: &Error| error.cause().map(ToString::to_string));
        let fault = |error| Error::database(format!("replica {name}: {}", text(&error).unwrap_or_default()));
        states.push(format!("replica {name} is a standby, {} ms behind", delay.map_err(fault)?));
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
    positions: VecDeque<(Instant, i64)>,
    database: String,
}

impl PastPositions {
    /// The position of the replica, after that of the primary if it was not measured for a second.
    async fn measure(&mut self, replica: &Replica, primary: &Primary) -> Result<i64> {
        let now = Instant::now();
        if self.positions.back().is_none_or(|(at, _)| now.duration_since(*at) >= MEASURE_EVERY) {
            let (position, database) = state(&primary.reader, dialect::PRIMARY_STATE).await?;
            let position = position.ok_or_else(|| Error::internal("the primary has no position"))?;
            primary.position.store(position, Ordering::Relaxed);
            self.database = database;
            self.add(now, position);
        }
        replica.pools.measure(&self.database).await
    }

    fn add(&mut self, now: Instant, position: i64) {
        self.positions.push_back((now, position));
        let is_old = |(at, _): &(Instant, i64)| now.duration_since(*at) >= MAX_LATENESS;
        while self.positions.get(1).is_some_and(is_old) {
            self.positions.pop_front();
        }
    }

    /// The position that a replica must have: to stay in use that of some seconds ago, to come into use that of a second ago.
    fn required(&self, is_used: bool) -> i64 {
        let number = if is_used { 0 } else { self.positions.len().saturating_sub(2) };
        self.positions.get(number).map_or(i64::MAX, |(_, position)| *position)
    }
}

/// The positions that writers have to see, after their own writes.
#[derive(Default)]
struct NeededPositions {
    of_writers: HashMap<JobOwner, i64>,
    /// That of all writers whose own one was dropped.
    of_others: i64,
}

impl NeededPositions {
    fn set(&mut self, writer: JobOwner, position: i64) {
        if self.of_writers.len() >= MAX_WRITERS {
            // Not earlier than those before it.
            self.of_others = position;
            self.of_writers.clear();
        }
        self.of_writers.insert(writer, position);
    }

    fn of(&self, caller: JobOwner) -> i64 {
        self.of_writers.get(&caller).copied().unwrap_or(self.of_others)
    }
}

impl Session {
    /// The session that reads at a replica with this position, and with what the caller wrote.
    pub(crate) async fn on_replica(&self, caller: JobOwner, position: i64) -> Option<Self> {
        let found = self.replicas()?.find(caller, position).await;
        metrics::replica_read(if found.is_some() { "replica" } else { "primary" });
        self.another(PoolUse::Replica(found?), self.bounds).ok()
    }

    /// The position of the log, which the writer has to see from now on.
    pub(crate) async fn note_position(&self, writer: JobOwner) -> Option<i64> {
        let replicas = self.replicas()?;
        let found = sql::<BigInt>(dialect::LOG_POSITION).prepare_once().value_from(self.read()).await;
        let found = found.inspect_err(|error| tracing::warn!(%error, "the position of a write is not known"));
        let position: Option<i64> = found.ok();
        // Without a position the writer reads at the primary.
        replicas.needed().set(writer, position.unwrap_or(i64::MAX));
        replicas.primary.position.fetch_max(position?, Ordering::Relaxed);
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::ClientId;

    fn writer(client: i64) -> JobOwner {
        JobOwner { client: ClientId(client), user: None }
    }

    #[test]
    fn a_replica_may_be_five_seconds_late_and_comes_back_when_it_is_one_second_late() {
        let (begun, mut past) = (Instant::now(), PastPositions::default());
        let position = |second: u64| 100 + i64::try_from(second).unwrap();
        assert_eq!(past.required(false), i64::MAX, "nothing was measured");
        for second in 0..10 {
            past.add(begun + Duration::from_secs(second), position(second));
            let at_least = |seconds| position(second.saturating_sub(seconds));
            assert_eq!((past.required(true), past.required(false)), (at_least(5), at_least(1)));
        }
    }

    #[test]
    fn a_writer_needs_what_it_wrote_and_a_dropped_one_no_less() {
        let mut needed = NeededPositions::default();
        for (client, position) in (1..).zip(1..).take(MAX_WRITERS) {
            needed.set(writer(client), position);
        }
        assert_eq!((needed.of(writer(7)), needed.of(writer(0))), (7, 0));
        needed.set(writer(0), 20_000);
        needed.set(writer(7), 20_001);
        assert_eq!([7, 8, 0].map(|number| needed.of(writer(number))), [20_001, 20_000, 20_000]);
        assert_eq!(needed.of_writers.len(), 2);
    }
}
