//! What the deletion of an account leaves of the person.

use civitas_application::audit::AuditTrail;
use civitas_jobs::{Job, JobOwner};
use civitas_kernel::{Ability, ClientId, OrganizationId, RegistrationId, UserId, clock};
use civitas_tests::service::CITIES;
use civitas_tests::{Database, Engine, Service, job};
use civitas_webhooks::{DeliveryContent, DeliveryId, NewDelivery, Registration, SealedSecret};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ZORA: &str = r#"{"type": "user", "ref": "ref-zora-quintana", "organization": "city", "nickname": "zora77", "email": "zora.quintana@person.example", "name": "Zora Quintana", "about": "Beekeeper Quintana", "confirmed_at": "2026-01-05T09:00:00Z", "tos_accepted_at": "2026-01-05T09:00:00Z"}"#;
/// E-mail address, name, description, nickname and ref of the archive.
const PERSONAL: [&str; 5] =
    ["zora.quintana@person.example", "Zora Quintana", "Beekeeper Quintana", "zora77", "ref-zora-quintana"];
/// Longer than a busy machine needs. The log is emptied once a minute while somebody reads a former state.
const TIMEOUT: Duration = Duration::from_secs(240);

async fn registration(service: &Service, city: OrganizationId, client: ClientId) -> RegistrationId {
    let now = clock::now();
    let (url, secret) = ("https://hooks.example/".to_owned(), SealedSecret("sealed".to_owned()));
    let new = Registration::new(client, Some(city), url, secret, now);
    let registration =
        Registration { subscriptions: vec![Ability::UserUpdated], paused_at: Some(now), ..new };
    service.store.registrations().add(&registration).await.unwrap().unwrap()
}

/// A job that has not begun, and a delivery that waits.
async fn leave_work(service: &Service, city: OrganizationId, zora: UserId) {
    let (client, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
    let tomorrow = clock::now() + time::Duration::DAY;
    let job = Job {
        owner: JobOwner { client, user: Some(zora) },
        ..job(city, client, json!({"title": PERSONAL[1]}), tomorrow)
    };
    service.store.jobs().add(&job).await.unwrap();
    let events = service.store.outbox().page_after(city, None, 99).await.unwrap();
    let event = events.iter().find(|event| event.name == Ability::UserUpdated).unwrap();
    let delivery = NewDelivery {
        id: DeliveryId::generate(),
        registration: registration(service, city, client).await,
        name: event.name,
        content: DeliveryContent::Event(event.id, city),
        due_at: clock::now(),
    };
    service.store.deliveries().add(&[delivery]).await.unwrap();
}

/// The files with one of these texts: those of the database, and the databases of its backups.
fn files_with(texts: &[&str], database: &Path, backups: &Path) -> Vec<String> {
    let has =
        |bytes: &[u8]| texts.iter().any(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
    let mut found = Vec::new();
    for end in ["", "-wal"] {
        let file = format!("{}{end}", database.display());
        if std::fs::read(&file).is_ok_and(|bytes| has(&bytes)) {
            found.push(file);
        }
    }
    for backup in std::fs::read_dir(backups).into_iter().flatten() {
        let copy = backup.unwrap().path().join("database");
        let bytes = std::fs::read(&copy).unwrap();
        assert!(bytes.starts_with(b"SQLite format 3"));
        if has(&bytes) {
            found.push(copy.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_deleted_account_leaves_no_bytes_in_the_files_of_sqlite_and_in_new_backups() {
    let texts = &PERSONAL[..4];
    let database = Database::fresh(Engine::Sqlite).await.unwrap();
    let file = PathBuf::from(database.url().strip_prefix("sqlite://").unwrap());
    let target = tempfile::tempdir().unwrap();
    let backups = target.path().join("backups");
    let mut service = Service::over(database, &format!("{CITIES}{ZORA}\n"), &[]).await;
    let city = service.id("organization", "city");
    let zora = service.id("user", "ref-zora-quintana");
    let client = service.user("zora77").await;
    for number in 0..20 {
        // Rows of other lengths: SQLite moves what is on a page.
        let data = json!({"contact": PERSONAL[0].repeat(number % 7 * 30 + 1)});
        let body = json!({"object_path": ".", "data": data});
        client.finished(&client.put("/me/extended_data", &body).await.is(202)).await;
    }
    assert!(!files_with(texts, &file, &backups).is_empty());
    let panel = service.administrator().await;
    panel.act("DELETE", &format!("/system/organizations/{city}/users/{zora}"), &[]).await.is(302);
    let begun = Instant::now();
    loop {
        let left = files_with(texts, &file, &backups);
        if left.is_empty() {
            break;
        }
        assert!(begun.elapsed() < TIMEOUT, "{left:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let to = format!("file://{}", target.path().display());
    service.restart_with(&[("backup_to", to.as_str()), ("backup_times", "00:00")]).await;
    let is_made = || {
        let backups = std::fs::read_dir(&backups).into_iter().flatten();
        backups.map(|backup| backup.unwrap().path().join("manifest.json")).any(|manifest| manifest.exists())
    };
    while !is_made() {
        assert!(begun.elapsed() < 2 * TIMEOUT, "no backup");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(files_with(texts, &file, &backups), [""; 0]);
}

#[tokio::test]
async fn a_deleted_account_leaves_no_data_of_the_person_in_any_table() {
    for service in Service::on_both_engines_with(&format!("{CITIES}{ZORA}\n"), &[]).await {
        let city = OrganizationId(service.id("organization", "city"));
        let zora = UserId(service.id("user", "ref-zora-quintana"));
        let client = service.user("zora77").await;
        let body = json!({"object_path": ".", "data": {"contact": PERSONAL[0]}});
        client.finished(&client.put("/me/extended_data", &body).await.is(202)).await;
        leave_work(&service, city, zora).await;
        let before = service.database.columns_with(&PERSONAL).await;
        for column in [
            "users.email",
            "users.name",
            "users.about",
            "jobs.result",
            "jobs.payload",
            "outbox.payload",
            "archive_refs.ref",
        ] {
            assert!(before.iter().any(|found| found == column), "{column} in {before:?}");
        }
        let panel = service.administrator().await;
        let page = format!("/system/organizations/{city}/users/{zora}");
        panel.act("DELETE", &page, &[]).await.is(302);
        let begun = Instant::now();
        loop {
            let left = service.database.columns_with(&PERSONAL).await;
            if left.is_empty() {
                break;
            }
            assert!(begun.elapsed() < TIMEOUT, "{:?}: {left:?}", service.engine);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(service.database.count("webhook_deliveries", "true").await, 0);
        let verified = AuditTrail { log: service.store.audit() }.verify(Some(city)).await.unwrap();
        assert_eq!((verified.fault, verified.erased), (None, 1), "the entry of the deletion");
        client.get("/me/extended_data").await.refuses(401, "Unauthorized access");
        let row = service.store.users().find(city, zora).await.unwrap().unwrap();
        assert!(row.deleted_at.is_some(), "other records refer to it");
    }
}
