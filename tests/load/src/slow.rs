//! Healthy clients beside thousands of slow connections: how much longer their answers take.
//!
//! The addresses of the slow connections are 127.0.1.1 and following, so that the limits of connections per address keep
//! their default (Linux: all of 127.0.0.0/8 is this machine). With one address it shows the limit.

mod drip;
mod nginx;

use crate::Outcome;
use crate::client::BASE;
use crate::machine;
use crate::pace::{Latencies, drive};
use crate::postgres::{Database, Engine};
use crate::process::Process;
use crate::soak::{Kind, World, build, scatter};
use crate::stage::Home;
use crate::wrk::precise;
use drip::{Drip, Drips};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// What healthy clients send.
const HEALTHY: [Kind; 5] = [Kind::Proposal, Kind::List, Kind::Filter, Kind::Vote, Kind::Posts];
/// The p99 with slow connections, as a multiple of the larger one of the quiet phases: less than this.
const WANTED_RATIO: f64 = 2.0;
/// Users and proposals of the city.
const USERS: u64 = 100;
const PROPOSALS: u64 = 5_000;
/// How long slow connections may take to be open, and the server to forget them.
const SETTLE: Duration = Duration::from_secs(5);

/// How many connections, and how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Where the data is.
    #[arg(long)]
    engine: Engine,
    /// Slow connections at the same time.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u16).range(1..=9_000))]
    connections: u16,
    /// Addresses they come from.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=250))]
    addresses: u8,
    /// Seconds of each phase.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=600))]
    seconds: u64,
    /// Requests of healthy clients per second.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=2_000))]
    rate: u32,
    /// All clients connect to nginx with `docs/proxies/nginx.conf`, which must be installed, instead of the server.
    #[arg(long)]
    nginx: bool,
    /// The address of a database of the PostgreSQL server, whose user may create others.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5432/postgres")]
    postgres: String,
}

/// Runs it, and fails if healthy clients are refused or take too long.
pub fn begin(args: &Args) -> Outcome {
    crate::block_on(Database::during(args.engine, &args.postgres, async |database| run(args, database).await))
}

async fn run(args: &Args, database: &Database) -> Outcome {
    let directory = tempfile::tempdir()?;
    let home = Home::new(&args.server, directory.path(), database.url(), false)?;
    println!("{}", machine::describe());
    build(&home, USERS, PROPOSALS)?;
    let mut server = home.serve()?;
    server.until_answers(&format!("{BASE}/health"))?;
    let mut proxy = if args.nginx { Some(nginx::start(directory.path(), server.address)?) } else { None };
    if let Some(proxy) = &mut proxy {
        proxy.until_answers(&format!("{BASE}/health"))?;
    }
    let entrance = proxy.as_ref().unwrap_or(&server);
    let world = Arc::new(World::of(entrance, USERS, PROPOSALS).await?);
    println!(
        "{:?}: {} healthy requests per second; {} slow connections from {} addresses; {} s each",
        args.engine, args.rate, args.connections, args.addresses, args.seconds
    );
    println!(
        "{:<34} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9}",
        "", "p50 ms", "p99 ms", "max ms", "most open", "ended", "peak MiB"
    );
    let run = Run { args, entrance: entrance.address, server, world, _proxy: proxy };
    run.phase("warm-up", None).await?;
    let mut quiet = run.phase("quiet", None).await?;
    let mut worst = Duration::ZERO;
    for (name, drip) in [
        ("slow heads of requests", Drip::Heads),
        ("slow bodies", Drip::Bodies),
        ("slow readers of answers", Drip::Readers),
    ] {
        worst = worst.max(run.phase(name, Some(drip)).await?);
    }
    quiet = quiet.max(run.phase("quiet again", None).await?);
    run.judge(quiet, worst)
}

struct Run<'a> {
    args: &'a Args,
    /// Where clients connect.
    entrance: SocketAddr,
    server: Process,
    world: Arc<World>,
    _proxy: Option<Process>,
}

impl Run<'_> {
    /// One phase; its p99.
    async fn phase(&self, name: &str, drip: Option<Drip>) -> Outcome<Duration> {
        let drips =
            drip.map(|drip| Drips::open(drip, self.entrance, self.args.connections, self.args.addresses));
        if drips.is_some() {
            sleep(SETTLE).await;
        }
        self.server.forget_peak()?;
        self.world.tally.take();
        drive(self.args.rate.into(), Duration::from_secs(self.args.seconds), |number, due| {
            let world = self.world.clone();
            async move {
                // Numbers of different phases may be the same: only the cached responses know them.
                let number = scatter(number);
                let kind = HEALTHY[usize::try_from(number % 5).unwrap_or_default()];
                world.execute(kind, number, due).await;
            }
        })
        .await?;
        let Latencies { p50, p99, most, .. } = self.world.tally.take();
        let [median, high, most] = [p50, p99, most].map(|time| time.as_secs_f64() * 1000.0);
        let (open, ended) = drips.as_ref().map_or((0, 0), Drips::counts);
        let peak = precise(self.server.peak()?) / 1024.0;
        println!("{name:<34} {median:>8.2} {high:>8.2} {most:>8.1} {open:>9} {ended:>9} {peak:>9.1}");
        drop(drips);
        sleep(SETTLE).await;
        Ok(p99)
    }

    fn judge(self, quiet: Duration, worst: Duration) -> Outcome {
        let ratio = worst.as_secs_f64() / quiet.as_secs_f64();
        println!("p99 beside slow connections / quiet p99: {ratio:.2}  (wanted: below {WANTED_RATIO})");
        let (count, first) = self.world.tally.faults();
        self.server.stop()?;
        if count > 0 {
            return Err(format!("{count} answers were not as expected:\n  {}", first.join("\n  ")).into());
        }
        if ratio >= WANTED_RATIO {
            return Err("healthy clients take too long beside slow connections".into());
        }
        Ok(())
    }
}
