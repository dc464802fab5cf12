//! What a run prints, and the rules for memory and file descriptors.
//!
//! Memory grows if the median slope of its samples (Theil and Sen: the median of the slopes between all pairs) over the
//! second half of the run, times the length of that half, is more than 10 % of the median sample and more than 8 MiB.
//! Mapped files are not counted: they grow with the database. Runs of less than ten minutes are not judged: caches fill.
//!
//! File descriptors: at most 32 more at the end of the load than at the first report.

use crate::Outcome;
use crate::pace::Latencies;
use crate::postgres::Database;
use crate::process::Process;
use crate::soak::world::World;
use crate::stage::Home;
use crate::wrk::precise;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often memory is read.
const SAMPLE: Duration = Duration::from_secs(10);
/// The shortest run whose memory is judged.
const JUDGED: Duration = Duration::from_secs(600);
/// The part of the median sample that memory may grow by in half a run.
const MAX_GROWTH: f64 = 0.10;
/// A smaller growth is none, in KiB.
const MIN_GROWTH: f64 = 8.0 * 1024.0;
/// File descriptors that may be added after the first report.
const MORE_FILES: u64 = 32;

/// Prints reports, and keeps what is judged.
pub struct Reporter<'a> {
    database: &'a Database,
    home: &'a Home,
    /// Seconds since the begin, and KiB.
    memory: Vec<(f64, f64)>,
    /// At the first report, and at the last.
    files: Option<(u64, u64)>,
    length: Duration,
}

impl<'a> Reporter<'a> {
    /// Nothing is reported yet.
    pub fn new(database: &'a Database, home: &'a Home) -> Self {
        Self { database, home, memory: Vec::new(), files: None, length: Duration::ZERO }
    }

    /// Reports until the load ends: after each `every`, and at the end of `length`.
    pub async fn watch(
        &mut self,
        world: &World,
        server: &Process,
        length: Duration,
        every: Duration,
        load: impl Future<Output = Outcome>,
    ) -> Outcome {
        print_head();
        self.length = length;
        let (begun, mut next) = (Instant::now(), every.min(length));
        tokio::pin!(load);
        loop {
            tokio::select! {
                ended = &mut load => {
                    ended?;
                    break;
                }
                () = sleep(SAMPLE.min(next.saturating_sub(begun.elapsed()))) => {}
            }
            self.memory.push((begun.elapsed().as_secs_f64(), precise(server.anonymous()?)));
            if begun.elapsed() >= next {
                self.report(world, server, begun.elapsed()).await?;
                next = if next < length { (next + every).min(length) } else { Duration::MAX };
            }
        }
        self.report(world, server, begun.elapsed()).await
    }

    async fn report(&mut self, world: &World, server: &Process, at: Duration) -> Outcome {
        let (latencies, files) = (world.tally.take(), server.open_files()?);
        let (database, wal) = self.database.size(self.home).await?;
        // What comes after the end of the load is judged with the last report before it.
        if at <= self.length + SAMPLE {
            self.files = Some((self.files.map_or(files, |(first, _)| first), files));
        }
        let Latencies { count, p50, p99, most } = latencies;
        let [p50, p99, most] = [p50, p99, most].map(|time| time.as_secs_f64() * 1000.0);
        let statuses = world.tally.statuses().map(|count| count.to_string()).join(" ");
        let [resident, anonymous] = [server.resident()?, server.anonymous()?].map(mebibytes);
        println!(
            "{:>6.1} {count:>9} {p50:>8.2} {p99:>8.2} {most:>8.1} {resident:>8.1} {anonymous:>8.1} {files:>6} {:>7} \
             {:>9.1} {:>8.1}  {statuses}",
            at.as_secs_f64() / 60.0,
            server.threads()?,
            mebibytes(database / 1024),
            mebibytes(wal / 1024),
        );
        Ok(())
    }

    /// The rules of this module that are broken.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some((first, last)) = self.files
            && last > first + MORE_FILES
        {
            broken.push(format!("open file descriptors: {first} at the first report, {last} at the end"));
        }
        let half = self.length.as_secs_f64() / 2.0;
        let second: Vec<_> = self.memory.iter().copied().filter(|(at, _)| *at >= half).collect();
        let growth = growth(&second, half);
        if let Some((growth, share)) = growth {
            println!(
                "memory in the second half: {:+.1} MiB by the median slope, {:+.1} %",
                growth / 1024.0,
                share * 100.0
            );
            if self.length >= JUDGED && growth > MIN_GROWTH && share > MAX_GROWTH {
                broken.push(format!("memory grew by {:.1} % in the second half", share * 100.0));
            }
        }
        broken
    }
}

fn print_head() {
    println!(
        "{:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>7} {:>9} {:>8}  answers since the begin: none 1xx 2xx 3xx \
         4xx 5xx",
        "minute",
        "requests",
        "p50 ms",
        "p99 ms",
        "max ms",
        "RSS MiB",
        "anon MiB",
        "files",
        "threads",
        "data MiB",
        "WAL MiB"
    );
}

fn mebibytes(kibibytes: u64) -> f64 {
    precise(kibibytes) / 1024.0
}

/// The growth within `seconds` by the median slope, and its part of the median sample. `None` with too few samples.
fn growth(samples: &[(f64, f64)], seconds: f64) -> Option<(f64, f64)> {
    let mut slopes = Vec::new();
    for (number, (at, value)) in samples.iter().enumerate() {
        let later = samples.iter().skip(number + 1);
        slopes.extend(later.map(|(then, other)| (other - value) / (then - at)));
    }
    let growth = median(slopes)? * seconds;
    Some((growth, growth / median(samples.iter().map(|(_, value)| *value).collect())?))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..50).map(|number| f64::from(number) * 10.0).map(|at| (at, value(at))).collect()
    }

    #[test]
    fn a_leak_is_found_and_a_peak_is_none() {
        let (grown, share) = growth(&samples(|at| 1_000.0 + at), 500.0).unwrap();
        assert!((grown - 500.0).abs() < 1e-6 && share > 0.3, "{grown} {share}");
        let peak = samples(|at| if at > 400.0 { 9_000.0 } else { 1_000.0 });
        assert!(growth(&peak, 500.0).unwrap().0.abs() < 1e-6);
        assert!(growth(&[], 500.0).is_none());
    }
}
