//! Losses that a deployment with several machines survives: the PostgreSQL server that is written, and one of two processes behind
//! `haproxy`.

mod keyed_load;
mod patroni;

use crate::faults::kills::start_process;
use crate::faults::load::Load;
use civitas_tests::service::{CITIES, Client, Service};
use civitas_tests::{Database, Engine};
use keyed_load::{KeyedLoad, Writer};
use patroni::{Loss, Patroni};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::sleep;

const KILLS: usize = 5;
/// How long writes may be refused after a kill.
const OUTAGE: Duration = Duration::from_secs(15);
/// How long the load runs between kills.
const HEALTHY: Duration = Duration::from_secs(2);
/// How long a process may take to start.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Three users, whose requests go to this address.
async fn writers(service: &Service, address: SocketAddr) -> Vec<Writer> {
    let mut writers = Vec::new();
    for (user, proposals) in
        [("norablum", ["p2", "p3"]), ("maryadmin", ["p4", "p5"]), ("member_one", ["p6", "p7"])]
    {
        let [news, ideas] = ["news", "ideas"].map(|name| service.id("component", name));
        let client = service.user(user).await.moved_to(address);
        writers.push(Writer {
            client,
            proposals: proposals.map(|name| service.id("proposal", name)),
            news,
            ideas,
        });
    }
    writers
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Patroni and etcd: tests/scale/failover runs it"]
async fn five_losses_of_the_leader_lose_and_repeat_nothing_and_writes_are_soon_back() {
    let mut cluster = Patroni::start().await;
    let service = Service::over(Database::postgres_at(&cluster.url()).await, CITIES, &[]).await;
    let (nora, component) = (service.user("norablum").await, service.id("component", "news"));
    // Without keys, and never repeated: each answer is done, or 503 with Retry-After.
    let load = Load::begin(std::slice::from_ref(&nora), component);
    let keyed = KeyedLoad::begin(writers(&service, service.address).await, Duration::from_millis(1));
    for kill in 1..=KILLS {
        let leader = cluster.becomes_whole().await;
        keyed.acknowledges_after(Instant::now()).await;
        sleep(HEALTHY).await;
        let loss = if kill % 2 == 0 { Loss::Machine } else { Loss::Server };
        let killed = Instant::now();
        cluster.kill(leader, loss);
        let dead = Instant::now();
        let outage = keyed.acknowledges_after(dead).await + (dead - killed);
        println!("kill {kill}, {loss:?}: a write is acknowledged after {:.1} s", outage.as_secs_f64());
        assert!(outage < OUTAGE, "{outage:?}");
        cluster.repair(leader);
    }
    let keyed = keyed.stop().await;
    let ledger = load.ends_with_everything_kept(&nora, component).await;
    keyed.is_there_once(service.address).await;
    let (posts, jobs, refused) = (ledger.acknowledged.len(), ledger.accepted.len(), ledger.refused);
    println!("{}; without keys {posts} posts and {jobs} jobs, {refused} refused", keyed.counts);
    assert!(ledger.refused > 0 && keyed.counts.repeated > 0, "no request met a kill");
    service.stop().await;
    through_a_proxy(&mut cluster).await;
}

/// Instead of several hosts: `haproxy`, which leaves a leader whose Patroni is lost although its server can be written.
async fn through_a_proxy(cluster: &mut Patroni) {
    let address = free_address();
    let values = [("127.0.0.1:5432", address.to_string()), ("check port 8008", "check".to_owned())];
    let text = replaced(example("listen postgres").to_owned(), &values);
    let text = replaced(text, &cluster.servers());
    let timeouts = "defaults\n    timeout connect 5s\n    timeout client 1h\n    timeout server 1h\n";
    let _balancer = Balancer::start(address, format!("{timeouts}{text}\n")).await;
    let leader = cluster.becomes_whole().await;
    // HAProxy finds the leader.
    sleep(2 * HEALTHY).await;
    let url = format!("postgres://civitas@{address}/civitas");
    let database = Database::postgres_at(&url).await;
    let write = async || database.store().begin().await?.commit().await;
    write().await.unwrap();
    let killed = Instant::now();
    cluster.kill(leader, Loss::Patroni);
    while port_of_server(&url).await.is_none_or(|port| port == i32::from(cluster.port(leader))) {
        assert!(killed.elapsed() < OUTAGE, "no other server can be written");
        sleep(Duration::from_millis(100)).await;
    }
    println!(
        "kill of Patroni, through HAProxy: another server can be written after {:.1} s",
        killed.elapsed().as_secs_f64()
    );
    while write().await.is_err() {
        assert!(killed.elapsed() < OUTAGE, "no write");
        sleep(Duration::from_millis(100)).await;
    }
    cluster.repair(leader);
    cluster.becomes_whole().await;
}

/// The port of the server behind this address, if it can be written.
async fn port_of_server(url: &str) -> Option<i32> {
    let url = format!("{url}?target_session_attrs=read-write");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.ok()?;
    tokio::spawn(connection);
    Some(client.query_one("SELECT inet_server_port()", &[]).await.ok()?.get(0))
}

/// The example of `docs/SCALING.md` that begins with this line.
fn example(first: &str) -> &'static str {
    let documented = include_str!("../../../docs/SCALING.md");
    let after = &documented[documented.find(&format!("    {first}\n")).unwrap()..];
    after.split("\n\n").next().unwrap()
}

