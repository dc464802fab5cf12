//! Webhooks and event streams: deliveries per second compared with a bare HTTP client, and the cost of open streams.

mod bare;
mod receiver;
mod streams;

pub use receiver::{Args as ReceiverArgs, Receiver, serve};

use crate::Outcome;
use crate::city;
use crate::client::{BASE, Client};
use crate::machine;
use crate::process::Process;
use crate::stage::Home;
use crate::wrk::precise;
use receiver::{BlackHole, Counted};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;
use streams::CLIENTS;

/// The event that is delivered: each imported proposal causes one.
const EVENT: &str = "proposal_creation.succeeded";
/// The event on the streams: each new draft causes one.
const STREAMED: &str = "draft_proposal_creation.succeeded";
/// Users. Each writes one draft at most.
const USERS: u64 = 50;
/// Deliveries that are compared, as a part of those of the bare client.
const WANTED_SHARE: f64 = 0.5;
/// Memory of an idle stream, in KiB.
const WANTED_STREAM: f64 = 50.0;

/// How much is delivered.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Events for one registration.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(100..=100_000))]
    events: u64,
    /// Registrations that receive the same events.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100))]
    registrations: u64,
    /// Event streams that are open at the same time; 10 for each client.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(10..=1_000))]
    streams: u64,
    /// The address of an empty PostgreSQL database to serve from, instead of SQLite.
    #[arg(long)]
    postgres: Option<String>,
}

/// Measures everything, and prints it.
pub fn begin(args: &Args) -> Outcome {
    crate::block_on(run(args))
}

async fn run(args: &Args) -> Outcome {
    let directory = tempfile::tempdir()?;
    let home = Home::new(&args.server, directory.path(), args.postgres.clone(), true)?;
    let mut bench = Bench { database: home.served()?, home, imported: 0 };
    bench.home.run_one(&bench.database, &["migrate"])?;
    bench.import(0)?;
    println!("{}\n", machine::describe());
    println!("{:<52} {:>9} {:>9} {:>9}", "", "per s", "seconds", "peak MiB");

    let one = bench.deliveries(args.events, 1, false).await?;
    let bare = bare::run(&one.body, args.events).await?;
    print("a bare HTTP client, 10 requests at a time", &bare, None);
    print("one registration", &one.counted, Some(one.peak));
    print_ratio(
        "  part of the bare client",
        one.counted.per_second() / bare.per_second(),
        Some(WANTED_SHARE),
    );

    let events = (args.events * 4 / args.registrations).max(10);
    let many = bench.deliveries(events, args.registrations, false).await?;
    print(
        &format!("{} registrations, {events} events each", args.registrations),
        &many.counted,
        Some(many.peak),
    );
    print_ratio("  part of the bare client", many.counted.per_second() / bare.per_second(), None);

    let hindered = bench.deliveries(args.events, 1, true).await?;
    print("one registration, and one that never answers", &hindered.counted, Some(hindered.peak));
    print_ratio("  part of one alone", hindered.counted.per_second() / one.counted.per_second(), None);
    bench.streams(args.streams).await
}

fn print(task: &str, counted: &Counted, peak: Option<u64>) {
    let seconds = counted.span().as_secs_f64();
    let peak = peak.map_or(String::new(), |peak| format!("{:.1}", precise(peak) / 1024.0));
    println!("{task:<52} {:>9.0} {seconds:>9.2} {peak:>9}", counted.per_second());
}

fn print_ratio(task: &str, ratio: f64, wanted: Option<f64>) {
    let wanted = wanted.map_or(String::new(), |wanted| format!("  (wanted: at least {wanted:.2})"));
    println!("{task:<52} {ratio:>9.2}{wanted}");
}

/// The city, and the proposals that were imported so far.
struct Bench {
    home: Home,
    database: String,
    imported: u64,
}

/// Deliveries to all registrations.
struct Delivered {
    counted: Counted,
    /// The body of the first one.
    body: Vec<u8>,
    /// The most memory of the server, in KiB.
    peak: u64,
}

