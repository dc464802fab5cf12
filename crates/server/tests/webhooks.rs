//! Servers that are killed at random moments while people register: each committed change has its event delivered, with
//! one constant id, and there is no event without its change (contract 09 C.1, C.4).
//!
//! Slow: a killed server holds its lease of the registration for 60 s. One of the tests waits for its end.

use civitas_tests::{Behaviour, CITIES, Database, Engine, Receiver};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::sleep;

const BASE: &str = "/api/rest_full/v0.3";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// Changes: people who register.
const CHANGES: usize = 500;
/// Writers at once.
const WRITERS: usize = 6;
/// The leases of killed servers, and what is left to send.
const TIMEOUT: Duration = Duration::from_secs(240);
const CLIENT: &str = r#"{"type": "api_client", "ref": "hooks", "organization": "city", "client_id": "id_city_hooks", "client_secret": "key_city_hooks", "name": "Hooks", "scopes": ["oauth", "webhooks"], "permissions": ["webhooks.write", "oauth.impersonate", "user.created"]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn one_server_on_sqlite_delivers_each_change_however_often_it_is_killed() {
    kill_at_random(Engine::Sqlite, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_on_postgres_delivers_each_change_however_often_it_is_killed() {
    kill_at_random(Engine::Postgres, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_servers_on_postgres_deliver_each_change_however_often_one_is_killed() {
    kill_at_random(Engine::Postgres, 3).await;
}

async fn kill_at_random(engine: Engine, nodes: usize) {
    let Some(database) = Database::fresh(engine).await else { return };
    let cluster = Arc::new(Cluster::over(database, nodes));
    let mut servers: Vec<Server> = (0..nodes).map(|node| cluster.serve(node)).collect();
    cluster.wait_until_all_answer().await;
    let receiver = Receiver::start().await;
    cluster.register(&receiver.url("/")).await;

    let writers = tokio::spawn(register_people(cluster.clone()));
    let (mut kills, mut random) = (0, Random::new());
    while !writers.is_finished() {
        sleep(Duration::from_millis(300 + random.below(1_500))).await;
        let node = usize::try_from(random.below(nodes as u64)).unwrap_or_default();
        // Every fourth time the receiver fails for a while too.
        receiver.behave(Behaviour::Answer(if kills % 4 == 3 { 503 } else { 204 }));
        servers[node].kill();
        servers[node] = cluster.serve(node);
        kills += 1;
    }
    receiver.behave(Behaviour::Answer(204));
    let acknowledged = writers.await.expect("the writers end");
    let begun = Instant::now();
    cluster.wait_until_all_answer().await;
    if nodes == 1 {
        cluster.end_leases().await;
    }
    let people = cluster.people().await;
    assert!(acknowledged.is_subset(&people.values().cloned().collect()), "acknowledged and gone");
    let delivered = wait_for_all(&receiver, &people).await;
    let repeated = receiver.ids().values().filter(|times| **times > 1).count();
    let news = format!(
        "{engine:?}, {nodes} servers, seed {}: {kills} killed during {} registrations; all delivered {:.1} s after the \
         last; {repeated} deliveries were repeated\n",
        random.seed,
        people.len(),
        begun.elapsed().as_secs_f64()
    );
    let _ = std::io::stderr().write_all(news.as_bytes());
    for (person, ids) in &delivered {
        assert_eq!(ids.len(), 1, "person {person} has several deliveries: {ids:?}");
        assert!(people.contains_key(person), "an event without its change: {person}");
    }
}

/// The ids of the deliveries of each person, when there is one for each.
async fn wait_for_all(
    receiver: &Receiver,
    people: &BTreeMap<String, String>,
) -> BTreeMap<String, BTreeSet<String>> {
    let begun = Instant::now();
    loop {
        let mut delivered: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in receiver.received() {
            let person = one.json()["data"]["id"].as_str().expect("an id").to_owned();
            delivered.entry(person).or_default().insert(one.id().to_owned());
        }
        let missing = people.keys().filter(|person| !delivered.contains_key(*person)).count();
        if missing == 0 {
            return delivered;
        }
        assert!(begun.elapsed() < TIMEOUT, "{missing} of {} were not delivered", people.len());
        sleep(Duration::from_millis(500)).await;
    }
}

/// Registers people, each until a server has answered. Returns their nicknames.
async fn register_people(cluster: Arc<Cluster>) -> BTreeSet<String> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (cluster, next) = (cluster.clone(), next.clone());
        writers.spawn(async move {
            let mut acknowledged = BTreeSet::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= CHANGES {
                    return acknowledged;
                }
                let nickname = format!("crash_person_{number}");
                cluster.register_person(number, &nickname).await;
                acknowledged.insert(nickname);
            }
        });
    }
    writers.join_all().await.into_iter().flatten().collect()
}

/// Some servers over one database, each at an address of its own.
struct Cluster {
    database: Database,
    directories: Vec<TempDir>,
    addresses: Vec<SocketAddr>,
    http: reqwest::Client,
}

/// A server in a separate process, which is killed when dropped.
struct Server(Child);

