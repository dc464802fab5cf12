//! Faults of the machine below a running server: a full disk, a database that only reads, a database that is away. None
//! of them is a client's final answer: a synchronous write answers 503, an accepted job waits and completes.

use civitas_tests::service::{Answer, CITIES, Client, Service, http};
use civitas_tests::{Database, Engine, at_once};
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
        // Few keys: all values together have less than 1 MiB.
        let answer = client.put("/me/extended_data", &write(accepted.len() % 2 + 1, bytes)).await;
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
    at_once(Service::on_both_engines().await, |service| async move {
        let nora = service.user("norablum").await;
        let [fill, clear] = super::full_disk(service.engine, "UPDATE", "users");
        service.database.execute(&fill).await;
        let mut accepted = Vec::new();
        assert!(live_through(&nora, &mut accepted, 10).await, "no write was refused");
        for answer in &accepted {
            let job =
                nora.get(&format!("/jobs/{}", answer.body["job_id"].as_str().unwrap())).await.is(200).body;
            assert!(job["status"] == "pending" || job["status"] == "processing", "{job}");
        }
        service.database.execute(&clear).await;
        ends_with_every_job_completed(&nora, &accepted).await;
    })
    .await;
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

/// A file system of its own that can fail as one does whose disk fails: from then on it only reads, also through files that
/// are open for writing.
struct FailingDisk<'a> {
    mounted: Disk<'a>,
    _image: tempfile::NamedTempFile,
}

impl<'a> FailingDisk<'a> {
    /// `None` where this process may not mount one.
    fn mount(at: &'a Path) -> Option<Self> {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(64 * 1024 * 1024).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image.path()).output();
        made.is_ok_and(|made| made.status.success()).then_some(())?;
        let mut mount = Command::new("mount");
        let mount = mount.args(["-o", "loop,errors=remount-ro"]).arg(image.path()).arg(at).output();
        let is_mounted = mount.is_ok_and(|mounted| mounted.status.success());
        is_mounted.then_some(Self { mounted: Disk(at), _image: image })
    }

    fn fail(&self) {
        let failed = Command::new("mount").args(["-o", "remount,abort"]).arg(self.mounted.0).status();
        assert!(failed.unwrap().success());
        assert!(File::create(self.mounted.0.join("more")).is_err(), "the disk can be written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_sqlite_file_only_reads_answers_reads_and_refuses_writes() {
    let directory = tempfile::tempdir().unwrap();
    let Some(disk) = FailingDisk::mount(directory.path()) else {
        let news = "NO EXT4 CAN BE MOUNTED: a file that only reads is not tested";
        writeln!(std::io::stderr(), "{news}").unwrap();
        return;
    };
    let settings = [("operations_listen", "127.0.0.1:0")];
    let service = Service::over(Database::sqlite_in(directory.path()).await, CITIES, &settings).await;
    let nora = service.user("norablum").await;
    let mut accepted = Vec::new();
    assert!(!live_through(&nora, &mut accepted, 10).await, "it can be written");
    disk.fail();
    for page in 2..30 {
        nora.get(&format!("/proposals?page={page}")).await.is(200);
        for path in ["/me/extended_data/sync", "/me/extended_data"] {
            let refused = nora.put(path, &write(page, 1000)).await.is(503);
            assert_eq!(refused.body["error"], "503: Service unavailable", "{path}: {}", refused.text);
            assert_ne!(refused.header("retry-after"), "", "{path}");
        }
    }
    assert_eq!(nora.get("/health").await.is(200).body["message"], "OK", "it can be read");
    lives_and_is_not_ready(&service).await;
    service.stop().await;
}

/// Waits until `/ready` says that nothing can be written, and asserts that the process lives.
async fn lives_and_is_not_ready(service: &Service) {
    let operations = service.operations.unwrap();
    let status = async |path: &str| {
        http().get(format!("http://{operations}{path}")).send().await.unwrap().status().as_u16()
    };
    let begun = Instant::now();
    // A write is tried every 5 s.
    while status("/ready").await != 503 {
        assert!(begun.elapsed() < RECOVERY, "it is still ready");
        sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(status("/live").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_postgres_only_reads_or_is_away_for_a_while_loses_nothing() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("operations_listen", "127.0.0.1:0")]).await;
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'";
    let nora = service.user("norablum").await;
    let mut accepted = Vec::new();
    assert!(!live_through(&nora, &mut accepted, 10).await, "it can be written");

    service.database.administer("ALTER DATABASE {} SET default_transaction_read_only = on").await;
    service.database.administer(end_all).await;
    assert!(live_through(&nora, &mut accepted, 10).await, "no write was refused");
    assert_eq!(nora.get("/health").await.is(200).body["message"], "OK", "it can be read");
    lives_and_is_not_ready(&service).await;

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
