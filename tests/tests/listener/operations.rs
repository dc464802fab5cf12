//! `/live`, `/ready` and `/metrics`.

use civitas_accounts::login_failures::{FAILURES_THAT_LOCK, LoginKey};
use civitas_accounts::{MailKind, SendMail};
use civitas_kernel::{NewTask, OrganizationId, UserId, clock};
use civitas_tests::service::{BASE, CITIES, Service, http};
use civitas_tests::{Database, Engine};
use reqwest::Method;
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

pub(crate) async fn get(service: &Service, path: &str) -> (u16, String) {
    get_at(service.operations.expect("it listens for operators"), path).await
}

async fn get_at(address: SocketAddr, path: &str) -> (u16, String) {
    let response = http().get(format!("http://{address}{path}")).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// The value of a metric with these labels.
pub(crate) fn value(text: &str, metric: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(metric)?.trim().parse().ok())
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_see_the_figures_of_a_server() {
    for service in Service::on_both_engines_with(CITIES, &[("operations_listen", "127.0.0.1:0")]).await {
        assert_eq!(get(&service, "/live").await.0, 200);
        assert_eq!(get(&service, "/ready").await.0, 200);
        assert_eq!(get(&service, "/proposals").await.0, 404, "nothing else");
        let nora = service.user("norablum").await;
        nora.get("/proposals").await.is(200);
        nora.get("/proposals?page=1").await.is(200);
        nora.get("/proposals/987654321").await.is(404);
        nora.get("/nowhere").await.is(404);
        let panel = service.administrator().await;
        let own = format!("/system/organizations/{}", service.id("organization", "city"));
        panel.get(&own).await.is(200);
        panel.get("/system/nowhere").await.is(404);
        let body = json!({"object_path": "k", "data": 1});
        let accepted = nora.put("/me/extended_data", &body).await.is(202);
        nora.finished(&accepted).await;
        let user = UserId(service.id("user", "norablum"));
        let city = OrganizationId(service.id("organization", "city"));
        let mail = SendMail { mail: MailKind::Welcome, user };
        let future = clock::now() + time::Duration::HOUR;
        service.store.queue().add(&NewTask::new(city, &mail, future).unwrap()).await.unwrap();
        let text = metrics(&service).await;
        for metric in [
            "civitas_http_request_seconds_count{method=\"GET\",route=\"/proposals\",status=\"200\"}",
            "civitas_http_request_seconds_count{method=\"GET\",route=\"/proposals/{id}\",status=\"404\"}",
            "civitas_http_request_seconds_count{method=\"any\",route=\"none\",status=\"404\"}",
            "civitas_http_request_seconds_count{method=\"GET\",route=\"/system/organizations/{id}\",status=\"200\"}",
            "civitas_http_request_seconds_count{method=\"POST\",route=\"/system/admins/sign_in\",status=\"302\"}",
            "civitas_http_request_seconds_count{method=\"GET\",route=\"/system/{rest}\",status=\"404\"}",
            "civitas_jobs_total{outcome=\"completed\"}",
            "civitas_database_bytes",
            "civitas_http_open_connections",
        ] {
            assert!(value(&text, metric).is_some_and(|value| value >= 1.0), "{metric} in\n{text}");
        }
        for table in ["hosts", "identities", "components", "removals"] {
            let metric =
                |result| format!("civitas_lookup_cache_total{{result=\"{result}\",table=\"{table}\"}}");
            for result in ["hit", "miss"] {
                let found = value(&text, &metric(result));
                assert!(found.is_some_and(|value| value >= 1.0), "{} in\n{text}", metric(result));
            }
        }
        for lane in ["job", "mail", "host_check", "event", "delivery"] {
            let metric = format!("civitas_oldest_waiting_seconds{{lane=\"{lane}\"}}");
            assert!(value(&text, &metric).is_some_and(|value| value < 60.0), "{metric} in\n{text}");
        }
        assert!(
            !text.contains("city.test") && !text.contains("norablum"),
            "no data of organizations:\n{text}"
        );
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_the_service_and_logins_are_counted() {
    for service in Service::on_both_engines_with(CITIES, &[("operations_listen", "127.0.0.1:0")]).await {
        let anonymous = service.anonymous();
        for (path, status) in [
            (format!("{BASE}/"), 200),
            (format!("{BASE}/health"), 200),
            (format!("{BASE}/openapi.json"), 200),
            (format!("{BASE}/docs"), 200),
            ("/.well-known/oauth-authorization-server".to_owned(), 200),
            ("/confirmation/unknown".to_owned(), 404),
            ("/files/unknown/a.png".to_owned(), 404),
        ] {
            anonymous.raw(Method::GET, &path, &[], None).await.is(status);
        }
        anonymous.raw(Method::HEAD, &format!("{BASE}/health"), &[], None).await.is(200);
        fail_a_login_and_a_closed_one(&service).await;
        let text = get(&service, "/metrics").await.1;
        for (route, method, status) in [
            ("/", "GET", 200),
            ("/health", "GET", 200),
            ("/health", "HEAD", 200),
            ("/openapi.json", "GET", 200),
            ("/docs", "GET", 200),
            ("/.well-known/oauth-authorization-server", "GET", 200),
            ("/confirmation/{token}", "GET", 404),
            ("/files/{key}/{name}", "GET", 404),
        ] {
            let labels = format!("{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}");
            let metric = format!("civitas_http_request_seconds_count{labels}");
            assert!(value(&text, &metric).is_some_and(|value| value >= 1.0), "{metric} in\n{text}");
        }
        for outcome in ["refused", "locked"] {
            let metric = format!("civitas_logins_total{{endpoint=\"token\",outcome=\"{outcome}\"}}");
            assert!(value(&text, &metric).is_some_and(|value| value >= 1.0), "{metric} in\n{text}");
        }
        service.stop().await;
    }
}

async fn fail_a_login_and_a_closed_one(service: &Service) {
    let anonymous = service.anonymous();
    let asked = json!({"grant_type": "password", "auth_type": "login", "username": "nobody", "password": "wrong",
        "scope": "public oauth", "client_id": "id_city_full", "client_secret": "key_city_full"});
    anonymous.post("/oauth/token", &asked).await.refuses(400, "User not found");
    let (full, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
    let city = OrganizationId(service.id("organization", "city"));
    let (key, now) = (LoginKey::new(city, full, "nobody"), clock::now());
    for _ in 0..FAILURES_THAT_LOCK {
        service.store.login_failures().count(&key, now + time::Duration::HOUR, now).await.unwrap();
    }
    anonymous.post("/oauth/token", &asked).await.refuses(400, "User locked");
}

/// The metrics once the figures of the database are there.
async fn metrics(service: &Service) -> String {
    let begun = Instant::now();
    loop {
        let (status, text) = get(service, "/metrics").await;
        assert_eq!(status, 200);
        // A job is counted just after its end is stored.
        let jobs = value(&text, "civitas_jobs_total{outcome=\"completed\"}");
        let has_job = jobs.is_some_and(|jobs| jobs >= 1.0);
        if has_job && value(&text, "civitas_database_bytes").is_some_and(|bytes| bytes > 0.0) {
            return text;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{text}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_only_reads_is_ready_when_the_database_can_be_read() {
    for engine in Engine::BOTH {
        let Some(database) = Database::fresh(engine).await else { continue };
        let settings = [("operations_listen", "127.0.0.1:0"), ("read_only", "true")];
        let service = Service::over(database, CITIES, &settings).await;
        let lock = service.database.hold_lock_on("users").await;
        let ready = get(&service, "/ready").await;
        assert_eq!(ready.0, 200, "{engine:?}: it does not wait for the write lock");
        assert_eq!(ready.1, "ready, read-only\n");
        lock.release().await;
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_database_lost_its_schema_is_not_ready() {
    for service in Service::on_both_engines_with(CITIES, &[("operations_listen", "127.0.0.1:0")]).await {
        service.database.execute("DELETE FROM __diesel_schema_migrations").await;
        assert_eq!(get(&service, "/ready").await.0, 503);
        assert_eq!(get(&service, "/live").await.0, 200);
    }
}

/// A request whose body never ends keeps the server from its end.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_is_not_ready_and_still_lives() {
    let settings = [("operations_listen", "127.0.0.1:0")];
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &settings).await;
    let operations = service.operations.unwrap();
    assert_eq!(get_at(operations, "/ready").await, (200, "ready\n".to_owned()));
    let mut request = TcpStream::connect(service.address).await.unwrap();
    let head = format!(
        "POST {BASE}/oauth/introspect HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
         content-length: 1000\r\n\r\n"
    );
    request.write_all(head.as_bytes()).await.unwrap();
    // The server has to have read it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let look = async {
        let begun = Instant::now();
        while get_at(operations, "/ready").await != (503, "stopping\n".to_owned()) {
            assert!(begun.elapsed() < Duration::from_secs(5), "it is still ready");
        }
        assert_eq!(get_at(operations, "/live").await.0, 200);
    };
    tokio::join!(service.stop(), look);
    drop(request);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_setting_nobody_listens_for_operators() {
    let services = Service::on_both_engines().await;
    assert!(services.iter().all(|service| service.operations.is_none()));
}
