//! A mixed load for a long time: half of what the server can do, with a ledger of all acknowledged writes.

mod events;
mod ledger;
mod mix;
mod report;
mod world;

pub use mix::{Kind, kind_of, scatter};
pub use world::{World, build};

use crate::Outcome;
use crate::client::BASE;
use crate::machine;
use crate::pace::drive;
use crate::postgres::{Database, Engine};
use crate::process::Process;
use crate::stage::Home;
use crate::webhooks::Receiver;
use crate::wrk::precise;
use events::Events;
use report::Reporter;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Requests under way while the capacity is measured.
const AT_ONCE: usize = 32;
/// The part of the capacity that is driven.
const SHARE: f64 = 0.5;
/// Lines of the server's log that are printed when the run fails.
const LOG_LINES: usize = 20;

/// What to run, and how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Where the data is.
    #[arg(long)]
    engine: Engine,
    /// Minutes of load. Tokens are valid for 120.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=110))]
    minutes: u64,
    /// Minutes between two reports.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    report_minutes: u64,
    /// Seconds of the measurement of the capacity.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=120))]
    capacity_seconds: u64,
    /// Requests per second, instead of half of the capacity.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    rate: Option<u32>,
    /// Users of the city.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(20..=10_000))]
    users: u64,
    /// Published proposals of the city, at least 1000.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000))]
    proposals: u64,
    /// The address of a database of the PostgreSQL server, whose user may create others.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5432/postgres")]
    postgres: String,
}

/// Runs it, and fails if a rule is broken.
pub fn begin(args: &Args) -> Outcome {
    crate::block_on(Database::during(args.engine, &args.postgres, async |database| run(args, database).await))
}

async fn run(args: &Args, database: &Database) -> Outcome {
    let directory = tempfile::tempdir()?;
    let home = Home::new(&args.server, directory.path(), database.url(), true)?;
    println!("{}", machine::describe());
    build(&home, args.users, args.proposals)?;
    let receiver = Receiver::start()?;
    let mut server = home.serve()?;
    server.until_answers(&format!("{BASE}/health"))?;
    let world = Arc::new(World::of(&server, args.users, args.proposals).await?);
    let outcome = load(args, &world, &server, &receiver, Reporter::new(database, &home)).await;
    if outcome.is_err() {
        let log = fs::read_to_string(home.file("civitas.log"))?;
        let lines: Vec<_> = log.lines().collect();
        eprintln!("the end of the log:\n{}", lines[lines.len().saturating_sub(LOG_LINES)..].join("\n"));
    }
    outcome?;
    server.stop()
}

async fn load(
    args: &Args,
    world: &Arc<World>,
    server: &Process,
    receiver: &Receiver,
    mut reporter: Reporter<'_>,
) -> Outcome {
    register(world, &receiver.url(0)).await?;
    let events = Events::open(server.address, world).await?;
    let numbers = Arc::new(AtomicU64::new(0));
    let capacity = capacity(world, &numbers, Duration::from_secs(args.capacity_seconds)).await?;
    let rate = args.rate.map_or(capacity * SHARE, f64::from).max(1.0);
    let length = Duration::from_secs(args.minutes * 60);
    println!(
        "{:?}: capacity {capacity:.0}/s in closed loops; {rate:.0}/s for {} minutes",
        args.engine, args.minutes
    );
    world.tally.take();
    let driven = drive(rate, length, |_, due| {
        let (world, number) = (world.clone(), numbers.fetch_add(1, Ordering::Relaxed));
        async move { world.execute(kind_of(number), number, due).await }
    });
    reporter.watch(world, server, length, Duration::from_secs(args.report_minutes * 60), driven).await?;
    finish(world, receiver, &events, reporter).await
}

/// The mixed requests per second of [`AT_ONCE`] clients, each of which waits for its answer and the end of its job.
async fn capacity(world: &Arc<World>, numbers: &Arc<AtomicU64>, length: Duration) -> Outcome<f64> {
    let (begun, mut clients) = (Instant::now(), JoinSet::new());
    for _ in 0..AT_ONCE {
        let (world, numbers) = (world.clone(), numbers.clone());
        clients.spawn(async move {
            while begun.elapsed() < length {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                world.execute(kind_of(number), number, Instant::now()).await;
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended?;
    }
    Ok(precise(numbers.load(Ordering::Relaxed)) / begun.elapsed().as_secs_f64())
}

async fn register(world: &World, url: &str) -> Outcome {
    let body = json!({"data": {"attributes": {"url": url, "subscriptions": [world::EVENT]}}});
    world.client.post(&format!("{BASE}/webhook_registrations"), &body, None).await?.is(201)?;
    Ok(())
}

/// All rules, after the load.
async fn finish(world: &World, receiver: &Receiver, events: &Events, reporter: Reporter<'_>) -> Outcome {
    let mut broken = reporter.broken();
    let (count, first) = world.tally.faults();
    if count > 0 {
        broken.push(format!("{count} answers were not as expected:\n  {}", first.join("\n  ")));
    }
    let drafts = world.ledger.drafts();
    if let Err(error) = receiver.until(drafts).await {
        broken.push(format!("webhooks: {error}"));
    }
    if let Err(error) = events.until(drafts).await {
        broken.push(format!("event stream: {error}"));
    }
    let wrong = ledger::check(world).await?;
    if !wrong.is_empty() {
        broken.push(ledger::summary(&wrong));
    }
    println!(
        "acknowledged: {} writes and {drafts} drafts; {drafts} webhooks and events were awaited",
        world.ledger.writes()
    );
    if broken.is_empty() {
        println!("all rules hold");
        return Ok(());
    }
    Err(format!("broken rules:\n{}", broken.join("\n")).into())
}
