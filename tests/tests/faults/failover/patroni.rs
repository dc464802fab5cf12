//! Three PostgreSQL servers under Patroni, with one etcd.

use crate::faults::cluster::{is_root, programs};
use civitas_kernel::random_job_id;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File, read_to_string};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::time::sleep;

const NODES: usize = 3;
/// How long the nodes may take to start, and a lost one to return.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The cluster. Dropped, it ends, and its files are removed.
pub struct Patroni {
    directory: TempDir,
    etcd: Child,
    nodes: Vec<Node>,
    /// User and group of the servers, if this is root: PostgreSQL does not run as root.
    user: Option<[u32; 2]>,
}

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The PostgreSQL server.
    Server,
    /// Its Patroni.
    Patroni,
    /// Both, as by the loss of their machine.
    Machine,
}

/// A PostgreSQL server and its Patroni.
struct Node {
    patroni: Child,
    postgres: SocketAddr,
    api: SocketAddr,
}

/// A process that runs until it is killed.
fn spawn(program: &str, arguments: &[&str], user: Option<[u32; 2]>, directory: &TempDir, log: &str) -> Child {
    let log = File::options().create(true).append(true).open(directory.path().join(log)).unwrap();
    let mut command = Command::new(program);
    if let Some([user, group]) = user {
        command.uid(user).gid(group);
    }
    // Patroni keeps passwords in the home directory.
    command.args(arguments).current_dir(directory).env("HOME", directory.path());
    let command = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Not of those that the system gives to connections: a server must get its own again.
fn free_address() -> SocketAddr {
    loop {
        let port = 20_000 + u16::try_from(random_job_id().0.as_u128() % 12_000).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

fn id_of_postgres(option: &str) -> u32 {
    let output = Command::new("id").args([option, "postgres"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

impl Patroni {
    /// Makes and starts one, with an empty database `civitas`.
    pub async fn start() -> Self {
        let directory = tempfile::Builder::new().prefix("civitas-patroni").tempdir().unwrap();
        let user = is_root().then(|| ["-u", "-g"].map(id_of_postgres));
        let owner = user.map(|[user, group]| (Some(user), Some(group)));
        let owner = owner.unwrap_or_default();
        std::os::unix::fs::chown(directory.path(), owner.0, owner.1).unwrap();
        let [clients, peers] = [free_address(), free_address()];
        let [clients_url, peers_url] = [clients, peers].map(|address| format!("http://{address}"));
        let (data, members) = (path(&directory, "etcd"), format!("etcd={peers_url}"));
        let arguments = [
            ["--name", "etcd", "--data-dir", &data, "--initial-cluster", &members],
            [
                "--listen-client-urls",
                &clients_url,
                "--advertise-client-urls",
                &clients_url,
                "--log-level",
                "warn",
            ],
            [
                "--listen-peer-urls",
                &peers_url,
                "--initial-advertise-peer-urls",
                &peers_url,
                "--logger",
                "zap",
            ],
        ];
        let etcd = spawn("etcd", &arguments.concat(), user, &directory, "etcd.log");
        let nodes = (0..NODES).map(|number| {
            let [postgres, api] = [free_address(), free_address()];
            let text = configuration(&directory, number, clients, postgres, api);
            fs::write(directory.path().join(format!("node{number}.yml")), text).unwrap();
            Node { patroni: patroni(number, user, &directory), postgres, api }
        });
        let nodes = nodes.collect();
        let cluster = Self { directory, etcd, nodes, user };
        let leader = cluster.becomes_whole().await;
        let address = cluster.nodes[leader].postgres;
        let server = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", address.port());
        let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        // Row-level security does not bind superusers.
        for sql in ["CREATE ROLE civitas LOGIN", "CREATE DATABASE civitas OWNER civitas"] {
            client.batch_execute(sql).await.unwrap();
        }
        cluster
    }

    /// The address of the database: all nodes.
    pub fn url(&self) -> String {
        let nodes: Vec<_> = self.nodes.iter().map(|node| node.postgres.to_string()).collect();
        format!("postgres://civitas@{}/civitas?target_session_attrs=read-write", nodes.join(","))
    }

    /// The servers of the example for `haproxy`, and those of this cluster with their addresses of Patroni.
    pub fn servers(&self) -> [(&'static str, String); NODES] {
        let documented = ["10.0.0.11:5432", "10.0.0.12:5432", "10.0.0.13:5432"];
        let mut nodes = self.nodes.iter();
        documented.map(|server| {
            let node = nodes.next().unwrap();
            (server, format!("{} port {}", node.postgres, node.api.port()))
        })
    }

    /// Waits until all nodes run, follow one leader, and one of them is a synchronous standby. Returns the leader.
    pub async fn becomes_whole(&self) -> usize {
        let begun = Instant::now();
        loop {
            let members = self.members().await;
            let (mut leader, mut has_synchronous) = (None, false);
            for member in &members {
                match member["role"].as_str() {
                    Some("leader") => {
                        leader = member["name"].as_str().and_then(|name| name[4..].parse().ok());
                    }
                    Some("sync_standby") => has_synchronous = true,
                    _ => {}
                }
            }
            let follow = |member: &Value| {
                ["running", "streaming"].contains(&member["state"].as_str().unwrap_or_default())
                    && member["timeline"] == members[0]["timeline"]
            };
            if members.len() == NODES && members.iter().all(follow) && has_synchronous {
                return leader.unwrap();
            }
            assert!(begun.elapsed() < TIMEOUT, "{members:?}\n{}", self.logs());
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// What the first node that answers knows of all.
    async fn members(&self) -> Vec<Value> {
        for node in &self.nodes {
            let request = civitas_tests::service::http().get(format!("http://{}/cluster", node.api));
            let Ok(answer) = request.timeout(Duration::from_secs(1)).send().await else { continue };
            let status: Value =
                serde_json::from_str(&answer.text().await.unwrap_or_default()).unwrap_or_default();
            if let Some(members) = status["members"].as_array() {
                return members.clone();
            }
        }
        Vec::new()
    }

    /// Kills processes of a node.
    pub fn kill(&mut self, leader: usize, loss: Loss) {
        if loss != Loss::Server {
            self.nodes[leader].patroni.kill().unwrap();
            self.nodes[leader].patroni.wait().unwrap();
        }
        if loss == Loss::Patroni {
            return;
        }
        let server = self.server(leader).unwrap();
        let children = read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
        let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
        for pid in std::iter::once(server).chain(children) {
            // It may have ended.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }

    /// Where the server of a node listens.
    pub fn port(&self, number: usize) -> u16 {
        self.nodes[number].postgres.port()
    }

    /// Starts the Patroni of a node again if it was killed.
    pub fn repair(&mut self, number: usize) {
        if self.nodes[number].patroni.try_wait().unwrap().is_some() {
            self.nodes[number].patroni = patroni(number, self.user, &self.directory);
        }
    }

    /// The process of the server of a node.
    fn server(&self, number: usize) -> Option<i32> {
        let file = self.directory.path().join(format!("data{number}/postmaster.pid"));
        read_to_string(file).ok()?.lines().next()?.parse().ok()
    }

    /// The end of each log.
    fn logs(&self) -> String {
        let ends = ["etcd.log", "node0.log", "node1.log", "node2.log"].map(|name| {
            let log = read_to_string(self.directory.path().join(name)).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            format!("{name}:\n{}\n", lines[lines.len().saturating_sub(15)..].join("\n"))
        });
        ends.concat()
    }
}

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).display().to_string()
}

fn patroni(number: usize, user: Option<[u32; 2]>, directory: &TempDir) -> Child {
    let file = path(directory, &format!("node{number}.yml"));
    spawn("patroni", &[&file], user, directory, &format!("node{number}.log"))
}

/// The settings of `docs/SCALING.md`, and addresses. Nothing waits for the disk: the machine does not fail.
fn configuration(
    directory: &TempDir,
    number: usize,
    etcd: SocketAddr,
    postgres: SocketAddr,
    api: SocketAddr,
) -> String {
    let settings = super::example("bootstrap:").replace("\n    ", "\n");
    let place = directory.path().display();
    let programs: PathBuf = programs().unwrap();
    format!(
        "scope: civitas
name: node{number}
restapi: {{listen: '{api}', connect_address: '{api}'}}
etcd3: {{host: '{etcd}'}}
{settings}
  initdb: [{{encoding: UTF8}}, {{locale: C.UTF-8}}, {{auth: trust}}]
postgresql:
  listen: '{postgres}'
  connect_address: '{postgres}'
  data_dir: {place}/data{number}
  bin_dir: {programs}
  parameters: {{unix_socket_directories: {place}, fsync: off, dynamic_shared_memory_type: mmap}}
  pg_hba: [local all all trust, host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
  authentication: {{superuser: {{username: postgres}}, replication: {{username: replicator}}}}
",
        settings = settings.trim_start(),
        programs = programs.display(),
    )
}

impl Drop for Patroni {
    fn drop(&mut self) {
        let etcd = std::iter::once(&mut self.etcd);
        for process in self.nodes.iter_mut().map(|node| &mut node.patroni).chain(etcd) {
            // It may have ended.
            let _ = process.kill();
            let _ = process.wait();
        }
        let servers: Vec<_> = (0..NODES).filter_map(|number| self.server(number)).collect();
        for server in servers.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = kill_process(server, Signal::QUIT);
        }
        let begun = Instant::now();
        let runs = |pid: &i32| fs::exists(format!("/proc/{pid}")).unwrap_or(false);
        while servers.iter().any(runs) && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