impl Bench {
    /// Imports the city with so many further proposals, each with its event. The server does not run meanwhile.
    fn import(&mut self, proposals: u64) -> Outcome {
        let archive = self.home.file("city.ndjson");
        let mut out = BufWriter::new(File::create(&archive)?);
        for record in records() {
            writeln!(out, "{record}")?;
        }
        for number in self.imported..self.imported + proposals {
            writeln!(out, "{}", city::proposal(number, number % USERS))?;
        }
        out.flush()?;
        self.imported += proposals;
        let archive = archive.display().to_string();
        self.home.run_one(&self.database, &["import", "--quiet", "--emit-events", &archive])
    }

    fn serve(&self) -> Outcome<Process> {
        let mut server = self.home.serve()?;
        server.until_answers(&format!("{BASE}/health"))?;
        Ok(server)
    }

    /// Delivers events that were stored before the server starts: from the first request to the last.
    async fn deliveries(
        &mut self,
        events: u64,
        registrations: u64,
        with_black_hole: bool,
    ) -> Outcome<Delivered> {
        let receiver = Receiver::start()?;
        let hole = BlackHole::open().await?;
        let server = self.serve()?;
        let mut urls: Vec<_> = (0..registrations).map(|number| receiver.url(number)).collect();
        urls.extend(with_black_hole.then(|| hole.url()));
        let ids = register(&server, &urls).await?;
        server.stop()?;
        self.import(events)?;
        let server = self.serve()?;
        server.forget_peak()?;
        let counted = receiver.until(events * registrations).await?;
        let peak = server.peak()?;
        let client = Client::new(server.address)?;
        let client = client.bearing(&client.token_for("webhooks").await?);
        for id in ids {
            client.delete(&format!("{BASE}/webhook_registrations/{id}")).await?.is(204)?;
        }
        server.stop()?;
        Ok(Delivered { counted, body: receiver.body().await?, peak })
    }

    /// Opens idle streams, then changes something.
    async fn streams(&self, streams: u64) -> Outcome {
        let server = self.serve()?;
        let opened = streams::measure(&server, streams).await?;
        let each = (precise(opened.after) - precise(opened.before)) / precise(streams);
        println!(
            "{:<52} {each:>9.1} KiB  (wanted: below {WANTED_STREAM})",
            format!("{streams} idle streams: memory of each")
        );
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "{:<52} {:>9.1} ms",
            "a change until its event is on the first stream",
            milliseconds(opened.first)
        );
        println!("{:<52} {:>9.1} ms", "  on all of them (median of the changes)", milliseconds(opened.last));
        server.stop()
    }
}

/// Registers the addresses. Returns the ids.
async fn register(server: &Process, urls: &[String]) -> Outcome<Vec<String>> {
    let client = Client::new(server.address)?;
    let client = client.bearing(&client.token_for("webhooks").await?);
    let mut ids = Vec::new();
    for url in urls {
        let body = json!({"data": {"attributes": {"url": url, "subscriptions": [EVENT]}}});
        let created =
            client.post(&format!("{BASE}/webhook_registrations"), &body, None).await?.is(201)?.json()?;
        ids.push(created["data"]["id"].as_str().ok_or("a registration without id")?.to_owned());
    }
    Ok(ids)
}

/// Organization, space, component, users and clients.
fn records() -> Vec<Value> {
    let mut records = city::foundation().to_vec();
    for client in records.iter_mut().filter(|record| record["type"] == "api_client") {
        client["scopes"] = json!(["public", "proposals", "webhooks"]);
        client["permissions"] = json!([
            "oauth.impersonate",
            "public.component.read",
            "proposals.read",
            "proposals.draft",
            "webhooks.read",
            "webhooks.write",
            "webhooks.destroy",
            EVENT,
            STREAMED
        ]);
    }
    records.extend((0..USERS).map(city::citizen));
    records.extend((0..CLIENTS).map(|number| {
        let id = streams::client_id(number);
        json!({"type": "api_client", "ref": id, "organization": "city", "client_id": id,
            "client_secret": streams::client_secret(number), "name": id, "scopes": ["proposals", "webhooks"],
            "permissions": ["webhooks.read", STREAMED]})
    }));
    records
}
