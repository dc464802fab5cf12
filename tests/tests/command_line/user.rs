//! `civitas user`.

use crate::command_line::city::City;
use civitas_accounts::login_failures::{LoginKey, name_digest};
use civitas_kernel::{UserId, clock};
use serde_json::Value;
use time::Duration;

/// Adds the account `AdaMartin` to the organization with this host.
async fn add_ada(city: &City, host: &str) -> UserId {
    let line = format!(
        r#"{{"type":"user","ref":"ada","organization":"{host}","nickname":"AdaMartin","email":"ada@example.org","name":"Ada"}}"#
    );
    city.type_in(&["import", "-"], &line).await.done();
    let store = city.store().await;
    let organization = store.organizations().find_by_host(host).await.unwrap().unwrap();
    store.users().find_by_nickname(organization, "adamartin").await.unwrap().unwrap().0
}

async fn entries(city: &City) -> Vec<(String, String)> {
    let listed = city.run(&["audit", "list", "--organization", "a.example"]).await.done();
    let entries = listed.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries.map(|entry| (text(&entry["action"]), text(&entry["actor"]["name"]))).collect()
}

#[tokio::test]
async fn an_account_is_blocked_and_locked_with_an_entry_of_the_audit_trail_each() {
    let city = City::with_organizations().await;
    let store = city.store().await;
    let organization = store.organizations().find_by_host("a.example").await.unwrap().unwrap();
    let id = add_ada(&city, "a.example").await;
    let before = entries(&city).await.len();
    let state = async || {
        let user = store.users().find(organization, id).await.unwrap().unwrap();
        (user.blocked_at.is_some(), user.locked_at.is_some())
    };
    for (act, out, expected) in [
        ("block", "adamartin is blocked\n", (true, false)),
        ("block", "adamartin is blocked, as before\n", (true, false)),
        ("lock", "adamartin is locked\n", (true, true)),
        ("unblock", "adamartin is not blocked\n", (false, true)),
        ("unlock", "adamartin is not locked\n", (false, false)),
        ("unlock", "adamartin is not locked, as before\n", (false, false)),
    ] {
        let said = city.run(&["user", act, "--organization", "A.example", "adamartin"]).await.done();
        assert_eq!((said.out.as_str(), state().await), (out, expected), "{act}");
    }
    let mut written = entries(&city).await;
    written.truncate(written.len() - before);
    let expected = [
        ("user.unlocked", "civitas user unlock"),
        ("user.unblocked", "civitas user unblock"),
        ("user.locked", "civitas user lock"),
        ("user.blocked", "civitas user block"),
    ];
    assert_eq!(written, expected.map(|(action, actor)| (action.to_owned(), actor.to_owned())));
}

#[tokio::test]
async fn unlocking_opens_the_login_through_all_clients() {
    let city = City::with_organizations().await;
    let store = city.store().await;
    let organization = store.organizations().find_by_host("a.example").await.unwrap().unwrap();
    add_ada(&city, "a.example").await;
    city.client(&["create", "--scope", "public", "--organization-id", "1", "--id", "first-client"]).await;
    city.client(&["create", "--scope", "public", "--organization-id", "1", "--id", "second-client"]).await;
    let now = clock::now();
    for uid in ["first-client", "second-client"] {
        let (client, _) = store.clients().find_by_uid(uid).await.unwrap().unwrap();
        let key = LoginKey::new(organization, client, "adamartin");
        for _ in 0..20 {
            store.login_failures().count(&key, now + Duration::HOUR, now).await.unwrap();
        }
    }
    let locks =
        async || store.login_failures().locks(organization, &name_digest("adamartin"), now).await.unwrap();
    assert_eq!(locks().await.len(), 2);
    let said = city.run(&["user", "unlock", "--organization", "a.example", "AdaMartin"]).await.done();
    assert_eq!((said.out.as_str(), locks().await.len()), ("AdaMartin is not locked\n", 0));
    assert_eq!(entries(&city).await[0].0, "user.unlocked");
}

#[tokio::test]
async fn who_is_not_there_cannot_be_blocked() {
    let city = City::with_organizations().await;
    add_ada(&city, "b.example").await;
    let said = city.run(&["user", "block", "--organization", "a.example", "AdaMartin"]).await;
    assert_eq!((said.code, said.err.as_str()), (1, "civitas: a.example has no account \"AdaMartin\"\n"));
    let said = city.run(&["user", "block", "--organization", "nowhere.example", "AdaMartin"]).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(city.run(&["user", "block", "AdaMartin"]).await.code, 2);
}
