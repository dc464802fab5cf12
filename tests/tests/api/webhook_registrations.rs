//! `/webhook_registrations` and `/webhook_events` (contract 09 B).

use civitas_kernel::{Ability, RegistrationId, clock};
use civitas_tests::service::{Client, Service};
use civitas_webhooks::RegistrationHealth;
use reqwest::Method;
use serde_json::{Value, json};

const URL: &str = "https://hooks.client.example/civic?x=1";
const EVENTS: [&str; 2] = ["proposal_creation.succeeded", "draft_proposal_creation.succeeded"];

fn body(url: &str, subscriptions: &[&str]) -> Value {
    json!({"data": {"attributes": {"url": url, "subscriptions": subscriptions}}})
}

async fn register(client: &Client, url: &str) -> String {
    let created = client.post("/webhook_registrations", &body(url, &EVENTS)).await.is(201);
    format!("/webhook_registrations/{}", created.data()["id"].as_str().unwrap())
}

fn number(path: &str) -> RegistrationId {
    RegistrationId(path.rsplit('/').next().unwrap().parse().unwrap())
}

/// Gives the full client other permissions.
async fn permit(service: &Service, change: impl Fn(Ability) -> bool) {
    let clients = service.store.clients();
    let (id, mut client) = clients.find_by_uid("id_city_full").await.unwrap().unwrap();
    client.permissions = client.permissions.iter().filter(|ability| change(*ability)).collect();
    clients.save(id, &client).await.unwrap();
}

#[tokio::test]
async fn a_registration_is_created_shown_replaced_and_deleted_and_its_secret_is_shown_once() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let twice = [EVENTS[0], EVENTS[1], EVENTS[0]];
        let created = client.post("/webhook_registrations", &body(URL, &twice)).await.is(201);
        assert_eq!(created.header("cache-control"), "no-store");
        let mut expected = created.data().clone();
        let attributes = expected["attributes"].as_object_mut().unwrap();
        let secret = attributes.remove("signing_secret").unwrap();
        let secret = secret.as_str().unwrap();
        assert!(
            secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        );
        assert_eq!((&attributes["url"], &attributes["subscriptions"]), (&json!(URL), &json!(EVENTS)));
        assert_eq!(attributes["created_at"].as_str().unwrap().len(), "2026-03-02T10:00:00Z".len());
        assert_eq!(attributes.len(), 4);
        let path = format!("/webhook_registrations/{}", expected["id"].as_str().unwrap());
        let shown = client.get(&path).await.is(200);
        assert_eq!(shown.data(), &expected);
        assert_eq!(client.get("/webhook_registrations").await.is(200).data()[0], expected);

        let tag = [("if-none-match", shown.header("etag"))];
        client.send(Method::GET, &path, &tag, None).await.is(304);
        let other = body("http://hooks.client.example/", &EVENTS[..1]);
        let replaced = client.put(&path, &other).await.is(200);
        assert_eq!(replaced.data()["attributes"]["subscriptions"], json!([EVENTS[0]]));
        assert!(!replaced.text.contains("signing_secret"));
        client.send(Method::GET, &path, &tag, None).await.is(200);
        let same = client.send(Method::PATCH, &path, &[], Some(&body(URL, &EVENTS))).await.is(200);
        assert_eq!(same.data()["attributes"]["url"], URL);
        client.put(&path, &body(URL, &EVENTS)).await.is(200);

        client.delete(&path).await.is(204);
        client.delete(&path).await.refuses(404, "Resource not found");
        client.get(&path).await.refuses(404, "Resource not found");
        assert_eq!(client.get("/webhook_registrations").await.is(200).data(), &json!([]));
    }
}

#[tokio::test]
async fn registrations_are_listed_in_pages_the_newest_first() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        for n in 1..=3 {
            register(&client, &format!("https://hooks.client.example/{n}")).await;
        }
        let urls = |answer: &Value| -> Vec<String> {
            let rows = answer["data"].as_array().unwrap().iter();
            rows.map(|row| row["attributes"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
                .collect()
        };
        let first = client.get("/webhook_registrations?per_page=2").await.is(200);
        assert_eq!(
            (urls(&first.body), &first.body["meta"]["has_more"]),
            (vec!["3".into(), "2".into()], &json!(true))
        );
        let second = client.get("/webhook_registrations?per_page=2&page=2").await.is(200);
        assert_eq!((urls(&second.body), &second.body["meta"]["has_more"]), (vec!["1".into()], &json!(false)));
    }
}

const TAKEN: &str = "https://hooks.client.example/taken";

