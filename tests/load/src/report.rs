//! The table.

use crate::machine;
use crate::measure::{Figures, Line};
use crate::wrk::{CONNECTIONS, THREADS, precise};
use std::time::Duration;

/// What is known of a server that rests.
pub struct Rest {
    /// From the start of the process to the first 200 of `/health`; the middle of several starts.
    pub start: Duration,
    /// What it holds in memory after two seconds without a request, in KiB.
    pub idle: u64,
}

/// Below this it starts.
const START: Duration = Duration::from_millis(300);
/// Below this it rests, in KiB.
const IDLE: u64 = 40 * 1024;

/// Prints everything.
pub fn print(lines: &[Line], rest: &Rest, seconds: u64) {
    println!("{}", machine::describe());
    println!(
        "{seconds} s a line, {THREADS} threads and {CONNECTIONS} connections of wrk; jobs: 16 at a time\n"
    );
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9} | {:>6} {:>6}",
        "", "civitas/s", "p50 ms", "p99 ms", "peak MiB", "baseline/s", "p50 ms", "p99 ms", "ratio", "wanted"
    );
    for line in lines {
        let wanted = line.target.map_or(String::new(), |target| format!("{target:.2}"));
        println!(
            "{:<34} {} {:>9.1} | {} | {:>6.2} {wanted:>6}",
            line.task,
            speed(&line.civitas),
            precise(line.civitas.peak) / 1024.0,
            speed(&line.baseline),
            line.ratio(),
        );
    }
    println!(
        "\nstart to the first 200 of /health  {:>6.1} ms   (wanted: below {})",
        milliseconds(rest.start),
        START.as_millis()
    );
    println!(
        "memory after 2 s idle              {:>6.1} MiB  (wanted: below {})",
        precise(rest.idle) / 1024.0,
        IDLE / 1024
    );
    for fault in faults(lines, rest) {
        println!("SHORT: {fault}");
    }
}

fn speed(figures: &Figures) -> String {
    format!(
        "{:>9.0} {:>9.2} {:>9.2}",
        figures.per_second,
        milliseconds(figures.p50),
        milliseconds(figures.p99)
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// What falls short of what is wanted.
fn faults(lines: &[Line], rest: &Rest) -> Vec<String> {
    let mut faults: Vec<String> = lines
        .iter()
        .filter(|line| line.target.is_some_and(|target| line.ratio() < target))
        .map(|line| format!("{}: {:.2} of the baseline", line.task, line.ratio()))
        .collect();
    if rest.start >= START {
        faults.push("the start".to_owned());
    }
    if rest.idle >= IDLE {
        faults.push("the idle memory".to_owned());
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(per_second: f64) -> Figures {
        Figures { per_second, p50: Duration::ZERO, p99: Duration::ZERO, bytes: 0, peak: 0 }
    }

    #[test]
    fn what_falls_short_is_named() {
        let line = |task, target, reached| Line {
            task,
            civitas: figures(reached),
            baseline: figures(1000.0),
            target,
        };
        let lines = [line("fast", Some(0.5), 500.0), line("slow", Some(0.5), 490.0), line("free", None, 1.0)];
        let rest = Rest { start: Duration::from_millis(299), idle: 40 * 1024 };
        assert_eq!(faults(&lines, &rest), ["slow: 0.49 of the baseline", "the idle memory"]);
    }
}
