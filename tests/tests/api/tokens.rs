use civitas_tests::service::{BASE, CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};

fn credentials() -> Value {
    json!({"client_id": "id_city_full", "client_secret": "key_city_full"})
}

#[expect(clippy::needless_pass_by_value, reason = "it takes a literal")]
fn request(members: Value) -> Value {
    let mut all = credentials();
    for (key, value) in members.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

async fn grant(client: &Client, members: Value) -> civitas_tests::service::Answer {
    client.post("/oauth/token", &request(members)).await
}

#[tokio::test]
async fn all_three_grants_answer_with_exactly_five_members_on_both_mounts_in_both_encodings() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        for members in [
            json!({"grant_type": "client_credentials", "scope": "proposals public proposals"}),
            json!({"grant_type": "password", "auth_type": "login", "username": "WithPassword",
                   "password": "correct horse", "scope": "proposals public"}),
            json!({"grant_type": "password", "auth_type": "impersonate", "username": "NoraBlum",
                   "scope": "proposals public"}),
        ] {
            let body = request(members);
            let form = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(body.as_object().unwrap().iter().map(|(k, v)| (k, v.as_str().unwrap())))
                .finish();
            for mount in ["/oauth/token".to_owned(), format!("{BASE}/oauth/token")] {
                let json = [("content-type", "application/json")];
                let answer = client
                    .raw(Method::POST, &mount, &json, Some(body.to_string().into_bytes()))
                    .await
                    .is(200);
                assert_eq!(answer.header("cache-control"), "no-store");
                let mut keys: Vec<_> = answer.body.as_object().unwrap().keys().cloned().collect();
                keys.sort();
                assert_eq!(keys, ["access_token", "created_at", "expires_in", "scope", "token_type"]);
                assert_eq!(
                    (&answer.body["scope"], &answer.body["expires_in"]),
                    (&json!("proposals public"), &json!(7200))
                );
                let typed = [("content-type", "application/x-www-form-urlencoded")];
                client.raw(Method::POST, &mount, &typed, Some(form.clone().into_bytes())).await.is(200);
            }
        }
    }
}

#[tokio::test]
async fn an_independent_oauth2_client_gets_a_token_with_basic_credentials() {
    use oauth2::basic::BasicClient;
    use oauth2::{ClientId, ClientSecret, Scope, TokenResponse, TokenUrl};
    for service in Service::on_both_engines().await {
        let url = format!("http://{}/oauth/token", service.address);
        let oauth = BasicClient::new(ClientId::new("id_city_full".to_owned()))
            .set_client_secret(ClientSecret::new("key_city_full".to_owned()))
            .set_token_uri(TokenUrl::new(url).unwrap());
        let city = service.anonymous();
        let send = move |asked: oauth2::HttpRequest| {
            let city = city.clone();
            async move {
                let (parts, body) = asked.into_parts();
                let headers: Vec<(&str, &str)> =
                    parts.headers.iter().map(|(k, v)| (k.as_str(), v.to_str().unwrap())).collect();
                let answer = city.raw(Method::POST, parts.uri.path(), &headers, Some(body)).await;
                let mut response = oauth2::HttpResponse::new(answer.text.into_bytes());
                *response.status_mut() = answer.status;
                *response.headers_mut() = answer.headers;
                Ok::<_, std::io::Error>(response)
            }
        };
        let asked = oauth.exchange_client_credentials().add_scope(Scope::new("public".to_owned()));
        let token = asked.request_async(&send).await.unwrap();
        let service_token = service.anonymous().bearing(token.access_token().secret());
        service_token.get("/spaces/search").await.is(200);
    }
}

