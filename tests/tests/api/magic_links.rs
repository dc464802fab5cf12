//! Links that sign in (contract 03 §3).

use civitas_accounts::magic_links::MagicLink;
use civitas_accounts::{Digest, Secret, User};
use civitas_kernel::records::Change;
use civitas_kernel::{OrganizationId, UserId, clock};
use civitas_tests::service::{Answer, BASE, Client, Service};
use civitas_tests::{commit, replace};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

const PATH: &str = "/me/magic_links";

async fn make(client: &Client, redirect_url: &str) -> String {
    let made = client.post(PATH, &json!({"data": {"redirect_url": redirect_url}})).await.is(201);
    made.data()["attributes"]["token"].as_str().unwrap().to_owned()
}

async fn follow(client: &Client, method: Method, token: &str) -> Answer {
    client.send(method, &format!("{PATH}/{token}"), &[], None).await
}

async fn city(service: &Service) -> OrganizationId {
    service.store.organizations().find_by_host("city.test").await.unwrap().unwrap()
}

/// Changes an account past the interface.
async fn change(service: &Service, reference: &str, change: impl FnOnce(&mut User)) {
    let (organization, id) = (city(service).await, UserId(service.id("user", reference)));
    let mut user = service.store.users().find(organization, id).await.unwrap().unwrap();
    change(&mut user);
    let written = commit(&*service.store, async |tx| replace(tx.users(), organization, id, &user).await);
    written.await.unwrap();
}

#[tokio::test]
async fn a_link_is_made_in_its_shape_with_any_kind_of_body() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let made = nora.post(PATH, &json!({})).await.is(201);
        assert_eq!(made.header("cache-control"), "no-store");
        assert_eq!(made.header("etag"), "");
        let id = made.data()["id"].as_str().unwrap().to_owned();
        let token = made.data()["attributes"]["token"].as_str().unwrap().to_owned();
        assert!(token.len() > 20 && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'='), "{token}");
        let base = format!("https://city.test{BASE}/me/magic_links");
        let expected = json!({"data": {"id": id, "type": "magic_link",
            "attributes": {"token": token, "label": "My label", "redirect_url": null},
            "links": {
                "self": {"href": base, "title": "Generates a magic link", "rel": "resource",
                    "meta": {"action_method": "POST", "action_enctype": "application/x-www-form-urlencoded"}},
                "sign_in": {"href": format!("{base}/{token}"), "title": "Sign in with magic link",
                    "rel": "resource", "meta": {"action_method": "GET"}}}}});
        assert_eq!(made.body, expected);

        nora.send(Method::POST, PATH, &[], None).await.is(201);
        for body in [json!({"data": {}}), json!({"data": {"redirect_url": " "}}), json!({"more": 1})] {
            let made = nora.post(PATH, &body).await.is(201);
            assert_eq!(made.data()["attributes"]["redirect_url"], Value::Null, "{body}");
            assert_ne!(made.data()["id"], id);
        }
        for body in [json!({"data": null}), json!({"data": []}), json!({"data": "x"}), json!({"data": 1})] {
            nora.post(PATH, &body).await.refuses(400, "data must be an object");
        }
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let body = b"data[redirect_url]=%20https%3A%2F%2Fcity.test%2Fa%3Fb%20".to_vec();
        let made = nora.raw(Method::POST, &format!("{BASE}{PATH}"), &form, Some(body)).await.is(201);
        assert_eq!(made.data()["attributes"]["redirect_url"], "https://city.test/a?b");
        nora.send(Method::POST, PATH, &[("content-type", "text/plain")], Some(&json!({}))).await;
        service.machine().await.post(PATH, &json!({})).await.refuses(400, "User required");
    }
}

#[tokio::test]
async fn an_address_that_breaks_a_rule_is_refused_with_its_code() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let long = format!("https://city.test/{}", "x".repeat(2048));
        for (address, code, description) in [
            (json!(7), "invalid_url", "Is not a valid URL"),
            (json!(long), "too_long", "Is too long (maximum is 2048 characters)"),
            (json!("https://city.test/é"), "ascii_only", "Must contain only printable ASCII characters"),
            (json!("city.test"), "invalid_url", "Is not a valid URL"),
            (json!("http://city.test/"), "https_only", "Must use the https scheme"),
            (json!("https:///there"), "host_blank", "Must include a valid host"),
            (json!("https://me@city.test/"), "userinfo", "Must not include user information"),
            (json!("https://town.test/"), "host_not_allowed", "Host is not allowed for this organization"),
            (json!("https://a.city.test/"), "host_not_allowed", "Host is not allowed for this organization"),
        ] {
            let refused = nora.post(PATH, &json!({"data": {"redirect_url": address}})).await;
            let refused = refused.refuses(422, description);
            assert_eq!(refused.body["error"], "422: Unprocessable entity");
            let details = json!([{"code": code, "field": "redirect_url", "description": description}]);
            assert_eq!(refused.body["error_details"], details, "{address}");
        }
        for allowed in ["https://city.test/", "https://www.city.test", "HTTPS://CITY.test:8443/a#b"] {
            make(&nora, allowed).await;
        }
    }
}

