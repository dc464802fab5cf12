//! The order of the run: each task by Civitas, then by the baseline server.

use crate::Outcome;
use crate::city::{HOST, Size};
use crate::client::{BASE, grant};
use crate::measure::{Figures, Line};
use crate::report::{self, Rest};
use crate::stage::Stage;
use crate::voting::{Disturbance, follow};
use crate::wrk::{Script, THREADS, Wrk};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

/// Starts of the server that are timed.
const STARTS: usize = 5;
/// How long it rests before its memory is read.
const REST: Duration = Duration::from_secs(2);

/// What to measure, and how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Seconds for each figure.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Seconds before each figure that do not count.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    warm_up: u64,
    /// Users of the city.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    users: u64,
    /// Published proposals of the city; a multiple of the users, at least 1000.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000))]
    proposals: u64,
    /// The address of an empty PostgreSQL database to serve from, instead of SQLite.
    #[arg(long)]
    postgres: Option<String>,
}

/// Measures everything, and prints it.
pub fn begin(args: &Args) -> Outcome {
    if !args.proposals.is_multiple_of(args.users) {
        return Err("--proposals must be a multiple of --users".into());
    }
    // The generator blocks the main thread; requests of our own are carried by the others.
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(args))
}

async fn run(args: &Args) -> Outcome {
    let directory = tempfile::tempdir()?;
    let wrk = Wrk::find(directory.path())?;
    eprintln!("building a city of {} users and {} proposals", args.users, args.proposals);
    let size = Size { users: args.users, proposals: args.proposals };
    let stage = Stage::build(&args.server, directory.path(), args.postgres.clone(), size).await?;
    let run = Run { args, wrk, stage };
    let lines = [
        run.read("one proposal, not modified (304)", "conditional.txt", "hello.txt", Some(0.6))?,
        run.read("one proposal (200)", "shown.txt", "shown.txt", Some(0.5))?,
        run.read("a list of 20", "pages.txt", "pages.txt", Some(0.5))?,
        run.read_computed("one proposal, computed", "shown.txt")?,
        run.read_computed("a list of 20, computed", "pages.txt")?,
        run.read_computed("page 1 of a list, computed", "first.txt")?,
        run.read_beside_votes("one proposal, 10 votes/s beside it", "shown.txt", 4).await?,
        run.read_beside_votes("a list of 20, 10 votes/s beside it", "pages.txt", 5).await?,
        run.vote()?,
        run.follow().await?,
        run.token()?,
    ];
    let (server, mut starts) = run.stage.start_again(STARTS)?;
    starts.sort_unstable();
    sleep(REST);
    let start = starts.get(STARTS / 2).copied().unwrap_or_default();
    report::print(&lines, &Rest { start, idle: server.resident()? }, args.seconds);
    server.stop()
}

struct Run<'a> {
    args: &'a Args,
    wrk: Wrk,
    stage: Stage,
}

/// The arguments of the generator: once for the warm-up, once for the figures.
type Told<'a> = &'a dyn Fn(bool) -> Vec<String>;

impl Run<'_> {
    fn civitas(&self, script: Script, told: Told<'_>) -> Outcome<Figures> {
        let server = &self.stage.civitas;
        self.wrk.drive(script, server.address, &told(false), self.args.warm_up)?;
        server.forget_peak()?;
        let figures = self.wrk.drive(script, server.address, &told(true), self.args.seconds)?;
        Ok(Figures { peak: server.peak()?, ..figures })
    }

    fn baseline(&self, script: Script, told: Told<'_>) -> Outcome<Figures> {
        self.wrk.drive(script, self.stage.baseline.address, &told(false), self.args.warm_up)?;
        self.wrk.drive(script, self.stage.baseline.address, &told(true), self.args.seconds)
    }

    fn addresses(&self, file: &str) -> Vec<String> {
        vec![self.stage.file(file), HOST.to_owned(), self.stage.bearer.clone()]
    }

    fn read(&self, task: &'static str, real: &str, bare: &str, target: Option<f64>) -> Outcome<Line> {
        eprintln!("{task}");
        let civitas = self.civitas(Script::Read, &|_| self.addresses(real))?;
        let baseline = self.baseline(Script::Read, &|_| self.addresses(bare))?;
        if (real == bare) == (civitas.bytes < self.stage.length) {
            return Err(format!("{task}: answers of {} bytes are not what was asked", civitas.bytes).into());
        }
        Ok(Line { task, civitas, baseline, target })
    }

    /// Each request has a parameter of its own that means nothing: no cached response answers it.
    fn read_computed(&self, task: &'static str, file: &str) -> Outcome<Line> {
        eprintln!("{task}");
        let told = |counts: bool| {
            let mut told = self.addresses(file);
            told.extend(["computed".to_owned(), u8::from(counts).to_string()]);
            told
        };
        let civitas = self.civitas(Script::Read, &told)?;
        let baseline = self.baseline(Script::Read, &told)?;
        Ok(Line { task, civitas, baseline, target: None })
    }

    /// After each commit every answer is computed again: this is what a read costs.
    async fn read_beside_votes(&self, task: &'static str, file: &str, part: u64) -> Outcome<Line> {
        eprintln!("{task}");
        let (pairs, client) = (self.stage.pairs.clone(), self.stage.client.clone());
        let votes = Disturbance::begin(pairs.clone(), client, pairs.part(part));
        let civitas = self.civitas(Script::Read, &|_| self.addresses(file))?;
        let cast = votes.end().await?;
        if cast < self.args.seconds {
            return Err(format!("{task}: only {cast} votes were cast beside it").into());
        }
        let baseline = self.baseline(Script::Read, &|_| self.addresses(file))?;
        Ok(Line { task, civitas, baseline, target: None })
    }

    fn vote(&self) -> Outcome<Line> {
        let task = "a vote (sync)";
        eprintln!("{task}");
        let pairs = &self.stage.pairs;
        let told = |counts: bool| {
            let numbers =
                [pairs.first.unsigned_abs(), pairs.proposals, pairs.part(u64::from(counts)), THREADS];
            let mut told = vec![format!("{BASE}/vote_proposals/sync"), HOST.to_owned()];
            told.push(self.stage.file("voters.txt"));
            told.extend(numbers.map(|number| number.to_string()));
            told
        };
        let civitas = self.civitas(Script::Vote, &told)?;
        let baseline = self.baseline(Script::Vote, &told)?;
        Ok(Line { task, civitas, baseline, target: None })
    }

    async fn follow(&self) -> Outcome<Line> {
        let task = "a vote as a job, until completed";
        eprintln!("{task}");
        let Stage { pairs, client, civitas: server, baseline, .. } = &self.stage;
        let (warm_up, seconds) = (self.args.warm_up, self.args.seconds);
        follow(pairs, client, pairs.part(2), warm_up).await?;
        server.forget_peak()?;
        let civitas = follow(pairs, client, pairs.part(3), seconds).await?;
        let civitas = Figures { peak: server.peak()?, ..civitas };
        let bare = client.at(baseline.address);
        follow(pairs, &bare, pairs.part(2), warm_up).await?;
        let baseline = follow(pairs, &bare, pairs.part(3), seconds).await?;
        Ok(Line { task, civitas, baseline, target: None })
    }

    fn token(&self) -> Outcome<Line> {
        let task = "a token (client_credentials)";
        eprintln!("{task}");
        let told = |_| vec![HOST.to_owned(), grant().to_string()];
        let civitas = self.civitas(Script::Token, &told)?;
        let baseline = self.baseline(Script::Token, &told)?;
        Ok(Line { task, civitas, baseline, target: None })
    }
}
