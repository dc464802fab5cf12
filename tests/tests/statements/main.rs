//! How many statements a request sends to the database, on both engines. A binary of its own, whose tests run one after
//! the other: the counter is the process's own.

mod logins;
mod panel;
mod plans;

use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, clock};
use civitas_organizations::Organization;
use civitas_tests::Engine;
use civitas_tests::service::{CITIES, Client, Service};
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;
use tokio::sync::MutexGuard;
use tokio::time::sleep;

/// Questionnaires of `city.test`.
const FORMS: &str = include_str!("../../fixtures/forms.ndjson");

/// The statements since the last call of [`taken`].
static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds each statement of a connection to [`STATEMENTS`].
struct StatementLog;

impl Instrumentation for StatementLog {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).push(query.to_string());
        }
    }
}

/// Held by the test that runs.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
static LOGGED: Once = Once::new();

/// Logs the statements of all connections that are opened from now on. No other test runs meanwhile.
async fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().await;
    LOGGED.call_once(|| {
        set_default_instrumentation(|| Some(Box::new(StatementLog))).expect("a first call");
    });
    alone
}

/// The statements since the last call.
fn taken() -> Vec<String> {
    std::mem::take(&mut *STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a statement reads or writes data: no begin or end of a transaction, no trial of a connection.
fn is_data(text: &str) -> bool {
    let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
    verbs.iter().any(|verb| text.starts_with(verb)) && !["SELECT 1", "SELECT 1; COMMIT"].contains(&text)
}

/// Whether a statement is of a worker that searches its tables.
fn is_of_workers(text: &str) -> bool {
    let is_of_relay = text.contains("outbox") && !text.starts_with("INSERT ");
    let tables = [
        "jobs",
        "tasks",
        "relay",
        "webhook_",
        "meeting_reminders",
        "uploads",
        "FROM `files`",
        "FROM \"files\"",
        "INSERT INTO record_words",
        "SET is_indexed",
        "count(*) FROM record_texts",
    ];
    is_of_relay || tables.iter().any(|table| text.contains(table))
}

/// Waits until the sweeps of what is old have ended, which begin with each server: no statement for a second but those of
/// workers.
async fn sweeps_have_ended() {
    taken();
    for _ in 0..30 {
        sleep(Duration::from_secs(1)).await;
        if !taken().iter().any(|text| is_data(text) && !is_of_workers(text)) {
            return;
        }
    }
    panic!("the sweeps do not end");
}

/// Sends a request that succeeds and gives its statements.
async fn counted(client: &Client, method: Method, path: &str, body: Option<&Value>) -> Vec<String> {
    taken();
    let answer = client.send(method, path, &[], body).await;
    assert!(answer.status.is_success(), "{path}: {}", answer.text);
    taken().into_iter().filter(|text| is_data(text) && !is_of_workers(text)).collect()
}

/// Commits that end the validity of all cached lookups (decision 0049).
async fn outdate_lookups(service: &Service) {
    let id = service.refs["city"]["organization"]["city"].as_i64().expect("the id");
    let (id, organizations) = (OrganizationId(id), service.store.organizations());
    let city = organizations.find(id).await.expect("an answer").expect("the city");
    let renamed = Organization { updated_at: clock::now(), ..city.clone() };
    organizations.save(id, &Change::new(city, renamed)).await.expect("a commit");
    service.store.list_changes().touch_list(id, "steps", clock::now()).await.expect("a commit");
}

/// Lookups are cached for a second, which a slow machine may exceed between two requests: then it tries again.
#[tokio::test]
async fn the_second_read_after_a_commit_looks_nothing_up() {
    let _alone = alone().await;
    let services = Service::on_both_engines_with(CITIES, &[]).await;
    sweeps_have_ended().await;
    for service in services.iter().filter(|service| service.engine == Engine::Sqlite) {
        let nora = service.user("norablum").await;
        let show = format!("/proposals/{}", service.id("proposal", "p2"));
        for (path, expected) in [(&show[..], 1), ("/proposals", 2)] {
            let mut statements = Vec::new();
            for _ in 0..5 {
                nora.get(path).await.is(200);
                statements = counted(&nora, Method::GET, &format!("{path}?n=2"), None).await;
                if statements.len() == expected {
                    break;
                }
            }
            assert_eq!(statements.len(), expected, "{path}\n{}", statements.join("\n"));
        }
    }
}

#[tokio::test]
async fn a_request_sends_no_more_statements_than_it_did() {
    let _alone = alone().await;
    let services = Service::on_both_engines_with(&format!("{CITIES}{FORMS}"), &[]).await;
    sweeps_have_ended().await;
    let mut wrong = Vec::new();
    for service in &services {
        let nora = service.user("norablum").await;
        let (ideas, voted) = (service.id("component", "ideas"), service.id("proposal", "p2"));
        let texts = json!({"data": {"title": "Lamps on Main Street", "locale": "en",
            "body": "A lamp on each corner would help everybody who walks home."}});
        let created =
            nora.post("/draft_proposals/sync", &json!({"data": {"component_id": ideas}})).await.is(200);
        let draft_path = format!("/draft_proposals/{}", created.data()["id"].as_str().unwrap());
        nora.put(&format!("{draft_path}/sync"), &texts).await.is(200);
        let publish = format!("{draft_path}/publish/sync");
        let post = json!({"data": {"component_id": service.id("component", "news"),
            "attributes": {"title": {"en": "News"}, "body": {"en": "Text"}}}});
        let vote = json!({"proposal_id": voted, "data": {"weight": 1}});
        let show = format!("/proposals/{voted}");
        let form = format!("/questionnaires/{}", service.id("questionnaire", "poll"));
        let mut answers = json!({"meta": {}, "data": {"type": "questionnaire_response", "attributes": {"answers": {}},
            "relationships": {"questionnaire": {"data": {"id": service.id("questionnaire", "registration")}}}}});
        answers["data"]["attributes"]["answers"][service.id("question", "diet").to_string()] = json!("none");
        let cast = "/vote_proposals/sync?include_proposal=true";
        let requests = [
            (Method::GET, &show[..], None, 6),
            (Method::GET, "/proposals", None, 8),
            (Method::GET, "/blogs", None, 6),
            (Method::POST, &publish[..], Some(&json!({})), 7),
            // The rows are locked by one statement on PostgreSQL, and not at all by the only writer of SQLite.
            (Method::POST, cast, Some(&vote), if service.engine == Engine::Sqlite { 5 } else { 6 }),
            (Method::POST, "/blogs/sync", Some(&post), 5),
            (Method::GET, "/questionnaires", None, 10),
            (Method::GET, &form[..], None, 9),
            (Method::POST, "/answers/sync", Some(&answers), 10),
        ];
        for (method, path, body, expected) in requests {
            outdate_lookups(service).await;
            let statements = counted(&nora, method.clone(), path, body).await;
            let sent = statements.len();
            if sent != expected {
                let statements = statements.join("\n");
                wrong.push(format!(
                    "{:?} {method} {path}: {sent}, not {expected}\n{statements}",
                    service.engine
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
