//! Votes: who casts the next one, and how long asynchronous ones take until their jobs are completed.

use crate::Outcome;
use crate::client::{BASE, Client};
use crate::measure::Figures;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Jobs under way at once.
const AT_ONCE: usize = 16;
/// How often a job is looked at.
const POLL: Duration = Duration::from_millis(2);
/// How long a job may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between votes that only disturb.
const PAUSE: Duration = Duration::from_millis(100);

/// Parts of all pairs.
const PARTS: u64 = 16;
/// The part whose votes are cast before anything is measured.
pub const RECORDED: u64 = PARTS - 1;

/// A user, with a token.
#[derive(Clone)]
pub struct Voter {
    /// The token.
    pub bearer: String,
    /// The number of the user.
    pub user: i64,
}

/// All pairs of voter and proposal, numbered so that neighbours share neither. The script of `wrk` counts alike.
pub struct Pairs {
    /// The voters.
    pub voters: Vec<Voter>,
    /// The number of the first proposal.
    pub first: i64,
    /// How many proposals follow each other; a multiple of the voters.
    pub proposals: u64,
}

impl Pairs {
    /// Part `n` of sixteen, which share no pair: its first pair.
    pub fn part(&self, n: u64) -> u64 {
        let voters = u64::try_from(self.voters.len()).unwrap_or(1);
        self.proposals * voters * n / PARTS
    }

    /// The voter of a pair.
    pub fn voter(&self, number: u64) -> Option<&Voter> {
        self.pair(number).map(|(voter, _)| voter)
    }

    fn pair(&self, number: u64) -> Option<(&Voter, i64)> {
        let voters = u64::try_from(self.voters.len()).ok()?;
        let voter = usize::try_from((number / self.proposals + number) % voters).ok()?;
        let proposal = self.first.checked_add_unsigned(number % self.proposals)?;
        Some((self.voters.get(voter)?, proposal))
    }

    /// Casts the vote of a pair, now or as a job; answers the body.
    pub async fn cast(&self, client: &Client, number: u64, sync: bool) -> Outcome<Vec<u8>> {
        let (voter, proposal) = self.pair(number).ok_or("there are no voters")?;
        let path = format!("{BASE}/vote_proposals{}", if sync { "/sync" } else { "" });
        let body = json!({"proposal_id": proposal, "data": {"weight": 1}});
        let answer = client.bearing(&voter.bearer).post(&path, &body, Some(voter.user)).await?;
        Ok(answer.is(if sync { 200 } else { 202 })?.body)
    }

    /// Writes users for the script of `wrk`.
    pub fn write(users: &[Voter], file: &Path) -> Outcome {
        let lines: String =
            users.iter().flat_map(|v| [v.bearer.clone(), format!("\t{}\n", v.user)]).collect();
        Ok(std::fs::write(file, lines)?)
    }
}

/// The job of a receipt, once it is completed; answers the body.
pub async fn completed(client: &Client, receipt: &[u8]) -> Outcome<Vec<u8>> {
    let receipt: Value = serde_json::from_slice(receipt)?;
    let path = format!("{BASE}/jobs/{}", receipt["job_id"].as_str().ok_or("a receipt without job")?);
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        let answer = client.get(&path, None).await?.is(200)?;
        let job = answer.json()?;
        match job["status"].as_str() {
            Some("completed") => return Ok(answer.body),
            Some("failed") => return Err(format!("a job failed: {job}").into()),
            _ => sleep(POLL).await,
        }
    }
    Err(format!("a job was not completed within {} s", TIMEOUT.as_secs()).into())
}

/// Casts votes as jobs, each followed to its end, for so long. The first pair is `begin`.
pub async fn follow(pairs: &Arc<Pairs>, client: &Client, begin: u64, seconds: u64) -> Outcome<Figures> {
    let next = Arc::new(AtomicU64::new(begin));
    let (started, length) = (Instant::now(), Duration::from_secs(seconds));
    let mut clients = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (pairs, client, next) = (pairs.clone(), client.clone(), next.clone());
        clients.spawn(async move {
            let mut times = Vec::new();
            while started.elapsed() < length {
                let asked = Instant::now();
                let receipt = pairs.cast(&client, next.fetch_add(1, Ordering::Relaxed), false).await?;
                completed(&client, &receipt).await?;
                times.push(asked.elapsed());
            }
            Outcome::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = clients.join_next().await {
        times.extend(done??);
    }
    Figures::of(times, started.elapsed()).ok_or_else(|| "no job was completed".into())
}

/// Casts ten votes per second during a measurement: each is a commit, which invalidates all cached responses.
pub struct Disturbance {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Outcome<u64>>,
}

impl Disturbance {
    /// Begins, with this pair.
    pub fn begin(pairs: Arc<Pairs>, client: Client, begin: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let task = tokio::spawn(async move {
            let mut tick = interval(PAUSE);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut number = begin;
            while !told.load(Ordering::Relaxed) {
                tick.tick().await;
                pairs.cast(&client, number, true).await?;
                number += 1;
            }
            Ok(number - begin)
        });
        Self { stop, task }
    }

    /// Ends. How many votes were cast.
    pub async fn end(self) -> Outcome<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pair_comes_once() {
        let voters = (0..5).map(|user| Voter { bearer: String::new(), user }).collect();
        let pairs = Pairs { voters, first: 7, proposals: 20 };
        let all: HashSet<_> = (0..100).filter_map(|n| pairs.pair(n).map(|(v, p)| (v.user, p))).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|(_, proposal)| (7..27).contains(proposal)));
        assert_eq!(pairs.part(PARTS), 100);
    }
}
