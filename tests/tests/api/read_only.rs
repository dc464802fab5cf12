//! The setting `read_only`: reads are served, writes answer 503 with `Retry-After`, and tokens are issued.

use civitas_accounts::User;
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, UserId};
use civitas_tests::panel::{EMAIL, PASSWORD, SESSION_COOKIE, SIGN_IN};
use civitas_tests::service::{Answer, Service};
use civitas_tests::{CITIES, commit};
use reqwest::Method;
use serde_json::{Value, json};

const READ_ONLY: [(&str, &str); 1] = [("read_only", "true")];

fn refused(answer: Answer) {
    let answer = answer.refuses(503, "Service is read-only");
    assert_eq!(answer.body["error"], "503: Service unavailable");
    assert_eq!(answer.header("retry-after"), "60");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_deployment_serves_reads_and_refuses_writes() {
    for service in Service::on_both_engines_with(CITIES, &READ_ONLY).await {
        let nora = service.user("norablum").await;
        nora.get("/proposals").await.is(200);
        nora.post("/oauth/introspect", &json!({"token": nora.token})).await.is(200);
        let body = json!({"object_path": "k", "data": 1});
        refused(nora.put("/me/extended_data", &body).await);
        refused(nora.put("/me/extended_data/sync", &body).await);
        refused(nora.get("/me/magic_links/anything").await);
        refused(nora.delete("/jobs/0191a1b2-0000-7000-8000-000000000000").await);
        refused(nora.raw(Method::GET, "/confirmation/anything", &[], None).await);
        nora.get("/me/extended_data?object_path=k").await.is(200);
        let job = service.database.count("jobs", "true").await;
        assert_eq!(job, 0, "nothing was stored");
    }
}

fn token_request(of: &Value) -> Value {
    let mut request =
        json!({"scope": "public", "client_id": "id_city_full", "client_secret": "key_city_full"});
    for (name, value) in of.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_issued_and_revoked_for_accounts_as_they_are() {
    for service in Service::on_both_engines_with(CITIES, &READ_ONLY).await {
        let client = service.anonymous();
        let ask = async |of: Value| client.post("/oauth/token", &token_request(&of)).await;
        ask(json!({"grant_type": "client_credentials"})).await.is(200);
        let impersonate = |username: &str, more: Value| {
            let mut of = json!({"grant_type": "password", "auth_type": "impersonate", "username": username});
            for (name, value) in more.as_object().into_iter().flatten() {
                of[name] = value.clone();
            }
            of
        };
        let missing = json!({"meta": {"register_on_missing": true}});
        ask(impersonate("norablum", missing.clone())).await.is(200);
        refused(ask(impersonate("newcomer", missing)).await);
        refused(ask(impersonate("norablum", json!({"extra": {"of": "a test"}}))).await);
        assert_eq!(service.database.count("users", "nickname = 'newcomer'").await, 0);
        assert_eq!(service.database.count("jobs", "true").await, 0);

        let city = OrganizationId(service.id("organization", "city"));
        let id = UserId(service.id("user", "withpass"));
        let stored = async || service.store.users().find(city, id).await.unwrap().unwrap();
        let before = stored().await;
        // Of `correct horse`.
        let hash = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";
        let imported = User { password_hash: Some(hash.to_owned()), ..before.clone() };
        let change = Change::new(before, imported.clone());
        commit(&*service.store, async |tx| tx.users().save(city, id, &change).await).await.unwrap();
        let login = json!({"grant_type": "password", "auth_type": "login", "username": "withpassword",
            "password": "correct horse"});
        let token = ask(login).await.is(200).body["access_token"].as_str().unwrap().to_owned();
        assert_eq!(stored().await, imported, "the hash stays");
        let bearing = client.bearing(&token);
        bearing.get("/spaces/search").await.is(200);
        let revoked = json!({"token": token, "client_id": "id_city_full", "client_secret": "key_city_full"});
        client.post("/oauth/revoke", &revoked).await.is(200);
        bearing.get("/spaces/search").await.is(401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_sign_in_and_out_and_every_page_says_that_nothing_can_be_changed() {
    for service in Service::on_both_engines_with(CITIES, &READ_ONLY).await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let panel = service.visitor();
        panel.sign_in(EMAIL, PASSWORD).await.leads_to("/system");
        let sentence = "This platform is read-only at the moment: nothing can be changed.";
        panel.get("/system").await.is(200).shows(sentence);
        let posts = format!("/system/organizations/{}/posts", service.id("organization", "city"));
        let page = format!("{posts}/new?in={}", service.id("component", "news"));
        let form = panel.get(&page).await.is(200).shows(sentence).form(&posts);
        let sent = form.set("post[title][en]", "Works").set("post[body][en]", "From Monday on.");
        let answer = panel.send(&sent).await.is(503).shows(sentence).shows("Nothing was stored.");
        assert_eq!(answer.header("retry-after"), "60");
        panel.get(&posts).await.is(200).lacks("Works");
        let opened = service.database.count("administrators", "organization_id IS NOT NULL").await;
        assert_eq!(opened, 0, "a page that is read stores nothing");
        panel.act("DELETE", "/system/admins/sign_out", &[]).await.leads_to(SIGN_IN);
        assert!(panel.cookie(SESSION_COOKIE).is_none_or(|session| session.is_empty()));
        panel.get("/system").await.leads_to(SIGN_IN);
    }
}
