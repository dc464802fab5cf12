//! A server that is killed at random moments, again and again: what it acknowledged is kept, what it accepted is done,
//! and nothing is done twice.

use civitas_kernel::random_job_id;
use civitas_server::config::{Config, SettingSources};
use civitas_server::telemetry::start_logging;
use civitas_server::wiring::start;
use civitas_tests::service::{Answer, CITIES, Client, Service};
use civitas_tests::{Database, Engine};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

const KILLS: usize = 50;
/// The time from the start of a server to its kill: at least, and at most this much more, in milliseconds.
const AT_LEAST: u64 = 20;
const AT_MOST_MORE: u128 = 500;
/// How long accepted jobs may take: longer than the lease of a lost worker and its delays.
const TIMEOUT: Duration = Duration::from_secs(180);

/// What clients were told.
#[derive(Default)]
struct Ledger {
    /// Titles of posts that a synchronous write created: 201.
    acknowledged: Vec<String>,
    /// Titles and jobs of posts that were accepted: 202.
    accepted: Vec<(String, String)>,
    /// The number of requests without an answer.
    unanswered: usize,
    /// The number of requests that were repeated with their key.
    repeated: usize,
}

impl Ledger {
    /// Whether there are more writes of each kind than kills.
    fn is_long(&self) -> bool {
        self.acknowledged.len() > KILLS && self.accepted.len() > KILLS
    }
}

/// The server of a process of its own. Its settings come in one line of its input; it ends when it is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the other tests"]
async fn server_of_another_process() {
    let mut input = std::io::stdin();
    let mut line = String::new();
    BufReader::new(&mut input).read_line(&mut line).unwrap();
    let flags: Vec<(String, String)> = serde_json::from_str(&line).unwrap();
    let config = Config::load(&SettingSources { flags, ..SettingSources::default() }).unwrap();
    start_logging(&config);
    let running = start(config).await.unwrap();
    println!("\nlistening");
    tokio::task::spawn_blocking(move || input.read_to_end(&mut Vec::new())).await.unwrap().unwrap();
    running.stop().await;
}

/// A process with a server. Its output stays open: it writes to it.
pub struct Server {
    child: Child,
    _output: ChildStdout,
}

impl Server {
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub fn start_process(flags: &[(String, String)]) -> Server {
    let (child, output) = spawn(flags, Stdio::null());
    Server { child, _output: output }
}

/// Starts a process with a server. Its log goes to `log`.
pub fn spawn(flags: &[(String, String)], log: Stdio) -> (Child, ChildStdout) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "faults::kills::server_of_another_process"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let line = serde_json::to_string(flags).unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim() != "listening" {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the server did not start");
    }
    (child, output.into_inner())
}

/// The body of a request that creates a post.
pub fn body(component: i64, title: &str) -> Value {
    let attributes = json!({"title": {"en": title}, "body": {"en": "Text"}});
    json!({"data": {"component_id": component, "attributes": attributes}})
}

