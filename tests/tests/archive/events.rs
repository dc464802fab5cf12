//! The events of an import with `--emit-events` (contract 10 §1, 09 C.1).

use super::{CITY, NOW, read};
use civitas_application::{EventCommitter, SiteSettings, Store};
use civitas_archive::{ImportOptions, import};
use civitas_kernel::Error;
use civitas_tests::{databases, delete_organization, import_options};
use civitas_tokens::Argon2Passwords;
use civitas_webhooks::OutboxEvent;
use serde_json::Value;

fn event_committer() -> EventCommitter {
    civitas_api::event_committer(SiteSettings::default())
}

async fn tell(store: &dyn Store, archive: &str) {
    let committer = event_committer();
    let options = ImportOptions { committer: Some(&committer), ..import_options(NOW) };
    import(store, &Argon2Passwords::new(), archive.as_bytes(), options, &mut |_| {}).await.unwrap();
}

async fn told(store: &dyn Store) -> Vec<OutboxEvent> {
    let city = store.organizations().find_by_host("city.example").await.unwrap().unwrap();
    store.outbox().page_after(city, None, 100).await.unwrap()
}

fn data(event: &OutboxEvent) -> Value {
    serde_json::from_str::<Value>(&event.payload).unwrap()["data"].clone()
}

fn names(events: &[OutboxEvent]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn an_import_without_emit_events_records_no_events() {
    for database in databases().await {
        read(&*database.store, CITY, false).await.unwrap();
        assert_eq!(told(&*database.store).await, []);
    }
}

#[tokio::test]
async fn every_record_tells_what_the_same_change_tells_anywhere_else() {
    for database in databases().await {
        let store = &*database.store;
        tell(store, CITY).await;
        let first = told(store).await;
        let expected = [
            "system.organizations.created",
            "user.created",
            "user.created",
            "participatory_process.step_activated.succeeded",
            "proposal_creation.succeeded",
            "proposal_creation.succeeded",
            "draft_proposal_creation.succeeded",
        ];
        assert_eq!(names(&first), expected);
        tell(store, CITY).await;
        assert_eq!(told(store).await.len(), first.len(), "what changes nothing tells nothing");
    }
}

#[tokio::test]
async fn changes_tell_of_themselves_and_of_nothing_else() {
    for database in databases().await {
        let store = &*database.store;
        read(store, CITY, false).await.unwrap();
        for (change, expected) in [
            (
                r#""type": "organization", "ref": "city", "comments_max_length": 7"#,
                vec!["system.organizations.updated"],
            ),
            (r#""type": "organization", "ref": "city", "features": {"blogs_enabled": false}"#, vec![]),
            (
                r#""type": "user", "ref": "nora", "organization": "city", "blocked_at": "2026-03-01T00:00:00Z""#,
                vec!["user.updated"],
            ),
            (
                r#""type": "user", "ref": "nora", "organization": "city", "confirmed_at": "2026-03-01T00:00:00Z""#,
                vec![],
            ),
            (
                r#""type": "step", "ref": "decide", "organization": "city", "active": true"#,
                vec!["participatory_process.step_activated.succeeded"],
            ),
            (r#""type": "step", "ref": "decide", "organization": "city", "title": {"en": "Choose"}"#, vec![]),
            (
                r#""type": "proposal", "ref": "trees", "organization": "city", "state_published_at": "2026-03-01T00:00:00Z""#,
                vec!["proposal_state_change.succeeded"],
            ),
            (
                r#""type": "proposal", "ref": "trees", "organization": "city", "body": {"en": "Three on each block"}"#,
                vec!["proposal_update.succeeded"],
            ),
            (
                r#""type": "proposal", "ref": "benches", "organization": "city", "withdrawn_at": "2026-03-01T00:00:00Z""#,
                vec!["proposal_state_change.succeeded"],
            ),
            (
                r#""type": "proposal", "ref": "benches", "organization": "city", "hidden_at": "2026-03-01T00:00:00Z""#,
                vec![],
            ),
            (
                r#""type": "proposal", "ref": "draft", "organization": "city", "title": {"en": "More bike racks"}"#,
                vec!["draft_proposal_update.succeeded"],
            ),
            (
                r#""type": "role", "ref": "boss", "organization": "city", "kind": "general_admin", "user": "luis""#,
                vec!["user.updated"],
            ),
            (
                r#""type": "space", "ref": "council", "organization": "city", "title": {"en": "The council"}"#,
                vec![],
            ),
        ] {
            let before = told(store).await.len();
            tell(store, &format!("{{{change}}}\n")).await;
            assert_eq!(names(&told(store).await[before..]), expected, "{change}");
        }
    }
}

#[tokio::test]
async fn an_organization_is_deleted_with_all_its_records_and_its_event_has_the_last_state() {
    for database in databases().await {
        let store = &*database.store;
        read(store, civitas_archive::demo_archive(), false).await.unwrap();
        read(store, CITY, false).await.unwrap();
        let host =
            |host: &'static str| async move { store.organizations().find_by_host(host).await.unwrap() };
        let city = host("city.example").await.unwrap();
        delete_organization(store, &event_committer(), city, NOW).await.unwrap();
        let events = store.outbox().page_after(city, None, 10).await.unwrap();
        assert_eq!(names(&events), ["system.organizations.deleted"]);
        assert_eq!(data(&events[0])["attributes"]["host"], "city.example");
        assert_eq!(host("city.example").await, None);
        assert!(host("localhost").await.is_some(), "the others stay");
        while store.removals().remove_rows(100).await.unwrap() > 0 {}
        assert!(store.users().page_after(city, None, 10).await.unwrap().is_empty());
        assert!(store.proposals().page_after(city, None, 10).await.unwrap().is_empty());
        let again = delete_organization(store, &event_committer(), city, NOW).await;
        assert!(matches!(again, Err(Error::NotFound)));
        let again = read(store, CITY, false).await.unwrap();
        assert_eq!(again.to_json()["updated"], serde_json::json!({}), "nothing is remembered of it");
        let next = host("city.example").await.unwrap();
        let demo = host("localhost").await.unwrap();
        delete_organization(store, &event_committer(), demo, NOW).await.unwrap();
        assert_eq!(store.organizations().ids(None, 10).await.unwrap(), [next]);
    }
}

#[tokio::test]
async fn an_activated_step_comes_with_its_process_even_where_the_public_sees_none() {
    for database in databases().await {
        let store = &*database.store;
        read(store, CITY, false).await.unwrap();
        let hide = r#"{"type": "space", "ref": "streets", "organization": "city", "published_at": null}"#;
        let activate = r#"{"type": "step", "ref": "decide", "organization": "city", "active": true}"#;
        tell(store, &format!("{hide}\n{activate}\n")).await;
        let events = told(store).await;
        let shown = data(&events[0]);
        assert_eq!(
            (&shown["type"], &shown["meta"]["active_step_title"]),
            (&"space".into(), &"Decide".into())
        );
        assert_eq!(shown["meta"]["active_step_position"], 1);
        assert!(shown["meta"]["active_step_id"].is_string());
        assert_eq!(shown["relationships"]["components"]["data"], serde_json::json!([]));
    }
}
