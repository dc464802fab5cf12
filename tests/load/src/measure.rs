//! The measured values, and their format.

use std::time::Duration;

/// How one server did at one task.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Requests, or jobs, in a second.
    pub per_second: f64,
    /// Half of them took at most so long.
    pub p50: Duration,
    /// 99 of 100 took at most so long.
    pub p99: Duration,
    /// Of an answer with its head.
    pub bytes: u64,
    /// The most memory the server held meanwhile, in KiB.
    pub peak: u64,
}

impl Figures {
    /// Of tasks that took so long each, done within `elapsed`; `None` when there were none.
    pub fn of(mut times: Vec<Duration>, elapsed: Duration) -> Option<Self> {
        times.sort_unstable();
        let at = |percent: usize| {
            times.get((times.len() * percent / 100).min(times.len().checked_sub(1)?)).copied()
        };
        let (p50, p99) = (at(50)?, at(99)?);
        let count = crate::wrk::precise(u64::try_from(times.len()).unwrap_or(u64::MAX));
        Some(Self { per_second: count / elapsed.as_secs_f64(), p50, p99, bytes: 0, peak: 0 })
    }
}

/// One task, done by both.
pub struct Line {
    /// What was done.
    pub task: &'static str,
    /// By Civitas.
    pub civitas: Figures,
    /// By the baseline server.
    pub baseline: Figures,
    /// The ratio the project wants, where it names one.
    pub target: Option<f64>,
}

impl Line {
    /// Which part of the baseline server's speed is left.
    pub fn ratio(&self) -> f64 {
        self.civitas.per_second / self.baseline.per_second
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
        assert!(Figures::of(Vec::new(), Duration::from_secs(1)).is_none());
    }
}