/// Writes posts, at once and as jobs in turn, until it is aborted. Every other writer sends an idempotency key, and repeats
/// a request until it is answered.
async fn write(client: Client, component: i64, writer: usize, ledger: Arc<Mutex<Ledger>>) {
    let repeats = writer.is_multiple_of(2);
    for number in 0_usize.. {
        let title = format!("Post {number} of {writer}");
        let path = if number.is_multiple_of(2) { "/blogs/sync" } else { "/blogs" };
        let key = format!("{number}/{writer}");
        let headers = [("idempotency-key", key.as_str())];
        let headers = if repeats { &headers[..] } else { &[] };
        let mut answer = client.try_post(path, headers, &body(component, &title)).await;
        while repeats && answer.as_ref().is_none_or(|answer| [409, 503].contains(&answer.status.as_u16())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
            answer = client.try_post(path, headers, &body(component, &title)).await;
            ledger.lock().await.repeated += 1;
        }
        let mut ledger = ledger.lock().await;
        match answer {
            None => ledger.unanswered += 1,
            Some(answer) => match answer.status.as_u16() {
                201 => ledger.acknowledged.push(title),
                202 => ledger.accepted.push((title, answer.body["job_id"].as_str().unwrap().to_owned())),
                503 => {}
                other => panic!("{other}: {}", answer.text),
            },
        }
        drop(ledger);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Casts votes and takes them back until it is aborted. Some are temporary until there are two.
async fn vote(client: Client, user: i64, proposals: [i64; 4]) {
    let own = format!("/vote_proposals?filter[creator_id]={user}");
    loop {
        for proposal in proposals {
            let body = json!({"proposal_id": proposal, "data": {"weight": 1}});
            client.try_post("/vote_proposals/sync", &[], &body).await;
        }
        let listed = client.try_send(Method::GET, &own).await.filter(|answer| answer.status.as_u16() == 200);
        for id in listed.iter().flat_map(Answer::ids) {
            client.try_send(Method::DELETE, &format!("/vote_proposals/{id}/sync")).await;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// How often each title is in the list of posts.
pub async fn titles(client: &Client) -> HashMap<String, usize> {
    let mut titles = HashMap::new();
    for page in 1.. {
        let answer = client.get(&format!("/blogs?per_page=100&page={page}")).await.is(200);
        let posts = answer.data().as_array().unwrap().clone();
        for post in &posts {
            let title = post["attributes"]["title"]["en"].as_str().unwrap_or_default();
            *titles.entry(title.to_owned()).or_default() += 1;
        }
        if posts.len() < 100 {
            break;
        }
    }
    titles
}

/// Waits for the end of all jobs. The titles of those that were completed, and of those that were given up because
/// three workers were killed while they ran (contract 09 A.5).
async fn ended(client: &Client, accepted: &[(String, String)]) -> (Vec<String>, Vec<String>) {
    let (mut completed, mut lost) = (Vec::new(), Vec::new());
    let started = Instant::now();
    for (title, job) in accepted {
        loop {
            let job = client.get(&format!("/jobs/{job}")).await.is(200).body;
            match (job["status"].as_str(), job["error_class"].as_str()) {
                (Some("completed"), _) => break completed.push(title.clone()),
                (Some("failed"), Some("WorkerLost")) => break lost.push(title.clone()),
                (Some("failed"), _) => panic!("{title}: {job}"),
                _ => assert!(started.elapsed() < TIMEOUT, "{title}: {job}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    (completed, lost)
}

/// Starts and kills servers, at random times after their start.
async fn kill_servers(flags: &[(String, String)], ledger: &Mutex<Ledger>) {
    // On a busy machine a server may be killed before it answers: then more are, each series later.
    for kill in 0..4 * KILLS {
        if kill >= KILLS && ledger.lock().await.is_long() {
            break;
        }
        let mut server = start_process(flags);
        let most = AT_MOST_MORE * (1 + kill as u128 / KILLS as u128);
        let more = u64::try_from(random_job_id().0.as_u128() % most).unwrap();
        tokio::time::sleep(Duration::from_millis(AT_LEAST + more)).await;
        server.kill();
    }
}

async fn survives(engine: Engine) {
    let Some(database) = Database::fresh(engine).await else { return };
    let mut service = Service::over(database, CITIES, &[]).await;
    let nora = service.user("norablum").await;
    let component = service.id("component", "news");
    let proposals = ["p1", "p2", "c1", "c2"].map(|name| service.id("proposal", name));
    let voter = service.id("user", "norablum");
    service.end().await;
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut flags = service.flags().to_vec();
    flags.retain(|(name, _)| name != "listen");
    flags.push(("listen".to_owned(), port.to_string()));
    let nora = nora.moved_to(port);

    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let mut writers: Vec<_> =
        (0..4).map(|writer| tokio::spawn(write(nora.clone(), component, writer, ledger.clone()))).collect();
    writers.push(tokio::spawn(vote(nora.clone(), voter, proposals)));
    kill_servers(&flags, &ledger).await;
    for writer in writers {
        writer.abort();
        if let Err(error) = writer.await {
            assert!(error.is_cancelled(), "{error}");
        }
    }

    let mut server = start_process(&flags);
    let ledger = ledger.lock().await;
    println!(
        "{engine:?}: {} acknowledged, {} accepted, {} without an answer, {} repeated",
        ledger.acknowledged.len(),
        ledger.accepted.len(),
        ledger.unanswered,
        ledger.repeated
    );
    assert!(ledger.repeated > 0, "no request was repeated");
    assert!(ledger.is_long(), "too few writes");
    let (completed, lost) = ended(&nora, &ledger.accepted).await;
    assert!(lost.len() * 20 < completed.len(), "{} of {} jobs were given up", lost.len(), completed.len());
    let titles = titles(&nora).await;
    for title in ledger.acknowledged.iter().chain(&completed) {
        assert!(titles.contains_key(title), "{title} is lost");
    }
    for title in &lost {
        assert!(!titles.contains_key(title), "{title} was created by a job that failed");
    }
    for (title, count) in &titles {
        assert_eq!(*count, 1, "{title} was created twice");
    }
    server.kill();
    let wrong = "SELECT count(*) AS number FROM proposals WHERE votes_count <> \
         (SELECT count(*) FROM votes WHERE proposal_id = proposals.id AND NOT temporary)";
    assert_eq!(service.database.number(wrong).await, 0, "proposals with a wrong number of votes");
    let changed = "SELECT count(*) AS number FROM proposals WHERE votes_changed_at IS NOT NULL";
    assert!(service.database.number(changed).await >= 4, "too few votes");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_lose_and_repeat_nothing_on_sqlite() {
    survives(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_lose_and_repeat_nothing_on_postgresql() {
    survives(Engine::Postgres).await;
}
