//! The mail queue, the health of the server, and the replay of many deliveries.

use super::panels;
use civitas_accounts::{MailKind, SendMail};
use civitas_kernel::{NewTask, UserId, clock};
use civitas_tests::Service;
use civitas_tests::panel::PanelClient;
use serde_json::json;
use std::time::Duration;

const MAILS: &str = "/system/mails";
const DELIVERIES: &str = "/system/webhook_deliveries";

/// Waits until a page has this text, or has it no more.
async fn until(panel: &PanelClient, path: &str, text: &str, has: bool) {
    for _ in 0..300 {
        if panel.get(path).await.is(200).content().contains(text) == has {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path}: {text}")
}

/// A mail that failed once and waits for an hour.
async fn failed_mail(service: &Service) -> i64 {
    let user = service.id("user", "member_one");
    let send = SendMail { mail: MailKind::Welcome, user: UserId(user) };
    let now = clock::now();
    let hour = time::Duration::HOUR;
    let task = NewTask {
        organization: civitas_kernel::OrganizationId(service.id("organization", "city")),
        kind: "mail",
        subject: Some(send.subject()),
        payload: json!(send),
        due_at: now + hour,
    };
    service.store.queue().add(&task).await.unwrap();
    let claimed = service.store.tasks().claim(&["mail"], now + hour, now + 2 * hour, 9).await.unwrap();
    for task in &claimed {
        assert!(service.store.tasks().postpone(task, now + hour, true).await.unwrap());
    }
    user
}

#[tokio::test]
async fn mails_that_failed_are_shown_without_their_text_and_sent_again_at_once() {
    for (service, panel) in panels().await {
        panel.get(MAILS).await.is(200).shows("No mail waits");
        let user = failed_mail(&service).await;
        let list = panel.get(&format!("{MAILS}?state=retried")).await.is(200);
        let list = list.shows("Welcome").shows("Failed, tried again").shows(&format!("to account {user}"));
        let links = panel.get("/system").await.is(200).attributes("a", "href");
        assert!(links.contains(&format!("{MAILS}?state=retried")), "{links:?}");
        let sent = panel.send(&list.form(&format!("{MAILS}/retry"))).await.leads_to(MAILS);
        panel.follow(&sent).await.is(200).shows("1 mail is sent now.");
        until(&panel, MAILS, "No mail waits", true).await;
        panel.get("/system/audit_log").await.is(200).shows("Mails tried again");
        let again = panel.act("POST", &format!("{MAILS}/retry"), &[]).await.leads_to(MAILS);
        panel.follow(&again).await.is(200).shows("No mail waited for another attempt.");
    }
}

#[tokio::test]
async fn the_health_of_the_server_is_shown_as_the_doctor_finds_it() {
    for (service, panel) in panels().await {
        let page = panel.get("/system/storage").await.is(200);
        let page = page.shows("Tables of the database").shows("it is up to date").shows("secret key");
        let page = page.shows("webhook_requests -/20/100/");
        let engine = match service.engine {
            civitas_tests::Engine::Sqlite => "SQLite answers",
            civitas_tests::Engine::Postgres => "PostgreSQL answers",
        };
        page.shows(engine).shows("Size of the database").shows("mails are logged without their links");
    }
}

#[tokio::test]
async fn the_page_of_shares_has_their_limits_and_what_organizations_use() {
    for (service, panel) in panels().await {
        let empty = panel.get("/system/shares").await.is(200).shows("No organization uses a share now");
        empty.shows("kept_answers").shows("1.1 GB").shows("4.3 GB");
        let upload_request =
            json!({"filename": "a.txt", "byte_size": 4_000, "checksum": "b1kCrCNwJL3QwXbLkwY9xA=="});
        service.machine().await.post("/attachments/direct_upload", &upload_request).await.is(201);
        let page = panel.get("/system/shares").await.is(200).shows("4.0 KB");
        let city = super::city(&service);
        let town = format!("/system/organizations/{}", service.id_in("town", "organization", "town"));
        let links = page.attributes("a", "href");
        assert!(links.contains(&city) && !links.contains(&town), "{links:?}");
    }
}

#[tokio::test]
async fn deliveries_that_were_given_up_are_sent_again_together() {
    for (service, panel) in panels().await {
        let attributes = json!({"url": "https://hooks.client.example/civic",
            "subscriptions": ["proposal_creation.succeeded"]});
        let body = json!({"data": {"attributes": attributes}});
        let created = service.machine().await.post("/webhook_registrations", &body).await.is(201);
        let id = created.data()["id"].as_str().unwrap().to_owned();
        let test = format!("/system/webhook_registrations/{id}/test");
        panel.act("POST", &test, &[]).await.is(302);
        let dead = format!("{DELIVERIES}?registration={id}&status=dead");
        until(&panel, &dead, "No deliveries", false).await;

        panel.get(&format!("{DELIVERIES}?status=dead")).await.is(200).lacks("Send these again");
        let replay = format!("{DELIVERIES}/replay?registration={id}&status=dead");
        let links = panel.get(&dead).await.is(200).shows("Send these again").attributes("a", "href");
        assert!(links.contains(&replay), "{links:?}");
        let asked = panel.get(&replay).await.is(200).shows("1 delivery is sent again.");
        let sent = panel.send(&asked.form(&replay)).await.is(302);
        panel.follow(&sent).await.is(200).shows("1 delivery is queued again.");
        panel
            .get("/system/audit_log")
            .await
            .is(200)
            .shows("Deliveries sent again")
            .shows("hooks.client.example");

        let range = format!("{DELIVERIES}/replay?registration={id}&from=2020-01-01T00%3A00");
        panel.get(&range).await.is(200);
        for unclear in ["", "?status=dead", &format!("?registration={id}")[..]] {
            panel.get(&format!("{DELIVERIES}/replay{unclear}")).await.is(404);
            panel.act("POST", &format!("{DELIVERIES}/replay{unclear}"), &[]).await.is(404);
        }
        let other = format!("{DELIVERIES}/replay?registration=999999&status=dead");
        panel.act("POST", &other, &[]).await.is(404);
    }
}
