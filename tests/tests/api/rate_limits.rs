//! Limits for refused credentials and for requests (contract 01 §3, 429).

use civitas_tests::service::{Answer, CITIES, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};

async fn service_with(name: &str, value: &str) -> Vec<Service> {
    let settings = [(name, value), ("trusted_proxies", "127.0.0.0/8")];
    Service::on_both_engines_with(CITIES, &settings).await
}

const FAILED: &str = "max_failed_authentications_per_minute";

fn credentials(secret: &str) -> Value {
    json!({"grant_type": "client_credentials", "scope": "public", "client_id": "id_city_full",
        "client_secret": secret})
}

/// A request from this address, behind a trusted proxy.
async fn from(client: &Client, source: &str, path: &str, body: &Value) -> Answer {
    client.send(Method::POST, path, &[("x-forwarded-for", source)], Some(body)).await
}

fn too_many(answer: Answer) {
    let answer = answer.refuses(429, "Too many requests");
    assert_eq!(answer.body["error"], "429: Too many requests");
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn refused_credentials_of_all_endpoints_close_them_for_their_address_alone() {
    for service in service_with(FAILED, "5").await {
        let client = service.anonymous();
        let live = service.machine().await;
        let token = live.token.clone().unwrap();
        let (bad, good) = ("192.0.2.1", "192.0.2.2");
        let unknown = json!({"grant_type": "password", "auth_type": "login", "username": "withpassword",
            "password": "correct horse", "scope": "public", "client_id": "id_unknown", "client_secret": "x"});
        let wrong = json!({"grant_type": "password", "auth_type": "login", "username": "withpassword",
            "password": "wrong", "scope": "public", "client_id": "id_city_full", "client_secret": "key_city_full"});
        let foreign = json!({"token": token, "client_id": "id_city_full", "client_secret": "wrong"});
        from(&client, bad, "/oauth/token", &credentials("wrong")).await.is(401);
        from(&client, bad, "/oauth/token", &unknown).await.is(400);
        from(&client, bad, "/oauth/token", &wrong).await.refuses(400, "User not found");
        from(&client, bad, "/oauth/revoke", &foreign).await.is(403);
        // Neither of these is a refusal of credentials.
        for _ in 0..5 {
            from(&client, bad, "/oauth/token", &credentials("key_city_full")).await.is(200);
            from(&client, bad, "/oauth/token", &json!({"grant_type": "implicit"})).await.is(400);
            from(&client.bearing("no token"), bad, "/oauth/introspect", &json!({"token": token}))
                .await
                .is(401);
        }
        from(&client, bad, "/oauth/token", &credentials("wrong")).await.is(401);

        too_many(from(&client, bad, "/oauth/token", &credentials("key_city_full")).await);
        too_many(from(&client, bad, "/oauth/revoke", &foreign).await);
        too_many(from(&live, bad, "/oauth/introspect", &json!({"token": token})).await);
        from(&client, good, "/oauth/token", &credentials("key_city_full")).await.is(200);
        live.send(Method::GET, "/users", &[("x-forwarded-for", bad)], None).await.is(200);
    }
}

#[tokio::test]
async fn clients_behind_a_proxy_are_told_apart_in_every_notation_of_their_address() {
    for service in service_with(FAILED, "2").await {
        let client = service.anonymous();
        let from = async |header, source: &str, secret| {
            client.send(Method::POST, "/oauth/token", &[(header, source)], Some(&credentials(secret))).await
        };
        for (bad, again, good) in [
            (("x-forwarded-for", "192.0.2.1:50001"), ("x-forwarded-for", "192.0.2.1"), "192.0.2.2:50001"),
            (
                ("x-forwarded-for", "[2001:db8:1::1]:50001"),
                ("x-forwarded-for", "2001:db8:1::1"),
                "[2001:db8:2::1]:50001",
            ),
            (("forwarded", "for=192.0.2.3"), ("x-forwarded-for", "192.0.2.3"), "192.0.2.4"),
            (
                ("forwarded", "for=192.0.2.9, proto=https;for=\"[2001:db8:3::1]:4711\""),
                ("forwarded", "For=\"[2001:db8:3::1]\""),
                "[2001:db8:4::1]",
            ),
        ] {
            for _ in 0..2 {
                from(bad.0, bad.1, "wrong").await.is(401);
            }
            too_many(from(again.0, again.1, "key_city_full").await);
            from("x-forwarded-for", good, "key_city_full").await.is(200);
        }
    }
}

#[tokio::test]
async fn a_network_of_ipv6_is_one_source_and_no_limit_refuses_nobody() {
    for service in service_with(FAILED, "2").await {
        let client = service.anonymous();
        for source in ["2001:db8::1", "2001:db8::ffff:2"] {
            from(&client, source, "/oauth/token", &credentials("wrong")).await.is(401);
        }
        too_many(from(&client, "2001:db8::3", "/oauth/token", &credentials("key_city_full")).await);
        from(&client, "2001:db8:0:1::1", "/oauth/token", &credentials("key_city_full")).await.is(200);
    }
    for service in service_with(FAILED, "0").await {
        for _ in 0..20 {
            from(&service.anonymous(), "192.0.2.1", "/oauth/token", &credentials("wrong")).await.is(401);
        }
    }
}

#[tokio::test]
async fn requests_of_one_client_beyond_its_limit_are_refused() {
    for service in service_with("max_requests_per_second_per_client", "5").await {
        let full = service.user("norablum").await;
        let second = service.user_through("city", "second", "norablum").await;
        for path in ["/proposals", "/users?page=2"] {
            let requests = (0..60).map(|_| full.get(path));
            let answers = futures_util::future::join_all(requests).await;
            let refused = answers.iter().filter(|answer| answer.status == 429).count();
            let answered = answers.iter().filter(|answer| answer.status == 200).count();
            assert!(
                refused > 0 && answered + refused == 60,
                "{path}: {answered} answered, {refused} refused"
            );
        }
        let refused = loop {
            let answer = full.get("/proposals").await;
            if answer.status == 429 {
                break answer;
            }
        };
        too_many(refused);
        second.get("/proposals").await.is(200);
    }
}

#[tokio::test]
async fn introspections_count_for_the_limit_of_the_client_that_asks() {
    for service in service_with("max_requests_per_second_per_client", "3").await {
        let full = service.machine().await;
        let body = json!({"token": full.token});
        let requests = (0..60).map(|_| full.post("/oauth/introspect", &body));
        let answers = futures_util::future::join_all(requests).await;
        let refused = answers.iter().filter(|answer| answer.status == 429).count();
        let answered = answers.iter().filter(|answer| answer.status == 200).count();
        assert!(refused > 0 && answered + refused == 60, "{answered} answered, {refused} refused");
        let second = service.user_through("city", "second", "norablum").await;
        second.post("/oauth/introspect", &json!({"token": second.token})).await.is(200);
    }
}