#[tokio::test]
async fn a_wrong_secret_is_refused_before_any_user_is_touched() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        let body = json!({"grant_type": "password", "auth_type": "impersonate", "username": "brand_new_user",
            "client_id": "id_city_full", "client_secret": "wrong", "scope": "public",
            "meta": {"register_on_missing": true}});
        let refused = client.post("/oauth/token", &body).await.is(401);
        assert_eq!(refused.body["error"], "invalid_client");
        assert!(refused.header("www-authenticate").starts_with("Basic"));
        let again = grant(
            &client,
            json!({"grant_type": "password", "auth_type": "impersonate",
            "username": "brand_new_user", "scope": "public"}),
        )
        .await;
        again.refuses(400, "User not found. To create one, user meta.register_on_missing");
        let foreign = json!({"grant_type": "client_credentials", "client_id": "id_town_full",
            "client_secret": "key_town_full", "scope": "public"});
        client.post("/oauth/token", &foreign).await.is(401);
    }
}

#[tokio::test]
async fn a_registration_has_a_name_that_is_seen_and_an_address_that_mail_reaches() {
    for service in Service::on_both_engines().await {
        let client = service.anonymous();
        let register = async |username: &str, mut meta: Value| {
            meta["register_on_missing"] = json!(true);
            let asked = json!({"grant_type": "password", "auth_type": "impersonate", "username": username,
                "scope": "public", "meta": meta});
            grant(&client, asked).await
        };
        let fields = async |meta: Value| {
            let refused = register("new_person", meta).await.is(400);
            let details = refused.body["error_details"].as_array().unwrap().clone();
            details.iter().map(|d| d["field"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        for name in ["\u{200b}", "\u{feff}\u{feff}", "\u{2800}", "Nora\nBlum", "Nora\u{2028}", "\u{202e}aroN"]
        {
            assert_eq!(fields(json!({"name": name})).await, ["name"], "{name:?}");
        }
        for email in ["a..b@city.example", ".a@city.example", "a.@city.example"] {
            assert_eq!(fields(json!({"email": email})).await, ["email"], "{email}");
        }
        register("first_person", json!({"email": "nora@MÜNCHEN.example"})).await.is(200);
        let machine = service.machine().await;
        let stored = machine.get("/users?filter[nickname]=first_person").await.is(200);
        assert_eq!(stored.data()[0]["attributes"]["email"], "nora@xn--mnchen-3ya.example");
        for same in ["Nora@xn--mnchen-3ya.example", "nora@mu\u{308}nchen.example"] {
            assert_eq!(fields(json!({"email": same})).await, ["email"], "{same}");
        }
    }
}

#[tokio::test]
async fn a_password_opens_however_its_letters_are_composed() {
    let archive = CITIES.replace("\"correct horse\"", "\"cache\u{301} sous l’arbre\"");
    for service in Service::on_both_engines_with(&archive, &[]).await {
        let login = async |password: &str| {
            let asked = json!({"grant_type": "password", "auth_type": "login", "username": "WithPassword",
                "password": password, "scope": "public"});
            grant(&service.anonymous(), asked).await
        };
        for password in ["caché sous l’arbre", "cache\u{301} sous l’arbre"] {
            login(password).await.is(200);
        }
        login("cache sous l’arbre").await.refuses(400, "User not found");
    }
}

#[tokio::test]
async fn a_user_is_registered_once_however_many_ask_at_the_same_moment() {
    for service in Service::on_both_engines().await {
        let asked = json!({"grant_type": "password", "auth_type": "impersonate", "username": "fresh_person",
            "scope": "public oauth", "meta": {"register_on_missing": true, "email": "Fresh@example.org"},
            "extra": {"phone": "+41"}});
        let attempts = (0..20).map(|_| {
            let (client, body) = (service.anonymous(), request(asked.clone()));
            tokio::spawn(async move { client.post("/oauth/token", &body).await })
        });
        let mut users = std::collections::BTreeSet::new();
        for attempt in attempts.collect::<Vec<_>>() {
            let answer = attempt.await.unwrap().is(200);
            let token = answer.body["access_token"].as_str().unwrap().to_owned();
            let found =
                service.anonymous().bearing(&token).post("/oauth/introspect", &json!({"token": token})).await;
            users.insert(found.is(200).body["resource"]["id"].to_string());
        }
        assert_eq!(users.len(), 1);
        let client = service.anonymous();
        let taken = json!({"grant_type": "password", "auth_type": "impersonate", "username": "x!",
            "scope": "public", "meta": {"register_on_missing": true, "email": "fresh@EXAMPLE.org"}});
        let refused = grant(&client, taken).await.is(400);
        let codes: Vec<_> =
            refused.body["error_details"].as_array().unwrap().iter().map(|d| d["code"].clone()).collect();
        assert_eq!(codes, ["invalid", "too_short", "taken"]);
    }
}

#[tokio::test]
async fn abilities_act_on_tokens_already_issued() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        nora.get("/proposals").await.is(200);
        let (id, mut client) = service.store.clients().find_by_uid("id_city_full").await.unwrap().unwrap();
        client.permissions.remove(civitas_kernel::Ability::ProposalsRead);
        service.store.clients().save(id, &client).await.unwrap();
        nora.get("/proposals").await.refuses(403, "Forbidden");
        client.permissions.insert(civitas_kernel::Ability::ProposalsRead);
        service.store.clients().save(id, &client).await.unwrap();
        nora.get("/proposals").await.is(200);
        service.store.clients().remove(id).await.unwrap();
        nora.get("/proposals").await.refuses(401, "Unauthorized access");
    }
}

#[tokio::test]
async fn introspection_tells_a_client_of_its_own_tokens_only() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let token = nora.token.clone().unwrap();
        let own = nora.post("/oauth/introspect", &json!({"token": token})).await.is(200).body;
        assert_eq!(
            (&own["active"], &own["client_id"], &own["aud"]),
            (&json!(true), &json!("id_city_full"), &json!("https://city.test"))
        );
        assert!(own["sub"].is_i64());
        assert_eq!(own["resource"]["attributes"]["locale"], "fr");
        let other = service.user_through("city", "second", "norablum").await;
        let foreign = other.post("/oauth/introspect", &json!({"token": token})).await.is(200).body;
        assert_eq!(foreign, json!({"active": false}));
        let unknown = nora.post("/oauth/introspect", &json!({"token": "x"})).await.is(200).body;
        assert_eq!(unknown, json!({"active": false}));
        nora.post("/oauth/introspect", &json!({"token": " "})).await.is(400);
        let bearerless =
            service.anonymous().post("/oauth/introspect", &json!({"token": token})).await.is(401);
        assert_eq!(bearerless.body["error"], "invalid_token");
        assert_eq!(bearerless.body["state"], "unauthorized");
        let machine = service.machine().await;
        let body = json!({"token": machine.token.clone().unwrap()});
        assert!(machine.post("/oauth/introspect", &body).await.is(200).body.get("resource").is_none());
    }
}

