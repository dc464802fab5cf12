//! The settings of retention reach the parts of a running server that remove old rows.

use civitas_accounts::{AccessToken, Secret};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_jobs::Job;
use civitas_kernel::{Ability, ClientId, OrganizationId, TokenId, clock};
use civitas_tests::service::{CITIES, Service};
use civitas_tests::{commit, job};
use civitas_webhooks::OutboxEvent;
use serde_json::json;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// The settings, in days, and the tables whose rows they remove.
const SETTINGS: [(&str, &str); 3] = [
    ("job_retention_days", "jobs"),
    ("event_retention_days", "outbox"),
    ("audit_retention_days", "audit_entries"),
];
/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Adds a row of this time to each table but that of jobs.
async fn add_rows(service: &Service, city: OrganizationId, at: OffsetDateTime) {
    let store = &*service.store;
    let event = OutboxEvent::new(city, Ability::UserCreated, "{}".to_owned(), at);
    store.outbox().append(&[event]).await.unwrap();
    let entry = NewAuditEntry::new(Actor::Anonymous, Action::CredentialsRefused).in_organization(city);
    let entry = entry.with_object("api_client", "id_city_full", "The full client");
    commit(store, async |tx| tx.audit().append(&entry, at).await).await.unwrap();
}

/// Adds a job that ended at this time. No worker may run.
async fn add_ended_job(service: &Service, city: OrganizationId, client: ClientId, at: OffsetDateTime) {
    let job = Job { token: TokenId(0), ..job(city, client, json!({}), at) };
    let jobs = service.store.jobs();
    jobs.add(&job).await.unwrap();
    jobs.claim("worker", clock::now(), clock::now() + time::Duration::MINUTE, 1).await.unwrap();
    jobs.end("worker", job.id, Ok(&json!({})), at).await.unwrap();
}

/// The number of rows of each table.
async fn counts(service: &Service) -> Vec<i64> {
    let mut counts = Vec::new();
    for (_, table) in SETTINGS {
        counts.push(service.database.number(&format!("SELECT count(*) AS number FROM {table}")).await);
    }
    counts
}

/// Starts a server with these settings, and checks the numbers of rows that it leaves.
async fn leaves(service: &mut Service, days: &str, expected: &[i64]) {
    service.restart_with(&SETTINGS.map(|(setting, _)| (setting, days))).await;
    let begun = Instant::now();
    while counts(service).await != expected && begun.elapsed() < TIMEOUT {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The next batches are removed after 100 ms.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(counts(service).await, expected, "{days} days");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_setting_removes_the_rows_that_are_older_and_keeps_the_others() {
    let for_ever = SETTINGS.map(|(setting, _)| (setting, "0"));
    for mut service in Service::on_both_engines_with(CITIES, &for_ever).await {
        let before = counts(&service).await;
        let city = OrganizationId(service.id("organization", "city"));
        let (client, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let times = [5, 2].map(|days| clock::now() - time::Duration::days(days));
        for at in times {
            add_rows(&service, city, at).await;
        }
        while service.store.outbox().has_unrelayed().await.unwrap() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        service.end().await;
        for at in times {
            add_ended_job(&service, city, client, at).await;
        }
        let plus = |rows: i64| before.iter().map(|count| count + rows).collect::<Vec<_>>();
        assert_eq!(counts(&service).await, plus(2), "for ever");
        leaves(&mut service, "3", &plus(1)).await;
        leaves(&mut service, "1", &before).await;
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn access_tokens_are_kept_for_a_week_after_their_end() {
    for mut service in Service::on_both_engines().await {
        let city = OrganizationId(service.id("organization", "city"));
        let (client, _) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        let count = "SELECT count(*) AS number FROM access_tokens";
        service.end().await;
        let before = service.database.number(count).await;
        for days in [6, 8] {
            let at = clock::now() - time::Duration::days(days);
            let token = AccessToken {
                organization: city,
                client,
                user: None,
                digest: Secret::new(at.to_string()).digest(),
                scope: "public".to_owned(),
                issued_at: at,
                expires_at: at,
                revoked_at: None,
            };
            service.database.store.tokens().add(&token).await.unwrap();
        }
        service.restart_with(&[]).await;
        let begun = Instant::now();
        while service.database.number(count).await != before + 1 && begun.elapsed() < TIMEOUT {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The next batches are removed after 100 ms.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(service.database.number(count).await, before + 1);
        service.stop().await;
    }
}
