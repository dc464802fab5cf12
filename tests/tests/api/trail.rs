//! What the audit trail has of clients: tokens and links for general administrators, registrations, deleted responses.

use civitas_audit::{Action, Actor, AuditEntry, AuditFilter};
use civitas_kernel::PageRequest;
use civitas_tests::Service;
use serde_json::{Value, json};

/// The entries with this action, the oldest first.
async fn entries(service: &Service, action: Action) -> Vec<AuditEntry> {
    let filter = AuditFilter { action: Some(action), ..AuditFilter::default() };
    let page = PageRequest::new(1, PageRequest::MAX_LENGTH);
    let mut items = service.store.audit().list(&filter, page).await.unwrap().items;
    items.reverse();
    items
}

/// The client, the user it acted for, and kind and id of the object.
fn parts(entry: &AuditEntry) -> (&str, Option<i64>, &str, &str) {
    let Actor::Client { uid, user, .. } = &entry.actor else { panic!("{entry:?}") };
    let object = entry.object.as_ref().unwrap();
    (uid, user.as_ref().map(|(id, _)| id.0), &object.kind, &object.id)
}

#[tokio::test]
async fn a_general_administrator_who_is_impersonated_has_an_entry_a_minute_for_each_client() {
    for service in Service::on_both_engines().await {
        service.user("norablum").await;
        for _ in 0..3 {
            service.user("maryadmin").await;
            service.user_through("city", "second", "maryadmin").await;
        }
        let mary = service.id("user", "maryadmin");
        let id = mary.to_string();
        let found = entries(&service, Action::UserImpersonated).await;
        let found: Vec<_> = found.iter().map(parts).collect();
        let expected = ["id_city_full", "id_city_second"].map(|uid| (uid, Some(mary), "user", id.as_str()));
        assert_eq!(found, expected, "{:?}", service.engine);
    }
}

#[tokio::test]
async fn a_magic_link_has_an_entry_when_it_is_for_a_general_administrator() {
    for service in Service::on_both_engines().await {
        let (mary, nora) = (service.user("maryadmin").await, service.user("norablum").await);
        nora.post("/me/magic_links", &json!({})).await.is(201);
        let url = "https://city.test/?key=secret";
        mary.post("/me/magic_links", &json!({"data": {"redirect_url": url}})).await.is(201);
        mary.post("/me/magic_links", &json!({"data": {"redirect_url": "https://other.test/"}})).await.is(422);
        let mary = service.id("user", "maryadmin");
        let found = entries(&service, Action::MagicLinkCreated).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(parts(&found[0]), ("id_city_full", Some(mary), "user", mary.to_string().as_str()));
        assert!(found[0].changes.is_empty(), "the address may have a secret: {found:?}");
    }
}

#[tokio::test]
async fn an_account_that_a_client_registers_has_an_entry() {
    for service in Service::on_both_engines().await {
        let ask = |username: &str, meta: Value| {
            json!({"grant_type": "password", "auth_type": "impersonate", "username": username, "scope": "oauth",
                "client_id": "id_city_full", "client_secret": "key_city_full", "meta": meta})
        };
        for _ in 0..2 {
            let asked = ask("zora_wolff", json!({"register_on_missing": true}));
            service.anonymous().post("/oauth/token", &asked).await.is(200);
        }
        let refused = ask("zo", json!({"register_on_missing": true}));
        service.anonymous().post("/oauth/token", &refused).await.is(400);
        let found = entries(&service, Action::UserCreated).await;
        assert_eq!(found.len(), 1, "{:?}: {found:?}", service.engine);
        let (uid, user, kind, id) = parts(&found[0]);
        assert_eq!(
            (uid, user.map(|user| user.to_string()).as_deref(), kind),
            ("id_city_full", Some(id), "user")
        );
        assert_eq!(found[0].object.as_ref().unwrap().label, "zora_wolff");
    }
}

#[tokio::test]
async fn a_response_that_a_client_deletes_has_an_entry() {
    for service in super::forms::services().await {
        let machine = service.machine().await;
        let response = service.id("questionnaire_response", "r1").to_string();
        let path = format!("/questionnaire_responses/{response}");
        let job = machine.delete(&path).await.is(202);
        machine.finished(&job).await;
        machine.delete(&format!("{path}/sync")).await.is(404);
        let found = entries(&service, Action::ResponseDeleted).await;
        let found: Vec<_> = found.iter().map(parts).collect();
        assert_eq!(found, [("id_city_full", None, "questionnaire_response", response.as_str())]);
    }
}
