//! PostgreSQL with standbys at which requests may read.

use super::cluster::{Cluster, Stop};
use civitas_application::metrics;
use civitas_tests::{CITIES, Client, Database, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The longest time until a replica is used, or not used any more.
const SOON: Duration = Duration::from_secs(30);

/// A post of Nora.
const POST: &str = r#"{"type": "post", "ref": "new", "organization": "city", "component": "news", "title": {"en": "New"}, "body": {"en": "B"}, "author": "norablum", "published_at": "2026-03-01T08:00:00Z"}
"#;

/// A server, with a primary and a standby that it reads at.
struct World {
    service: Service,
    primary: Cluster,
    standby: Cluster,
}

impl World {
    /// `None` without the programs of PostgreSQL.
    async fn make() -> Option<Self> {
        let primary = Cluster::make()?;
        let database = Database::postgres_at(&primary.url()).await;
        let standby = primary.standby();
        let settings = [("database_url", &*primary.url()), ("database_read_url", &*standby.url())];
        let service = Service::over(database, &format!("{CITIES}{POST}"), &settings).await;
        let world = Self { service, primary, standby };
        world.wait_until("the standby is read", async || world.is_standby_read().await).await;
        Some(world)
    }

    fn post(&self) -> String {
        format!("/blogs/{}", self.service.id("post", "new"))
    }

    /// Whether the standby answers a read that is made now.
    async fn is_standby_read(&self) -> bool {
        self.service.user("maryadmin").await.get(&self.post()).await.is(200);
        let newest = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'civitas' AND query LIKE '%list_changes%' \
                      AND query_start > clock_timestamp() - interval '1 s'";
        self.standby.ask(newest) != "0"
    }

    async fn wait_until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let begun = Instant::now();
        while !holds().await {
            assert!(begun.elapsed() < SOON, "{what}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    fn stop_replay(&self, is_stopped: bool) {
        self.standby.ask(if is_stopped {
            "SELECT pg_wal_replay_pause()"
        } else {
            "SELECT pg_wal_replay_resume()"
        });
    }
}

fn titled(title: &str) -> Value {
    json!({"data": {"attributes": {"title": {"en": title}}}})
}

async fn title(client: &Client, path: &str, headers: &[(&str, &str)]) -> String {
    let shown = client.send(Method::GET, path, headers, None).await.is(200);
    shown.data()["attributes"]["title"]["en"].as_str().unwrap().to_owned()
}

/// How many writes are read back.
#[expect(clippy::disallowed_methods, reason = "how long a test runs is no setting of the server")]
fn own_writes() -> usize {
    std::env::var("CIVITAS_TEST_OWN_WRITES").map_or(1000, |count| count.parse().expect("a number of writes"))
}

/// Replay runs for ten writes, and is stopped for forty, so that the standby is in use.
#[tokio::test(flavor = "multi_thread")]
async fn own_writes_are_read_back_while_replay_is_stopped() {
    let Some(world) = World::make().await else { return };
    let (nora, mary) = (world.service.user("norablum").await, world.service.user("maryadmin").await);
    let (path, mut old) = (world.post(), 0);
    for number in 0..own_writes() {
        match number % 50 {
            0 => world.stop_replay(false),
            10 => world.stop_replay(true),
            _ => {}
        }
        let written = format!("Title {number}");
        let answer = if number % 20 == 7 {
            let accepted = nora.put(&path, &titled(&written)).await.is(202);
            nora.finished(&accepted).await;
            accepted
        } else {
            nora.put(&format!("{path}/sync"), &titled(&written)).await.is(200)
        };
        assert_eq!(title(&nora, &path, &[]).await, written, "the same client and user");
        let position = answer.header("civitas-position");
        assert_ne!(position, "");
        if number % 20 == 13 {
            let sent = [("civitas-position", position)];
            assert_eq!(title(&mary, &path, &sent).await, written, "whoever sends the position");
        }
        if number % 50 == 15 {
            for position in ["9223372036854775807", "0", "-1", "no position", "1e9"] {
                title(&mary, &path, &[("civitas-position", position)]).await;
            }
            old += usize::from(title(&mary, &path, &[]).await != written);
        }
    }
    assert!(old > 0, "the standby was not in use");
    let text = metrics::render().unwrap();
    assert!(text.contains("civitas_replica_reads_total{outcome=\"replica\"}"), "{text}");
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_ends_under_load_costs_no_error_and_is_used_again() {
    let Some(world) = World::make().await else { return };
    let client = world.service.user("norablum").await;
    let stops = Arc::new(AtomicBool::new(false));
    let readers = (0..8).map(|_| {
        let (client, stops, path) = (client.clone(), stops.clone(), world.post());
        tokio::spawn(async move {
            let mut reads = 0;
            while !stops.load(Ordering::Relaxed) {
                for path in [&*path, "/blogs", "/proposals?filter[title_cont]=a", "/spaces/search"] {
                    let answer = client.get(path).await;
                    assert!(answer.status.as_u16() < 400, "{path}: {} {}", answer.status, answer.text);
                    reads += 1;
                }
            }
            reads
        })
    });
    let readers: Vec<_> = readers.collect();
    for _ in 0..3 {
        sleep(Duration::from_secs(1)).await;
        world.standby.stop(Stop::Crash);
        sleep(Duration::from_secs(1)).await;
        world.standby.start();
        world.wait_until("it is used again", async || world.is_standby_read().await).await;
    }
    stops.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.unwrap() > 20);
    }
    world.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_standby_is_left_and_a_revoked_token_is_refused_at_once() {
    let Some(world) = World::make().await else { return };
    let (nora, mary) = (world.service.user("norablum").await, world.service.user("maryadmin").await);
    let path = world.post();
    world.stop_replay(true);
    let token = nora.token.clone().unwrap();
    title(&nora, &path, &[]).await;
    let revoke = json!({"token": token, "client_id": "id_city_full", "client_secret": "key_city_full"});
    nora.without_token().post("/oauth/revoke", &revoke).await.is(200);
    nora.get(&path).await.is(401);

    let again = world.service.user("norablum").await;
    again.put(&format!("{path}/sync"), &titled("Later")).await.is(200);
    let begun = Instant::now();
    assert_ne!(title(&mary, &path, &[]).await, "Later", "others read at the standby");
    world.wait_until("it is left", async || title(&mary, &path, &[]).await == "Later").await;
    // The last position that it had may be a second old.
    assert!(begun.elapsed() > Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    // What is new is found on the primary while the standby lags behind.
    world.stop_replay(false);
    world.wait_until("it is used again", async || world.is_standby_read().await).await;
    world.stop_replay(true);
    let component = world.service.id("component", "news");
    let new = json!({"data": {"component_id": component, "attributes": {"title": {"en": "New"},
        "body": {"en": "Text"}, "published_at": "2026-03-01T08:00:00Z"}}});
    let created = again.post("/blogs/sync", &new).await.is(201);
    mary.get(&format!("/blogs/{}", created.data()["id"].as_str().unwrap())).await.is(200);
    // A standby that writes is no standby any more.
    world.stop_replay(false);
    world.standby.promote();
    again.put(&format!("{path}/sync"), &titled("Last")).await.is(200);
    world.wait_until("it is left", async || title(&mary, &path, &[]).await == "Last").await;
    drop(world.primary);
    world.service.stop().await;
}
