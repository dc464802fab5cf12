//! Lanes: a service that does not answer delays its own tasks alone.

use civitas_accounts::{MailKind, SendInvitation, SendMail};
use civitas_kernel::{NewTask, OrganizationId, UserId, clock};
use civitas_tests::NameServer;
use civitas_tests::mail_server::SilentServer;
use civitas_tests::service::{CITIES, SYSTEM_CLIENTS, Service};
use serde_json::json;
use std::time::{Duration, Instant};

/// The mails that wait: many more than are sent at once.
const MAILS: i64 = 100;

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_checked_while_the_mail_server_is_silent() {
    let (silent, names) = (SilentServer::open().await, NameServer::start().await);
    names.name("new.example.test", "192.0.2.1");
    let (mails, server) = (silent.url(), names.address.to_string());
    let settings = [
        ("smtp_url", mails.as_str()),
        ("mail_from", "no-reply@city.example"),
        ("dns_server", server.as_str()),
        ("loadbalancer_ips", "192.0.2.1"),
    ];
    for service in Service::on_both_engines_with(&format!("{CITIES}{SYSTEM_CLIENTS}"), &settings).await {
        let city = service.id("organization", "city");
        let user = UserId(service.id("user", "norablum"));
        let before = silent.accepted();
        for _ in 0..MAILS {
            let mail = SendMail { mail: MailKind::Welcome, user };
            let task = NewTask::new(OrganizationId(city), &mail, clock::now()).unwrap();
            service.store.queue().add(&task).await.unwrap();
        }
        let started = Instant::now();
        while silent.accepted() == before {
            assert!(started.elapsed() < Duration::from_secs(30), "no mail is sent");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let system = service.anonymous().of_system("city_system").await;
        let body = json!({"data": {"host": "new.example.test"}});
        system.put(&format!("/organizations/{city}/sync"), &body).await.is(200);
        let started = Instant::now();
        loop {
            let found = service.store.organizations().find(OrganizationId(city)).await.unwrap().unwrap();
            if found.host == "new.example.test" {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "the host is not checked");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(silent.accepted() - before < usize::try_from(MAILS).unwrap(), "mails still wait");
    }
}

/// A pending invitation, to be added to the cities.
const GUEST: &str = r#"{"type": "role", "ref": "guest", "organization": "city", "email": "guest@guests.example", "kind": "space_moderator", "space": "streets", "invited_at": "2026-03-01T09:00:00Z"}"#;

/// Waits until this many connections were accepted since `before`.
async fn accepts(silent: &SilentServer, before: usize, number: usize) {
    let started = Instant::now();
    while silent.accepted() - before < number {
        assert!(started.elapsed() < Duration::from_secs(30), "{} connections", silent.accepted() - before);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_invitations_leave_room_for_mails() {
    let silent = SilentServer::open().await;
    let url = silent.url();
    let settings = [("smtp_url", url.as_str()), ("mail_from", "no-reply@city.example")];
    for service in Service::on_both_engines_with(&format!("{CITIES}{GUEST}\n"), &settings).await {
        let city = OrganizationId(service.id("organization", "city"));
        let (role, user) = (service.id("role", "guest"), UserId(service.id("user", "norablum")));
        let before = silent.accepted();
        for _ in 0..MAILS {
            let task = NewTask::new(city, &SendInvitation { role }, clock::now()).unwrap();
            service.store.queue().add(&task).await.unwrap();
        }
        accepts(&silent, before, 2).await;
        let mail = SendMail { mail: MailKind::Welcome, user };
        let task = NewTask::new(city, &mail, clock::now()).unwrap();
        service.store.queue().add(&task).await.unwrap();
        accepts(&silent, before, 3).await;
        assert_eq!(silent.accepted() - before, 3, "two invitations at once, and the mail");
    }
}
