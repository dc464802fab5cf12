//! Requests of OAuth libraries: credentials in HTTP Basic, no scope, a token in the query (contract 02 §2, §4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_accounts::Secret;
use civitas_tests::service::{Answer, BASE, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const GRANT: &str = "grant_type=client_credentials&scope=public";

async fn as_form(client: &Client, path: &str, basic: &str, body: &str) -> Answer {
    let basic = format!("Basic {}", STANDARD.encode(basic));
    client.raw(Method::POST, path, &[FORM, ("authorization", &basic)], Some(body.into())).await
}

/// Gives a client another id and another secret.
async fn rename(service: &Service, uid: &str, secret: &str) {
    let clients = service.store.clients();
    let (id, mut client) = clients.find_by_uid("id_city_full").await.unwrap().unwrap();
    uid.clone_into(&mut client.uid);
    client.secret = Secret::new(secret).digest();
    clients.save(id, &client).await.unwrap();
}

#[tokio::test]
async fn a_secret_in_http_basic_is_read_as_it_came_and_form_decoded() {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    for service in Service::on_both_engines().await {
        let (city, token) = (service.anonymous(), service.user("norablum").await.token.unwrap());
        for (number, secret) in ["aB3+/x9=", "a&b=c", "%41%zz", "p q:r", "clé"].into_iter().enumerate() {
            rename(&service, "id_city_full", secret).await;
            for sent in [secret.to_owned(), encoded(secret)] {
                let basic = format!("id_city_full:{sent}");
                as_form(&city, "/oauth/token", &basic, GRANT).await.is(200);
                let form = format!("token={token}");
                let found = as_form(&city, &format!("{BASE}/oauth/introspect"), &basic, &form).await;
                assert_eq!(found.is(200).body["active"], json!(true), "{sent}");
            }
            let begin = &secret[..number.clamp(1, 2)];
            for wrong in [begin, "", "A", &format!("{secret}x"), &encoded(&encoded(secret))] {
                let wrong = as_form(&city, "/oauth/token", &format!("id_city_full:{wrong}"), GRANT).await;
                assert_eq!(wrong.is(401).body["error"], "invalid_client");
            }
        }
        let basic = format!("id_city_full:{}", encoded("clé"));
        as_form(&city, "/oauth/revoke", &basic, &format!("token={token}")).await.is(200);
        city.bearing(&token).get("/proposals").await.is(401);
    }
}

#[tokio::test]
async fn an_id_in_http_basic_is_read_as_it_came_and_form_decoded() {
    for service in Service::on_both_engines().await {
        rename(&service, "app+one%41", "key").await;
        for basic in ["app+one%41:key", "app%2Bone%2541:key"] {
            as_form(&service.anonymous(), "/oauth/token", basic, GRANT).await.is(200);
        }
        for basic in ["app one%41:key", "app+oneA:key", "app+one%41", "app%00:key", ":key", ":"] {
            as_form(&service.anonymous(), "/oauth/token", basic, GRANT).await.is(401);
        }
    }
}

#[tokio::test]
async fn a_token_request_without_a_scope_is_one_for_public() {
    for service in Service::on_both_engines().await {
        let city = service.anonymous();
        for form in ["", "&scope", "&scope=", "&scope=+"] {
            let body = format!("grant_type=client_credentials{form}");
            let answer = as_form(&city, "/oauth/token", "id_city_full:key_city_full", &body).await.is(200);
            assert_eq!(answer.body["scope"], "public", "{form}");
        }
        let user = json!({"grant_type": "password", "auth_type": "impersonate", "username": "norablum",
            "client_id": "id_city_full", "client_secret": "key_city_full"});
        let issued = city.post("/oauth/token", &user).await.is(200);
        assert_eq!(issued.body["scope"], "public");
        let (id, mut client) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        client.scopes = civitas_kernel::Scopes::read("proposals oauth");
        service.store.clients().save(id, &client).await.unwrap();
        assert_eq!(city.post("/oauth/token", &user).await.is(400).body["error"], "invalid_scope");
    }
}

#[tokio::test]
async fn a_token_in_the_query_is_revoked_and_a_request_without_one_is_an_error() {
    for service in Service::on_both_engines().await {
        let city = service.anonymous();
        for path in ["/oauth/revoke".to_owned(), format!("{BASE}/oauth/revoke")] {
            let nora = service.user("norablum").await;
            let token = nora.token.clone().unwrap();
            for (query, body) in [("", ""), ("", "token="), ("?token=", ""), ("?token=+", "token=%20")] {
                let missing =
                    as_form(&city, &format!("{path}{query}"), "id_city_full:key_city_full", body).await;
                assert_eq!(missing.is(400).body["error"], "invalid_request", "{query} {body}");
            }
            let empty = city.raw(Method::POST, &path, &[], None).await.is(400);
            assert_eq!(empty.body["error"], Value::from("invalid_request"), "no body at all");
            let query = format!("{path}?token={token}");
            as_form(&city, &query, "id_city_full:wrong", "").await.is(403);
            nora.get("/proposals").await.is(200);
            as_form(&city, &query, "id_city_full:key_city_full", "token=another").await.is(200);
            nora.get("/proposals").await.is(200);
            as_form(&city, &query, "id_city_full:key_city_full", "").await.is(200);
            nora.get("/proposals").await.is(401);
        }
    }
}
