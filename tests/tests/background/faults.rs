//! Faults of the machine below a running server: a full disk, a database that only reads, a database that is away. None
//! of them is a client's final answer: a synchronous write answers 503, an accepted job waits and completes.

use civitas_tests::service::{Answer, CITIES, Client, Service};
use civitas_tests::{Database, Engine};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long a fault lasts here: longer than the waits of a job after its first faults.
const FAULT: Duration = Duration::from_secs(4);
/// How long a server may take to be well again.
const RECOVERY: Duration = Duration::from_secs(30);

/// A write of this many bytes.
fn write(number: usize, bytes: usize) -> Value {
    json!({"object_path": format!("k{number}"), "data": "x".repeat(bytes)})
}

/// A server that cannot do something now answers 503 and says when to try again, and nothing worse.
#[track_caller]
fn is_done_or_unavailable(answer: &Answer) -> bool {
    match answer.status.as_u16() {
        200 | 202 => true,
        503 => {
            assert_eq!(answer.body["error"], "503: Service unavailable", "{}", answer.text);
            assert_ne!(answer.header("retry-after"), "");
            false
        }
        other => panic!("{other}: {}", answer.text),
    }
}

/// Writes and reads until the time is over; whether some write was refused.
async fn live_through(client: &Client, accepted: &mut Vec<Answer>, bytes: usize) -> bool {
    let started = Instant::now();
    let mut refused = false;
    while started.elapsed() < FAULT {
        refused |= !is_done_or_unavailable(&client.put("/me/extended_data/sync", &write(0, bytes)).await);
        let answer = client.put("/me/extended_data", &write(accepted.len() + 1, bytes)).await;
        if is_done_or_unavailable(&answer) {
            accepted.push(answer);
        } else {
            refused = true;
        }
        is_done_or_unavailable(&client.get("/proposals").await);
        sleep(Duration::from_millis(100)).await;
    }
    refused
}

async fn ends_with_every_job_completed(client: &Client, accepted: &[Answer]) {
    let started = Instant::now();
    while !is_done_or_unavailable(&client.put("/me/extended_data/sync", &write(0, 10)).await) {
        assert!(started.elapsed() < RECOVERY, "the server does not recover");
        sleep(Duration::from_millis(100)).await;
    }
    assert!(!accepted.is_empty());
    for answer in accepted {
        let job = client.finished(answer).await;
        assert_eq!(job["status"], "completed", "{job}");
    }
}

/// No data can be written, and everything else can: so it is certain that jobs are accepted and then meet the fault.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_meet_a_full_disk_wait_until_there_is_room() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let (fill, clear) = match service.engine {
            Engine::Sqlite => (
                "CREATE TRIGGER disk_is_full BEFORE UPDATE ON users
                 BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
                "DROP TRIGGER disk_is_full",
            ),
            Engine::Postgres => (
                "CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'plus de place' USING ERRCODE = '53100'; END $$;
                 CREATE TRIGGER disk_is_full BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION disk_is_full()",
                "DROP TRIGGER disk_is_full ON users",
            ),
        };
        service.database.execute(fill).await;
        let mut accepted = Vec::new();
        assert!(live_through(&nora, &mut accepted, 10).await, "no write was refused");
        for answer in &accepted {
            let job =
                nora.get(&format!("/jobs/{}", answer.body["job_id"].as_str().unwrap())).await.is(200).body;
            assert!(job["status"] == "pending" || job["status"] == "processing", "{job}");
        }
        service.database.execute(clear).await;
        ends_with_every_job_completed(&nora, &accepted).await;
    }
}

/// A small disk of its own, gone when it is dropped.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    /// `None` where this process may not mount one.
    fn mount(at: &'a Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(at).output();
        mount.is_ok_and(|mounted| mounted.status.success()).then_some(Self(at))
    }

    /// Writes until there is no room left.
    fn fill(&self) {
        let mut ballast = File::create(self.0.join("ballast")).unwrap();
        while ballast.write_all(&[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        // A directory that stays mounted is the only harm.
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_a_disk_that_is_full_for_a_while_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(directory.path()) else {
        let news = "NO TMPFS CAN BE MOUNTED: the full disk is played by a trigger alone, in the test beside this one";
        writeln!(std::io::stderr(), "{news}").unwrap();
        return;
    };
    let service = Service::over(Database::sqlite_in(directory.path()).await, CITIES, &[]).await;
    let nora = service.user("norablum").await;
    let mut accepted = Vec::new();
    assert!(!live_through(&nora, &mut accepted, 10).await, "there is room");
    disk.fill();
    assert!(live_through(&nora, &mut accepted, 300_000).await, "no write was refused");
    is_done_or_unavailable(&nora.get("/proposals?page=7").await);
    disk.free();
    ends_with_every_job_completed(&nora, &accepted).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_postgres_only_reads_or_is_away_for_a_while_loses_nothing() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[]).await;
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
    let nora = service.user("norablum").await;
    let mut accepted = Vec::new();
    assert!(!live_through(&nora, &mut accepted, 10).await, "it can be written");

    service.database.administer("ALTER DATABASE {} SET default_transaction_read_only = on").await;
    service.database.administer(end_all).await;
    assert!(live_through(&nora, &mut accepted, 10).await, "no write was refused");
    assert_eq!(nora.get("/health").await.is(200).body["message"], "OK", "it can be read");

    service.database.administer("ALTER DATABASE {} ALLOW_CONNECTIONS false").await;
    service.database.administer(end_all).await;
    assert!(live_through(&nora, &mut accepted, 10).await, "no write was refused");
    assert_eq!(nora.get("/health").await.is(503).body["message"], "ERROR");

    // Connections that were made while it only read are left alone: the server gives them up by itself.
    service.database.administer("ALTER DATABASE {} ALLOW_CONNECTIONS true").await;
    is_done_or_unavailable(&nora.get("/proposals").await);
    service.database.administer("ALTER DATABASE {} RESET default_transaction_read_only").await;
    ends_with_every_job_completed(&nora, &accepted).await;
    service.stop().await;
}