/// The text with other values, each of which must be in it.
fn replaced(text: String, values: &[(&str, String)]) -> String {
    values.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from} in\n{text}");
        text.replace(from, to)
    })
}

/// The settings of `docs/proxies/haproxy.cfg` before its servers, without TLS.
fn proxy(address: SocketAddr) -> String {
    let file = include_str!("../../../docs/proxies/haproxy.cfg");
    let before = file.split("\nbackend civitas\n").next().unwrap().to_owned() + "\n";
    let values = [
        ("    user haproxy\n    group haproxy\n", String::new()),
        ("log /dev/log local0", "log stdout format raw local0".to_owned()),
        ("    bind :::80 v4v6\n", String::new()),
        (":::443 v4v6 ssl crt /etc/haproxy/city.example.pem alpn h2,http/1.1", address.to_string()),
        // One address sends everything.
        ("gt 700", "gt 1000000".to_owned()),
        ("http-request redirect scheme https code 308 unless { ssl_fc }", String::new()),
    ];
    replaced(before, &values)
}

/// A process of `haproxy`.
struct Balancer {
    child: Child,
    _directory: TempDir,
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Balancer {
    /// Starts one with these settings, which listens there.
    async fn start(address: SocketAddr, text: String) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("haproxy.cfg");
        fs::write(&path, text).unwrap();
        let mut command = Command::new("haproxy");
        let command = command.args(["-db", "-q", "-f"]).arg(path).stdin(Stdio::null()).stdout(Stdio::null());
        let balancer = Self { child: command.spawn().unwrap(), _directory: directory };
        let begun = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            assert!(begun.elapsed() < TIMEOUT, "HAProxy does not listen");
            sleep(Duration::from_millis(50)).await;
        }
        balancer
    }
}

/// Waits until a process answers.
async fn answers(nora: &Client, address: SocketAddr) {
    let (nora, begun) = (nora.moved_to(address), Instant::now());
    while nora.try_send(reqwest::Method::GET, "/health").await.is_none_or(|answer| answer.status != 200) {
        assert!(begun.elapsed() < TIMEOUT, "{address} does not answer");
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs HAProxy: tests/scale/failover runs it"]
async fn kills_of_one_of_two_processes_behind_haproxy_lose_and_repeat_no_request_with_a_key() {
    let database = Database::fresh(Engine::Postgres).await.unwrap();
    let mut service = Service::over(database, CITIES, &[]).await;
    let address = free_address();
    let (nora, writers) = (service.user("norablum").await, writers(&service, address).await);
    service.end().await;
    let (servers, directories) =
        ([free_address(), free_address()], [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let start = |number: usize| {
        let mut flags = service.flags().to_vec();
        flags.retain(|(name, _)| name != "listen" && name != "data_dir");
        flags.push(("listen".to_owned(), servers[number].to_string()));
        flags.push(("data_dir".to_owned(), directories[number].path().display().to_string()));
        start_process(&flags)
    };
    let mut processes = [start(0), start(1)];
    let [first, second] = servers.map(|server| server.to_string());
    let values = [("10.0.0.1:3000", first), ("10.0.0.2:3000", second)];
    let servers_of_proxy = replaced(example("backend civitas").to_owned(), &values);
    let _balancer = Balancer::start(address, format!("{}{servers_of_proxy}\n", proxy(address))).await;
    let load = KeyedLoad::begin(writers, Duration::from_millis(1));
    for number in [0, 1, 0, 1] {
        for server in servers {
            answers(&nora, server).await;
        }
        // HAProxy finds that both answer.
        sleep(2 * HEALTHY).await;
        let killed = Instant::now();
        processes[number].kill();
        let dead = Instant::now();
        let outage = load.acknowledges_after(dead).await + (dead - killed);
        println!("kill of process {number}: a write is acknowledged after {:.1} s", outage.as_secs_f64());
        assert!(outage < OUTAGE, "{outage:?}");
        sleep(HEALTHY).await;
        processes[number] = start(number);
    }
    let written = load.stop().await;
    written.is_there_once(servers[0]).await;
    println!("{}", written.counts);
    assert!(written.counts.repeated > 0, "no request met a kill");
    for mut process in processes {
        process.kill();
    }
}
