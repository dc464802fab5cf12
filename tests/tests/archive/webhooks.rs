//! Webhook registrations in archives.

use crate::archive::{CITY, NOW, import_with, pairs, read};
use civitas_application::Store;
use civitas_archive::{ExportOptions, ExportServices, ImportOptions, ImportReport, WebhookArchive, export};
use civitas_kernel::{EventName, RegistrationId, Result};
use civitas_tests::{databases, export_services, import_options};
use civitas_webhooks::{
    Registration, RegistrationHealth, SealedSecret, SecretCipher, SigningSecret, TargetPolicy,
};
use serde_json::{Value, json};
use time::macros::datetime;

/// After [`CITY`]: a registration of one of its clients, and one of a deployment-wide client.
const HOOKS: &str = r#"
{"type": "webhook_registration", "ref": "hook", "organization": "city", "api_client": "app", "url": "https://hooks.example/a?b=c", "subscriptions": ["user.created", "proposal_creation.succeeded", "user.created"], "signing_secret": "0123456789abcdef", "disabled_at": "2026-03-01T09:00:00Z", "created_at": "2026-02-01T09:00:00Z", "updated_at": "2026-02-02T09:00:00Z"}
{"type": "api_client", "ref": "ops", "organization": null, "client_id": "ops-client", "name": "Operations", "scopes": ["system"], "client_secret": "s3cret"}
{"type": "webhook_registration", "ref": "wide", "organization": null, "api_client": "ops", "url": "https://hooks.example/ops", "subscriptions": ["system.organizations.created"]}
"#;

/// Lines that follow [`CITY`] and [`HOOKS`], and below each why it is refused.
const REFUSED: &str = r#"
"x", §, "url": "https://x.example/", "subscriptions": ["user.created"]
api_client is required
"x", §, "api_client": "app", "subscriptions": ["user.created"]
url is required
"x", §, "api_client": "app", "url": "https://x.example/"
subscriptions is required
"x", §, "api_client": "ops", "url": "https://x.example/", "subscriptions": ["user.created"]
api_client "ops" is not known
"x", "api_client": "app", "url": "https://x.example/", "subscriptions": ["user.created"]
api_client "app" is not known
"x", §, "api_client": "app", "url": "https://hooks.example/a?b=c", "subscriptions": ["user.created"]
url "https://hooks.example/a?b=c" has already been taken
"hook", §, "api_client": null
api_client cannot change
"hook", §, "api_client": "other"
api_client cannot change
"hook", §, "url": null
url cannot be null
"hook", §, "url": ""
url "" is not a valid http or https address
"hook", §, "url": "ftp://x.example/"
url "ftp://x.example/" is not a valid http or https address
"hook", §, "url": "https://localhost/"
url "https://localhost/" is not allowed
"hook", §, "url": "https://10.1.2.3/"
url "https://10.1.2.3/" is not allowed
"hook", §, "url": "https://x.example:22/"
url "https://x.example:22/" is not allowed
"hook", §, "url": "https://hooks.example/b"
url "https://hooks.example/b" has already been taken
"hook", §, "subscriptions": []
subscriptions must not be empty
"hook", §, "subscriptions": null
subscriptions cannot be null
"hook", §, "subscriptions": ["not.an.event"]
event "not.an.event" is not known
"hook", §, "subscriptions": ["public.space.read"]
event "public.space.read" is not known
"hook", §, "signing_secret": "short"
signing_secret must be 16 to 255 printable ASCII characters without spaces
"hook", §, "signing_secret": null
signing_secret cannot be null
"hook", §, "created_at": null
created_at cannot be null
"hook", §, "paused_at": "2026-03-01T09:00:00Z"
unknown member "paused_at"
"#;

/// A second client, and a second registration of the first one.
const MORE: &str = r#"
{"type": "api_client", "ref": "other", "organization": "city", "client_id": "other-client", "name": "Other", "scopes": ["public"], "client_secret": "s3cret"}
{"type": "webhook_registration", "ref": "b", "organization": "city", "api_client": "app", "url": "https://hooks.example/b", "subscriptions": ["user.created"]}
"#;

fn hooks() -> String {
    format!("{CITY}{HOOKS}")
}

