//! Two organizations: while one does its worst, the other keeps its pace, and is refused nothing.

use civitas_kernel::OrganizationId;
use civitas_tests::service::{BASE, CITIES, Client, Service, http};
use civitas_tests::{Database, Engine, numbered_proposals};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The connections of the one that does its worst.
const CONNECTIONS: usize = 40;
/// How often the other does each thing: quietly, and then beside the first.
const ROUNDS: usize = 15;
/// What noise of the machine adds at most to a median, far below what the first one's requests take.
const SLACK: Duration = Duration::from_secs(1);

/// Requests that are sent again and again, until it is stopped.
struct Worst {
    running: Arc<AtomicBool>,
    statuses: Arc<Mutex<BTreeSet<StatusCode>>>,
    senders: JoinSet<()>,
}

impl Worst {
    /// Sends this request on all connections.
    fn begin(service: &Service, client: &Client, method: &Method, path: &str, body: &Value) -> Self {
        Self::begin_on(CONNECTIONS, service, client, method, (path, body))
    }

    /// Sends this request on so many connections.
    fn begin_on(
        connections: usize,
        service: &Service,
        client: &Client,
        method: &Method,
        (path, body): (&str, &Value),
    ) -> Self {
        let (running, statuses) = (Arc::new(AtomicBool::new(true)), Arc::<Mutex<BTreeSet<_>>>::default());
        let (http, mut senders) = (http(), JoinSet::new());
        let url = format!("http://{}{BASE}{path}", service.address);
        for _ in 0..connections {
            let mut request = http.request(method.clone(), &url).header("host", &client.host);
            request = request.header("content-type", "application/json").body(body.to_string());
            if let Some(token) = &client.token {
                request = request.bearer_auth(token);
            }
            let (running, statuses) = (running.clone(), statuses.clone());
            senders.spawn(async move {
                while running.load(Ordering::Relaxed) {
                    let answer = request.try_clone().unwrap().send().await.unwrap();
                    statuses.lock().unwrap().insert(answer.status());
                    answer.bytes().await.unwrap();
                }
            });
        }
        Self { running, statuses, senders }
    }

    /// Stops, and returns the statuses of all answers.
    async fn end(self) -> BTreeSet<StatusCode> {
        self.running.store(false, Ordering::Relaxed);
        self.senders.join_all().await;
        Arc::into_inner(self.statuses).unwrap().into_inner().unwrap()
    }
}

/// The median of the times that a step takes, which fails if it is refused.
async fn median(mut step: impl AsyncFnMut(usize)) -> Duration {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let begun = Instant::now();
        step(round).await;
        times.push(begun.elapsed());
    }
    times.sort();
    times[ROUNDS / 2]
}

/// The median times of a write, a read and a token of the town.
async fn pace(service: &Service, nora: &Client, phase: &str) -> [Duration; 3] {
    let write = median(async |round| {
        nora.put("/me/extended_data/sync", &json!({"data": {phase: round}})).await.is(200);
    });
    let write = write.await;
    let read = median(async |round| {
        nora.get(&format!("/proposals?per_page=5&n={phase}{round}")).await.is(200);
    });
    let read = read.await;
    let token = median(async |_| {
        service.user_through("town", "full", "luisortega").await;
    });
    [write, read, token.await]
}

