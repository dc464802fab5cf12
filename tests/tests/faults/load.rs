//! Faults while a mixed load runs: each accepted job ends as its synchronous twin would, each acknowledged write is kept,
//! nothing is applied twice, and a fault is a 503 with `Retry-After`, never another 5xx.

use crate::faults::cluster::{Cluster, Stop};
use crate::faults::kills::{body, titles};
use civitas_tests::service::{Answer, CITIES, Client, Service};
use civitas_tests::{Database, Engine, at_once};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Clients that write and read at the same time.
const WRITERS: usize = 4;
/// The pause between two requests of a client.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a fault lasts: longer than the waits of a job after its first faults.
const FAULT: Duration = Duration::from_secs(4);
/// How long the server works between faults.
const HEALTHY: Duration = Duration::from_secs(2);
/// How long a server may take to be well again, and a job to end.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What clients were answered.
#[derive(Default)]
pub struct Ledger {
    /// Titles of posts that a synchronous write created.
    pub acknowledged: Vec<String>,
    /// Titles and jobs of posts that were accepted.
    pub accepted: Vec<(String, String)>,
    /// Requests that were answered 503.
    pub refused: usize,
}

/// Clients that write and read until they are stopped.
pub struct Load {
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
    writers: Vec<JoinHandle<()>>,
}

/// Whether it is done; otherwise the server said when to try again.
#[track_caller]
fn is_done(answer: &Answer) -> bool {
    match answer.status.as_u16() {
        200..=202 => true,
        503 => {
            assert_eq!(answer.body["error"], "503: Service unavailable", "{}", answer.text);
            assert_ne!(answer.header("retry-after"), "");
            false
        }
        other => panic!("{other}: {}", answer.text),
    }
}

impl Load {
    /// Begins; the clients take turns.
    pub fn begin(clients: &[Client], component: i64) -> Self {
        let (ledger, stop) = (Arc::new(Mutex::new(Ledger::default())), Arc::new(AtomicBool::new(false)));
        let writers = (0..WRITERS).map(|writer| {
            let (ledger, stop) = (ledger.clone(), stop.clone());
            tokio::spawn(write(clients[writer % clients.len()].clone(), component, writer, ledger, stop))
        });
        let writers = writers.collect();
        Self { ledger, stop, writers }
    }

    /// The number of requests that were answered 503.
    pub async fn refused(&self) -> usize {
        self.ledger.lock().await.refused
    }

    /// Waits until a few writes of each kind were answered, which takes longer on a busy machine.
    async fn has_written(&self) {
        let begun = Instant::now();
        loop {
            let ledger = self.ledger.lock().await;
            if ledger.acknowledged.len() > 10 && ledger.accepted.len() > 10 {
                return;
            }
            drop(ledger);
            assert!(begun.elapsed() < TIMEOUT, "too few writes");
            sleep(PAUSE).await;
        }
    }

    /// Ends, and checks that nothing is lost, repeated or given up.
    pub async fn ends_with_everything_kept(self, client: &Client, component: i64) -> Ledger {
        self.has_written().await;
        self.stop.store(true, Ordering::Relaxed);
        for writer in self.writers {
            writer.await.unwrap();
        }
        let ledger = std::mem::take(&mut *self.ledger.lock().await);
        let begun = Instant::now();
        while !is_done(&client.post("/blogs/sync", &body(component, "the end")).await) {
            assert!(begun.elapsed() < TIMEOUT, "the server does not recover");
            sleep(PAUSE).await;
        }
        let mut kept = ledger.acknowledged.clone();
        for (title, job) in &ledger.accepted {
            complete(client, title, job, begun).await;
            kept.push(title.clone());
        }
        let titles = titles(client).await;
        for title in kept {
            assert!(titles.contains_key(&title), "{title} is lost");
        }
        for (title, count) in titles {
            assert!(count == 1 || title == "the end", "{title} is there {count} times");
        }
        ledger
    }
}

