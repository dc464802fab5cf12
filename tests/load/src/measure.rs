//! The measured values, and their format.

use std::time::Duration;

/// How one server did at one task.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Requests, or jobs.
    pub requests: u64,
    /// Requests, or jobs, in a second.
    pub per_second: f64,
    /// Half of them took at most so long.
    pub p50: Duration,
    /// 99 of 100 took at most so long.
    pub p99: Duration,
    /// Of an answer with its head.
    pub bytes: u64,
    /// What the server held in memory at the end, without mapped files, in KiB.
    pub memory: u64,
    /// Processor time of a request.
    pub cpu: Cpu,
}

/// Processor time of a request, of user and system mode.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    /// Of the server.
    pub server: Option<Duration>,
    /// Of all processes of the PostgreSQL server; `None` on SQLite, and if it is on another machine.
    pub database: Option<Duration>,
}

impl Cpu {
    /// The time between two readings, of one of so many requests.
    pub fn between(before: Self, after: Self, requests: u64) -> Self {
        let requests = u32::try_from(requests).unwrap_or(u32::MAX).max(1);
        let each = |before: Option<Duration>, after: Option<Duration>| {
            Some(after?.saturating_sub(before?) / requests)
        };
        Self { server: each(before.server, after.server), database: each(before.database, after.database) }
    }
}

impl Figures {
    /// Of tasks that took so long each, done within `elapsed`; `None` when there were none.
    pub fn of(mut times: Vec<Duration>, elapsed: Duration) -> Option<Self> {
        times.sort_unstable();
        let at = |percent: usize| {
            times.get((times.len() * percent / 100).min(times.len().checked_sub(1)?)).copied()
        };
        let (p50, p99) = (at(50)?, at(99)?);
        let requests = u64::try_from(times.len()).ok()?;
        let per_second = crate::wrk::precise(requests) / elapsed.as_secs_f64();
        Some(Self { requests, per_second, p50, p99, bytes: 0, memory: 0, cpu: Cpu::default() })
    }
}

/// One task, done by all.
pub struct Line {
    /// What was done.
    pub task: String,
    /// By Civitas.
    pub civitas: Figures,
    /// By the baseline server, where it makes sense.
    pub baseline: Option<Figures>,
    /// By the other binary of `--compare-with`.
    pub other: Option<Figures>,
}

impl Line {
    /// Which part of the baseline server's speed is left.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.civitas.per_second / self.baseline?.per_second)
    }

    /// The speed as a multiple of that of the other binary.
    pub fn gain(&self) -> Option<f64> {
        Some(self.civitas.per_second / self.other?.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let times = (1..=200).rev().map(Duration::from_millis).collect();
        let figures = Figures::of(times, Duration::from_secs(2)).unwrap();
        assert_eq!((figures.p50.as_millis(), figures.p99.as_millis()), (101, 199));
        assert!((figures.per_second - 100.0).abs() < 1e-9);
        assert_eq!(figures.requests, 200);
        assert!(Figures::of(Vec::new(), Duration::from_secs(1)).is_none());
    }

    #[test]
    fn processor_time_is_that_of_one_request() {
        let at = |seconds| Some(Duration::from_secs(seconds));
        let before = Cpu { server: at(1), database: None };
        let used = Cpu::between(before, Cpu { server: at(3), database: at(9) }, 1000);
        assert_eq!((used.server, used.database), (Some(Duration::from_millis(2)), None));
    }
}
