//! `civitas api-client` (contract 04 §4).

use crate::command_line::city::City;
use serde_json::{Value, json};
use std::fs;

#[tokio::test]
async fn a_client_is_made_with_what_was_asked_and_its_secret_is_shown_once() {
    let city = City::with_organizations().await;
    let made = city
        .run(&["api-client", "create", "--scope", "public", "--scope", "blogs", "--scope", "public"])
        .await;
    assert_eq!(made.json()["error"], "Error: --organization-id is required for non-system clients");
    let words = [
        "create",
        "--scope",
        "blogs",
        "--scope",
        "public",
        "--organization-id",
        "2",
        "--perm",
        "blogs.read",
        "--permission",
        "user.created",
        "--allow-login",
    ];
    assert_eq!(
        city.refusal(&[&words[..], &["--id", "my-client"]].concat()).await,
        "Error: can not grant permission user.created to client my-client, wrong scope"
    );
    let words = [&words[..9], &["--allow-impersonate", "--allow-login", "--id", "my-client"]].concat();
    let said = city.run(&[&["api-client"], &words[..]].concat()).await.done();
    let made = said.json();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("key_") && secret.len() == 36, "{secret}");
    let line = format!(
        "{{\"id\":\"my-client\",\"secret\":\"{secret}\",\"name\":\"API Client ***ient\",\"scopes\":[\"public\",\"blogs\"],\
         \"permissions\":[\"oauth.impersonate\",\"oauth.login\",\"blogs.read\"],\"organization_id\":2}}\n"
    );
    assert_eq!(said.out, line);
    let seen = city.client(&["get", "--id", "my-client"]).await;
    assert!(seen["secret"].is_null());
    assert_eq!(seen["scopes"], made["scopes"]);
    let found = fs::read(city.path().join("data/civitas.db")).unwrap();
    assert!(!found.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "only the digest is kept");
}

#[tokio::test]
async fn defaults_of_a_client_are_random_and_a_system_client_needs_no_organization() {
    let city = City::with_organizations().await;
    let made = city.client(&["create", "--scope", "system"]).await;
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("id_") && id.len() == 19, "{id}");
    assert_eq!(made["name"], format!("API Client ***{}", &id[15..]));
    assert!(made["organization_id"].is_null());
    assert_eq!(made["permissions"], json!([]));
    let chosen = city
        .client(&[
            "create",
            "--scope",
            "system",
            "--secret",
            "my own secret",
            "--name",
            "Ops",
            "--id",
            "ops-client",
        ])
        .await;
    assert_eq!((&chosen["secret"], &chosen["name"]), (&"my own secret".into(), &"Ops".into()));
    let all = city.run(&["api-client", "get"]).await.done();
    let ids: Vec<Value> =
        all.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [made["id"].clone(), "ops-client".into()]);
}

#[tokio::test]
async fn permissions_are_granted_and_revoked_at_any_time() {
    let city = City::with_organizations().await;
    city.client(&["create", "--scope", "proposals", "--organization-id", "1", "--id", "voting-app"]).await;
    let granted = city
        .client(&["grant", "--id", "voting-app", "--perm", "proposals.vote", "--perm", "oauth.login"])
        .await;
    assert_eq!(granted["permissions"], json!(["oauth.login", "proposals.vote"]));
    let event =
        city.client(&["grant", "--id", "voting-app", "--permission", "proposal_creation.succeeded"]).await;
    assert_eq!(event["permissions"].as_array().unwrap().len(), 3);
    assert_eq!(city.client(&["grant", "--id", "voting-app", "--perm", "proposals.vote"]).await, event);
    let refused = city
        .refusal(&["grant", "--id", "voting-app", "--perm", "proposals.read", "--perm", "blogs.read"])
        .await;
    assert_eq!(refused, "Error: can not grant permission blogs.read to client voting-app, wrong scope");
    assert_eq!(city.client(&["get", "--id", "voting-app"]).await, event, "nothing is changed");
    let revoked = city
        .client(&["revoke", "--id", "voting-app", "--perm", "proposals.vote", "--perm", "blogs.read"])
        .await;
    assert_eq!(revoked["permissions"].as_array().unwrap().len(), 2);
    let gone = city.run(&["api-client", "delete", "--id", "voting-app"]).await.done();
    assert_eq!(gone.out, "{\"deleted\":true,\"id\":\"voting-app\"}\n");
    assert_eq!(city.run(&["api-client", "get"]).await.done().out, "");
}