#[tokio::test(flavor = "multi_thread")]
async fn many_long_writes_of_one_record_cost_their_organization_alone() {
    for service in Service::on_both_engines().await {
        let (bad, nora) =
            (service.user("norablum").await, service.user_through("town", "full", "norablum").await);
        let text = "x".repeat(1_000_000);
        let long = json!({"data": {"text": text}});
        let quiet = pace(&service, &nora, "quiet").await;
        let begun = Instant::now();
        bad.put("/me/extended_data/sync", &long).await.is(200);
        let one = begun.elapsed();
        let worst = Worst::begin(&service, &bad, &Method::PUT, "/me/extended_data/sync", &long);
        sleep(Duration::from_secs(3)).await;
        let beside = pace(&service, &nora, "beside").await;
        let statuses = worst.end().await;
        println!("{:?}: quiet {quiet:?}, beside {beside:?}, one {one:?}, {statuses:?}", service.engine);
        assert!(statuses.contains(&StatusCode::OK), "{statuses:?}");
        for (quiet, beside) in quiet.into_iter().zip(beside) {
            // On SQLite a write waits for the long one that is in progress.
            let most = 3 * quiet + SLACK + one;
            assert!(beside < most, "{:?}: {beside:?} instead of {quiet:?}", service.engine);
        }
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_wait_for_a_lock_cost_their_organization_alone() {
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[]).await;
    let nora = service.user_through("town", "full", "norablum").await;
    let quiet = pace(&service, &nora, "quiet").await;
    let held = service.database.store().begin().await.unwrap();
    let city = OrganizationId(service.id("organization", "city"));
    held.organizations().find_for_update(city).await.unwrap().unwrap();
    let token = json!({"grant_type": "client_credentials", "scope": "public", "client_id": "id_city_full",
        "client_secret": "key_city_full"});
    let worst = Worst::begin(&service, &service.anonymous(), &Method::POST, "/oauth/token", &token);
    sleep(Duration::from_secs(3)).await;
    let beside = pace(&service, &nora, "beside").await;
    drop((held, worst));
    for (quiet, beside) in quiet.into_iter().zip(beside) {
        assert!(beside < 3 * quiet + SLACK, "{beside:?} instead of {quiet:?}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_through_many_records_cost_their_organization_alone() {
    for service in Service::on_both_engines().await {
        let city = service.id("organization", "city");
        let text = "a long text of a client ".repeat(40);
        let records = format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) \
             INSERT INTO proposals (organization_id, component_id, title, body, extended_data, extended_data_text, \
             public_state, published_at, created_at, updated_at) SELECT organization_id, component_id, \
             '{{\"en\": \"Title\"}}', '{{\"en\": \"Text\"}}', '{{\"a\": \"{text}\"}}', '{{\"a\": \"{text}\"}}', '', published_at, created_at, updated_at \
             FROM numbers, (SELECT * FROM proposals WHERE organization_id = {city} AND published_at IS NOT NULL LIMIT 1) AS one"
        );
        service.database.execute(&records).await;
        let (bad, nora) =
            (service.user("norablum").await, service.user_through("town", "full", "norablum").await);
        let quiet = pace(&service, &nora, "quiet").await;
        let path = "/proposals?filter[extended_data_cont]=nowhere";
        let begun = Instant::now();
        assert!(bad.get(path).await.is(200).ids().is_empty());
        let one = begun.elapsed();
        let worst = Worst::begin(&service, &bad, &Method::GET, path, &Value::Null);
        sleep(Duration::from_secs(1)).await;
        let beside = pace(&service, &nora, "beside").await;
        // The other searches, too.
        let searching = median(async |round| {
            nora.get(&format!("/proposals?filter[extended_data_cont]=nowhere&n={round}")).await.is(200);
        });
        let searching = searching.await;
        let statuses = worst.end().await;
        println!(
            "{:?}: quiet {quiet:?}, beside {beside:?}, searching {searching:?}, one {one:?}",
            service.engine
        );
        assert!(statuses.contains(&StatusCode::OK), "{statuses:?}");
        for (quiet, beside) in quiet.into_iter().zip(beside) {
            assert!(beside < 3 * quiet + SLACK, "{:?}: {beside:?} instead of {quiet:?}", service.engine);
        }
        assert!(searching < 3 * one + SLACK, "{:?}: {searching:?}, one takes {one:?}", service.engine);
        service.stop().await;
    }
}

/// Words of one and two characters, which no index of words can find: all texts of the organization are compared.
#[tokio::test(flavor = "multi_thread")]
async fn searches_for_short_words_cost_their_organization_alone() {
    let numbered = numbered_proposals("city", "ideas", 10_000, |_, _| ());
    for service in Service::on_both_engines_with(&format!("{CITIES}{numbered}"), &[]).await {
        let (bad, nora) =
            (service.user("norablum").await, service.user_through("town", "full", "norablum").await);
        let quiet = pace(&service, &nora, "quiet").await;
        let paths = ["%E9%A4%A8", "%E9%A4%A8%E9%A4%A8"]
            .map(|word| format!("/proposals?filter[search_text_cont]={word}"));
        for path in &paths {
            assert!(bad.get(path).await.is(200).ids().is_empty());
        }
        // Eight at the same time.
        let searches: Vec<Worst> = paths
            .iter()
            .map(|path| Worst::begin_on(4, &service, &bad, &Method::GET, (path, &Value::Null)))
            .collect();
        sleep(Duration::from_secs(1)).await;
        let beside = pace(&service, &nora, "beside").await;
        // Short reads of the same organization keep their connections, too.
        let own = median(async |round| {
            bad.get(&format!("/proposals?per_page=5&n={round}")).await.is(200);
        });
        let own = own.await;
        let mut statuses = BTreeSet::new();
        for search in searches {
            statuses.extend(search.end().await);
        }
        println!("{:?}: quiet {quiet:?}, beside {beside:?}, own {own:?}, {statuses:?}", service.engine);
        assert!(statuses.contains(&StatusCode::OK), "{statuses:?}");
        for (quiet, beside) in quiet.into_iter().zip(beside) {
            assert!(beside < 3 * quiet + SLACK, "{:?}: {beside:?} instead of {quiet:?}", service.engine);
        }
        assert!(own < 3 * quiet[1] + SLACK, "{:?}: {own:?} instead of {:?}", service.engine, quiet[1]);
        service.stop().await;
    }
}

/// A hash of bcrypt that takes 2 s to compare, and no password is its own.
const LONG_HASH: &str = "$2y$15$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";

#[tokio::test(flavor = "multi_thread")]
async fn passwords_that_take_long_cost_their_organization_alone() {
    let guest = json!({"type": "user", "ref": "guest", "organization": "city", "nickname": "guest",
        "email": "guest@city.example", "name": "Guest", "password_hash": LONG_HASH});
    for service in Service::on_both_engines_with(&format!("{CITIES}{guest}\n"), &[]).await {
        let sign_in = |city: &str, name: &str, password: &str| {
            json!({"grant_type": "password", "auth_type": "login", "username": name, "password": password,
                "scope": "public", "client_id": format!("id_{city}_full"),
                "client_secret": format!("key_{city}_full")})
        };
        let town = service.at("town.test");
        let body = sign_in("town", "withpassword", "correct horse");
        let signing_pace =
            async || median(async |_| drop(town.post("/oauth/token", &body).await.is(200))).await;
        let quiet = signing_pace().await;
        // A decomposed letter: it is compared in two forms.
        let wrong = sign_in("city", "guest", "cache\u{301}");
        let worst = Worst::begin(&service, &service.anonymous(), &Method::POST, "/oauth/token", &wrong);
        sleep(Duration::from_secs(1)).await;
        let beside = signing_pace().await;
        println!("{:?}: quiet {quiet:?}, beside {beside:?}", service.engine);
        assert!(beside < 3 * quiet + SLACK, "{:?}: {beside:?} instead of {quiet:?}", service.engine);
        drop(worst);
        service.stop().await;
    }
}
