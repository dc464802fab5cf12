//! Any request within the limits takes less than a second, and `/health` answers at the same time as many of them.
//!
//! The bounds are far from what is measured: they tell linear work from quadratic work, not a fast machine from a slow
//! one. The longest bodies are sent in an optimized build (`cargo test --release`). A binary of its own, so that
//! `cargo test` runs nothing beside it.

use civitas_tests::service::{Answer, BASE, CITIES, Client, SYSTEM_CLIENTS, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long one request may take.
const MAX_DURATION: Duration = Duration::from_secs(1);
/// The time limit of `/health` during [`AT_ONCE`] of them; more on a machine where it takes longer beside cheap requests.
const HEALTH: Duration = Duration::from_millis(200);
const AT_ONCE: usize = 20;
/// A body is at most so long, in bytes; an eighth of it in a build that is not optimized.
const BODY: usize = if cfg!(debug_assertions) { 131_072 } else { 1_048_576 };

/// A request: verb, path below the base, media type and body.
#[derive(Clone)]
struct Input {
    name: &'static str,
    method: Method,
    path: String,
    media: &'static str,
    body: Vec<u8>,
}

impl Input {
    fn get(name: &'static str, path: String) -> Self {
        Self { name, method: Method::GET, path, media: "application/json", body: Vec::new() }
    }

    fn json(name: &'static str, method: Method, path: &str, body: &Value) -> Self {
        Self::text(name, method, path, "application/json", body.to_string())
    }

    fn text(name: &'static str, method: Method, path: &str, media: &'static str, body: String) -> Self {
        assert!(body.len() <= BODY, "{name}: {} bytes", body.len());
        Self { name, method, path: path.to_owned(), media, body: body.into_bytes() }
    }

    async fn send(&self, client: &Client) -> Answer {
        let body = Some(self.body.clone()).filter(|body| !body.is_empty());
        let headers = [("content-type", self.media)];
        client.raw(self.method.clone(), &format!("{BASE}{}", self.path), &headers, body).await
    }
}

/// As many as fit into a body.
fn repeated(unit: &str, frame: usize) -> String {
    unit.repeat((BODY - frame) / unit.len())
}

/// The numbers from 0, each with something before and behind it.
fn numbered(count: usize, before: &str, behind: &str) -> String {
    (0..count).map(|n| [before, &n.to_string(), behind].concat()).collect()
}

fn texts(draft: &str) -> Vec<Input> {
    let write = |name, body: String| {
        let path = format!("{draft}/sync");
        Input::json(name, Method::PUT, &path, &json!({"data": {"title": "A title of a draft", "body": body}}))
    };
    let half = |unit: &str| unit.repeat(65_536 / unit.len() / 3);
    vec![
        write("end tags without a start", half("<div>") + &half("</p>")),
        write("nested formatting", half("<b><i>") + &half("</b></i>")),
        write("one tag with many attributes", {
            format!("<p {}>", (0..9_000).map(|n| n.to_string() + "a ").collect::<String>())
        }),
        write("comments and scripts that never end", half("<!--") + &half("<script>")),
        write("marks and capitals", half("A!") + &half("¿¡")),
        write("a body longer than a text may be", "<div></p>".repeat(BODY / 10 / 2)),
    ]
}

fn bodies() -> Vec<Input> {
    let data = "/me/extended_data/sync";
    let many_keys: serde_json::Map<_, _> = (0..BODY / 17).map(|n| (format!("k{n}"), json!(1))).collect();
    let deep = format!("{}1{}", "{\"a\":".repeat(90), "}".repeat(90));
    let json = "application/json";
    vec![
        Input::json("many keys", Method::PUT, data, &json!({"data": many_keys})),
        Input::json("one long text", Method::PUT, data, &json!({"data": {"t": "\u{1}".repeat(BODY / 7)}})),
        Input::text("a deep body", Method::PUT, data, json, format!(r#"{{"data": {{"d": {deep}}}}}"#)),
        Input::text("brackets alone", Method::PUT, data, json, repeated("[", 0)),
        Input::text("many numbers", Method::PUT, data, json, {
            format!(r#"{{"data": {{"n": [{}0]}}}}"#, repeated("1e9,", 40))
        }),
        Input::text("a long path", Method::PUT, data, json, {
            format!(r#"{{"data": 1, "object_path": "{}"}}"#, repeated("a.", 40))
        }),
        Input::text("a form of one list", Method::PUT, data, "application/x-www-form-urlencoded", {
            repeated("data[l][]=a&", 0)
        }),
        Input::text("a form of many names", Method::PUT, data, "application/x-www-form-urlencoded", {
            numbered(BODY / 17, "data[k", "]=a&")
        }),
        Input::text("a deep form", Method::PUT, data, "application/x-www-form-urlencoded", {
            repeated(&format!("data{}=a&", "[a]".repeat(98)), 0)
        }),
        Input::text("many parts", Method::PUT, data, "multipart/form-data; boundary=b", {
            let part = "--b\r\ncontent-disposition: form-data; name=\"data[l][]\"\r\n\r\na\r\n";
            repeated(part, 10) + "--b--\r\n"
        }),
        Input::text("many scopes", Method::POST, "/oauth/token", json, {
            format!(
                r#"{{"grant_type": "client_credentials", "client_id": "id_city_full",
                "client_secret": "key_city_full", "scope": "{}"}}"#,
                repeated("public ", 200)
            )
        }),
        Input::text("many unknown members", Method::POST, "/vote_proposals/sync", json, {
            let members: String = numbered(BODY / 20, r#""x"#, r#"": {},"#);
            format!(r#"{{{members} "proposal_id": 1}}"#)
        }),
    ]
}

fn queries() -> Vec<Input> {
    let wild = "%25a".repeat(300);
    let backtracking = format!("{}b", "%25aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(30));
    let fifty = |filter: &str, value: &str| format!("&filter[{filter}]={value}").repeat(50);
    vec![
        Input::get("fifty patterns", format!("/proposals?{}", fifty("state_matches", &wild))),
        Input::get(
            "patterns that match late",
            format!("/spaces/search?{}", fifty("title_matches", &backtracking)),
        ),
        Input::get(
            "texts in extended data",
            format!("/users?{}", fifty("extended_data_cont", &"a".repeat(1_000))),
        ),
        Input::get("long lists", {
            let list = "&filter[id_in][]=1".repeat(100);
            format!("/proposals?{list}")
        }),
        Input::get("many languages", format!("/proposals?{}", "locales[]=xx&".repeat(4_000))),
        Input::get("many parameters", format!("/proposals?{}", "a=%20&".repeat(9_000))),
        Input::get("a long path", format!("/proposals/{}", "9".repeat(50_000))),
        Input::get("a path of many parts", format!("/spaces{}", "/x".repeat(20_000))),
        Input::get("shuffled", "/proposals?order=rand&per_page=100".to_owned()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_within_the_limits_takes_long_or_keeps_health_waiting() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await {
        let nora = service.user("norablum").await;
        let component = service.id("component", "ideas");
        let begun = json!({"data": {"component_id": component}});
        let draft = nora.post("/draft_proposals/sync", &begun).await.is(200);
        let draft = format!("/draft_proposals/{}", draft.data()["id"].as_str().unwrap());
        let mut inputs = [texts(&draft), bodies(), queries()].concat();
        let hosts: Vec<String> = (0..BODY / 18).map(|n| format!("h{n}.example")).collect();
        let city = format!("/organizations/{}/sync", service.id("organization", "city"));
        let system = service.anonymous().of_system("city_system").await;
        let many_hosts =
            Input::json("many hosts", Method::PUT, &city, &json!({"data": {"secondary_hosts": hosts}}));

        let mut slow = Vec::new();
        inputs.push(many_hosts);
        let mut timed = Vec::new();
        for input in inputs {
            let client = if input.name == "many hosts" { &system } else { &nora };
            let started = Instant::now();
            let answer = input.send(client).await;
            let took = started.elapsed();
            assert!(answer.status.as_u16() < 500, "{}: {}", input.name, answer.text);
            if took > MAX_DURATION {
                slow.push((input.name, took));
            }
            timed.push((took, input));
        }
        assert!(slow.is_empty(), "{:?}: {slow:?}", service.engine);
        timed.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        // On a busy machine `/health` waits beside cheap requests too.
        let cheap = Input::get("cheap", "/spaces/search?per_page=1".to_owned());
        let limit = HEALTH.max(health_beside(&service, &nora, &cheap).await * 8);
        for (_, input) in timed.into_iter().take(3) {
            let mut longest = Vec::new();
            // Something else may run on the machine for a moment: one measurement of three must hold.
            while longest.len() < 3 && longest.last().is_none_or(|last| *last >= limit) {
                longest.push(health_beside(&service, &nora, &input).await);
            }
            let last = longest.last().copied().unwrap_or(limit);
            assert!(last < limit, "{:?}: {longest:?} beside {}", service.engine, input.name);
        }
    }
}

/// The longest wait for `/health` while this number of these requests run.
async fn health_beside(service: &Service, client: &Client, input: &Input) -> Duration {
    let mut requests = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (client, input) = (client.clone(), input.clone());
        requests.spawn(async move { input.send(&client).await.status });
    }
    let anonymous = service.anonymous();
    let mut longest = Duration::ZERO;
    while requests.try_join_next().is_some() || !requests.is_empty() {
        let started = Instant::now();
        anonymous.get("/health").await.is(200);
        longest = longest.max(started.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    longest
}
