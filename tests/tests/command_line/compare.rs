//! `civitas compare` (sheet 13 §9, checks 38 to 40): two servers, recorded answers, and a server that answers in the
//! shapes of Decidim's module.

use crate::command_line::city::{City, Said};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use civitas_archive::ExportOptions;
use civitas_tests::service::http;
use civitas_tests::{CITIES, Database, Engine, Service};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Runs the command with the full client of `city.test`.
async fn compare(words: &[&str]) -> Said {
    let given = ["compare", "--host", "city.test", "--client-id", "id_city_full", "--format", "json"];
    City::unmigrated().type_in(&[&given[..], words].concat(), "key_city_full\n").await
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Whatever the groups of all actors have under a name.
fn groups(report: &Value) -> Vec<(&str, &Value)> {
    let actors = report["actors"].as_array().unwrap().iter();
    let groups = actors.flat_map(|actor| actor["groups"].as_object().unwrap());
    groups.map(|(name, group)| (name.as_str(), group)).collect()
}

fn different(report: &Value) -> Vec<(&str, u64, usize, usize)> {
    let count = |list: &Value| list.as_array().unwrap().len();
    let found = groups(report).into_iter().map(|(name, group)| {
        (name, group["different"].as_u64().unwrap(), count(&group["only_old"]), count(&group["only_new"]))
    });
    found.filter(|(_, different, old, new)| different + (old + new) as u64 > 0).collect()
}

fn codes(report: &Value) -> BTreeSet<&str> {
    let codes = groups(report).into_iter().flat_map(|(_, group)| group["expected"].as_object().unwrap());
    codes.map(|(code, _)| code.as_str()).collect()
}

/// The records of the city, with all times, for servers that answer alike.
async fn records(engine: Engine) -> Option<Vec<Value>> {
    let seed = Service::over(Database::fresh(engine).await?, CITIES, &[]).await;
    let options =
        ExportOptions { organization: Some("city.test".to_owned()), with_secrets: true, with_ids: false };
    let archive = seed.export(&options).await;
    seed.stop().await;
    let mut records: Vec<Value> = archive.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut records {
        record.as_object_mut().unwrap().remove("password_hash");
    }
    Some(records)
}

async fn server(engine: Engine, records: &[Value]) -> Service {
    let archive = records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    Service::over(Database::fresh(engine).await.unwrap(), &archive, &[]).await
}

/// One changed title, one missing vote, one other state, one extra meeting.
fn edited(mut records: Vec<Value>) -> Vec<Value> {
    let title = |record: &Value| record["title"]["en"].as_str().unwrap_or_default().to_owned();
    let find = |records: &[Value], wanted: &str| {
        records.iter().position(|record| record["type"] == "proposal" && title(record) == wanted).unwrap()
    };
    let (titled, accepted) =
        (find(&records, "Proposal p2 for the city"), find(&records, "Proposal accepted for the city"));
    records[titled]["title"]["en"] = json!("Another title for the city");
    records[accepted]["state"] = json!("evaluating");
    let is_agenda = |record: &&Value| record["type"] == "component" && record["manifest"] == "meetings";
    let agenda = records.iter().find(is_agenda).unwrap();
    let meeting = json!({"type": "meeting", "ref": "extra", "organization": agenda["organization"],
        "component": agenda["ref"], "title": {"en": "A walk"}, "start_time": "2026-05-01T17:00:00Z",
        "published_at": "2026-04-01T17:00:00Z"});
    let votes = records.len();
    records.retain(|record| record["type"] != "vote");
    assert_eq!(records.len() + 1, votes, "the city has one vote");
    records.push(meeting);
    records
}

/// What [`edited`] changes.
const EDITS: [(&str, u64, usize, usize); 3] =
    [("meetings", 0, 0, 1), ("proposals", 2, 0, 0), ("votes", 0, 1, 0)];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_differ_from_itself() {
    for service in Service::on_both_engines().await {
        let address = url(service.address);
        let said = compare(&["--old", &address, "--new", &address, "--sample", "all"]).await;
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
        let report = said.json();
        assert!(different(&report).is_empty(), "{report}");
        assert!(codes(&report).is_empty(), "{report}");
        let actors = report["actors"].as_array().unwrap();
        let roles: Vec<&str> = actors.iter().filter_map(|actor| actor["actor"].as_str()).collect();
        assert!(roles.len() == 4 && roles[0] == "service", "{roles:?}");
        for role in ["(administrator)", "(member)", "(voter)"] {
            assert!(roles.iter().any(|actor| actor.ends_with(role)), "{roles:?}");
        }
        for (name, least) in
            [("proposals", 15), ("users", 6), ("components", 10), ("spaces", 6), ("votes", 1)]
        {
            assert!(actors[0]["groups"][name]["items"].as_u64() >= Some(least), "{name}: {report}");
        }
        assert_eq!(actors[0]["groups"]["roles"]["digest_old"], actors[0]["groups"]["roles"]["digest_new"]);
        let skipped = report["skipped"].to_string();
        assert!(skipped.contains("service: /organizations (both answer 400)"), "{skipped}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn four_changes_are_four_differences_also_with_recorded_answers() {
    for engine in Engine::BOTH {
        let Some(records) = records(engine).await else { continue };
        let (old, new) = (server(engine, &records).await, server(engine, &edited(records)).await);
        let (old_url, new_url) = (url(old.address), url(new.address));
        let directory = tempfile::tempdir().unwrap();
        let answers = directory.path().join("answers").display().to_string();
        let file = directory.path().join("report.json").display().to_string();
        let service = ["--actor", "service"];
        let sides = ["--old", &old_url, "--new", &new_url, "--record", &answers, "--report", &file];
        let said = compare(&[&service[..], &sides].concat()).await;
        assert_eq!((said.code, said.err.as_str()), (3, ""), "{}", said.out);
        assert_eq!(different(&said.json()), EDITS, "{}", said.out);
        let members: BTreeSet<String> = said.json()["actors"][0]["groups"]["proposals"]["samples"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sample| sample["member"].as_str().unwrap().to_owned())
            .collect();
        assert!(members.contains("attributes.title.en"), "{members:?}");
        assert!(members.contains("relationships.state.meta.token"), "{members:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), said.out.trim_end());
        old.stop().await;
        for entry in fs::read_dir(&answers).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            assert!(entry.file_name().to_string_lossy().ends_with(".json.zst"));
        }
        let replayed = compare(&[&service[..], &["--replay", &answers, "--new", &new_url]].concat()).await;
        assert_eq!((replayed.code, replayed.err.as_str()), (3, ""), "{}", replayed.out);
        assert_eq!(replayed.json()["actors"], said.json()["actors"]);
        let unknown = compare(&["--replay", &answers, "--new", &new_url, "--actor", "user:norablum"]).await;
        assert_eq!(unknown.code, 1);
        assert!(unknown.err.ends_with(" is not recorded\n"), "{}", unknown.err);
        let votes =
            compare(&["--replay", &answers, "--new", &new_url, "--actor", "service", "--only", "votes"])
                .await;
        assert_eq!(groups(&votes.json()).len(), 1, "{}", votes.out);
        new.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_module_differs_as_expected() {
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await;
    let module = Stub::before(service.address, true).await;
    let (old, new) = (url(module.address), url(service.address));
    let sides = ["--old", &old, "--new", &new];
    let said = compare(&sides).await;
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let report = said.json();
    let expected = ["E-ADDED", "E-HIDDEN", "E-REPEATED", "E-TYPES", "E-USERS", "E-VISIBILITY"];
    assert_eq!(codes(&report), BTreeSet::from(expected), "{report}");
    let strict = compare(&[&sides[..], &["--strict"]].concat()).await;
    assert_eq!((strict.code, strict.err.as_str()), (3, ""), "{}", strict.out);
    assert!(codes(&strict.json()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_only_reads_and_keeps_few_requests_open() {
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await;
    let seen = Stub::before(service.address, false).await;
    let address = url(seen.address);
    let said = compare(&["--old", &address, "--new", &address, "--parallel", "2"]).await;
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let seen = seen.seen.lock().unwrap();
    for (method, path) in &seen.requests {
        assert!(
            method == Method::GET || (method == Method::POST && path.ends_with("/oauth/token")),
            "{path}"
        );
    }
    assert!(seen.requests.len() > 100 && seen.most == 2, "{} {}", seen.requests.len(), seen.most);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_has_no_personal_data_unless_asked() {
    let records = records(Engine::Sqlite).await.unwrap();
    let mut changed = records.clone();
    for record in changed.iter_mut().filter(|record| record["type"] == "user") {
        record["name"] = json!("Zelda Quint");
        record["about"] = json!("Gardener at the mill");
    }
    let (old, new) = (server(Engine::Sqlite, &records).await, server(Engine::Sqlite, &changed).await);
    let (old, new) = (url(old.address), url(new.address));
    let sides = ["--old", &old, "--new", &new];
    let personal = ["Zelda", "Gardener", "Norablum", "norablum", "@city.example"];
    let said = compare(&sides).await;
    assert_eq!((said.code, said.err.as_str()), (3, ""), "{}", said.out);
    assert!(said.out.contains("attributes.about") && said.out.contains("sha256:"), "{}", said.out);
    for word in personal {
        assert!(!said.out.contains(word), "{word}: {}", said.out);
    }
    let shown = compare(&[&sides[..], &["--show-values"]].concat()).await;
    assert!(shown.out.contains("Zelda Quint") && shown.out.contains("Norablum"), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_and_a_wrong_secret_are_no_differences() {
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await;
    let address = url(service.address);
    for wrong in [
        &["--new", &address][..],
        &["--old", &address],
        &["--old", &address, "--new", &address, "--actor", "nora"],
        &["--old", &address, "--new", &address, "--only", "jobs"],
        &["--old", &address, "--new", &address, "--sample", "many"],
        &["--old", &address, "--new", &address, "--parallel", "0"],
    ] {
        assert_eq!(compare(wrong).await.code, 2, "{wrong:?}");
    }
    let words = [
        "compare",
        "--old",
        &address,
        "--new",
        &address,
        "--host",
        "city.test",
        "--client-id",
        "id_city_full",
    ];
    let refused = City::unmigrated().type_in(&words, "another\n").await;
    assert_eq!((refused.code, refused.out.as_str()), (1, ""));
    assert!(refused.err.ends_with("refuses the client id and secret\n"), "{}", refused.err);
    let text = City::unmigrated().type_in(&words, "key_city_full\n").await;
    assert_eq!((text.code, text.err.as_str()), (0, ""), "{}", text.out);
    assert!(text.out.contains("\n0 differences in "), "{}", text.out);
}

/// A server in front of another one. It answers as that one, or in the shapes of Decidim's module.
struct Stub {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<(Method, String)>,
    now: usize,
    /// The most requests at once.
    most: usize,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Stub {
    async fn before(target: SocketAddr, is_module: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let (shared, client) = (seen.clone(), http());
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (seen, client) = (shared.clone(), client.clone());
                let service = service_fn(move |request| {
                    forward(request, target, is_module, client.clone(), seen.clone())
                });
                let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        Self { address, seen, accepting }
    }
}

async fn forward(
    request: Request<Incoming>,
    target: SocketAddr,
    is_module: bool,
    client: reqwest::Client,
    seen: Arc<Mutex<Seen>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    {
        let mut seen = seen.lock().unwrap();
        seen.requests.push((head.method.clone(), path.clone()));
        seen.now += 1;
        seen.most = seen.most.max(seen.now);
    }
    let body = body.collect().await.unwrap().to_bytes();
    let mut outgoing = client.request(head.method, format!("http://{target}{}", head.uri)).body(body);
    for name in [HOST, AUTHORIZATION, CONTENT_TYPE] {
        if let Some(value) = head.headers.get(&name) {
            outgoing = outgoing.header(name, value);
        }
    }
    let answer = outgoing.send().await.unwrap();
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut text = answer.text().await.unwrap();
    if is_module && status == 200 && !path.ends_with("/oauth/token") {
        text = as_module(&path, &text);
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
    seen.lock().unwrap().now -= 1;
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().extend(headers.get(CONTENT_TYPE).cloned().map(|value| (CONTENT_TYPE, value)));
    Ok(response)
}

/// An answer as the module has it: other class names and types, no `meta` of lists, fewer members, more records.
fn as_module(path: &str, text: &str) -> String {
    let mut body: Value = serde_json::from_str(&text.replace("Platform::", "Decidim::")).unwrap();
    if path.ends_with("/extended_data") {
        return body.to_string();
    }
    if let Some(rows) = body["data"].as_array_mut() {
        rows.iter_mut().for_each(row_as_module);
        if path.ends_with("/proposals") {
            let mut hidden = rows[0].clone();
            hidden["id"] = json!("99999");
            let repeated = rows[1].clone();
            rows.extend([hidden, repeated]);
        }
        if path.ends_with("/users") {
            rows.push(json!({"id": "99999", "type": "user", "attributes": {"name": "", "nickname": "", "email": ""}}));
        }
        body.as_object_mut().unwrap().remove("meta");
    } else {
        row_as_module(&mut body["data"]);
    }
    body.to_string()
}

fn row_as_module(row: &mut Value) {
    let remove = |row: &mut Value, group: &str, names: &[&str]| {
        if let Some(members) = row[group].as_object_mut() {
            members.retain(|name, _| !names.contains(&name.as_str()));
        }
    };
    match row["type"].as_str().unwrap_or_default() {
        "role" => {
            let id = URL_SAFE_NO_PAD.decode(row["id"].as_str().unwrap()).unwrap();
            let id = String::from_utf8(id).unwrap().replace("Platform::", "Decidim::");
            row["id"] = json!(URL_SAFE_NO_PAD.encode(id));
        }
        "proposal" => remove(row, "meta", &["published_at", "votes_count", "withdrawn"]),
        "meeting" => remove(row, "attributes", &["title", "description", "start_time", "end_time"]),
        "vote_proposals" => {
            row["relationships"]["proposal"]["data"]["type"] = json!("proposal");
            row["relationships"]["author"]["data"]["type"] = json!("user");
        }
        "space" if row["attributes"]["visibility"] == "private" => {
            row["attributes"]["visibility"] = json!("transparent");
        }
        _ => {}
    }
}
