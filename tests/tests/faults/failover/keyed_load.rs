//! Clients that write with idempotency keys, and repeat each request with its key until it is answered. Then each write is there,
//! once.

use crate::faults::kills::{body, titles};
use civitas_tests::service::{Answer, BASE, Client};
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The pause between two looks at something.
const POLL: Duration = Duration::from_millis(20);
/// How long a request may remain without an answer, and an accepted job may take: longer than the lease of a lost worker.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A user of its own, and two proposals on which nobody else votes.
pub struct Writer {
    pub client: Client,
    pub proposals: [i64; 2],
    /// Of posts.
    pub news: i64,
    /// Of drafts.
    pub ideas: i64,
}

/// Clients that write until they are stopped.
pub struct KeyedLoad {
    shared: Arc<Shared>,
    writers: Vec<JoinHandle<(Writer, Written)>>,
}

struct Shared {
    /// Between two requests of a client.
    pause: Duration,
    stop: AtomicBool,
    counts: Mutex<Counts>,
}

/// Numbers of all clients together.
#[derive(Default, Clone, Copy)]
pub struct Counts {
    /// Writes that were acknowledged.
    acknowledged: usize,
    /// Requests that were repeated.
    pub repeated: usize,
    /// Repeated requests that had been applied although nobody was told.
    replayed: usize,
    /// When the newest of the acknowledged requests was sent.
    newest: Option<Instant>,
}

/// What a client was told.
#[derive(Default)]
struct Written {
    posts: Vec<String>,
    /// Jobs that were accepted.
    jobs: Vec<String>,
    extended_data: Map<String, Value>,
    /// The job that casts the vote on the second proposal. There is none on the first one.
    vote_by_job: Option<String>,
}

impl KeyedLoad {
    /// Begins, with this pause before each request of a client.
    pub fn begin(writers: Vec<Writer>, pause: Duration) -> Self {
        let shared = Arc::new(Shared { pause, stop: AtomicBool::default(), counts: Mutex::default() });
        let write = |writer| tokio::spawn(write(writer, shared.clone()));
        let writers = writers.into_iter().map(write).collect();
        Self { shared, writers }
    }

    /// Waits until a request that was sent after this moment is acknowledged. Returns the time between both.
    pub async fn acknowledges_after(&self, moment: Instant) -> Duration {
        while self.shared.counts.lock().unwrap().newest.is_none_or(|sent| sent <= moment) {
            assert!(moment.elapsed() < TIMEOUT, "nothing is acknowledged");
            sleep(POLL).await;
        }
        moment.elapsed()
    }

    /// Stops after the requests that are not answered yet.
    pub async fn stop(self) -> WrittenByAll {
        self.shared.stop.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for writer in self.writers {
            all.push(writer.await.unwrap());
        }
        let counts = *self.shared.counts.lock().unwrap();
        WrittenByAll { counts, all }
    }
}

/// What all clients were told.
pub struct WrittenByAll {
    pub counts: Counts,
    all: Vec<(Writer, Written)>,
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { acknowledged, repeated, replayed, .. } = self;
        write!(
            f,
            "with keys {acknowledged} writes, {repeated} repetitions, {replayed} of them of what was applied"
        )
    }
}

impl WrittenByAll {
    /// Checks at this server that each acknowledged write is there, and that nothing is there twice.
    pub async fn is_there_once(&self, server: SocketAddr) {
        for (Writer { client, proposals, .. }, written) in &self.all {
            let client = &client.moved_to(server);
            for job in written.jobs.iter().chain(&written.vote_by_job) {
                completed(client, job).await;
            }
            let data = client.get("/me/extended_data?object_path=.").await.is(200).data().clone();
            for (key, value) in &written.extended_data {
                assert_eq!(&data[key], value, "{key} is lost");
            }
            for (proposal, has_voted) in proposals.iter().zip([false, written.vote_by_job.is_some()]) {
                let meta = client.get(&format!("/proposals/{proposal}")).await.is(200).data()["meta"].clone();
                assert_eq!(meta["voted"]["weight"] == 1, has_voted, "{meta}");
                assert_eq!(meta["votes_count"], i64::from(has_voted), "{meta}");
            }
            // Others do not see them: they are drafts.
            let titles = titles(client).await;
            for title in &written.posts {
                assert_eq!(titles.get(title), Some(&1), "{title}: how often it is there");
            }
            let known: HashSet<_> = written.posts.iter().collect();
            let is_unknown = |title: &&String| title.starts_with("Keyed") && !known.contains(title);
            assert_eq!(titles.keys().find(is_unknown), None, "it had no answer");
        }
    }
}