impl Server {
    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Cluster {
    fn over(database: Database, nodes: usize) -> Self {
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let directories: Vec<_> = (0..nodes).map(|_| tempfile::tempdir().expect("a directory")).collect();
        // Held together, so that they differ.
        let listeners: Vec<_> =
            (0..nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let addresses = listeners.iter().map(|one| one.local_addr().expect("an address")).collect();
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10)).build().expect("a client");
        let cluster = Self { database, directories, addresses, http };
        let archive = cluster.directories[0].path().join("city.ndjson");
        std::fs::write(&archive, format!("{}\n{CLIENT}\n", CITIES.trim_end()))
            .expect("the archive is written");
        let imported = cluster
            .civitas(0)
            .args(["import", "--quiet", "--allow-weak-secrets"])
            .arg(&archive)
            .output()
            .expect("it runs");
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
        cluster
    }

    /// Ends the leases of killed servers.
    async fn end_leases(&self) {
        let ended = "leased_until = '2026-01-01 00:00:00+00:00' WHERE leased_until IS NOT NULL";
        self.database.execute(&format!("UPDATE webhook_registrations SET {ended}")).await;
    }

    /// The binary on this database, with an empty environment.
    fn civitas(&self, node: usize) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_civitas"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CIVITAS_"))
        {
            command.env_remove(name);
        }
        let directory = self.directories[node].path();
        command.current_dir(directory).args(["--database-url", self.database.url(), "--secret-key", KEY]);
        command.arg("--data-dir").arg(directory);
        command.args([
            "--webhook-allowed-networks",
            "127.0.0.0/8",
            "--webhook-retry-delays-seconds",
            "1,1,2,2,4,4,8,8,16",
        ]);
        command
    }

    fn serve(&self, node: usize) -> Server {
        let mut command = self.civitas(node);
        command.args(["serve", "--log", "error", "--listen", &self.addresses[node].to_string()]);
        Server(command.stdout(Stdio::null()).spawn().expect("it starts"))
    }

    async fn wait_until_all_answer(&self) {
        let begun = Instant::now();
        for address in &self.addresses {
            while self.http.get(format!("http://{address}{BASE}/health")).send().await.is_err() {
                assert!(begun.elapsed() < TIMEOUT, "a server does not answer");
                sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// A document of a server, whichever answers.
    async fn post(&self, node: usize, path: &str, token: &str, body: &Value) -> Option<(u16, Value)> {
        let address = self.addresses[node % self.addresses.len()];
        let request = self.http.post(format!("http://{address}{path}")).header("host", "city.test");
        let answer = request.bearer_auth(token).json(body).send().await.ok()?;
        let status = answer.status().as_u16();
        Some((status, answer.json().await.ok()?))
    }

    async fn register(&self, url: &str) {
        let grant = json!({"grant_type": "client_credentials", "client_id": "id_city_hooks",
            "client_secret": "key_city_hooks", "scope": "webhooks"});
        let (_, token) = self.post(0, "/oauth/token", "", &grant).await.expect("an answer");
        let token = token["access_token"].as_str().expect("a token").to_owned();
        let body = json!({"data": {"attributes": {"url": url, "subscriptions": ["user.created"]}}});
        let created = self.post(0, &format!("{BASE}/webhook_registrations"), &token, &body).await;
        let (status, body) = created.expect("an answer");
        assert_eq!(status, 201, "{body}");
    }

    /// Tries until a server has answered. Of an answer that was lost the person may exist: then the next attempt signs
    /// them in.
    async fn register_person(&self, number: usize, nickname: &str) {
        let grant = json!({"grant_type": "password", "auth_type": "impersonate", "username": nickname,
            "client_id": "id_city_hooks", "client_secret": "key_city_hooks", "scope": "oauth",
            "meta": {"register_on_missing": true, "email": format!("{nickname}@city.example"), "name": nickname,
                "accept_tos_on_register": true, "skip_confirmation_on_register": true}});
        let begun = Instant::now();
        for attempt in number.. {
            match self.post(attempt, "/oauth/token", "", &grant).await {
                Some((200, _)) => return,
                Some((status @ 400..500, body)) => panic!("{status}: {body}"),
                _ => sleep(Duration::from_millis(20)).await,
            }
            assert!(begun.elapsed() < TIMEOUT, "no server answers");
        }
    }

    /// The nicknames of the people who registered, by id.
    async fn people(&self) -> BTreeMap<String, String> {
        let store = &self.database.store;
        let city =
            store.organizations().find_by_host("city.test").await.expect("a database").expect("the city");
        let mut people = BTreeMap::new();
        let mut after = None;
        loop {
            let page = store.users().page_after(city, after, 500).await.expect("a database");
            let Some((last, _)) = page.last() else { return people };
            after = Some(*last);
            let ours = page.into_iter().filter(|(_, user)| user.nickname.starts_with("crash_person_"));
            people.extend(ours.map(|(id, user)| (id.0.to_string(), user.nickname)));
        }
    }
}

/// Numbers that differ in each run.
struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    fn new() -> Self {
        // The random half of a UUID.
        let random = civitas_kernel::sortable_id().as_u64_pair().1;
        let seed = random | 1;
        Self { seed, state: seed }
    }

    /// A number below `limit`: xorshift.
    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % limit
    }
}
