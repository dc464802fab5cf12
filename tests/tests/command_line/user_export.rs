//! `civitas user export`: what is kept of a person.

use crate::command_line::city::City;
use civitas_archive::demo_archive;
use civitas_jobs::{Job, JobOwner};
use civitas_kernel::{ClientId, clock};
use civitas_tests::job;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// Records of every type, after the demo city.
const COMPLETE: &str = include_str!("../../fixtures/complete.ndjson");

/// Both have records of most types: one has a role and files of answers, the other one attachments.
const PEOPLE: [&str; 2] = ["nora_blum", "luis_ortega"];

/// A city with records of every type, on each engine.
async fn cities() -> Vec<City> {
    let mut cities = vec![City::new().await];
    cities.extend(City::on_postgres().await);
    for city in &cities {
        let flags = ["import", "-", "--allow-operators", "--allow-weak-secrets", "--emit-events"];
        let imported = city.type_in(&flags, &format!("{}{COMPLETE}", demo_archive())).await;
        assert_eq!(imported.code, 0, "{}", imported.err);
    }
    cities
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn exported(city: &City, nickname: &str) -> Vec<Value> {
    lines(&city.run(&["user", "export", "--organization", "localhost", nickname]).await.done().out)
}

/// Those records of an archive of the organization that are of this person, as the export of the person has them.
fn records_of(all: &[Value], id: &str) -> Vec<Value> {
    let has = |list: &Value| list.as_array().is_some_and(|list| list.contains(&id.into()));
    let mut written = Vec::new();
    let mut records = Vec::new();
    for record in all {
        let mut record = record.clone();
        let kind = record["type"].as_str().unwrap().to_owned();
        let is_theirs = match kind.as_str() {
            "user" => record["ref"] == id,
            "role" | "vote" | "questionnaire_response" => record["user"] == id,
            "proposal" => has(&record["authors"]),
            "post" => record["author"] == id,
            "meeting" => has(&record["registrations"]),
            "attachment" => written.contains(&record["attached_to"]),
            _ => false,
        };
        if !is_theirs {
            continue;
        }
        if kind == "meeting" {
            record["registrations"] = json!([id]);
            record.as_object_mut().unwrap().remove("extended_data");
        }
        written.push(json!({"type": kind, "ref": record["ref"]}));
        records.push(record);
    }
    records
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_of_a_person_has_each_of_their_records_and_none_of_others() {
    for city in cities().await {
        let all = lines(&city.run(&["export", "--organization", "localhost"]).await.done().out);
        let mut types = BTreeSet::new();
        for nickname in PEOPLE {
            let user = all.iter().find(|record| record["nickname"] == nickname).unwrap();
            let mut records = exported(&city, &nickname.to_uppercase()).await;
            records.retain(|record| {
                !["job", "event", "audit_entry"].contains(&record["type"].as_str().unwrap())
            });
            assert_eq!(records, records_of(&all, user["ref"].as_str().unwrap()), "{nickname}");
            types.extend(records.iter().map(|record| record["type"].to_string()));
        }
        assert_eq!(types.len(), 8, "{types:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_of_a_person_has_their_jobs_events_and_audit_entries() {
    for city in cities().await {
        let store = city.store().await;
        let organization = store.organizations().find_by_host("localhost").await.unwrap().unwrap();
        let mut ids = Vec::new();
        for nickname in PEOPLE {
            let (id, _) = store.users().find_by_nickname(organization, nickname).await.unwrap().unwrap();
            let owner = JobOwner { client: ClientId(1), user: Some(id) };
            let added = job(organization, owner.client, json!({"by": nickname}), clock::now());
            store.jobs().add(&Job { owner, ..added }).await.unwrap();
            city.run(&["user", "block", "--organization", "localhost", nickname]).await.done();
            ids.push(id.to_string());
        }
        let records = exported(&city, PEOPLE[0]).await;
        let of = |kind: &str| records.iter().filter(|record| record["type"] == kind).collect::<Vec<_>>();
        assert_eq!(
            of("job").iter().map(|job| &job["request"]).collect::<Vec<_>>(),
            [&json!({"by": PEOPLE[0]})]
        );
        let events = of("event");
        assert!(events.iter().any(|event| event["name"] == "user.updated"), "{events:?}");
        assert!(events.iter().all(|event| event["payload"]["data"]["id"] == ids[0].as_str()), "{events:?}");
        let entries = of("audit_entry");
        let actions: Vec<_> = entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
        assert!(actions.ends_with(&["user.blocked", "archive.exported"]), "{actions:?}");
        assert!(entries.iter().all(|entry| entry["object"]["ref"] == ids[0].as_str()), "{entries:?}");
        let text = Value::from(records.clone()).to_string();
        for hidden in ["password_hash", "luis.ortega@", "civitas user block", "civitas import"] {
            assert!(!text.contains(hidden), "{hidden}");
        }
    }
}

#[tokio::test]
async fn an_archive_of_a_person_is_written_to_a_file_and_an_unknown_person_is_named() {
    let city = City::with_organizations().await;
    let line = r#"{"type":"user","ref":"ada","organization":"a.example","nickname":"ada","email":"ada@example.org","name":"Ada"}"#;
    city.type_in(&["import", "-"], line).await.done();
    let path = city.path().join("ada.ndjson").display().to_string();
    let words = ["user", "export", "--organization", "A.example", "--output", &path, "Ada"];
    assert_eq!(city.run(&words).await.done().out, "");
    let records = lines(&fs::read_to_string(&path).unwrap());
    assert_eq!((&records[0]["type"], &records[0]["email"]), (&"user".into(), &"ada@example.org".into()));
    let entries = lines(&city.run(&["audit", "list", "--organization", "a.example"]).await.done().out);
    let entry = &entries[0];
    assert_eq!(entry["action"], "archive.exported");
    assert_eq!(entry["actor"]["name"], "civitas user export");
    assert_eq!((&entry["object"]["kind"], &entry["object"]["label"]), (&"user".into(), &"ada".into()));
    let said = city.run(&["user", "export", "--organization", "b.example", "ada"]).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(said.err, "civitas: b.example has no account \"ada\"\n");
}
