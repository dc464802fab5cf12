//! What changes accounts and the sign-in of administrators needs the own password (contract 04 §1).

use civitas_accounts::Secret;
use civitas_kernel::{AdministratorId, clock};
use civitas_tests::Service;
use civitas_tests::panel::{CONFIRMATION, EMAIL, PASSWORD, PanelClient, SESSION_COOKIE, SIGN_IN};

const OTHER: &str = "omar@riverton.example";
const ACCOUNT: &str = "/system/account";

/// A server on each engine, with two administrators; the first has signed in without more.
async fn signed_in() -> Vec<(Service, PanelClient, AdministratorId)> {
    let mut all = Vec::new();
    for service in Service::on_both_engines().await {
        service.add_administrator(EMAIL, PASSWORD).await;
        let other = service.add_administrator(OTHER, PASSWORD).await;
        let thief = service.visitor();
        thief.sign_in(EMAIL, PASSWORD).await.is(302);
        all.push((service, thief, other));
    }
    all
}

async fn revision(service: &Service, id: AdministratorId) -> String {
    let found = service.store.administrators().find(id).await.unwrap().unwrap();
    civitas_kernel::records::revision_at(found.updated_at)
}

#[tokio::test]
async fn a_session_alone_changes_no_account_password_address_or_second_factor() {
    for (service, thief, other) in signed_in().await {
        let own = service.store.administrators().find_by_email(EMAIL).await.unwrap().unwrap().0;
        let state = async || {
            let store = service.store.administrators();
            (store.find(own).await.unwrap(), store.find(other).await.unwrap(), store.count().await.unwrap())
        };
        let before = state().await;
        for id in [own, other] {
            let (path, seen) = (format!("/system/admins/{id}"), revision(&service, id).await);
            let back = format!("{CONFIRMATION}?back=%2Fsystem%2Fadmins");
            for field in [
                ("admin[password]", "a password of a thief"),
                ("admin[email]", "thief@riverton.example"),
                ("admin[end_second_factor]", "1"),
            ] {
                thief.act("PUT", &path, &[field, ("revision", &seen)]).await.leads_to(&back);
            }
            thief.act("DELETE", &path, &[]).await.leads_to(&back);
            thief.act("POST", &format!("{path}/unlock"), &[]).await.leads_to(&back);
        }
        let new = [("admin[email]", "new@riverton.example"), ("admin[password]", "a password of a thief")];
        thief.act("POST", "/system/admins", &new).await.is(302);
        let password = [("new_password", "a password of a thief"), ("old_password", PASSWORD)];
        thief.act("POST", &format!("{ACCOUNT}/password"), &password).await.is(302);
        let answer = thief.act("POST", &format!("{ACCOUNT}/second_factor"), &[]).await;
        let answer = answer.leads_to(&format!("{CONFIRMATION}?back=%2Fsystem%2Faccount"));
        thief.follow(&answer).await.is(200).shows("Nothing was saved");
        thief.get(CONFIRMATION).await.is(200).lacks("Nothing was saved");
        // Its secret comes from a confirmed session.
        thief.act("POST", &format!("{ACCOUNT}/second_factor/confirm"), &[("code", "1")]).await.is(422);
        thief.act("DELETE", &format!("{ACCOUNT}/second_factor"), &[]).await.is(302);
        assert_eq!(state().await, before);
        // Other spellings of the same addresses.
        for path in ["/system/%61dmins", "/system/admins/", "/system/./admins"] {
            thief.act("POST", path, &new).await;
        }
        assert_eq!(state().await, before);
        thief.act("POST", &format!("{ACCOUNT}/preferences"), &[("theme", "dark")]).await.is(422);
        thief.get("/system/admins").await.is(200);
        thief.get(ACCOUNT).await.is(200).lacks("New password").shows("Change password or second factor");
    }
}

#[tokio::test]
async fn the_password_opens_the_page_that_was_asked_for_and_holds_for_five_minutes() {
    for (service, panel, other) in signed_in().await {
        let edit = format!("/system/admins/{other}/edit");
        let asked = panel.get(&edit).await.is(302);
        let page = panel.follow(&asked).await.is(200);
        let form = page.forms().into_iter().find(|form| form.action.starts_with(CONFIRMATION)).unwrap();
        let refused = panel.send(&form.clone().set("password", "wrong")).await.is(422);
        refused.shows("The password or the code is not right.");
        panel.get(&edit).await.is(302);
        panel.send(&form.set("password", PASSWORD)).await.leads_to(&edit);
        let form = panel.get(&edit).await.is(200).form(&format!("/system/admins/{other}"));
        panel.send(&form.set("admin[password]", "another long password")).await.leads_to("/system/admins");

        let digest = Secret::new(panel.cookie(SESSION_COOKIE).unwrap()).digest();
        let now = clock::now();
        let sessions = service.store.panel_sessions();
        let minutes = async |minutes| {
            sessions.confirm(&digest, now - time::Duration::minutes(minutes)).await.unwrap();
            panel.get(&edit).await.status
        };
        assert_eq!((minutes(4).await, minutes(5).await), (200, 302));
        // No other site is led to.
        for bad in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2Fsystem%2F%2Fevil.example"] {
            let page = panel.get(&format!("{CONFIRMATION}?back={bad}")).await.is(200);
            let form = page.forms().into_iter().find(|form| form.action.starts_with(CONFIRMATION)).unwrap();
            panel.send(&form.set("password", PASSWORD)).await.leads_to(ACCOUNT);
        }
    }
}

#[tokio::test]
async fn wrong_passwords_in_a_session_count_as_failed_sign_ins_and_end_it_at_the_limit() {
    for (service, thief, _) in signed_in().await {
        for _ in 0..19 {
            thief.confirm("wrong").await.is(422);
        }
        thief.get("/system").await.is(200);
        thief.confirm("wrong").await.leads_to(SIGN_IN);
        thief.get("/system").await.leads_to(SIGN_IN);
        service.visitor().sign_in(EMAIL, PASSWORD).await.is(422);
        let owner = service.visitor();
        owner.sign_in(OTHER, PASSWORD).await.is(302);
        owner.get("/system/admins").await.is(200).shows("Locked");
        owner.get("/system/audit_log").await.is(200).shows("Sign-in refused");
    }
}

#[tokio::test]
async fn a_form_for_keys_needs_its_token_first() {
    for (_service, thief, _) in signed_in().await {
        for path in ["/system/admins", CONFIRMATION, "/system/account/password"] {
            thief.post(path, b"password=x".to_vec()).await.is(403);
        }
    }
}