/// The final answer to a request, which is repeated until it comes.
async fn answered(
    client: &Client,
    request: &(Method, String, Option<Value>),
    key: &str,
    shared: &Shared,
) -> Answer {
    let (method, path, body) = request;
    let headers = [("idempotency-key", key), ("content-type", "application/json")];
    let headers = &headers[..=usize::from(body.is_some())];
    let (path, body, begun) = (format!("{BASE}{path}"), body.as_ref().map(Value::to_string), Instant::now());
    loop {
        sleep(shared.pause).await;
        let sent = Instant::now();
        let answer =
            client.try_raw(method.clone(), &path, headers, body.clone().map(String::into_bytes)).await.ok();
        let mut counts = shared.counts.lock().unwrap();
        if let Some(answer) =
            answer.filter(|answer| ![409, 429, 502, 503, 504].contains(&answer.status.as_u16()))
        {
            assert!(answer.status.is_success(), "{method} {path} {key}: {}", answer.text);
            counts.acknowledged += 1;
            counts.replayed += usize::from(answer.header("idempotent-replayed") == "true");
            counts.newest = counts.newest.max(Some(sent));
            return answer;
        }
        counts.repeated += 1;
        assert!(begun.elapsed() < TIMEOUT, "{method} {path} {key} has no answer");
    }
}

/// The result of a job, when it is completed.
async fn completed(client: &Client, job: &str) -> Value {
    let begun = Instant::now();
    loop {
        let answer = client.try_send(Method::GET, &format!("/jobs/{job}")).await;
        if let Some(answer) = answer.filter(|answer| answer.status == 200) {
            assert_ne!(answer.body["status"], "failed", "{}", answer.text);
            if answer.body["status"] == "completed" {
                return answer.body["data"].clone();
            }
        }
        assert!(begun.elapsed() < TIMEOUT, "job {job} does not end");
        sleep(5 * POLL).await;
    }
}

/// The job of a 202.
fn job(answer: &Answer) -> Option<String> {
    answer.body["job_id"].as_str().map(str::to_owned)
}

fn id(document: &Value) -> String {
    document["data"]["id"].as_str().unwrap().to_owned()
}

/// Writes until it is stopped. None of its requests can be applied twice: a second vote, draft or removal of one is refused, and a
/// second post is found at the end.
async fn write(writer: Writer, shared: Arc<Shared>) -> (Writer, Written) {
    let mut written = Written::default();
    for round in 0_usize.. {
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
        let send = async |method: Method, path: String, body: Option<Value>| {
            let key = format!("{round}/{method}{path}");
            answered(&writer.client, &(method, path, body), &key, &shared).await
        };
        let request =
            async |method: Method, path: &str, body: Value| send(method, path.to_owned(), Some(body)).await;
        for (path, how) in [("/blogs/sync", "at once"), ("/blogs", "as a job")] {
            let title = format!("Keyed {round} by {} {how}", writer.proposals[0]);
            let answer = request(Method::POST, path, body(writer.news, &title)).await;
            written.jobs.extend(job(&answer));
            written.posts.push(title);
        }
        for (path, how) in [("/me/extended_data/sync", "now"), ("/me/extended_data", "job")] {
            let key = format!("{how}{round}");
            let answer = request(Method::PUT, path, json!({"object_path": key, "data": round})).await;
            written.jobs.extend(job(&answer));
            written.extended_data.insert(key, json!(round));
        }
        let votes = writer.proposals.map(|id| json!({"proposal_id": id, "data": {"weight": 1}}));
        let [now, later] = votes;
        let vote = request(Method::POST, "/vote_proposals/sync", now).await;
        // It was accepted a round ago.
        if let Some(job) = written.vote_by_job.take() {
            let vote = id(&completed(&writer.client, &job).await);
            send(Method::DELETE, format!("/vote_proposals/{vote}/sync"), None).await;
        }
        written.vote_by_job = job(&request(Method::POST, "/vote_proposals", later).await);
        send(Method::DELETE, format!("/vote_proposals/{}/sync", id(&vote.body)), None).await;
        let begin = json!({"data": {"component_id": writer.ideas}});
        let draft = request(Method::POST, "/draft_proposals/sync", begin).await;
        let draft = format!("/draft_proposals/{}/sync", id(&draft.body));
        request(Method::PUT, &draft, json!({"data": {"body": "The text of a draft"}})).await;
        send(Method::DELETE, draft, None).await;
    }
    (writer, written)
}