async fn hook(store: &dyn Store, report: &ImportReport) -> Registration {
    let id = RegistrationId(report.refs["city"]["webhook_registration"]["hook"]);
    store.registrations().find_unrestricted(id).await.expect("an answer").expect("the registration")
}

fn secret_of(registration: &Registration) -> String {
    export_services().cipher.open(&registration.secret).expect("a secret").expose().to_owned()
}

/// The exported registrations, by url.
async fn exported(store: &dyn Store, with_secrets: bool) -> Vec<Value> {
    let mut output = Vec::new();
    let options = ExportOptions { organization: None, with_secrets, with_ids: false };
    export(store, export_services(), &options, &mut output).await.expect("an archive");
    let lines = String::from_utf8(output).expect("UTF-8");
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    rows.filter(|row| row["type"] == "webhook_registration").collect()
}

#[tokio::test]
async fn a_registration_has_what_its_line_says_and_a_missing_secret_is_generated_once() {
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, &hooks(), false).await.unwrap();
        let registration = hook(store, &report).await;
        assert_eq!(
            registration.organization.map(|id| id.0),
            Some(report.refs["city"]["organization"]["city"])
        );
        assert_eq!(registration.client.0, report.refs["city"]["api_client"]["app"]);
        assert_eq!(registration.subscriptions, [EventName::UserCreated, EventName::ProposalCreation]);
        let disabled_at = Some(datetime!(2026-03-01 09:00 UTC));
        assert_eq!(registration.health, RegistrationHealth { disabled_at, ..RegistrationHealth::default() });
        assert_eq!(secret_of(&registration), "0123456789abcdef");
        assert_ne!(registration.secret.0, "0123456789abcdef");
        let generated = &report.secrets["webhook_registration"];
        assert_eq!((generated.len(), generated["wide"].len()), (1, 64));
        let again = read(store, &hooks(), false).await.unwrap();
        assert_eq!(again.to_json()["unchanged"]["webhook_registration"], 2, "{}", again.to_json());
        assert!(again.secrets.is_empty());
        assert_eq!(hook(store, &report).await, registration, "not even encrypted again");
    }
}

