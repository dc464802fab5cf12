//! The load harness: compares Civitas with a baseline server without rules.
//!
//! `load run` builds a city in a temporary directory, starts the release server over it and, in a process of its own, a
//! baseline server ([`baseline`]): the same HTTP library answering the same bytes from one prepared statement. Both do the
//! same tasks ([`tasks`]), driven by the same generator, one after the other. Traffic stays on 127.0.0.1, and every loop
//! has an end.

mod archive;
mod baseline;
mod city;
mod client;
mod cpu;
mod drafts;
mod forms;
mod ledger;
mod machine;
mod measure;
mod pace;
mod plan;
mod postgres;
mod process;
mod report;
mod run;
mod server;
mod slow;
mod soak;
mod stage;
mod tasks;
mod voting;
mod webhooks;
mod work;
mod wrk;

use clap::Parser;
use std::process::ExitCode;

/// Any failure ends the run: half a comparison is none.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Measures the release server against a baseline server.
#[derive(Parser)]
enum Command {
    /// Measures reads and writes, cached and computed, and prints tables.
    Run(run::Args),
    /// Measures requests for questionnaires and attachments, and prints a table.
    Forms(forms::Args),
    /// Measures webhooks and event streams, and prints a table.
    Webhooks(webhooks::Args),
    /// Drives a mixed load for a long time, and checks that nothing is lost, repeated or leaked.
    Soak(soak::Args),
    /// Measures healthy clients beside thousands of slow connections.
    Slow(slow::Args),
    /// Counts webhooks; `webhooks` starts it by itself.
    Receiver(webhooks::ReceiverArgs),
    /// Serves the baseline server; `run` starts it by itself.
    Baseline(baseline::Args),
}

/// Does a run. Its loops may block the main thread: requests are carried by other threads.
fn block_on(run: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run)
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Run(args) => run::begin(&args),
        Command::Forms(args) => forms::begin(&args),
        Command::Webhooks(args) => webhooks::begin(&args),
        Command::Soak(args) => soak::begin(&args),
        Command::Slow(args) => slow::begin(&args),
        Command::Receiver(args) => webhooks::serve(&args),
        Command::Baseline(args) => baseline::serve(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}