#[tokio::test]
async fn a_link_signs_in_once_and_redirects_to_the_given_address() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let address = "HTTPS://www.City.test:8443/a?b=c#d";
        let token = make(&nora, address).await;
        let browser = service.anonymous().bearing("of somebody else");
        for _ in 0..2 {
            let looked = follow(&browser, Method::HEAD, &token).await.is(302);
            assert_eq!((looked.header("location"), looked.header("set-cookie")), (address, ""));
            assert_eq!(looked.header("cache-control"), "no-store");
        }
        let signed_in = follow(&browser, Method::GET, &token).await.is(302);
        assert_eq!(signed_in.header("location"), address);
        assert_eq!(signed_in.header("cache-control"), "no-store");
        assert_eq!(signed_in.text, "");
        let cookies: Vec<_> = signed_in.headers.get_all("set-cookie").iter().collect();
        assert_eq!(cookies.len(), 1, "and none of the panel: {cookies:?}");
        let (pair, attributes) = signed_in.header("set-cookie").split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/; Max-Age=7200; HttpOnly; Secure; SameSite=Lax");
        let (name, session) = pair.split_once('=').unwrap();
        assert_eq!(name, "__Host-civitas_participant");
        let digest = Secret::new(session).digest();
        assert!(whose(&service, &digest, Duration::hours(2) - Duration::minutes(1)).await.is_some());
        assert!(whose(&service, &digest, Duration::hours(2) + Duration::minutes(1)).await.is_none());

        for method in [Method::GET, Method::HEAD] {
            follow(&browser, method, &token).await.is(400);
        }
        follow(&browser, Method::GET, &token).await.refuses(400, "Token not found");
        let plain = nora.post(PATH, &json!({})).await.is(201);
        let plain = plain.data()["attributes"]["token"].as_str().unwrap().to_owned();
        assert_eq!(follow(&browser, Method::GET, &plain).await.is(302).header("location"), "/");
    }
}

async fn whose(service: &Service, digest: &Digest, after: Duration) -> Option<UserId> {
    let found =
        service.store.sessions().find(city(service).await, digest, clock::now() + after).await.unwrap();
    assert!(found.is_none_or(|user| user == UserId(service.id("user", "norablum"))));
    found
}

#[tokio::test]
async fn a_link_counts_in_its_organization_until_another_is_made() {
    for service in Service::on_both_engines().await {
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let (first, of_luis) = (make(&nora, "").await, make(&luis, "").await);
        let second = make(&nora, "").await;
        let browser = service.anonymous();
        let unknown = Secret::alphanumeric();
        for token in [first.as_str(), unknown.expose(), "x", "%00", "%FF", "%F0%9F%92%A9", &"y".repeat(4000)]
        {
            let refused = follow(&browser, Method::GET, token).await.refuses(400, "Token not found");
            assert_eq!(refused.header("set-cookie"), "");
        }
        follow(&service.at("town.test"), Method::GET, &second).await.refuses(400, "Token not found");
        follow(&browser, Method::GET, &second).await.is(302);
        follow(&browser, Method::GET, &of_luis).await.is(302);
    }
}

#[tokio::test]
async fn after_five_minutes_a_link_is_invalid() {
    for service in Service::on_both_engines().await {
        for (age, status) in [(Duration::minutes(4), 302), (Duration::minutes(5), 400)] {
            let token = Secret::alphanumeric();
            let created_at = clock::now() - age;
            let link = MagicLink {
                user: UserId(service.id("user", "norablum")),
                digest: token.digest(),
                redirect_url: None,
                created_at,
                expires_at: created_at + Duration::minutes(5),
            };
            service.store.magic_links().replace(city(&service).await, &link).await.unwrap();
            let answer = follow(&service.anonymous(), Method::GET, token.expose()).await.is(status);
            if status == 400 {
                answer.refuses(400, "Invalid Token");
            }
        }
    }
}