#[tokio::test]
async fn a_revoked_token_is_dead_everywhere_at_once() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let token = nora.token.clone().unwrap();
        let anonymous = service.anonymous();
        let refused = anonymous.post("/oauth/revoke", &json!({"token": token})).await.is(403);
        assert_eq!(refused.body["error"], "unauthorized_client");
        let mut second = json!({"client_id": "id_city_second", "client_secret": "key_city_second"});
        second["token"] = json!(token);
        anonymous.post("/oauth/revoke", &second).await.is(403);
        nora.get("/proposals").await.is(200);
        let own = request(json!({"token": token}));
        for _ in 0..2 {
            assert_eq!(anonymous.post("/oauth/revoke", &own).await.is(200).body, json!({}));
        }
        nora.get("/proposals").await.refuses(401, "Unauthorized access");
        nora.get("/jobs").await.is(401);
        let bearer = nora.post("/oauth/introspect", &json!({"token": token})).await.is(401);
        assert_eq!(bearer.body["error_description"], "The access token was revoked");
        let other = service.user("norablum").await;
        let seen = other.post("/oauth/introspect", &json!({"token": token})).await.is(200).body;
        assert_eq!(seen, json!({"active": false}));
    }
}

#[tokio::test]
async fn forged_and_foreign_tokens_are_refused_everywhere() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let token = nora.token.clone().unwrap();
        let forged = forgeries(&token);
        assert!(forged.len() >= 30, "{}", forged.len());
        let paths = [
            "/proposals",
            "/spaces/search",
            "/components/search",
            "/vote_proposals",
            "/jobs",
            "/draft_proposals/1",
        ];
        for header in forged {
            for path in paths {
                let sent = [("authorization", header.as_str())];
                let answer =
                    service.anonymous().raw(Method::GET, &format!("{BASE}{path}"), &sent, None).await;
                assert_eq!(answer.status.as_u16(), 401, "{header} at {path}");
                assert_eq!(answer.header("www-authenticate"), r#"Bearer error="invalid_token""#);
            }
        }
        let silent = service.anonymous().get("/proposals").await.is(401);
        assert_eq!(silent.header("www-authenticate"), "Bearer");
        let in_query = service.anonymous().get(&format!("/proposals?access_token={token}")).await;
        in_query.is(401);
    }
}

