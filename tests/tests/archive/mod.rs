//! The archive on both engines: import, export, and what is refused (contract 10).

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attachments;
mod chunks;
mod complete;
mod events;
mod forms;
mod kept_ids;
mod limits;
mod meetings;
mod passes;
mod refusals;
mod round_trip;
mod webhooks;

use civitas_application::Store;
use civitas_archive::{ImportError, ImportOptions, ImportReport, demo_archive, import};
use civitas_kernel::{OrganizationId, ProposalId, UserId, VoteId};
use civitas_tests::{databases, import_options};
use civitas_tokens::Argon2Passwords;
use serde_json::json;
use std::collections::BTreeMap;
use time::macros::datetime;

/// When archives are imported here.
const NOW: time::OffsetDateTime = datetime!(2026-11-21 10:00 UTC);

async fn read(store: &dyn Store, archive: &str, dry_run: bool) -> Result<ImportReport, ImportError> {
    import_with(store, archive, ImportOptions { dry_run, ..import_options(NOW) }).await
}

async fn import_with(
    store: &dyn Store,
    archive: &str,
    options: ImportOptions<'_>,
) -> Result<ImportReport, ImportError> {
    import(store, &Argon2Passwords::new(), archive.as_bytes(), options, &mut |_| {}).await
}

/// A line and the one below it, for each two lines. `§` stands for `"organization": "city"`.
fn pairs(lines: &'static str) -> impl Iterator<Item = (String, &'static str)> {
    let mut lines = lines.trim().lines();
    std::iter::from_fn(move || Some((lines.next()?.replace('§', r#""organization": "city""#), lines.next()?)))
}

/// A small city that most tests begin with.
const CITY: &str = r##"
{"type": "organization", "ref": "city", "host": "city.example", "name": {"en": "City"}, "available_locales": ["en", "fr"], "default_locale": "en"}
{"type": "user", "ref": "nora", "organization": "city", "nickname": "nora_blum", "email": "nora@city.example", "name": "Nora Blum"}
{"type": "user", "ref": "luis", "organization": "city", "nickname": "luis", "email": "luis@city.example", "name": "Luis Ortega"}
{"type": "api_client", "ref": "app", "organization": "city", "client_id": "app-client", "name": "App", "scopes": ["public"], "client_secret": "s3cret"}
{"type": "space", "ref": "streets", "organization": "city", "manifest": "participatory_processes", "slug": "streets", "title": {"en": "Streets"}, "published_at": "2026-02-02T08:00:00Z"}
{"type": "space", "ref": "council", "organization": "city", "manifest": "assemblies", "slug": "council", "title": {"en": "Council"}}
{"type": "space", "ref": "petition", "organization": "city", "manifest": "initiatives", "title": {"en": "Petition"}}
{"type": "step", "ref": "collect", "organization": "city", "space": "streets", "title": {"en": "Collect"}, "position": 0, "active": true}
{"type": "step", "ref": "decide", "organization": "city", "space": "streets", "title": {"en": "Decide"}, "position": 1}
{"type": "role", "ref": "member", "organization": "city", "user": "nora", "kind": "space_private_member", "space": "council"}
{"type": "component", "ref": "ideas", "organization": "city", "space": "streets", "manifest": "proposals", "name": {"en": "Ideas"}, "settings": {"minimum_votes_per_user": 2}, "step_settings": {"decide": {"votes_enabled": true}}}
{"type": "component", "ref": "page", "organization": "city", "space": "streets", "manifest": "pages", "name": {"en": "Page"}}
{"type": "proposal_state", "ref": "pilot", "organization": "city", "component": "ideas", "token": "pilot", "title": {"en": "Pilot"}, "bg_color": "#0b5cad"}
{"type": "proposal", "ref": "trees", "organization": "city", "component": "ideas", "title": {"en": "Trees"}, "body": {"en": "Two on each block"}, "authors": ["nora"], "published_at": "2026-02-09T09:00:00Z", "state": "pilot"}
{"type": "proposal", "ref": "benches", "organization": "city", "component": "ideas", "title": {"en": "Benches"}, "body": {}, "published_at": "2026-02-10T09:00:00Z"}
{"type": "proposal", "ref": "draft", "organization": "city", "component": "ideas", "title": {}, "body": {}, "authors": ["nora"], "published_at": null, "api_client": "app"}
{"type": "vote", "ref": "v1", "organization": "city", "proposal": "trees", "user": "nora"}
{"type": "component", "ref": "agenda", "organization": "city", "space": "streets", "manifest": "meetings", "name": {"en": "Agenda"}}
{"type": "meeting", "ref": "kickoff", "organization": "city", "component": "agenda", "title": {"en": "Kick-off"}, "start_time": "2026-04-01T17:00:00Z", "end_time": "2026-04-01T19:00:00Z", "private": true, "registrations": ["luis", "nora"]}
{"type": "page", "ref": "about", "organization": "city", "component": "page", "title": {"en": "About"}}
"##;

#[tokio::test]
async fn the_demo_city_imports_and_importing_it_again_changes_nothing() {
    for database in databases().await {
        let store = &*database.store;
        let first = read(store, demo_archive(), false).await.unwrap();
        let created = json!({
            "answer_option": 13, "api_client": 2, "attachment": 3, "attachment_collection": 1, "budget": 4, "component": 17, "debate": 3, "display_condition": 3,
            "meeting": 10, "organization": 1, "page": 1, "post": 12, "proposal": 42, "proposal_state": 1,
            "question": 11, "questionnaire": 2, "questionnaire_response": 3, "result": 2, "role": 4, "space": 6,
            "step": 5, "survey": 1, "system_admin": 1, "user": 6, "vote": 54, "webhook_registration": 1
        });
        assert_eq!(first.to_json()["created"], created);
        assert_eq!(
            first.to_json()["updated"],
            json!({"proposal_state": 1}),
            "a built-in state was there before"
        );
        assert_eq!(first.secrets["api_client"].len(), 2);
        assert_eq!(first.secrets["webhook_registration"].len(), 1);
        let second = read(store, demo_archive(), false).await.unwrap();
        assert_eq!(second.to_json()["created"], json!({}));
        assert_eq!(second.to_json()["updated"], json!({}));
        assert!(second.secrets.is_empty());
        assert_eq!(second.refs, first.refs);
    }
}

#[tokio::test]
async fn an_administrator_keeps_the_times_of_the_account_and_is_made_once() {
    let mayor = r#"
{"type": "user", "ref": "ada", "organization": "city", "nickname": "ada", "email": "ada@city.example", "name": "Ada", "updated_at": "2026-02-02T08:00:00Z"}
{"type": "role", "ref": "mayor", "organization": "city", "user": "ada", "kind": "general_admin", "updated_at": "2026-03-03T08:00:00Z"}
"#;
    for database in databases().await {
        let store = &*database.store;
        let archive = format!("{CITY}{mayor}");
        let report = read(store, &archive, false).await.unwrap();
        let (city, ada) = ids(&report, "ada");
        let user = store.users().find(city, ada).await.unwrap().unwrap();
        assert_eq!((user.admin, user.updated_at), (true, datetime!(2026-02-02 08:00 UTC)));
        let again = read(store, &archive, false).await.unwrap();
        assert_eq!(again.to_json()["updated"], json!({}));
    }
}

#[tokio::test]
async fn one_bad_line_at_the_end_keeps_nothing() {
    for database in databases().await {
        let archive = format!(
            "{}\n{{\"type\": \"vote\", \"ref\": \"x\", \"organization\": \"riverbend\"}}",
            demo_archive()
        );
        let error = read(&*database.store, &archive, false).await.unwrap_err();
        let line = demo_archive().lines().count() + 2;
        assert_eq!(error.to_string(), format!("line {line}: vote \"x\": proposal is required"));
        assert_eq!(database.store.organizations().ids(None, 10).await.unwrap(), []);
        assert_eq!(database.store.administrators().page_after(None, 10).await.unwrap(), []);
        assert_eq!(database.store.refs().find(None, "organization", "riverbend").await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_import_with_expected_numbers_compares_each_record_with_its_row() {
    let other = r#"{"type": "user", "ref": "nora", "organization": "city", "name": "Nora B."}"#;
    for database in databases().await {
        let store = &*database.store;
        let read = async |archive: &str, votes| {
            let expected = BTreeMap::from([("vote", votes)]);
            let options = ImportOptions { expected: Some(&expected), ..import_options(NOW) };
            import_with(store, archive, options).await.map_err(|error| error.to_string())
        };
        let error = read(demo_archive(), 55).await.unwrap_err();
        assert!(error.ends_with(": vote: 55 records written, but 54 stored"), "{error}");
        let error = read(&format!("{CITY}{other}"), 1).await.unwrap_err();
        assert_eq!(error, r#"line 3: user "nora": the row is not as the record says"#);
        assert_eq!(store.organizations().ids(None, 10).await.unwrap(), []);
        let report = read(demo_archive(), 54).await.unwrap();
        assert_eq!(
            (report.created["vote"], &report.to_json()["updated"]),
            (54, &json!({"proposal_state": 1}))
        );
    }
}

#[tokio::test]
async fn a_dry_run_reports_everything_and_keeps_nothing() {
    for database in databases().await {
        let report = read(&*database.store, CITY, true).await.unwrap();
        assert_eq!(report.created["proposal"], 3);
        assert_eq!(database.store.organizations().ids(None, 10).await.unwrap(), []);
    }
}

#[tokio::test]
async fn absent_keeps_null_clears_and_a_value_sets() {
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, CITY, false).await.unwrap();
        let (city, nora) = ids(&report, "nora");
        let sent =
            r#"{"type": "user", "ref": "nora", "organization": "city", "about": "Gardener", "locale": "fr"}"#;
        assert_eq!(read(store, sent, false).await.unwrap().updated["user"], 1);
        let user = store.users().find(city, nora).await.unwrap().unwrap();
        assert_eq!((user.about.as_deref(), user.name.as_str()), (Some("Gardener"), "Nora Blum"));
        let sent = r#"{"type": "user", "ref": "nora", "organization": "city", "about": null, "password": "tulips-1"}"#;
        assert_eq!(read(store, sent, false).await.unwrap().updated["user"], 1);
        let user = store.users().find(city, nora).await.unwrap().unwrap();
        assert_eq!((user.about, user.updated_at), (None, NOW));
        assert!(user.password_hash.is_some_and(|hash| hash.starts_with("$argon2id$")));
        assert_eq!(read(store, sent, false).await.unwrap().unchanged["user"], 1, "the same password again");
    }
}

fn ids(report: &ImportReport, user: &str) -> (OrganizationId, UserId) {
    let refs = &report.refs["city"];
    (OrganizationId(refs["organization"]["city"]), UserId(refs["user"][user]))
}

#[tokio::test]
async fn organizations_users_spaces_and_clients_are_recognised_without_their_refs() {
    let sent = r#"
{"type": "organization", "ref": "other", "host": "City.example", "time_zone": "Europe/Paris", "features": {"blogs_enabled": false}}
{"type": "user", "ref": "u", "organization": "other", "nickname": "NORA_blum", "admin": true}
{"type": "api_client", "ref": "c", "organization": "other", "client_id": "app-client", "permissions": ["public.space.read"]}
{"type": "space", "ref": "s", "organization": "other", "manifest": "assemblies", "slug": "council", "visibility": "transparent"}
"#;
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, CITY, false).await.unwrap();
        let again = read(store, sent, false).await.unwrap();
        assert!(again.created.is_empty(), "{:?}", again.created);
        let (city, nora) = ids(&report, "nora");
        assert_eq!(again.refs["other"]["organization"]["other"], city.0);
        let organization = store.organizations().find(city).await.unwrap().unwrap();
        assert!(organization.features.proposals_enabled && !organization.features.blogs_enabled);
        assert!(store.users().find(city, nora).await.unwrap().unwrap().admin);
    }
}

#[tokio::test]
async fn votes_are_temporary_until_their_user_has_enough_of_them() {
    let second =
        r#"{"type": "vote", "ref": "v2", "organization": "city", "proposal": "benches", "user": "nora"}"#;
    let stricter = r#"{"type": "component", "ref": "ideas", "organization": "city", "settings": {"minimum_votes_per_user": 3}}"#;
    for database in databases().await {
        let store = &*database.store;
        let (city, nora) = ids(&read(store, CITY, false).await.unwrap(), "nora");
        let temporary = async || {
            let votes = store.votes().page_after(city, None, 10).await.unwrap();
            votes.into_iter().map(|(_, vote)| (vote.user, vote.temporary)).collect::<Vec<_>>()
        };
        assert_eq!(temporary().await, [(nora, true)]);
        read(store, second, false).await.unwrap();
        assert_eq!(temporary().await, [(nora, false), (nora, false)]);
        read(store, stricter, false).await.unwrap();
        assert_eq!(temporary().await, [(nora, true), (nora, true)]);
    }
}

#[tokio::test]
async fn an_active_step_takes_the_place_of_the_one_before() {
    let sent = r#"{"type": "step", "ref": "decide", "organization": "city", "active": true}"#;
    for database in databases().await {
        let store = &*database.store;
        let (city, _) = ids(&read(store, CITY, false).await.unwrap(), "nora");
        read(store, sent, false).await.unwrap();
        let steps = store.steps().page_after(city, None, 10).await.unwrap();
        assert_eq!(steps.into_iter().map(|(_, step)| step.active).collect::<Vec<_>>(), [false, true]);
    }
}

#[tokio::test]
async fn a_record_whose_row_was_removed_by_use_is_made_again() {
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, CITY, false).await.unwrap();
        let (city, nora) = ids(&report, "nora");
        let refs = &report.refs["city"];
        store.votes().remove(city, VoteId(refs["vote"]["v1"])).await.unwrap();
        store.proposals().remove(city, ProposalId(refs["proposal"]["draft"])).await.unwrap();
        let again = read(store, CITY, false).await.unwrap();
        assert_eq!(again.to_json()["created"], json!({"proposal": 1, "vote": 1}));
        let trees = ProposalId(refs["proposal"]["trees"]);
        let votes = store.votes().page_after(city, None, 100).await.unwrap();
        assert!(votes.iter().any(|(_, vote)| (vote.proposal, vote.user) == (trees, nora)));
    }
}

#[tokio::test]
async fn a_quiet_import_records_no_event() {
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, demo_archive(), false).await.unwrap();
        let id = OrganizationId(report.refs["riverbend"]["organization"]["riverbend"]);
        assert_eq!(store.outbox().page_after(id, None, 10).await.unwrap(), []);
    }
}
