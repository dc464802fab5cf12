//! The order of the run: each task by Civitas, by the baseline server, and by the other binary if there is one.

use crate::Outcome;
use crate::archive::Size;
use crate::drafts;
use crate::measure::{Cpu, Figures, Line};
use crate::postgres::{Database, Engine};
use crate::report::{self, Rest};
use crate::server::Server;
use crate::stage::{Home, Stage};
use crate::tasks::{Request, TASKS, Task};
use crate::voting::{Disturbance, follow};
use crate::work::{Doing, Work, work};
use crate::wrk::Wrk;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Starts of the server that are timed.
const STARTS: usize = 5;
/// How long it rests before its memory is read.
const REST: Duration = Duration::from_secs(2);
/// From so many proposals on the city is large.
const LARGE: u64 = 100_000;

/// What to measure, and how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the data is.
    #[arg(default_value = "sqlite")]
    engine: Engine,
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Another server, of another commit: it does the same tasks over its own copy of the city.
    #[arg(long)]
    compare_with: Option<PathBuf>,
    /// Processes of the server that is measured, over one database (PostgreSQL).
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=2))]
    processes: u64,
    /// A setting of the server that is measured, NAME=VALUE: `{database}` stands for the name of its database.
    #[arg(long)]
    setting: Vec<String>,
    /// Only tasks whose names contain this. Can be repeated.
    #[arg(long)]
    only: Vec<String>,
    /// Seconds for each figure. Tokens are valid for 120 minutes.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Seconds before each figure that do not count.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    warm_up: u64,
    /// Published proposals of the city; a multiple of the voters. From 100,000 on the city is large.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000))]
    proposals: u64,
    /// Users who vote during the run.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(16..=10_000))]
    voters: u64,
    /// Users of the city, voters included: 200,000 in a large city, 2,000 (or the proposals) else.
    #[arg(long)]
    users: Option<u64>,
    /// Votes of the city before the run: 2,000,000 in a large city, ten of each user else.
    #[arg(long)]
    votes: Option<u64>,
    /// Organizations, the city included: 50 beside a large city, 5 else.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    organizations: Option<u64>,
    /// Leaves posts out of the city: the other binary is older than they are.
    #[arg(long)]
    without_posts: bool,
    /// The address of a database of the PostgreSQL server, whose user may create others.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5432/postgres")]
    postgres: String,
}

impl Args {
    fn size(&self) -> Outcome<Size> {
        let (is_large, proposals) = (self.proposals >= LARGE, self.proposals);
        let users = self.users.unwrap_or(if is_large { 200_000 } else { 2_000 }.min(proposals));
        let size = Size {
            organizations: self.organizations.unwrap_or(if is_large { 50 } else { 5 }),
            users,
            voters: self.voters,
            proposals,
            votes: self.votes.unwrap_or(if is_large { 2_000_000 } else { users * 10 }),
            posts: if self.without_posts { 0 } else { (proposals / 10).min(10_000) },
            meetings: (proposals / 10).min(5_000),
        };
        size.fault().map_or(Ok(size), |fault| Err(fault.into()))
    }

    fn tasks(&self) -> Vec<&'static Task> {
        let wanted = |task: &&Task| {
            let is_asked = self.only.is_empty() || self.only.iter().any(|part| task.name.contains(part));
            is_asked && !(self.without_posts && task.needs_posts())
        };
        TASKS.iter().filter(wanted).collect()
    }
}

/// Measures everything, and prints it.
pub fn begin(args: &Args) -> Outcome {
    crate::block_on(async {
        let own = Database::make(args.engine, &args.postgres, "load").await?;
        let other = match args.compare_with {
            Some(_) => Some(Database::make(args.engine, &args.postgres, "other").await?),
            None => None,
        };
        let outcome = run(args, &own, other.as_ref()).await;
        for database in std::iter::once(own).chain(other) {
            database.remove().await?;
        }
        outcome
    })
}

async fn run(args: &Args, own: &Database, other: Option<&Database>) -> Outcome {
    let (size, tasks) = (args.size()?, args.tasks());
    if tasks.is_empty() {
        return Err("no task has such a name".into());
    }
    let directory = tempfile::tempdir()?;
    let wrk = Wrk::find(directory.path())?;
    let home = |binary: &Path, name: &str, database: &Database| {
        let directory = directory.path().join(name);
        fs::create_dir(&directory)?;
        Home::new(binary, &directory, database.url(), false)
    };
    let other = args.compare_with.as_ref().zip(other);
    let other = other.map(|(binary, database)| home(binary, "other", database)).transpose()?;
    let mut home = home(&args.server, "own", own)?;
    home.set(&args.setting, args.processes)?;
    report::head(args.engine, &size, args.seconds);
    let run = Run { args, wrk, stage: Stage::build(home, other, size, &tasks).await? };
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    for (number, task) in (0..).zip(TASKS) {
        if tasks.iter().any(|one| one.name == task.name) {
            run.task(number, task, &mut lines, &mut faults).await;
        }
    }
    let rest = if args.only.is_empty() { Some(rest(run.stage)?) } else { None };
    report::print(&lines, rest.as_ref());
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// Measures the start and the memory of a server that rests.
fn rest(stage: Stage) -> Outcome<Rest> {
    let (server, mut starts) = stage.start_again(STARTS)?;
    starts.sort_unstable();
    sleep(REST);
    let rest = Rest { start: starts.get(STARTS / 2).copied().unwrap_or_default(), idle: server.anonymous()? };
    server.stop()?;
    Ok(rest)
}

struct Run<'a> {
    args: &'a Args,
    wrk: Wrk,
    stage: Stage,
}