#[tokio::test]
async fn a_blocked_or_locked_user_gets_the_reason_and_the_link_stays() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let token = make(&nora, "").await;
        let (browser, now) = (service.anonymous(), clock::now());
        for (sentence, spoil) in [
            ("User blocked", (|user, at| user.blocked_at = Some(at)) as fn(&mut User, _)),
            ("User locked", |user, at| user.locked_at = Some(at)),
            ("Token not found", |user, at| user.deleted_at = Some(at)),
        ] {
            change(&service, "norablum", |user| spoil(user, now)).await;
            follow(&browser, Method::GET, &token).await.refuses(400, sentence);
            change(&service, "norablum", |user| {
                (user.blocked_at, user.locked_at, user.deleted_at) = (None, None, None);
            })
            .await;
        }
        follow(&browser, Method::GET, &token).await.is(302);
        change(&service, "luisortega", |user| user.blocked_at = Some(now)).await;
        let luis = service.at("city.test");
        let asked = json!({"grant_type": "password", "auth_type": "impersonate", "username": "luisortega",
            "scope": "oauth", "client_id": "id_city_full", "client_secret": "key_city_full"});
        luis.post("/oauth/token", &asked).await.refuses(400, "User blocked");
    }
}

#[tokio::test]
async fn the_address_is_looked_at_again_when_it_is_followed() {
    for service in Service::on_both_engines().await {
        let (nora, organization) = (service.user("norablum").await, city(&service).await);
        let store = service.store.organizations();
        let stored = store.find(organization).await.unwrap().unwrap();
        let mut kept = stored.clone();
        kept.external_domain_allowlist = vec!["www.Partner.example:8443".to_owned()];
        store.save(organization, &Change::new(stored.clone(), kept.clone())).await.unwrap();
        let token = make(&nora, "https://partner.example/x").await;
        let lasting = make(&service.user("luisortega").await, "https://www.partner.example/y").await;
        let browser = service.anonymous();
        let answer = follow(&browser, Method::GET, &lasting).await.is(302);
        assert_eq!(answer.header("location"), "https://www.partner.example/y");
        kept.external_domain_allowlist.clear();
        store.save(organization, &Change::new(stored.clone(), kept.clone())).await.unwrap();
        assert_eq!(follow(&browser, Method::HEAD, &token).await.is(302).header("location"), "/");
        assert_eq!(follow(&browser, Method::GET, &token).await.is(302).header("location"), "/");
    }
}

#[tokio::test]
async fn a_switched_off_interface_signs_nobody_in() {
    for service in Service::on_both_engines().await {
        let token = make(&service.user("norablum").await, "").await;
        let (store, organization) = (service.store.organizations(), city(&service).await);
        let stored = store.find(organization).await.unwrap().unwrap();
        let mut kept = stored.clone();
        kept.features.enabled = false;
        store.save(organization, &Change::new(stored.clone(), kept.clone())).await.unwrap();
        follow(&service.anonymous(), Method::GET, &token).await.refuses(501, "Not implemented");
        kept.features.enabled = true;
        store.save(organization, &Change::new(stored.clone(), kept.clone())).await.unwrap();
        follow(&service.anonymous(), Method::GET, &token).await.is(302);
    }
}

#[tokio::test]
async fn followed_many_times_at_once_a_link_signs_in_once() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for _ in 0..3 {
            let token = make(&nora, "").await;
            let visits = (0..30).map(|_| {
                let (browser, token) = (service.anonymous(), token.clone());
                tokio::spawn(async move {
                    let answer = follow(&browser, Method::GET, &token).await;
                    let sentence = answer.body["error_description"].as_str().unwrap_or_default().to_owned();
                    (answer.status.as_u16(), sentence)
                })
            });
            let (mut signed_in, mut refused) = (0, 0);
            for visit in visits.collect::<Vec<_>>() {
                match visit.await.unwrap() {
                    (302, _) => signed_in += 1,
                    (400, sentence) if sentence == "Token not found" => refused += 1,
                    other => panic!("{other:?} on {:?}", service.engine),
                }
            }
            assert_eq!((signed_in, refused), (1, 29));
        }
    }
}

#[tokio::test]
async fn of_links_made_at_once_one_counts() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let makings = (0..12).map(|_| {
            let nora = nora.clone();
            tokio::spawn(async move { make(&nora, "").await })
        });
        let mut signed_in = 0;
        let mut tokens = Vec::new();
        for making in makings.collect::<Vec<_>>() {
            tokens.push(making.await.unwrap());
        }
        for token in tokens {
            let status = follow(&service.anonymous(), Method::GET, &token).await.status;
            signed_in += i32::from(status == 302);
        }
        assert_eq!(signed_in, 1);
    }
}
