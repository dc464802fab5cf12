//! Every record type with every member, from one engine to the other: equal archives, and equal answers of the
//! interface (contract 10 §1).

use civitas_archive::{ExportOptions, demo_archive};
use civitas_kernel::EventName;
use civitas_tests::service::Answer;
use civitas_tests::{Client, Database, Engine, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Records of every type, after the demo city.
const COMPLETE: &str = include_str!("../../fixtures/complete.ndjson");

/// The record types of contract 10 §2, and their exported members besides `type`, `ref` and `organization`. `password`,
/// `client_secret` and `path` are never exported; `enable_machine_translations` is exported when it is true, which needs a
/// configured translation.
const SHEET: &[(&str, &str)] = &[
    (
        "organization",
        "host name description available_locales default_locale secondary_hosts unconfirmed_secondary_hosts \
         unconfirmed_host reference_prefix \
         time_zone comments_max_length users_registration_mode \
         force_users_to_authenticate_before_access_organization badges_enabled enable_participatory_space_filters \
         user_groups_enabled rich_text_editor_in_public_views \
         send_welcome_notification external_domain_allowlist max_attachment_bytes features extended_data \
         created_at updated_at",
    ),
    ("system_admin", "email password_hash"),
    (
        "user",
        "nickname email name password_hash admin locale about personal_url confirmed_at blocked_at locked_at \
         deleted_at managed tos_accepted_at extended_data created_at updated_at",
    ),
    ("api_client", "client_id client_secret_hash name scopes permissions created_at"),
    (
        "space",
        "manifest slug title subtitle short_description description visibility published_at scope_id extended_data \
         created_at updated_at",
    ),
    ("step", "space title position active starts_at ends_at updated_at"),
    ("role", "user email kind space invited_at accepted_at created_at updated_at"),
    (
        "component",
        "space manifest name published_at weight settings default_step_settings step_settings scope_id deleted_at \
         extended_data created_at updated_at",
    ),
    ("proposal_state", "component token title bg_color text_color updated_at"),
    (
        "proposal",
        "component title body authors published_at api_client state state_published_at withdrawn_at hidden_at \
         deleted_at scope_id extended_data created_at updated_at",
    ),
    ("vote", "proposal user weight created_at updated_at"),
    (
        "meeting",
        "component title description start_time end_time published_at private transparent registrations \
         withdrawn_at hidden_at deleted_at extended_data created_at updated_at",
    ),
    ("post", "component title body author published_at hidden_at deleted_at created_at updated_at"),
    ("survey", "component starts_at ends_at deleted_at created_at updated_at"),
    ("questionnaire", "survey meeting title description tos salt created_at updated_at"),
    (
        "question",
        "questionnaire position question_type body description mandatory max_choices max_characters matrix_rows",
    ),
    ("answer_option", "question body"),
    ("display_condition", "question condition_question condition_type answer_option value mandatory"),
    ("questionnaire_response", "questionnaire user answers client_ip_digest created_at"),
    ("attachment_collection", "attached_to name weight"),
    (
        "attachment",
        "attached_to title description weight collection link data filename content_type created_at updated_at",
    ),
    ("page", "component title hidden_at deleted_at created_at updated_at"),
    ("budget", "component title hidden_at deleted_at created_at updated_at"),
    ("result", "component title hidden_at deleted_at created_at updated_at"),
    ("debate", "component title hidden_at deleted_at created_at updated_at"),
    ("webhook_registration", "api_client url subscriptions signing_secret disabled_at created_at updated_at"),
];

/// The parts of a record that an attachment may belong to.
const PARENTS: [&str; 5] = ["meeting", "organization", "post", "proposal", "space"];

async fn service(engine: Engine, archive: &str) -> Option<Service> {
    // Nobody listens there: a pending host stays pending.
    let settings = [("dns_server", "127.0.0.1:9")];
    Some(Service::over(Database::fresh(engine).await?, archive, &settings).await)
}

async fn everything(service: &Service) -> String {
    service.export(&ExportOptions { organization: None, with_secrets: true, with_ids: false }).await
}

fn records(archive: &str) -> Vec<Value> {
    archive.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// Fails unless the archive has every type and every member of the sheet, and every parent of attachments.
fn check_complete(archive: &str) {
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut parents = BTreeSet::new();
    for record in records(archive) {
        let kind = record["type"].as_str().expect("a text").to_owned();
        if kind == "attachment" {
            parents.insert(record["attached_to"]["type"].as_str().expect("a text").to_owned());
        }
        members.entry(kind).or_default().extend(record.as_object().expect("an object").keys().cloned());
    }
    let types: BTreeSet<&str> = members.keys().map(String::as_str).collect();
    assert_eq!(types, SHEET.iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>());
    for (kind, expected) in SHEET {
        let exported: BTreeSet<&str> = members[*kind].iter().map(String::as_str).collect();
        let head = ["type", "ref", "organization"];
        let expected: BTreeSet<&str> = expected.split_whitespace().collect();
        let exported: BTreeSet<&str> = exported.into_iter().filter(|name| !head.contains(name)).collect();
        assert_eq!(exported, expected, "{kind}");
    }
    assert_eq!(parents.iter().map(String::as_str).collect::<Vec<_>>(), PARENTS);
}

/// Fails at the first line that differs.
fn assert_equal_lines(first: &str, second: &str) {
    for (line, (one, other)) in first.lines().zip(second.lines()).enumerate() {
        assert_eq!(one, other, "line {}", line + 1);
    }
    assert_eq!(first.lines().count(), second.lines().count());
}

#[tokio::test]
async fn every_record_goes_from_engine_to_engine_and_the_interface_answers_the_same() {
    let source = format!("{}\n{COMPLETE}", demo_archive());
    // Its ids are not in the order of the types; those of an import of its export are.
    let sqlite = service(Engine::Sqlite, &source).await.expect("always there");
    let original = everything(&sqlite).await;
    check_complete(&original);
    let first = service(Engine::Sqlite, &original).await.expect("always there");
    let archive = everything(&first).await;
    assert_eq!(archive.lines().count(), original.lines().count());
    let Some(second) = service(Engine::Postgres, &archive).await else { return };
    assert_equal_lines(&archive, &everything(&second).await);
    compare(&first, &second, &archive).await;
    let third = service(Engine::Sqlite, &everything(&second).await).await.expect("always there");
    assert_equal_lines(&archive, &everything(&third).await);
    compare(&second, &third, &archive).await;
    for service in [sqlite, first, second, third] {
        service.stop().await;
    }
}

/// The place of the client with every scope and ability in [`readers`].
const MACHINE: usize = 1;

/// The clients that read: one with every scope and ability, people through it, and one of the whole deployment.
async fn readers(service: &Service) -> Vec<Client> {
    let own = json!({"grant_type": "client_credentials", "client_id": "demo-full-access",
        "client_secret": "key_of_full_access", "scope": SCOPES});
    let city = service.at("localhost");
    let mut readers = vec![city.clone(), city.with_token(&own).await];
    for nickname in ["marie_dupont", "nora_blum", "tom_baker"] {
        // User tokens have no scope `system`.
        let user = json!({"grant_type": "password", "auth_type": "impersonate", "username": nickname,
            "scope": SCOPES.replace(" system", ""), "client_id": "demo-full-access", "client_secret": "key_of_full_access"});
        readers.push(city.with_token(&user).await);
    }
    let wide = json!({"grant_type": "client_credentials", "client_id": "operations",
        "client_secret": "key_of_operations", "scope": "system"});
    readers.push(city.with_token(&wide).await);
    readers
}

/// All scopes of the demo client.
const SCOPES: &str = "public spaces system pages oauth roles attachments webhooks proposals blogs meetings surveys debates \
                      budgets accountability";

/// Paths whose answers are not compared: they are no JSON, do not end, name the engine, or arise from use alone.
const OTHER_PATHS: [&str; 6] =
    ["/docs", "/health", "/events", "/jobs/{id}", "/jobs/{id}/events", "/me/magic_links/{magic_token}"];

/// The record type of the ids in a path.
fn type_in(path: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 14] = [
        ("/components/", "component"),
        ("/proposals/", "proposal"),
        ("/draft_proposals/", "proposal"),
        ("/vote_proposals/", "vote"),
        ("/meetings/", "meeting"),
        ("/attachments/", "attachment"),
        ("/blogs/", "post"),
        ("/questionnaires/", "questionnaire"),
        ("/questions/", "question"),
        ("/questionnaire_responses/", "questionnaire_response"),
        ("/submission_requests/", "questionnaire_response"),
        ("/organizations/", "organization"),
        ("/webhook_registrations/", "webhook_registration"),
        ("/spaces/", "space"),
    ];
    TYPES.iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, kind)| *kind)
}

