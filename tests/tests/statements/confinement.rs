//! Requests that read are confined to their organization (setting `row_level_security`). SQLite has nothing like it.

use super::{Statement, alone, is_data, is_of_workers, taken, taken_by_connection};
use civitas_tests::service::{Answer, CITIES, SYSTEM_CLIENTS, Service};
use civitas_tests::{Database, Engine};
use serde_json::json;
use std::collections::HashMap;

/// In statements that read proposals.
const PROPOSALS: &str = "FROM \"proposals\"";
/// In statements that read the hosts of listed organizations, and not in the lookup of a host.
const HOSTS: &str = "ORDER BY \"organization_hosts\".\"position\"";

/// The statements of a request with this text in them, each with the beginning of its transaction, if it is in one. A
/// worker may begin one meanwhile, on another connection.
async fn statements_on(part: &str, request: impl Future<Output = Answer>) -> Vec<(Option<String>, String)> {
    taken();
    let answer = request.await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let (mut begun, mut found) = (HashMap::new(), Vec::new());
    for Statement { connection, text } in taken_by_connection() {
        if text.ends_with("COMMIT") || text == "ROLLBACK" {
            begun.remove(&connection);
        } else if text.starts_with("BEGIN") {
            begun.insert(connection, text);
        } else if is_data(&text) && !is_of_workers(&text) && text.contains(part) {
            found.push((begun.get(&connection).cloned(), text));
        }
    }
    assert!(!found.is_empty(), "{part}");
    found
}

#[tokio::test]
async fn a_read_is_confined_unless_its_client_may_access_all_organizations() {
    let _alone = alone().await;
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, &format!("{CITIES}{SYSTEM_CLIENTS}"), &[]).await;
    let city = &service.refs["city"]["organization"]["city"];
    let begin = format!("BEGIN; SELECT set_config('civitas.organization', '{city}', true)");
    let nora = service.user("norablum").await;
    let proposal = format!("/proposals/{}", service.id("proposal", "p2"));
    let searches = "/proposals?filter[voted_weight_eq]=1";
    for path in [&proposal[..], "/proposals", searches] {
        for (begun, text) in statements_on(PROPOSALS, nora.get(path)).await {
            assert_eq!(begun.as_ref(), Some(&begin), "{path}: {text}");
        }
    }
    let system = service.anonymous().of_system("city_system").await;
    let wide = service.anonymous().of_system("whole_deployment").await;
    for (client, expected) in [(system, Some(&begin)), (wide, None)] {
        for (begun, text) in statements_on(HOSTS, client.get("/organizations")).await {
            assert_eq!(begun.as_ref(), expected, "{text}");
        }
    }
    service.stop().await;
}

#[tokio::test]
async fn the_checks_of_a_job_are_confined() {
    let _alone = alone().await;
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[]).await;
    let city = &service.refs["city"]["organization"]["city"];
    let begin = format!("BEGIN; SELECT set_config('civitas.organization', '{city}', true)");
    let nora = service.user("norablum").await;
    let vote = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
    let statements = statements_on(PROPOSALS, nora.post("/vote_proposals", &vote)).await;
    // The others may be those of a worker that executes the job.
    assert_eq!(statements[0].0.as_ref(), Some(&begin), "{statements:?}");
    service.stop().await;
}

#[tokio::test]
async fn a_read_has_no_transaction_without_the_setting() {
    let _alone = alone().await;
    let Some(database) = Database::fresh(Engine::Postgres).await else { return };
    let service = Service::over(database, CITIES, &[("row_level_security", "false")]).await;
    let nora = service.user("norablum").await;
    let found = statements_on(PROPOSALS, nora.get("/proposals")).await;
    assert!(found.iter().all(|(begun, _)| begun.is_none()), "{found:?}");
    service.stop().await;
}