#[tokio::test]
async fn each_broken_rule_is_named() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let existing = register(&client, TAKEN).await;
        let blank = ("subscriptions", "blank", "Subscriptions cannot be blank");
        let invalid = ("url", "invalid", "Url must be a valid HTTP or HTTPS URL");
        let forbidden = ("url", "forbidden", "Url is not allowed");
        let unknown = ("subscriptions", "inclusion", "Subscription to not.an.event is not allowed");
        let attributes = |url: Value, events: Value| json!({"url": url, "subscriptions": events});
        let long = format!("https://hooks.client.example/{}", "x".repeat(2048));
        for (attributes, expected) in [
            (json!({"subscriptions": EVENTS}), vec![("url", "blank", "Url cannot be blank")]),
            (attributes(json!(" "), json!(EVENTS)), vec![("url", "blank", "Url cannot be blank")]),
            (attributes(json!(null), json!([])), vec![("url", "blank", "Url cannot be blank"), blank]),
            (attributes(json!("ftp://a.example/"), json!(EVENTS)), vec![invalid]),
            (attributes(json!("https://u@a.example/"), json!(EVENTS)), vec![invalid]),
            (attributes(json!("https://a.example/#x"), json!(EVENTS)), vec![invalid]),
            (attributes(json!("https://a.example/x/%2e%2e/y"), json!(EVENTS)), vec![invalid]),
            (attributes(json!(long), json!(EVENTS)), vec![invalid]),
            (attributes(json!(7), json!(EVENTS)), vec![invalid]),
            (attributes(json!("http://127.0.0.1/"), json!(EVENTS)), vec![forbidden]),
            (attributes(json!("http://localhost/"), json!(EVENTS)), vec![forbidden]),
            (attributes(json!("http://a.example:25/"), json!(EVENTS)), vec![forbidden]),
            (attributes(json!("http://169.254.169.254/"), json!([])), vec![forbidden, blank]),
            (attributes(json!(TAKEN), json!(EVENTS)), vec![("url", "taken", "Url has already been taken")]),
            (json!({"url": URL}), vec![blank]),
            (attributes(json!(URL), json!([])), vec![blank]),
            (attributes(json!(URL), json!("x")), vec![("subscriptions", "invalid", blank.2)]),
            (attributes(json!(URL), json!([7])), vec![("subscriptions", "invalid", blank.2)]),
            (
                attributes(json!(URL), json!(["not.an.event", EVENTS[0], "proposals.read", "not.an.event"])),
                vec![
                    unknown,
                    ("subscriptions", "inclusion", "Subscription to proposals.read is not allowed"),
                ],
            ),
            (
                attributes(json!(URL), json!(["user.created"])),
                vec![("subscriptions", "inclusion", "Subscription to user.created is not allowed")],
            ),
        ] {
            let body = json!({"data": {"attributes": attributes}});
            let refused = client.post("/webhook_registrations", &body).await.is(400);
            let details: Vec<Value> =
                expected.iter().map(|(f, c, d)| json!({"field": f, "code": c, "description": d})).collect();
            let text: Vec<&str> = expected.iter().map(|(_, _, text)| *text).collect();
            let expected = json!({"error": "400: Bad request", "error_description": text.join(". "),
                "error_details": details});
            assert_eq!(refused.body, expected, "{body}");
        }
        let other = register(&client, URL).await;
        client.put(&other, &body(TAKEN, &EVENTS)).await.refuses(400, "Url has already been taken");
        client.put(&existing, &body(TAKEN, &EVENTS)).await.is(200);
        let count = client.get("/webhook_registrations").await.is(200).ids().len();
        assert_eq!(count, 2, "nothing was stored");
    }
}

#[tokio::test]
async fn a_body_without_content_or_with_unknown_members_is_refused() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let path = register(&client, URL).await;
        let missing = |name: &str| format!("param is missing or the value is empty or invalid: {name}");
        for (body, text) in [
            (json!({}), missing("data")),
            (json!({"data": {}}), missing("data")),
            (json!({"data": null}), missing("data")),
            (json!({"data": {"type": "webhook_registration"}}), missing("attributes")),
            (json!({"data": {"attributes": {}}}), missing("attributes")),
            (json!({"data": {"attributes": null}}), missing("attributes")),
            (
                json!({"data": {"attributes": {"url": URL, "signing_secret": "x"}}}),
                "Unknown key: data.attributes.signing_secret".to_owned(),
            ),
            (json!({"data": {"id": "1", "attributes": {"url": URL}}}), "Unknown key: data.id".to_owned()),
            (json!({"meta": {}, "data": {"attributes": {"url": URL}}}), "Unknown key: meta".to_owned()),
        ] {
            client.post("/webhook_registrations", &body).await.refuses(400, &text);
            let refused = client.put(&path, &body).await.refuses(400, &text);
            assert_eq!(refused.body.get("error_details"), None, "{body}");
        }
        let mut tolerated = body("https://hooks.client.example/2", &EVENTS);
        tolerated["data"]["type"] = json!("webhook_registration");
        client.post("/webhook_registrations", &tolerated).await.is(201);
        let form = b"data[attributes][url]=https://hooks.client.example/3&data[attributes][subscriptions][]=\
            proposal_creation.succeeded";
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let path = "/api/rest_full/v0.3/webhook_registrations";
        client.raw(Method::POST, path, &headers, Some(form.to_vec())).await.is(201);
    }
}