/// The paths of the `GET` operations of contract 12, with the ids of an archive in them.
fn paths(archive: &[Value]) -> Vec<String> {
    let operations = include_str!("../../operations.txt").lines();
    let paths = operations.filter_map(|line| line.strip_prefix("GET ")?.split(' ').next());
    let mut all = Vec::new();
    for path in paths.filter(|path| !OTHER_PATHS.contains(path)) {
        if path == "/webhook_events/{event_type}" {
            let events = EventName::ALL.iter().filter(|event| event.is_event());
            all.extend(events.map(|event| path.replace("{event_type}", event.as_str())));
        } else if path.contains('{') {
            let ids = archive.iter().filter(|record| record["type"] == *type_in(path).unwrap_or_default());
            all.extend(ids.filter_map(|record| with_id(path, record["ref"].as_str()?)));
        } else {
            all.push(path.to_owned());
        }
    }
    all
}

/// A path with an id; `None` for a space of another kind.
fn with_id(path: &str, id: &str) -> Option<String> {
    match id.split_once('/') {
        None => Some(path.replace("{id}", id)),
        Some((manifest, number)) => {
            let path = path.replace("{manifest}", manifest).replace("{id}", number);
            path.contains(manifest).then_some(path)
        }
    }
}

/// An answer without what differs in each import: the secret keys in addresses of files.
fn comparable(text: &str) -> String {
    let mut parts = text.split("/files/");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all.push_str("/files/");
        all.push_str(part.split_once('/').map_or(part, |(_, name)| name));
    }
    all
}