impl Run<'_> {
    async fn task(&self, number: usize, task: &Task, lines: &mut Vec<Line>, faults: &mut Vec<String>) {
        let work = work(number, task);
        eprintln!("{}", work.name);
        match self.line(&work).await {
            Ok(line) => lines.push(line),
            Err(error) => {
                eprintln!("FAILED: {error}");
                faults.push(format!("{}: {error}", work.name));
            }
        }
    }

    async fn line(&self, work: &Work) -> Outcome<Line> {
        let civitas = self.measured(&self.stage.civitas, work).await?;
        let baseline = self.baseline(work).await?;
        let other = match &self.stage.other {
            Some(server) if !self.stage.missing.iter().any(|name| *name == work.name) => {
                Some(self.measured(server, work).await?)
            }
            _ => None,
        };
        Ok(Line { task: work.name.clone(), civitas, baseline, other })
    }

    /// What a server does, with ten votes per second beside it where the line wants them.
    async fn measured(&self, server: &Server, work: &Work) -> Outcome<Figures> {
        if !matches!(work.doing, Doing::Requests { beside_votes: true, .. }) {
            return self.alone(server, work).await;
        }
        let (pairs, begin) = (server.pairs.clone(), server.pairs.part(work.part));
        let votes = Disturbance::begin(pairs, server.client.clone(), begin);
        let figures = self.alone(server, work).await;
        let cast = votes.end().await?;
        if cast < self.args.seconds {
            return Err(format!("only {cast} votes were cast beside it").into());
        }
        figures
    }

    /// What a server does, after the warm-up, with its processor time and its memory.
    async fn alone(&self, server: &Server, work: &Work) -> Outcome<Figures> {
        self.drive(server, work, false).await?;
        let before = server.cpu();
        let figures = self.drive(server, work, true).await?;
        let cpu = Cpu::between(before, server.cpu(), figures.requests);
        self.check(work, &figures)?;
        Ok(Figures { memory: server.process.anonymous()?, cpu, ..figures })
    }

    /// A read of one proposal is either its whole text, or 304 without it.
    fn check(&self, work: &Work, figures: &Figures) -> Outcome {
        let Doing::Requests { requests, .. } = &work.doing else { return Ok(()) };
        let [(_, Request { method: "GET", path: "/proposals/<proposal>", conditional, .. })] = requests[..]
        else {
            return Ok(());
        };
        if conditional == (figures.bytes < self.stage.length) {
            return Ok(());
        }
        Err(format!("answers of {} bytes are not what was asked", figures.bytes).into())
    }

    async fn drive(&self, server: &Server, work: &Work, counts: bool) -> Outcome<Figures> {
        let seconds = self.seconds(counts);
        let begin = server.pairs.part(work.part + u64::from(counts));
        match work.doing {
            Doing::Requests { .. } => {
                let files = server.home.directory.display().to_string();
                let plan = work.plan(server, counts).ok_or("no requests")?;
                let plan = plan.script(&files, &server.bearer, false);
                self.wrk.drive(&plan, &server.addresses(), seconds)
            }
            Doing::VoteJob => follow(&server.pairs, &server.client, begin, seconds).await,
            Doing::Draft => drafts::publish(server, seconds).await,
        }
    }

    async fn baseline(&self, work: &Work) -> Outcome<Option<Figures>> {
        let (server, address) = (&self.stage.civitas, self.stage.baseline.address);
        let mut figures = None;
        for counts in [false, true] {
            let seconds = self.seconds(counts);
            let begin = server.pairs.part(work.part + u64::from(counts));
            figures = match work.doing {
                Doing::Requests { .. } => {
                    let files = server.home.directory.display().to_string();
                    let plan = work.plan(server, counts).ok_or("no requests")?;
                    Some(self.wrk.drive(&plan.script(&files, &server.bearer, true), &[address], seconds)?)
                }
                Doing::VoteJob => {
                    Some(follow(&server.pairs, &server.client.at(address), begin, seconds).await?)
                }
                Doing::Draft => None,
            };
        }
        Ok(figures)
    }

    fn seconds(&self, counts: bool) -> u64 {
        if counts { self.args.seconds } else { self.args.warm_up }
    }
}
