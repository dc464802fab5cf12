//! Imports that keep the ids of an archive (contract 13 §3.1).

use crate::archive::{CITY, NOW, import_with};
use civitas_application::Store;
use civitas_archive::{ImportError, ImportOptions, ImportReport};
use civitas_kernel::{ComponentId, OrganizationId, ResponseId};
use civitas_tests::{databases, import_options};
use serde_json::{Value, json};

/// A city of another program. The users come in no order, and a process and an assembly have one number.
const KEPT: &str = r#"
{"type": "archive", "format": 1, "source": "decidim 0.32", "snapshot_at": "2026-11-20T10:00:00Z", "id_floor": {"user": 200, "participatory_processes": 90, "proposal_state": 500, "proposal": 300, "page": 40, "attachment": 0}}
{"type": "organization", "ref": "city", "id": 3, "host": "city.example", "name": {"en": "City"}, "available_locales": ["en"], "default_locale": "en"}
{"type": "user", "ref": "nora", "id": 17, "organization": "city", "nickname": "nora_blum", "email": "nora@city.example", "name": "Nora Blum"}
{"type": "user", "ref": "luis", "id": 12, "organization": "city", "nickname": "luis", "email": "luis@city.example", "name": "Luis Ortega"}
{"type": "api_client", "ref": "app", "id": 2, "organization": "city", "client_id": "app-client", "name": "App", "scopes": ["public"], "client_secret_hash": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
{"type": "space", "ref": "streets", "id": 9, "organization": "city", "manifest": "participatory_processes", "slug": "streets", "title": {"en": "Streets"}}
{"type": "space", "ref": "council", "id": 9, "organization": "city", "manifest": "assemblies", "slug": "council", "title": {"en": "Council"}}
{"type": "step", "ref": "collect", "id": 5, "organization": "city", "space": "streets", "title": {"en": "Collect"}, "position": 0, "updated_at": "2026-02-02T08:00:00Z"}
{"type": "component", "ref": "ideas", "id": 51, "organization": "city", "space": "streets", "manifest": "proposals", "name": {"en": "Ideas"}}
{"type": "component", "ref": "pages", "id": 52, "organization": "city", "space": "streets", "manifest": "pages", "name": {"en": "Pages"}}
{"type": "component", "ref": "budgets", "id": 53, "organization": "city", "space": "streets", "manifest": "budgets", "name": {"en": "Budgets"}}
{"type": "component", "ref": "polls", "id": 54, "organization": "city", "space": "streets", "manifest": "surveys", "name": {"en": "Polls"}}
{"type": "proposal_state", "ref": "accepted", "id": 4, "organization": "city", "component": "ideas", "token": "accepted", "title": {"en": "Accepted"}}
{"type": "proposal_state", "ref": "pilot", "id": 11, "organization": "city", "component": "ideas", "token": "pilot", "title": {"en": "Pilot"}}
{"type": "proposal", "ref": "trees", "id": 101, "organization": "city", "component": "ideas", "title": {"en": "Trees"}, "body": {"en": "Two on each block"}, "authors": ["nora"], "published_at": "2026-02-09T09:00:00Z", "state": "accepted"}
{"type": "proposal", "ref": "benches", "id": 99, "organization": "city", "component": "ideas", "title": {"en": "Benches"}, "body": {}, "authors": ["luis"], "published_at": "2026-02-10T09:00:00Z"}
{"type": "vote", "ref": "v", "id": 6, "organization": "city", "proposal": "trees", "user": "luis"}
{"type": "survey", "ref": "s", "id": 7, "organization": "city", "component": "polls"}
{"type": "questionnaire", "ref": "q", "id": 3, "organization": "city", "survey": "s", "title": {"en": "Poll"}, "salt": "pepper"}
{"type": "question", "ref": "why", "id": 13, "organization": "city", "questionnaire": "q", "position": 1, "question_type": "short_answer", "body": {"en": "Why?"}}
{"type": "question", "ref": "rate", "id": 12, "organization": "city", "questionnaire": "q", "position": 0, "question_type": "matrix_single", "body": {"en": "Rate"}, "matrix_rows": [{"ref": "r1", "id": 8, "position": 1, "body": {"en": "R1"}}, {"ref": "r0", "id": 9, "position": 0, "body": {"en": "R0"}}]}
{"type": "question", "ref": "plan", "id": 14, "organization": "city", "questionnaire": "q", "position": 2, "question_type": "files", "body": {"en": "Plan"}}
{"type": "answer_option", "ref": "good", "id": 31, "organization": "city", "question": "rate", "body": {"en": "Good"}}
{"type": "answer_option", "ref": "bad", "id": 30, "organization": "city", "question": "rate", "body": {"en": "Bad"}}
{"type": "questionnaire_response", "ref": "a", "id": 1, "organization": "city", "questionnaire": "q", "user": "nora", "answers": {"rate": {"r0": "bad"}, "why": "Rain", "plan": [{"data": "aGVsbG8gd29ybGQK", "filename": "plan.txt", "id": 77}]}, "row_ids": {"rate": 2, "why": 1, "plan": 3}}
{"type": "page", "ref": "about", "id": 7, "organization": "city", "component": "pages", "title": {"en": "About"}, "updated_at": "2026-02-02T08:00:00Z"}
{"type": "budget", "ref": "trees", "id": 7, "organization": "city", "component": "budgets", "title": {"en": "Trees"}}
"#;

/// Records of the same types without ids.
const MORE: &str = r#"
{"type": "user", "ref": "tom", "organization": "city", "nickname": "tom", "email": "tom@city.example", "name": "Tom"}
{"type": "space", "ref": "parks", "organization": "city", "manifest": "participatory_processes", "slug": "parks", "title": {"en": "Parks"}}
{"type": "component", "ref": "more", "organization": "city", "space": "streets", "manifest": "proposals", "name": {"en": "More"}}
{"type": "proposal_state", "ref": "more", "organization": "city", "component": "more", "token": "more", "title": {"en": "More"}}
{"type": "proposal", "ref": "more", "organization": "city", "component": "ideas", "title": {"en": "More"}, "body": {}, "published_at": "2026-02-10T09:00:00Z"}
{"type": "vote", "ref": "more", "organization": "city", "proposal": "more", "user": "luis"}
{"type": "page", "ref": "more", "organization": "city", "component": "pages", "title": {"en": "More"}}
"#;

async fn keep(store: &dyn Store, archive: &str) -> Result<ImportReport, ImportError> {
    import_with(store, archive, ImportOptions { keep_ids: true, ..import_options(NOW) }).await
}

/// The refs of a report with their ids.
fn refs(report: &ImportReport) -> Value {
    report.to_json()["refs"]["city"].clone()
}

#[tokio::test]
async fn records_keep_their_ids_and_new_ones_are_above() {
    for database in databases().await {
        let store = &*database.store;
        let first = keep(store, KEPT).await.unwrap();
        let kept = json!({
            "organization": {"city": 3}, "user": {"nora": 17, "luis": 12}, "api_client": {"app": 2},
            "space": {"streets": 9, "council": 9}, "step": {"collect": 5},
            "component": {"ideas": 51, "pages": 52, "budgets": 53, "polls": 54},
            "proposal_state": {"accepted": 4, "pilot": 11}, "proposal": {"trees": 101, "benches": 99},
            "vote": {"v": 6}, "survey": {"s": 7}, "questionnaire": {"q": 3},
            "question": {"why": 13, "rate": 12, "plan": 14}, "answer_option": {"good": 31, "bad": 30},
            "questionnaire_response": {"a": 1}, "page": {"about": 7}, "budget": {"trees": 7}
        });
        assert_eq!(refs(&first), kept);
        let city = OrganizationId(3);
        let nora = store.users().find_by_nickname(city, "nora_blum").await.unwrap().unwrap();
        assert_eq!(nora.0.0, 17, "the ids of one statement belong to their rows");
        let states = store.states().list_of_component(city, ComponentId(51), 10).await.unwrap();
        let states: Vec<(i64, &str)> =
            states.iter().map(|(id, state)| (id.0, state.token.as_str())).collect();
        assert_eq!((states.len(), states[0], states[4]), (5, (4, "accepted"), (504, "rejected")));
        let rate = store.questions().page_after(city, None, 10).await.unwrap().remove(0).1;
        assert_eq!(rate.rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [9, 8]);
        let (response, _) = store.responses().page_after(city, None, 10).await.unwrap().remove(0);
        let answers = store.responses().answer_ids(city, response).await.unwrap();
        let answers: Vec<(i64, i64)> = answers.iter().map(|(question, id)| (question.0, id.0)).collect();
        assert_eq!((response, answers), (ResponseId(1), vec![(13, 1), (12, 2), (14, 3)]));
        let attached = store.attachments().page_after(city, None, 10).await.unwrap();
        assert_eq!(attached.iter().map(|(id, file)| (id.0, file.parent.id)).collect::<Vec<_>>(), [(77, 3)]);

        let again = keep(store, KEPT).await.unwrap().to_json();
        assert_eq!((&again["created"], &again["updated"]), (&json!({}), &json!({})));
        let more = import_with(store, MORE, import_options(NOW)).await.unwrap();
        let above = json!({
            "user": {"tom": 201}, "space": {"parks": 91}, "component": {"more": 55}, "proposal_state": {"more": 509},
            "proposal": {"more": 301}, "vote": {"more": 7}, "page": {"more": 41}
        });
        assert_eq!(refs(&more), above);
    }
}

#[tokio::test]
async fn ids_that_are_not_free_are_refused_and_nothing_is_stored() {
    for database in databases().await {
        let store = &*database.store;
        let plain = import_with(store, CITY, import_options(NOW)).await.unwrap();
        let nora = refs(&plain)["user"]["nora"].as_i64().unwrap();
        let town = r#"{"type": "organization", "ref": "town", "host": "town.example", "name": {"en": "Town"}, "available_locales": ["en"], "default_locale": "en"}"#;
        let user = format!(
            r#"{{"type": "user", "ref": "u", "id": {nora}, "organization": "town", "nickname": "uuu", "email": "u@town.example", "name": "U"}}"#
        );
        let refused = keep(store, &format!("{town}\n{user}")).await.unwrap_err().to_string();
        assert_eq!(refused, format!("line 2: user \"u\": S-IDS: the id {nora} is taken"));
        assert_eq!(store.organizations().find_by_host("town.example").await.unwrap(), None);
        let other = nora + 1_000;
        let user = format!(
            r#"{{"type": "user", "ref": "nora", "id": {other}, "organization": "city", "nickname": "nora_blum"}}"#
        );
        let refused = keep(store, &user).await.unwrap_err().to_string();
        let reason = format!("S-IDS: exists with the id {nora} instead of {other}");
        assert_eq!(refused, format!("line 1: user \"nora\": {reason}"));
        import_with(store, &user, import_options(NOW)).await.unwrap();
    }
}

#[tokio::test]
async fn ids_are_ignored_unless_they_are_kept() {
    for database in databases().await {
        let store = &*database.store;
        let report = import_with(store, KEPT, import_options(NOW)).await.unwrap();
        assert_eq!(refs(&report)["user"], json!({"nora": 1, "luis": 2}));
        assert_eq!(refs(&report)["proposal"], json!({"trees": 1, "benches": 2}));
        let error = import_with(store, &format!("{CITY}{KEPT}"), import_options(NOW)).await.unwrap_err();
        assert!(error.to_string().ends_with("must be the first record"), "{error}");
    }
}