#[tokio::test]
async fn registrations_of_other_clients_and_organizations_do_not_exist() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let path = register(&client, URL).await;
        for other in [
            service.user_through("city", "second", "norablum").await,
            service.user_through("town", "full", "norablum").await,
        ] {
            assert_eq!(other.get("/webhook_registrations").await.is(200).data(), &json!([]));
            other.get(&path).await.refuses(404, "Resource not found");
            other.put(&path, &body(URL, &EVENTS)).await.refuses(404, "Resource not found");
            other.delete(&path).await.refuses(404, "Resource not found");
            register(&other, URL).await;
        }
        service.user("norablum").await.get(&path).await.is(200);
        for id in ["0", "abc", "-1", "99999999999999999999", "12abc"] {
            let path = format!("/webhook_registrations/{id}");
            client.get(&path).await.refuses(404, "Resource not found");
            client.put(&path, &body(URL, &EVENTS)).await.refuses(404, "Resource not found");
            client.delete(&path).await.refuses(404, "Resource not found");
        }
    }
}

#[tokio::test]
async fn of_two_creations_at_once_one_succeeds() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        for round in 0..5 {
            let body = body(&format!("https://hooks.client.example/{round}"), &EVENTS);
            let post = || client.post("/webhook_registrations", &body);
            let (one, two, three) = tokio::join!(post(), post(), post());
            let mut statuses: Vec<u16> = Vec::new();
            for answer in [one, two, three] {
                statuses.push(answer.status.as_u16());
                if answer.status == 400 {
                    answer.refuses(400, "Url has already been taken");
                }
            }
            statuses.sort_unstable();
            assert_eq!(statuses, [201, 400, 400]);
        }
    }
}

#[tokio::test]
async fn a_withdrawn_permission_stays_in_the_list_and_cannot_be_repeated() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let path = register(&client, URL).await;
        permit(&service, |ability| ability != Ability::ProposalCreation).await;
        let shown = client.get(&path).await.is(200);
        assert_eq!(shown.data()["attributes"]["subscriptions"], json!(EVENTS));
        let text = "Subscription to proposal_creation.succeeded is not allowed";
        let refused = client.put(&path, &body(URL, &EVENTS)).await.refuses(400, text);
        assert_eq!(refused.body["error_details"].as_array().unwrap().len(), 1);
        client.put(&path, &body(URL, &EVENTS[1..])).await.is(200);
    }
}

#[tokio::test]
async fn a_disabled_registration_looks_the_same_and_is_enabled_by_a_put() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let path = register(&client, URL).await;
        let before = client.get(&path).await.is(200);
        let store = service.store.registrations();
        let mut registration = store.find_unrestricted(number(&path)).await.unwrap().unwrap();
        registration.health = RegistrationHealth {
            failures: 20,
            disabled_at: Some(clock::now()),
            ..RegistrationHealth::default()
        };
        store.save(number(&path), &registration).await.unwrap();
        assert_eq!(client.get(&path).await.is(200).body, before.body);
        client.put(&path, &body(URL, &EVENTS)).await.is(200);
        let registration = store.find_unrestricted(number(&path)).await.unwrap().unwrap();
        assert_eq!(registration.health, RegistrationHealth::default());
    }
}

#[tokio::test]
async fn every_event_has_an_example_with_links_of_the_organization() {
    for service in Service::on_both_engines().await {
        let (city, town) = (service.machine().await, service.user_through("town", "full", "norablum").await);
        for event in Ability::ALL.iter().filter(|ability| ability.is_event()) {
            let path = format!("/webhook_events/{event}");
            let shown = city.get(&path).await.is(200);
            assert_eq!(shown.body["type"], event.as_str());
            let elsewhere = town.get(&path).await.is(200);
            assert_eq!(
                shown.text.replace("https://city.test", "https://town.test"),
                elsewhere.text,
                "{event}"
            );
            let tag = [("if-none-match", shown.header("etag"))];
            city.send(Method::GET, &path, &tag, None).await.is(304);
        }
        for unknown in ["not.an.event", "proposals.read", "", "x/y"] {
            city.get(&format!("/webhook_events/{unknown}")).await.is(404);
        }
    }
}
