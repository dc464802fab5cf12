//! The tables, as Markdown.

use crate::archive::Size;
use crate::drafts;
use crate::machine;
use crate::measure::{Figures, Line};
use crate::postgres::Engine;
use crate::wrk::{CONNECTIONS, THREADS, precise};
use std::time::Duration;

/// What is known of a server that rests.
pub struct Rest {
    /// From the start of the process to the first 200 of `/health`; the middle of several starts.
    pub start: Duration,
    /// What it holds in memory after two seconds without a request, without mapped files, in KiB.
    pub idle: u64,
}

/// Below this it starts.
const START: Duration = Duration::from_millis(30);
/// Below this it rests, in KiB.
const IDLE: u64 = 32 * 1024;
/// What stands for a value that is not known.
const NONE: &str = "–";

/// Prints what is measured where.
pub fn head(engine: Engine, size: &Size, seconds: u64) {
    let Size { organizations, users, voters, proposals, votes, posts, meetings } = size;
    println!("{}", machine::describe());
    println!(
        "{engine:?}; {organizations} organizations; in the city {users} users ({voters} vote), {proposals} proposals, \
         {votes} votes, {posts} posts, {meetings} meetings"
    );
    println!(
        "{seconds} s a line, {THREADS} threads and {CONNECTIONS} connections of wrk; jobs and drafts: {} at a time",
        drafts::AT_ONCE
    );
}

/// Prints everything.
pub fn print(lines: &[Line], rest: Option<&Rest>) {
    print_lines(lines);
    if lines.iter().any(|line| line.other.is_some()) {
        print_comparison(lines);
    }
    if let Some(rest) = rest {
        let Rest { start, idle } = rest;
        println!(
            "\nstart to the first 200 of /health: {:.1} ms (wanted: below {})",
            milliseconds(*start),
            START.as_millis()
        );
        println!("memory after 2 s idle: {} MiB (wanted: below {})", mebibytes(*idle), IDLE / 1024);
    }
    for fault in faults(rest) {
        println!("SHORT: {fault}");
    }
}

fn print_lines(lines: &[Line]) {
    println!();
    row(
        "",
        [
            "civitas/s",
            "server µs",
            "db µs",
            "p50 ms",
            "p99 ms",
            "memory MiB",
            "bytes",
            "baseline/s",
            "p50 ms",
            "p99 ms",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain(["ratio".to_owned()]),
    );
    rule(11);
    for line in lines {
        let baseline = line.baseline.as_ref().map_or([NONE; 3].map(str::to_owned), speed);
        let cells = measured(&line.civitas).into_iter().chain([bytes(&line.civitas)]).chain(baseline);
        row(&line.task, cells.chain([ratio(line.ratio())]));
    }
}

fn print_comparison(lines: &[Line]) {
    println!("\nThe other binary:\n");
    row(
        "",
        ["civitas/s", "other/s", "server µs", "db µs", "p50 ms", "p99 ms", "memory MiB", "civitas/other"]
            .map(str::to_owned),
    );
    rule(8);
    for line in lines {
        let other = line.other.as_ref().map_or([NONE; 6].map(str::to_owned), measured);
        let own = format!("{:.0}", line.civitas.per_second);
        row(&line.task, std::iter::once(own).chain(other).chain([ratio(line.gain())]));
    }
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().map(|cell| format!("{cell:>10}")).collect();
    println!("| {name:<44} | {} |", cells.join(" | "));
}

fn rule(columns: usize) {
    println!("|---|{}", "---:|".repeat(columns));
}

/// Requests per second, processor time of the server and of the database, p50, p99, memory.
fn measured(figures: &Figures) -> [String; 6] {
    let [per_second, p50, p99] = speed(figures);
    let [server, database] = [figures.cpu.server, figures.cpu.database].map(microseconds);
    [per_second, server, database, p50, p99, mebibytes(figures.memory)]
}

/// Of an answer with its head; jobs and drafts have several.
fn bytes(figures: &Figures) -> String {
    if figures.bytes == 0 { NONE.to_owned() } else { figures.bytes.to_string() }
}

fn speed(figures: &Figures) -> [String; 3] {
    let time = |time| format!("{:.2}", milliseconds(time));
    [format!("{:.0}", figures.per_second), time(figures.p50), time(figures.p99)]
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or(NONE.to_owned(), |ratio| format!("{ratio:.2}"))
}

fn microseconds(time: Option<Duration>) -> String {
    time.map_or(NONE.to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e6))
}

fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1}", precise(kibibytes) / 1024.0)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// What falls short of what is wanted.
fn faults(rest: Option<&Rest>) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if rest.is_some_and(|rest| rest.start >= START) {
        faults.push("the start");
    }
    if rest.is_some_and(|rest| rest.idle >= IDLE) {
        faults.push("the idle memory");
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Cpu;

    fn figures(per_second: f64) -> Figures {
        let cpu = Cpu { server: Some(Duration::from_micros(120)), database: None };
        Figures {
            requests: 1,
            per_second,
            p50: Duration::ZERO,
            p99: Duration::ZERO,
            bytes: 0,
            memory: 2048,
            cpu,
        }
    }

    #[test]
    fn what_falls_short_is_named() {
        let rest = Rest { start: Duration::from_millis(29), idle: 32 * 1024 };
        assert_eq!(faults(Some(&rest)), ["the idle memory"]);
        assert!(faults(None).is_empty());
    }

    #[test]
    fn a_task_without_baseline_has_no_ratio_and_an_unknown_time_is_a_dash() {
        let alone = Line { task: "alone".to_owned(), civitas: figures(250.0), baseline: None, other: None };
        assert_eq!(ratio(alone.ratio()), "–");
        assert_eq!(measured(&alone.civitas), ["250", "120.0", "–", "0.00", "0.00", "2.0"]);
        let compared = Line { other: Some(figures(50.0)), ..alone };
        assert_eq!(ratio(compared.gain()), "5.00");
    }
}