#[tokio::test]
async fn absent_members_of_a_registration_stay_and_null_enables_it() {
    let sent = |members: &str| {
        format!(r#"{{"type": "webhook_registration", "ref": "hook", "organization": "city", {members}}}"#)
    };
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, &hooks(), false).await.unwrap();
        let before = hook(store, &report).await;
        let updates = read(store, &sent(r#""subscriptions": ["user.updated"]"#), false).await.unwrap();
        assert_eq!(updates.to_json()["updated"], json!({"webhook_registration": 1}));
        let subscriptions = vec![EventName::UserUpdated];
        let expected = Registration { subscriptions, updated_at: NOW, ..before };
        assert_eq!(hook(store, &report).await, expected);
        let moved =
            r#""url": "https://hooks.example/z", "disabled_at": null, "updated_at": "2026-04-01T09:00:00Z""#;
        read(store, &sent(moved), false).await.unwrap();
        let now = hook(store, &report).await;
        assert_eq!(
            (now.url.as_str(), now.health),
            ("https://hooks.example/z", RegistrationHealth::default())
        );
        assert_eq!(now.updated_at, datetime!(2026-04-01 09:00 UTC));
        read(store, &sent(r#""signing_secret": "another-secret-of-hook""#), false).await.unwrap();
        assert_eq!(secret_of(&hook(store, &report).await), "another-secret-of-hook");
    }
}

#[tokio::test]
async fn every_bad_registration_is_refused_with_its_reason() {
    for database in databases().await {
        let store = &*database.store;
        read(store, &format!("{}{MORE}", hooks()), false).await.unwrap();
        for (members, reason) in pairs(REFUSED) {
            let line = format!(r#"{{"type": "webhook_registration", "ref": {members}}}"#);
            let reference = members.split('"').nth(1).unwrap();
            let error = read(store, &line, false).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("line 1: webhook_registration {reference:?}: {reason}"),
                "{line}"
            );
        }
    }
}

#[tokio::test]
async fn an_import_without_webhooks_refuses_registrations_and_allowed_networks_allow_their_addresses() {
    let line = r#"{"type": "webhook_registration", "ref": "hook", "organization": "city", "url": "http://10.1.2.3:81/"}"#;
    for database in databases().await {
        let store = &*database.store;
        read(store, &hooks(), false).await.unwrap();
        let options = ImportOptions { webhooks: None, ..import_options(NOW) };
        let error = import_with(store, line, options).await.unwrap_err();
        let reason = r#"line 1: webhook_registration "hook": webhook registrations cannot be imported here"#;
        assert_eq!(error.to_string(), reason);
        let policy = TargetPolicy { allowed: vec!["10.0.0.0/8".parse().unwrap()] };
        let webhooks = Some(WebhookArchive { cipher: export_services().cipher, policy: &policy });
        let options = ImportOptions { webhooks, ..import_options(NOW) };
        let report = import_with(store, line, options).await.unwrap();
        assert_eq!(report.updated["webhook_registration"], 1);
    }
}

#[tokio::test]
async fn an_event_whose_permission_was_withdrawn_survives_the_way_to_another_database() {
    for database in databases().await {
        let store = &*database.store;
        // The client has no event permission.
        read(store, &hooks(), false).await.unwrap();
        let mut archive = Vec::new();
        let options = ExportOptions {
            organization: Some("city.example".to_owned()),
            with_secrets: true,
            with_ids: false,
        };
        export(store, export_services(), &options, &mut archive).await.unwrap();
        let elsewhere = civitas_tests::World::in_memory().await;
        let report = read(elsewhere.store(), &String::from_utf8(archive).unwrap(), false).await.unwrap();
        assert_eq!(report.created["webhook_registration"], 1);
    }
}

/// A cipher that must not be used.
struct NoCipher;

impl SecretCipher for NoCipher {
    fn generate(&self) -> Result<SigningSecret> {
        panic!("a secret is generated")
    }

    fn seal(&self, _: &SigningSecret) -> Result<SealedSecret> {
        panic!("a secret is encrypted")
    }

    fn open(&self, _: &SealedSecret) -> Result<SigningSecret> {
        panic!("a secret is decrypted")
    }
}

#[tokio::test]
async fn secrets_are_decrypted_only_for_exports_with_secrets() {
    for database in databases().await {
        let store = &*database.store;
        let report = read(store, &hooks(), false).await.unwrap();
        let with = exported(store, true).await;
        assert_eq!(with[0]["signing_secret"], report.secrets["webhook_registration"]["wide"], "the first");
        assert_eq!(with[1]["signing_secret"], "0123456789abcdef");
        assert_eq!(with[1]["disabled_at"], "2026-03-01T09:00:00Z");
        let without = exported(store, false).await;
        assert!(without.iter().all(|row| row["signing_secret"].is_null()), "{without:?}");
        let services = ExportServices { cipher: &NoCipher, ..export_services() };
        export(store, services, &ExportOptions::default(), Vec::new()).await.unwrap();
        let of_city = ExportOptions {
            organization: Some("city.example".to_owned()),
            with_secrets: false,
            with_ids: false,
        };
        let mut own = Vec::new();
        export(store, services, &of_city, &mut own).await.unwrap();
        let own = String::from_utf8(own).unwrap();
        assert!(own.contains("https://hooks.example/a?b=c") && !own.contains("https://hooks.example/ops"));
    }
}

#[tokio::test]
async fn events_of_a_newer_version_are_left_out_of_an_export() {
    for database in databases().await {
        let report = read(&*database.store, &hooks(), false).await.unwrap();
        let (hook, wide) = (
            report.refs["city"]["webhook_registration"]["hook"],
            report.refs[""]["webhook_registration"]["wide"],
        );
        let set = |id: i64, names: &str| {
            format!("UPDATE webhook_registrations SET subscriptions = '{names}' WHERE id = {id}")
        };
        database.execute(&set(hook, r#"["of.a.newer.version", "user.created"]"#)).await;
        database.execute(&set(wide, r#"["of.a.newer.version"]"#)).await;
        let exported = exported(&*database.store, true).await;
        let subscriptions: Vec<_> = exported.iter().map(|row| &row["subscriptions"]).collect();
        assert_eq!(subscriptions, [&json!(["user.created"])], "an archive cannot have the other one");
    }
}
