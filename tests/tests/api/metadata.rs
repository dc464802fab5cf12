//! Metadata of the token endpoints, and clients that authenticate with their own credentials (contract 02 §2.6, §3).

use civitas_tests::service::{BASE, Service};
use oauth2::basic::BasicClient;
use oauth2::{
    AccessToken, AuthType, ClientId, ClientSecret, ResourceOwnerPassword, ResourceOwnerUsername, Scope,
    TokenResponse, TokenUrl,
};
use reqwest::Method;
use serde_json::{Value, json};

const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

#[tokio::test]
async fn the_metadata_names_the_token_endpoints_of_the_host() {
    for service in Service::on_both_engines().await {
        let answer = service.anonymous().raw(Method::GET, WELL_KNOWN, &[], None).await.is(200);
        assert!(answer.header("cache-control").contains("max-age=3600"));
        assert!(answer.header("content-type").starts_with("application/json"));
        let found = &answer.body;
        assert_eq!(found["issuer"], "https://city.test");
        for (member, path) in [
            ("token_endpoint", "/oauth/token"),
            ("introspection_endpoint", "/oauth/introspect"),
            ("revocation_endpoint", "/oauth/revoke"),
        ] {
            assert_eq!(found[member], format!("https://city.test{path}"));
        }
        assert_eq!(found["grant_types_supported"], json!(["client_credentials", "password"]));
        assert_eq!(found["response_types_supported"], json!([]));
        assert!(found["scopes_supported"].as_array().unwrap().contains(&json!("proposals")));
        for kind in ["token", "introspection", "revocation"] {
            let methods = &found[format!("{kind}_endpoint_auth_methods_supported")];
            assert_eq!(*methods, json!(["client_secret_basic", "client_secret_post"]));
        }
        assert_eq!(found["service_documentation"], format!("https://city.test{BASE}/docs"));
        service.anonymous().raw(Method::HEAD, WELL_KNOWN, &[], None).await.is(200);
        service.at("town.test").raw(Method::GET, WELL_KNOWN, &[], None).await.is(200);
        service
            .at("nobody.test")
            .raw(Method::GET, WELL_KNOWN, &[], None)
            .await
            .refuses(404, "Resource not found");
    }
}

#[tokio::test]
async fn a_client_introspects_with_its_own_credentials() {
    for service in Service::on_both_engines().await {
        let (nora, anonymous) = (service.user("norablum").await, service.anonymous());
        let token = nora.token.clone().unwrap();
        let as_bearer = nora.post("/oauth/introspect", &json!({"token": token})).await.is(200).body;
        let body = |id: &str, secret: &str| json!({"token": token, "client_id": id, "client_secret": secret});
        let own = anonymous.post("/oauth/introspect", &body("id_city_full", "key_city_full")).await.is(200);
        assert_eq!(own.body, as_bearer);
        assert_eq!(own.body["active"], true);
        // `id_city_full:key_city_full`
        let basic = [
            ("authorization", "Basic aWRfY2l0eV9mdWxsOmtleV9jaXR5X2Z1bGw="),
            ("content-type", "application/json"),
        ];
        for path in ["/oauth/introspect".to_owned(), format!("{BASE}/oauth/introspect")] {
            let sent = json!({"token": token}).to_string().into_bytes();
            let seen = anonymous.raw(Method::POST, &path, &basic, Some(sent)).await.is(200);
            assert_eq!(seen.body, as_bearer);
        }
        let other = body("id_city_second", "key_city_second");
        let foreign = anonymous.post("/oauth/introspect", &other).await.is(200).body;
        assert_eq!(foreign, json!({"active": false}));
        for (id, secret) in [
            ("id_city_full", "wrong"),
            ("id_nobody", "key_city_full"),
            ("id_town_full", "key_town_full"),
            ("id_city_full", ""),
        ] {
            let refused = anonymous.post("/oauth/introspect", &body(id, secret)).await.is(401);
            assert_eq!(refused.body["error"], "invalid_client", "{id}");
            assert!(refused.header("www-authenticate").starts_with("Basic"));
        }
        let refused = anonymous.post("/oauth/introspect", &json!({"token": token})).await.is(401);
        assert_eq!(refused.body["error"], "invalid_token");
        let blank = json!({"client_id": "id_city_full", "client_secret": "key_city_full"});
        anonymous.post("/oauth/introspect", &blank).await.is(400);
    }
}

/// Sends a request of the library to a server.
async fn send(
    client: civitas_tests::service::Client,
    asked: oauth2::HttpRequest,
) -> Result<oauth2::HttpResponse, std::io::Error> {
    let (parts, body) = asked.into_parts();
    let headers: Vec<(&str, &str)> =
        parts.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let answer = client.raw(Method::POST, parts.uri.path(), &headers, Some(body)).await;
    let mut response = oauth2::HttpResponse::new(answer.text.into_bytes());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    Ok(response)
}

#[tokio::test]
async fn an_independent_oauth2_client_impersonates_by_the_metadata() {
    for service in Service::on_both_engines().await {
        let found: Value = service.anonymous().raw(Method::GET, WELL_KNOWN, &[], None).await.is(200).body;
        let endpoint = |name: &str| found[name].as_str().unwrap().to_owned();
        for auth_type in [AuthType::BasicAuth, AuthType::RequestBody] {
            let oauth = BasicClient::new(ClientId::new("id_city_full".to_owned()))
                .set_client_secret(ClientSecret::new("key_city_full".to_owned()))
                .set_auth_type(auth_type)
                .set_token_uri(TokenUrl::new(endpoint("token_endpoint")).unwrap());
            let client = service.anonymous();
            let send = |asked| send(client.clone(), asked);
            // The library always sends a password with this grant.
            let (name, password) = (
                ResourceOwnerUsername::new("norablum".to_owned()),
                ResourceOwnerPassword::new("unused".to_owned()),
            );
            let asked = oauth.exchange_password(&name, &password).add_extra_param("auth_type", "impersonate");
            let asked = asked.add_scope(Scope::new("public".to_owned()));
            let token: AccessToken = asked.request_async(&send).await.unwrap().access_token().clone();
            service.anonymous().bearing(token.secret()).get("/spaces/search").await.is(200);
        }
    }
}