/// Waits until a job is completed.
async fn complete(client: &Client, title: &str, job: &str, begun: Instant) {
    loop {
        let answer = client.get(&format!("/jobs/{job}")).await;
        if is_done(&answer) {
            assert_ne!(answer.body["status"], "failed", "{title}: {}", answer.text);
            if answer.body["status"] == "completed" {
                return;
            }
        }
        assert!(begun.elapsed() < TIMEOUT, "{title}: {}", answer.text);
        sleep(PAUSE).await;
    }
}

async fn write(
    client: Client,
    component: i64,
    writer: usize,
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
) {
    for number in 0_usize.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let title = format!("Post {number} of {writer}");
        let answer = match number % 4 {
            0 => client.post("/blogs/sync", &body(component, &title)).await,
            1 => client.post("/blogs", &body(component, &title)).await,
            2 => client.get("/proposals?filter%5Bstate_blank%5D=true").await,
            _ => client.get("/blogs").await,
        };
        let is_done = is_done(&answer);
        let mut ledger = ledger.lock().await;
        match number % 4 {
            _ if !is_done => ledger.refused += 1,
            0 => ledger.acknowledged.push(title),
            1 => ledger.accepted.push((title, answer.body["job_id"].as_str().unwrap().to_owned())),
            _ => {}
        }
        drop(ledger);
        sleep(PAUSE).await;
    }
}

/// A server under load, with its client and component.
async fn loaded(database: Database) -> (Service, Client, i64, Load) {
    let service = Service::over(database, CITIES, &[]).await;
    let nora = service.user("norablum").await;
    let component = service.id("component", "news");
    let load = Load::begin(std::slice::from_ref(&nora), component);
    sleep(HEALTHY).await;
    (service, nora, component, load)
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_that_only_reads_or_is_away_for_a_while_under_load_loses_and_repeats_nothing() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let (service, nora, component, load) = loaded(database).await;
    assert_eq!(load.refused().await, 0, "it works before the fault");
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
    for (begin, end) in [
        (
            "ALTER DATABASE {} SET default_transaction_read_only = on",
            "ALTER DATABASE {} RESET default_transaction_read_only",
        ),
        ("ALTER DATABASE {} ALLOW_CONNECTIONS false", "ALTER DATABASE {} ALLOW_CONNECTIONS true"),
    ] {
        let before = load.refused().await;
        service.database.administer(begin).await;
        service.database.administer(end_all).await;
        sleep(FAULT).await;
        assert!(load.refused().await > before, "{begin}: no request was refused");
        service.database.administer(end).await;
        sleep(HEALTHY).await;
    }
    load.ends_with_everything_kept(&nora, component).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_that_is_stopped_crashes_and_is_started_again_under_load_loses_and_repeats_nothing() {
    let Some(cluster) = Cluster::make() else { return };
    let (service, nora, component, load) = loaded(Database::postgres_at(&cluster.url()).await).await;
    for stop in [Stop::InOrder, Stop::Crash] {
        let before = load.refused().await;
        cluster.stop(stop);
        sleep(FAULT).await;
        assert!(load.refused().await > before, "{stop:?}: no request was refused");
        cluster.start();
        sleep(HEALTHY).await;
    }
    load.ends_with_everything_kept(&nora, component).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_that_is_locked_by_another_process_under_load_loses_and_repeats_nothing() {
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let (service, nora, component, load) = loaded(database).await;
    for _ in 0..3 {
        let lock = service.database.hold_lock_on("users").await;
        sleep(FAULT).await;
        lock.release().await;
        sleep(HEALTHY).await;
    }
    load.ends_with_everything_kept(&nora, component).await;
    service.stop().await;
}

/// The disk is full for the posts alone: it is certain that jobs are accepted and then meet the fault.
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_for_a_while_under_load_loses_and_repeats_nothing() {
    at_once(Engine::BOTH, |engine| async move {
        let Some(database) = Database::fresh(engine).await else { return };
        let (service, nora, component, load) = loaded(database).await;
        let [fill, clear] = super::full_disk(engine, "INSERT", "posts");
        service.database.execute(&fill).await;
        sleep(FAULT).await;
        assert!(load.refused().await > 0, "no write was refused");
        service.database.execute(&clear).await;
        load.ends_with_everything_kept(&nora, component).await;
        service.stop().await;
    })
    .await;
}
