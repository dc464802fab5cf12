//! `civitas audit`, and the entries that commands write.

use crate::command_line::city::City;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::{Value, json};
use std::fs;

/// The entries, the newest first.
async fn listed(city: &City, words: &[&str]) -> Vec<Value> {
    let said = city.run(&[&["audit", "list"], words].concat()).await;
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Executes a statement on the database of the city.
fn execute(city: &City, sql: &str) {
    let path = city.path().join("data/civitas.db");
    SqliteConnection::establish(path.to_str().unwrap()).unwrap().batch_execute(sql).unwrap();
}

const CREATE: [&str; 10] = [
    "create",
    "--scope",
    "blogs",
    "--organization-id",
    "1",
    "--id",
    "audited-client",
    "--secret",
    "correct-horse-battery",
    "--perm=blogs.read",
];

#[tokio::test]
async fn each_change_of_a_client_is_an_entry_of_its_organization() {
    let city = City::with_organizations().await;
    city.client(&CREATE).await;
    city.client(&["grant", "--id", "audited-client", "--perm", "blogs.write"]).await;
    city.client(&["grant", "--id", "audited-client", "--perm", "blogs.write"]).await;
    city.client(&["revoke", "--id", "audited-client", "--perm", "blogs.read"]).await;
    city.refusal(&["grant", "--id", "audited-client", "--perm", "proposals.read"]).await;
    city.run(&["api-client", "delete", "--id", "audited-client"]).await.done();
    let entries = listed(&city, &["--organization", "a.example"]).await;
    let acts: Vec<_> =
        entries.iter().map(|entry| (entry["action"].as_str().unwrap(), &entry["number"])).collect();
    assert_eq!(
        acts,
        [
            ("api_client.revoked", &json!(4)),
            ("api_client.permissions_revoked", &json!(3)),
            ("api_client.permissions_granted", &json!(2)),
            ("api_client.created", &json!(1)),
        ]
    );
    let granted = &entries[2];
    assert_eq!(granted["actor"]["name"], "civitas api-client grant");
    assert_eq!(
        granted["object"],
        json!({"kind": "api_client", "id": "audited-client", "label": "API Client ***ient"})
    );
    let change = json!({"field": "blogs.write", "before": "not granted", "after": "granted"});
    assert_eq!(granted["changes"], json!([change]));
    assert!(listed(&city, &["--organization", "b.example"]).await.is_empty());
    assert!(listed(&city, &["--deployment", "--action", "api_client.created"]).await.is_empty());
    assert_eq!(listed(&city, &["--action", "api_client.created"]).await.len(), 1);
    let text = city.run(&["audit", "list", "--format", "text", "--limit", "1"]).await;
    assert!(
        text.out.ends_with(
            " 1/4 civitas api-client delete: api_client.revoked on api_client audited-client (API Client ***ient)\n"
        ),
        "{}",
        text.out
    );
    assert_eq!(text.err, "There are more: use --page.\n");
}

#[tokio::test]
async fn a_secret_is_nowhere_in_the_database() {
    let city = City::with_organizations().await;
    assert_eq!(city.client(&CREATE).await["secret"], "correct-horse-battery");
    let password = "staple-and-sunflower\n";
    let words = ["admin", "create", "--email", "ines@riverton.example", "--password-stdin"];
    city.type_in(&words, password).await.done();
    city.type_in(&words, password).await.done();
    let administrators = listed(&city, &["--deployment", "--text", "INES@"]).await;
    let acts: Vec<_> = administrators.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(acts, ["administrator.password_changed", "administrator.created"]);
    let mut bytes = Vec::new();
    for file in fs::read_dir(city.path().join("data")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            bytes.extend(fs::read(path).unwrap());
        }
    }
    let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("api_client.created") && has("administrator.created"), "the entries are there");
    assert!(!has("correct-horse-battery") && !has(password.trim()));
}

#[tokio::test]
async fn verification_names_the_first_broken_entry_with_exit_code_one() {
    let city = City::with_organizations().await;
    city.client(&CREATE).await;
    city.client(&["grant", "--id", "audited-client", "--perm", "blogs.write"]).await;
    let said = city.run(&["audit", "verify", "--organization", "a.example"]).await.done();
    let verified = said.json();
    assert_eq!(
        (&verified["organization_id"], &verified["verified"], &verified["last"], &verified["broken"]),
        (&json!(1), &json!(2), &json!(2), &Value::Null)
    );
    let all = city.run(&["audit", "verify"]).await.done();
    assert!(all.out.lines().any(|line| line == said.out.trim()), "{}", all.out);
    execute(&city, "UPDATE audit_entries SET actor_name = 'nobody' WHERE organization_id = 1 AND number = 2");
    for words in [&["audit", "verify"][..], &["audit", "verify", "--organization", "a.example"]] {
        let said = city.run(words).await;
        let reason = "its hash is not that of its content and of the entry before it";
        assert_eq!((said.code, said.err), (1, format!("civitas: entry 2 of organization 1: {reason}\n")));
        assert!(said.out.contains(r#""broken":{"number":2,"reason":"hash_differs"}"#), "{}", said.out);
    }
    let said = city.run(&["audit", "verify", "--organization", "b.example"]).await.done();
    assert_eq!((&said.json()["verified"], &said.json()["hash"]), (&json!(0), &Value::Null));
    let said = city.run(&["audit", "verify", "--organization", "c.example"]).await;
    assert_eq!((said.code, said.err.as_str()), (1, "civitas: no organization has the host c.example\n"));
}
