//! A server that is killed in the middle of its writes, and the next one over the same database: every acknowledged
//! write exists, and exactly once (contract 09 A.5).
//!
//! Slow: a job that ran when its worker was killed is taken back when its lease of 60 s ends, and runs 5 s later.

use civitas_jobs::{JobOwner, JobReport, JobStatus, JobSummary};
use civitas_kernel::{Ability, ClientId, JobId, OrganizationId, PageRequest, ProposalId, UserId};
use civitas_tests::{Database, Engine};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Two organizations, `city.test` and `town.test`.
const CITIES: &str = include_str!("../../../tests/fixtures/city.ndjson");
const BASE: &str = "/api/rest_full/v0.3";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The users; each casts one vote and creates one draft.
const PEOPLE: usize = 100;
const WRITES: usize = 2 * PEOPLE;
/// The server is killed when this many jobs are acknowledged.
const KILLED_AFTER: usize = WRITES / 2;
/// Writers at once.
const WRITERS: usize = 8;
/// A lease, the search for lost workers, the delay of the second attempt, and a margin.
const PATIENCE: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_loses_and_repeats_nothing_when_the_server_is_killed() {
    kill_in_the_middle(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_loses_and_repeats_nothing_when_the_server_is_killed() {
    kill_in_the_middle(Engine::Postgres).await;
}

async fn kill_in_the_middle(engine: Engine) {
    let Some(database) = Database::fresh(engine).await else { return };
    let city = City::over(database);
    let server = city.serve().await;
    let tokens = Arc::new(city.tokens(&server).await);
    let accepted = write_until_killed(server, &city, tokens).await;
    assert!((KILLED_AFTER..WRITES).contains(&accepted.len()), "{} were acknowledged", accepted.len());
    let unfinished = city.jobs().await.iter().filter(|job| job.status != JobStatus::Completed).count();

    let begun = Instant::now();
    let _server = city.serve().await;
    let jobs = city.jobs_when_all_have_ended().await;
    let again = jobs.iter().filter(|job| job.summary.attempts > 1).count();
    let news = format!(
        "{engine:?}: {} of {WRITES} acknowledged, {unfinished} jobs open when it was killed, {again} of them running; \
         all done {:.1} s after the new start",
        accepted.len(),
        begun.elapsed().as_secs_f64()
    );
    let _ = writeln!(std::io::stderr(), "{news}");
    city.assert_once(&accepted, &jobs).await;
}

/// Casts the votes and creates the drafts, kills the server when half of them are acknowledged, and returns the jobs of
/// all acknowledged ones.
async fn write_until_killed(mut server: Server, city: &City, tokens: Arc<Vec<String>>) -> BTreeSet<JobId> {
    let (next, count) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let half = Arc::new(Notify::new());
    let (proposal, component) = (city.proposal.0, city.id("component", "ideas"));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (next, count, half) = (next.clone(), count.clone(), half.clone());
        let (tokens, http, address) = (tokens.clone(), city.http.clone(), server.address);
        writers.spawn(async move {
            let mut accepted = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(token) = tokens.get(number / 2) else { return accepted };
                let (path, body) = if number.is_multiple_of(2) {
                    ("/vote_proposals", json!({"proposal_id": proposal, "data": {"weight": 1}}))
                } else {
                    ("/draft_proposals", json!({"data": {"component_id": component}}))
                };
                let request = http.post(format!("http://{address}{BASE}{path}")).bearer_auth(token);
                // No answer, or an incomplete one: the write is not acknowledged.
                let Ok(response) = request.header("host", "city.test").json(&body).send().await else {
                    continue;
                };
                let status = response.status().as_u16();
                let Ok(receipt) = response.json::<Value>().await else { continue };
                assert_eq!(status, 202, "{receipt}");
                accepted.push(job_id(&receipt["job_id"]));
                if count.fetch_add(1, Ordering::SeqCst) + 1 == KILLED_AFTER {
                    half.notify_one();
                }
            }
        });
    }
    timeout(PATIENCE, half.notified()).await.expect("half of the writes are acknowledged");
    server.process.kill().expect("it runs");
    writers.join_all().await.into_iter().flatten().collect()
}

