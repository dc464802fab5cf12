//! A questionnaire with few or many responses, and lists of few or many attachments: what one request takes.

use crate::Outcome;
use crate::city::{CLIENT_ID, CLIENT_SECRET, HOST};
use crate::client::{BASE, Client};
use crate::measure::Figures;
use crate::stage::Home;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Questions of the questionnaire: 100 responses have 100 pages of 20 answers.
const QUESTIONS: usize = 20;
/// Requests of each kind, after [`WARM_UP`] others.
const REQUESTS: usize = 200;
const WARM_UP: usize = 20;
const SCOPE: &str = "public surveys attachments";
const BEGAN: &str = "2026-01-05T09:00:00Z";

/// How much the city has.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server that is measured.
    #[arg(long, default_value = "target/release/civitas")]
    server: PathBuf,
    /// Responses to the questionnaire.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    responses: u64,
    /// Attachments of the organization, and as many of a space that is not published.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    attachments: u64,
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
    let home = Home::new(&args.server, directory.path(), args.postgres.clone(), false)?;
    let archive = home.file("city.ndjson");
    write(args, &mut BufWriter::new(File::create(&archive)?))?;
    let database = home.served()?;
    home.run_one(&database, &["migrate"])?;
    home.run_one(&database, &["import", "--quiet", &archive.display().to_string()])?;
    let mut server = home.serve()?;
    server.until_answers(&format!("{BASE}/health"))?;
    let client = Client::new(server.address)?;
    let client = client.bearing(&client.token_for(SCOPE).await?);
    println!("{} responses, {} attachments", args.responses, args.attachments);
    let list = client.get(&format!("{BASE}/questionnaires"), None).await?.is(200)?.json()?;
    let id = text(&list["data"][0]["id"])?;
    reads(&client, id).await?;
    submissions(&client, id, &list["data"][0]).await?;
    server.stop()?;
    let begun = Instant::now();
    home.run_one(&database, &["export", "--output", &home.file("out.ndjson").display().to_string()])?;
    println!("{:<44} {:>9.2} s", "export", begun.elapsed().as_secs_f64());
    Ok(())
}

async fn reads(client: &Client, id: &str) -> Outcome {
    let answers = format!("{BASE}/answers?filter[questionnaire_id]={id}");
    let listed = client.get(&answers, None).await?.is(200)?.json()?;
    let response = text(&listed["data"][0]["id"])?;
    read(client, "answers, page 1", &answers).await?;
    read(client, "answers, page 100", &format!("{answers}&page=100")).await?;
    read(client, "a response", &format!("{BASE}/questionnaire_responses/{response}?")).await?;
    read(client, "attachments, page 1", &format!("{BASE}/attachments?")).await?;
    read(client, "attachments, page 5", &format!("{BASE}/attachments?page=5")).await
}

/// Each request has a parameter that no other has: no cached response answers it.
async fn read(client: &Client, task: &str, path: &str) -> Outcome {
    let mut times = Vec::new();
    let begun = Instant::now();
    for number in 0..WARM_UP + REQUESTS {
        let sent = Instant::now();
        client.get(&format!("{path}&computed={number}"), None).await?.is(200)?;
        times.push(sent.elapsed());
    }
    print(task, times, begun.elapsed())
}

async fn submissions(client: &Client, id: &str, questionnaire: &Value) -> Outcome {
    let questions = questionnaire["attributes"]["schema"]["properties"].as_object().ok_or("no schema")?;
    let answers: Map<String, Value> = questions.keys().map(|id| (id.clone(), json!("By tram"))).collect();
    let body = json!({"meta": {"anonymous": true}, "data": {"type": "questionnaire_response",
        "attributes": {"answers": answers},
        "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": id}}}}});
    let mut times = Vec::new();
    let begun = Instant::now();
    for _ in 0..WARM_UP + REQUESTS {
        let sent = Instant::now();
        client.post(&format!("{BASE}/answers/sync"), &body, None).await?.is(201)?;
        times.push(sent.elapsed());
    }
    print("a submission (sync)", times, begun.elapsed())
}

fn print(task: &str, mut times: Vec<Duration>, elapsed: Duration) -> Outcome {
    let figures = Figures::of(times.split_off(WARM_UP), elapsed).ok_or("no request")?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{task:<44} {:>9.2} {:>9.2} ms (p50, p99)",
        milliseconds(figures.p50),
        milliseconds(figures.p99)
    );
    Ok(())
}

fn text(value: &Value) -> Outcome<&str> {
    value.as_str().ok_or_else(|| "an answer without id".into())
}

/// The archive.
fn write(args: &Args, out: &mut impl Write) -> io::Result<()> {
    for record in foundation() {
        writeln!(out, "{record}")?;
    }
    let name = |question: usize| format!("q{question}");
    for number in 0..QUESTIONS {
        let question = json!({"type": "question", "ref": name(number), "organization": "city",
            "questionnaire": "poll", "position": number, "question_type": "short_answer",
            "body": {"en": format!("Question {number}")}});
        writeln!(out, "{question}")?;
    }
    let answers: Map<String, Value> =
        (0..QUESTIONS).map(|question| (name(question), json!("Tram"))).collect();
    for number in 0..args.responses {
        let (hour, minute, second) = (number / 3600 % 24, number / 60 % 60, number % 60);
        let at = format!("2026-02-01T{hour:02}:{minute:02}:{second:02}Z");
        let response = json!({"type": "questionnaire_response", "ref": format!("r{number}"),
            "organization": "city", "questionnaire": "poll", "answers": answers, "created_at": at});
        writeln!(out, "{response}")?;
    }
    let city = json!({"type": "organization", "ref": "city"});
    let hidden = json!({"type": "space", "ref": "hidden"});
    for number in 0..args.attachments * 2 {
        let parent = if number % 2 == 0 { &hidden } else { &city };
        let attachment = json!({"type": "attachment", "ref": format!("a{number}"), "organization": "city",
            "attached_to": parent, "title": {"en": format!("Attachment {number}")}, "weight": number,
            "link": "https://city.example/plan", "created_at": BEGAN});
        writeln!(out, "{attachment}")?;
    }
    out.flush()
}

fn foundation() -> [Value; 7] {
    [
        json!({"type": "organization", "ref": "city", "host": HOST, "name": {"en": "Load"},
            "available_locales": ["en"], "default_locale": "en", "created_at": BEGAN}),
        json!({"type": "api_client", "ref": "load", "organization": "city", "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET, "name": "Load", "scopes": ["public", "surveys", "attachments"],
            "permissions": ["surveys.read", "surveys.answers.read", "surveys.answers.submit", "attachments.read"]}),
        json!({"type": "space", "ref": "council", "organization": "city", "manifest": "assemblies",
            "title": {"en": "Council"}, "slug": "council", "visibility": "public", "published_at": BEGAN}),
        json!({"type": "space", "ref": "hidden", "organization": "city", "manifest": "assemblies",
            "title": {"en": "Hidden"}, "slug": "hidden", "visibility": "public"}),
        json!({"type": "component", "ref": "polls", "organization": "city", "space": "council",
            "manifest": "surveys", "name": {"en": "Polls"}, "published_at": BEGAN}),
        json!({"type": "survey", "ref": "poll", "organization": "city", "component": "polls"}),
        json!({"type": "questionnaire", "ref": "poll", "organization": "city", "survey": "poll",
            "title": {"en": "Poll"}}),
    ]
}
