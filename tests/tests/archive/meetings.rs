//! Meetings, and records that components only list and count.

use crate::archive::{CITY, NOW, read};
use civitas_application::Store;
use civitas_archive::ImportReport;
use civitas_kernel::records::Change;
use civitas_kernel::testing::text;
use civitas_kernel::{MeetingId, OrganizationId, UserId};
use civitas_meetings::Meeting;
use civitas_spaces::{ComponentEntry, ComponentEntryKind, ComponentEntryRef};
use civitas_tests::databases;
use serde_json::json;
use time::format_description::well_known::Rfc3339;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

fn city(report: &ImportReport) -> OrganizationId {
    OrganizationId(report.refs["city"]["organization"]["city"])
}

async fn kickoff(store: &dyn Store, report: &ImportReport) -> Meeting {
    let id = MeetingId(report.refs["city"]["meeting"]["kickoff"]);
    store.meetings().find(city(report), id).await.expect("an answer").expect("the meeting")
}

#[tokio::test]
async fn a_meeting_keeps_what_is_absent_clears_what_is_null_and_sets_the_rest() {
    let sent = r#"{"type": "meeting", "ref": "kickoff", "organization": "city", "description": {"en": "Come."}, "end_time": null, "registrations": null, "published_at": "2026-03-01T00:00:00Z", "transparent": true, "extended_data": {"room": 3}}"#;
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, CITY, false).await.unwrap();
        let users = &report.refs["city"]["user"];
        let new = kickoff(store, &report).await;
        let component = new.component;
        let expected = Meeting {
            end_time: Some(datetime!(2026-04-01 19:00 UTC)),
            private: true,
            registrations: [UserId(users["nora"]), UserId(users["luis"])].into(),
            ..Meeting::new(component, text("Kick-off"), datetime!(2026-04-01 17:00 UTC), NOW)
        };
        assert_eq!(new, expected);

        let changed = read(store, sent, false).await.unwrap();
        assert_eq!(changed.to_json()["updated"], json!({"meeting": 1}));
        let expected = Meeting {
            description: text("Come."),
            end_time: None,
            registrations: [].into(),
            published_at: Some(datetime!(2026-03-01 00:00 UTC)),
            transparent: true,
            extended_data: json!({"room": 3}).as_object().cloned().unwrap().into(),
            ..expected
        };
        assert_eq!(kickoff(store, &report).await, expected);
        assert_eq!(read(store, sent, false).await.unwrap().to_json()["unchanged"], json!({"meeting": 1}));
    }
}

#[tokio::test]
async fn an_entry_changes_at_the_time_of_the_import_and_in_nothing_else_when_it_is_said_again() {
    let sent = r#"{"type": "page", "ref": "about", "organization": "city", "hidden_at": "2026-03-01T00:00:00Z", "created_at": "2026-02-01T00:00:00Z"}"#;
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, CITY, false).await.unwrap();
        let id =
            ComponentEntryRef { kind: ComponentEntryKind::Page, id: report.refs["city"]["page"]["about"] };
        let find = async || store.entries().find(city(&report), id).await.unwrap().unwrap();
        let new = find().await;
        assert_eq!(new, ComponentEntry::new(ComponentEntryKind::Page, new.component, text("About"), NOW));
        assert_eq!(read(store, sent, false).await.unwrap().to_json()["updated"], json!({"page": 1}));
        let expected = ComponentEntry {
            hidden_at: Some(datetime!(2026-03-01 00:00 UTC)),
            created_at: datetime!(2026-02-01 00:00 UTC),
            ..new
        };
        assert_eq!(find().await, expected);
        assert_eq!(read(store, sent, false).await.unwrap().to_json()["unchanged"], json!({"page": 1}));
        let pages = store
            .entries()
            .page_of_kind_after(city(&report), ComponentEntryKind::Page, None, 9)
            .await
            .unwrap();
        assert_eq!(pages, [(id, expected)]);
        assert_eq!(
            store
                .entries()
                .page_of_kind_after(city(&report), ComponentEntryKind::Budget, None, 9)
                .await
                .unwrap(),
            []
        );
    }
}

/// The meetings whose reminder would be sent at this time.
async fn due(store: &dyn Store, at: OffsetDateTime) -> Vec<MeetingId> {
    let due = store.reminders().due(at, at + Duration::hours(48), 10).await.unwrap();
    due.into_iter().map(|(_, meeting)| meeting).collect()
}

#[tokio::test]
async fn a_reminder_that_is_due_at_the_import_is_not_sent_and_a_later_one_is() {
    let line = |reference: &str, start: OffsetDateTime, more: &str| {
        let start = start.format(&Rfc3339).unwrap();
        format!(
            r#"{{"type": "meeting", "ref": "{reference}", "organization": "city", "component": "agenda", "title": {{"en": "M"}}, "start_time": "{start}"{more}}}"#
        )
    };
    let published = r#", "published_at": "2026-03-01T00:00:00Z""#;
    let (soon, later) = (NOW + Duration::hours(47), NOW + Duration::hours(49));
    for database in databases().await {
        let store = &*database.store;
        let lines = [line("soon", soon, published), line("later", later, published), line("draft", soon, "")];
        let report = read(store, &format!("{CITY}{}", lines.join("\n")), false).await.unwrap();
        let id = |reference: &str| MeetingId(report.refs["city"]["meeting"][reference]);
        assert_eq!(due(store, NOW).await, []);
        assert_eq!(due(store, NOW + Duration::hours(2)).await, [id("later")]);
        let moved = line("later", soon, "");
        let change = line("draft", soon, published);
        read(store, &format!("{moved}\n{change}"), false).await.unwrap();
        assert_eq!(due(store, NOW + Duration::hours(2)).await, []);
        // A draft that is published by use is reminded of.
        let draft = read(store, &line("new", soon, ""), false).await.unwrap();
        let of = city(&report);
        let new = MeetingId(draft.refs["city"]["meeting"]["new"]);
        let before = store.meetings().find(of, new).await.unwrap().unwrap();
        let after = Meeting { published_at: Some(NOW), ..before.clone() };
        store.meetings().save(of, new, &Change::new(before, after)).await.unwrap();
        assert_eq!(due(store, NOW).await, [new]);
    }
}