/// Headers that look like a token's and are none.
fn forgeries(token: &str) -> Vec<String> {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
    let [head, claims, signature]: [&str; 3] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    let read: Value = serde_json::from_slice(&B64.decode(claims).unwrap()).unwrap();
    let sealed = |value: &Value| B64.encode(value.to_string());
    let mut all = vec![
        token.to_owned(),
        format!("Basic {token}"),
        format!("Token {token}"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},{token}"),
        "Bearer".to_owned(),
        "Bearer x".to_owned(),
        "Bearer ..".to_owned(),
        "Bearer a.b.c".to_owned(),
        format!("Bearer {head}.{claims}"),
        format!("Bearer {head}.{claims}."),
        format!("Bearer .{claims}.{signature}"),
        format!("Bearer {head}..{signature}"),
        format!("Bearer {token}x"),
        format!("Bearer {token}.x"),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer {}", token.chars().rev().collect::<String>()),
        format!("Bearer {head}.{claims}.{}", signature.chars().rev().collect::<String>()),
        format!("Bearer \"{token}\""),
    ];
    for alg in ["none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA"] {
        let header = sealed(&json!({"alg": alg, "typ": "JWT"}));
        all.push(format!("Bearer {header}.{claims}.{signature}"));
        all.push(format!("Bearer {header}.{claims}."));
    }
    for (key, value) in [
        ("sub", json!("1")),
        ("sub", json!("99999999")),
        ("jti", json!("x")),
        ("exp", json!(9_999_999_999_i64)),
        ("scope", json!("system")),
    ] {
        let mut edited = read.clone();
        edited[key] = value;
        all.push(format!("Bearer {head}.{}.{signature}", sealed(&edited)));
    }
    all
}

/// The steps of OPERATING for servers that restart one after the other: at each of them two servers with neighbouring
/// settings accept each other's tokens.
#[tokio::test]
async fn tokens_stay_valid_while_the_secret_key_is_rotated() {
    const OLD: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NEW: &str = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
    let is_valid = async |service: &Service, token: &str| {
        let status = service.anonymous().bearing(token).get("/me/extended_data?object_path=.").await.status;
        assert!(status == 200 || status == 401, "{status}");
        status == 200
    };
    for mut service in Service::on_both_engines().await {
        let with_old = service.user("norablum").await.token.unwrap();
        service.restart_with(&[("secret_key", &format!("{OLD},{NEW}"))]).await;
        assert!(is_valid(&service, &with_old).await);
        let still_old = service.user("norablum").await.token.unwrap();
        service.restart_with(&[("secret_key", &format!("{NEW},{OLD}"))]).await;
        assert!(is_valid(&service, &with_old).await && is_valid(&service, &still_old).await);
        let with_new = service.user("norablum").await.token.unwrap();
        service.restart_with(&[("secret_key", &format!("{OLD},{NEW}"))]).await;
        assert!(is_valid(&service, &with_new).await, "a server that is one step behind");
        service.restart_with(&[("secret_key", OLD)]).await;
        assert!(is_valid(&service, &still_old).await && !is_valid(&service, &with_new).await);
        service.restart_with(&[("secret_key", NEW)]).await;
        assert!(!is_valid(&service, &with_old).await && is_valid(&service, &with_new).await);
    }
}