#[tokio::test]
async fn every_fault_of_api_client_has_its_words() {
    let city = City::with_organizations().await;
    city.client(&["create", "--scope", "system", "--id", "taken-client"]).await;
    let faults: [(&[&str], &str); 14] = [
        (&["create"], "Error: at least one --scope is required"),
        (
            &["create", "--scope", "system", "--id", "taken-client"],
            "Error: client with ID taken-client already exists",
        ),
        (
            &["create", "--scope", "system", "--scope", "public"],
            "Error: --organization-id is required for non-system clients",
        ),
        (
            &["create", "--scope", "public", "--organization-id", "99"],
            "Error: organization with ID 99 does not exist",
        ),
        (&["create", "--scope", "ecosystem", "--organization-id", "1"], "Error: unknown scope ecosystem"),
        (&["grant", "--perm", "oauth.login"], "Error: --id is required for grant command"),
        (&["revoke", "--perm", "oauth.login"], "Error: --id is required for revoke command"),
        (&["delete"], "Error: --id is required"),
        (&["get", "--id", "nobody-here"], "Error: client with ID nobody-here does not exist"),
        (
            &["grant", "--id", "nobody-here", "--perm", "oauth.login"],
            "Error: client with ID nobody-here does not exist",
        ),
        (
            &["revoke", "--id", "nobody-here", "--perm", "oauth.login"],
            "Error: client with ID nobody-here does not exist",
        ),
        (&["delete", "--id", "nobody-here"], "Error: client with ID nobody-here does not exist"),
        (&["grant", "--id", "taken-client"], "Error: at least one --permission is required"),
        (&["revoke", "--id", "taken-client"], "Error: at least one --permission is required"),
    ];
    for (words, text) in faults {
        assert_eq!(city.refusal(words).await, text, "{words:?}");
    }
    for words in [
        &["create", "--scope", "system", "--id", "short"][..],
        &["create", "--scope"],
        &["create", "--color", "red"],
        &["get", "--format", "xml"],
        &["create", "--scope", "public", "--organization-id", "one"],
    ] {
        let text = city.refusal(words).await;
        assert!(text.starts_with("Error: ") && !text.contains('\n'), "{words:?}: {text}");
    }
}

#[tokio::test]
async fn usage_of_api_client_is_an_answer_and_an_unknown_command_is_not() {
    let city = City::unmigrated();
    for words in
        [&["api-client"][..], &["api-client", "help"], &["api-client", "-h"], &["api-client", "--help"]]
    {
        let said = city.run(words).await.done();
        for command in ["create", "get", "grant", "revoke", "delete"] {
            assert!(said.out.contains(command), "{words:?}: {}", said.out);
        }
    }
    assert!(city.run(&["api-client", "create", "--help"]).await.done().out.contains("--allow-impersonate"));
    let unknown = city.run(&["api-client", "conquer", "--id", "x"]).await;
    assert_eq!((unknown.code, unknown.err.as_str()), (1, ""));
    assert!(
        unknown.out.contains("Usage:") && unknown.out.ends_with("Unknown command: conquer\n"),
        "{}",
        unknown.out
    );
}

#[tokio::test]
async fn text_is_for_people() {
    let city = City::with_organizations().await;
    let words = ["api-client", "create", "--scope", "blogs", "--scope", "public", "--organization-id", "1"];
    let more = ["--id", "text-client", "--secret", "quiet", "--perm", "blogs.read", "--format", "text"];
    let made = city.run(&[&words[..], &more].concat()).await.done();
    let text = "\nid=text-client\nsecret=quiet\nname=API Client ***ient\nscopes=public,blogs\npermissions=blogs.read\norganization_id=1\n";
    assert_eq!(made.out, text);
    let fault = city.run(&["api-client", "delete", "--format", "text"]).await;
    assert_eq!((fault.code, fault.out.as_str()), (1, "\n\u{1b}[31mError: --id is required\u{1b}[0m\n"));
    let wrong = city.run(&["api-client", "get", "--color", "--format=text"]).await;
    assert!(
        wrong.code == 1 && wrong.out.starts_with("\n\u{1b}[31mError: unexpected argument"),
        "{}",
        wrong.out
    );
    let gone = city.run(&["api-client", "delete", "--id", "text-client", "--format", "text"]).await.done();
    assert_eq!(gone.out, "\ndeleted id=text-client\n");
}