/// The result of a job; null without one.
fn result_of(job: &JobReport) -> Value {
    job.result.as_deref().map_or(Value::Null, |text| serde_json::from_str(text).expect("it is JSON"))
}

fn job_id(text: &Value) -> JobId {
    JobId(text.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no job: {text}")))
}

/// A server in a separate process, which is killed when dropped.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A database with the two cities and the users who write.
struct City {
    database: Database,
    directory: TempDir,
    http: reqwest::Client,
    refs: Value,
    organization: OrganizationId,
    client: ClientId,
    proposal: ProposalId,
}

impl City {
    fn over(database: Database) -> Self {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let directory = tempfile::tempdir().expect("a directory");
        let archive = directory.path().join("city.ndjson");
        std::fs::write(&archive, archive_lines()).expect("the archive is written");
        let mut command = civitas(&database, &directory);
        let imported = command
            .args(["import", "--quiet", "--allow-weak-secrets"])
            .arg(&archive)
            .output()
            .expect("it runs");
        let report = report(&imported);
        let mut city = Self {
            database,
            directory,
            http: reqwest::Client::new(),
            refs: report["refs"]["city"].clone(),
            organization: OrganizationId(0),
            client: ClientId(0),
            proposal: ProposalId(0),
        };
        city.organization = OrganizationId(city.id("organization", "city"));
        city.client = ClientId(city.id("api_client", "full"));
        city.proposal = ProposalId(city.id("proposal", "p1"));
        city
    }

    /// The id of a record of the archive.
    fn id(&self, kind: &str, reference: &str) -> i64 {
        let id = &self.refs[kind][reference];
        id.as_i64().unwrap_or_else(|| panic!("no {kind} {reference}: {id}"))
    }

    async fn serve(&self) -> Server {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a free port");
        let mut command = civitas(&self.database, &self.directory);
        command.args(["serve", "--log", "error", "--listen", &address.to_string()]);
        let process = command.stdout(Stdio::null()).spawn().expect("it starts");
        let server = Server { process, address };
        let begun = Instant::now();
        while self.http.get(format!("http://{address}{BASE}/health")).send().await.is_err() {
            assert!(begun.elapsed() < PATIENCE, "the server does not answer");
            sleep(Duration::from_millis(20)).await;
        }
        server
    }

    /// The tokens of all users who write.
    async fn tokens(&self, server: &Server) -> Vec<String> {
        let mut tokens = Vec::new();
        for number in 0..PEOPLE {
            let nickname = nickname(number);
            let grant = json!({"grant_type": "password", "auth_type": "impersonate", "username": nickname,
                "client_id": "id_city_full", "client_secret": "key_city_full", "scope": "public proposals"});
            let request = self.http.post(format!("http://{}/oauth/token", server.address)).json(&grant);
            let answer = request.header("host", "city.test").send().await.expect("an answer");
            let answer: Value = answer.json().await.expect("a document");
            tokens.push(answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned());
        }
        tokens
    }

    /// The jobs of all users who write.
    async fn jobs(&self) -> Vec<JobSummary> {
        let mut jobs = Vec::new();
        for number in 0..PEOPLE {
            let user = UserId(self.id("user", &nickname(number)));
            let owner = JobOwner { client: self.client, user: Some(user) };
            let page = PageRequest::of(1, 100);
            let list = self.database.store.jobs().list(self.organization, owner, &[], page).await;
            jobs.extend(list.expect("the database answers").items);
        }
        jobs
    }

    async fn jobs_when_all_have_ended(&self) -> Vec<JobReport> {
        let begun = Instant::now();
        loop {
            let jobs = self.jobs().await;
            let open = |job: &&JobSummary| matches!(job.status, JobStatus::Pending | JobStatus::Processing);
            let Some(one) = jobs.iter().find(open) else { break self.reports(&jobs).await };
            assert!(begun.elapsed() < PATIENCE, "a job does not end: {one:?}");
            sleep(Duration::from_millis(250)).await;
        }
    }

    async fn reports(&self, jobs: &[JobSummary]) -> Vec<JobReport> {
        let mut reports = Vec::new();
        for job in jobs {
            let report = self.database.store.jobs().find(self.organization, job.id).await;
            reports.extend(report.expect("the database answers"));
        }
        reports
    }

    /// Checks that every job, acknowledged or not, is completed, and has created one row and one event.
    async fn assert_once(&self, accepted: &BTreeSet<JobId>, jobs: &[JobReport]) {
        for job in jobs {
            assert_eq!((job.summary.status, &job.failure), (JobStatus::Completed, &None), "{job:?}");
        }
        let kept: BTreeSet<JobId> = jobs.iter().map(|job| job.summary.id).collect();
        assert!(accepted.is_subset(&kept), "acknowledged and gone: {:?}", accepted.difference(&kept));
        let made = |key: &str| {
            let rows = jobs.iter().filter(|job| job.summary.command_key == key);
            sorted(rows.map(|job| id_of(&result_of(job))).collect())
        };
        assert_eq!(made("vote_proposals#create"), self.votes().await, "votes");
        assert_eq!(made("draft_proposals#create"), self.drafts().await, "drafts");
        assert_eq!(self.announced().await, self.drafts().await, "announced drafts");
    }

    fn writes(&self, user: UserId) -> bool {
        (0..PEOPLE).any(|number| self.id("user", &nickname(number)) == user.0)
    }

    async fn votes(&self) -> Vec<i64> {
        let votes =
            self.database.store.votes().page_after(self.organization, None, 10_000).await.expect("votes");
        let ours = votes.iter().filter(|(_, vote)| vote.proposal == self.proposal && self.writes(vote.user));
        sorted(ours.map(|(id, _)| id.0).collect())
    }

    async fn drafts(&self) -> Vec<i64> {
        let all = self
            .database
            .store
            .proposals()
            .page_after(self.organization, None, 10_000)
            .await
            .expect("proposals");
        let ours = all.iter().filter(|(_, p)| p.authors.first().is_some_and(|author| self.writes(*author)));
        sorted(ours.map(|(id, _)| id.0).collect())
    }

    async fn announced(&self) -> Vec<i64> {
        let all = self
            .database
            .store
            .outbox()
            .page_after(self.organization, None, 10_000)
            .await
            .expect("the outbox");
        let drafts = all.iter().filter(|one| one.name == Ability::DraftProposalCreation);
        let payload = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        sorted(drafts.map(|one| id_of(&payload(&one.payload)["data"])).collect())
    }
}

/// The number of the record of a document.
fn id_of(document: &Value) -> i64 {
    let id = document["data"]["id"].as_str().or_else(|| document["id"].as_str());
    id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("no id: {document}"))
}

fn sorted(mut ids: Vec<i64>) -> Vec<i64> {
    ids.sort_unstable();
    ids
}

fn nickname(number: usize) -> String {
    format!("crash_person_{number}")
}

/// The two cities, and the users who write.
fn archive_lines() -> String {
    let people = (0..PEOPLE).map(|number| {
        let nickname = nickname(number);
        json!({"type": "user", "ref": nickname, "organization": "city", "nickname": nickname,
            "email": format!("{nickname}@city.example"), "name": format!("Person {number}"),
            "confirmed_at": "2026-01-05T09:00:00Z"})
    });
    let people: Vec<String> = people.map(|record| record.to_string()).collect();
    format!("{}\n{}\n", CITIES.trim_end(), people.join("\n"))
}

/// The binary on this database, with an empty environment.
fn civitas(database: &Database, directory: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CIVITAS_")) {
        command.env_remove(name);
    }
    command.current_dir(directory.path()).args(["--database-url", database.url(), "--secret-key", KEY]);
    command.arg("--data-dir").arg(directory.path());
    command
}

fn report(imported: &Output) -> Value {
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    serde_json::from_slice(&imported.stdout).expect("a report")
}