/// The addresses of files in an answer, without the host.
fn files_in(text: &str) -> Vec<String> {
    let address = |part: &str| format!("/files/{}", part.split('"').next().unwrap_or_default());
    text.split("/files/").skip(1).map(address).collect()
}

/// Compares the answers of every `GET` operation of the interface to all readers.
async fn compare(first: &Service, second: &Service, archive: &str) {
    let mut paths = paths(&records(archive));
    let roles = readers(first).await[MACHINE].get("/roles?per_page=100").await.is(200);
    paths.extend(
        roles
            .data()
            .as_array()
            .into_iter()
            .flatten()
            .map(|role| format!("/roles/{}", role["id"].as_str().expect("an id"))),
    );
    for (reader, (one, other)) in readers(first).await.iter().zip(&readers(second).await).enumerate() {
        for path in &paths {
            let list = format!("{path}?per_page=100");
            let (left, right) = (one.get(&list).await, other.get(&list).await);
            assert_eq!(left.status, right.status, "{path}");
            assert_eq!(comparable(&left.text), comparable(&right.text), "{path}");
            if reader == MACHINE {
                println!("{} {path} {}", left.status, left.text.len());
                compare_files(one, other, &left, &right).await;
            }
        }
    }
}

/// Compares the files whose addresses are in two answers.
async fn compare_files(one: &Client, other: &Client, left: &Answer, right: &Answer) {
    for (left, right) in files_in(&left.text).iter().zip(&files_in(&right.text)) {
        let (left, right) =
            (one.raw(Method::GET, left, &[], None).await, other.raw(Method::GET, right, &[], None).await);
        assert_eq!((left.status, left.text), (right.status, right.text));
    }
}
