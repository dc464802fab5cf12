//! The crate `civitas-client` against a running server.

use civitas_client::{
    Client, ClientBuilder, Direction, Document, Error, Page, Record, TryStreamExt, WebhookError,
    verify_webhook, verify_webhook_at,
};
use civitas_tests::service::http_builder;
use civitas_tests::{CITIES, Receiver, Service};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::{Duration, UNIX_EPOCH};
use time::OffsetDateTime;

const PROPOSALS: usize = 205;

/// The cities, and a client that may register webhooks of users.
async fn services(settings: &[(&str, &str)]) -> Vec<Service> {
    let client = json!({"type": "api_client", "ref": "hooks", "organization": "city", "client_id": "id_city_hooks",
        "client_secret": "key_city_hooks", "name": "Hooks", "scopes": ["public", "oauth", "proposals", "webhooks"],
        "permissions": ["webhooks.write", "oauth.impersonate", "user.created"]});
    Service::on_both_engines_with(&format!("{CITIES}{client}\n"), settings).await
}

/// The cities, and a component with 205 proposals.
async fn services_with_proposals() -> Vec<Service> {
    let published = "2026-02-02T09:00:00Z";
    let component = json!({"type": "component", "ref": "many", "organization": "city", "space": "streets",
        "manifest": "proposals", "name": {"en": "Many"}, "published_at": published});
    let mut archive = vec![CITIES.to_owned(), component.to_string()];
    for number in 0..PROPOSALS {
        let proposal = json!({"type": "proposal", "ref": format!("many-{number}"), "organization": "city",
            "component": "many", "authors": [], "title": {"en": format!("Bench number {number}")},
            "body": {"en": "A bench in the shade, beside the path."}, "published_at": published});
        archive.push(proposal.to_string());
    }
    Service::on_both_engines_with(&(archive.join("\n") + "\n"), &[]).await
}

/// Settings of a client of `city.test`.
fn builder(service: &Service, client: &str, secret: &str) -> ClientBuilder {
    let address = format!("http://city.test:{}", service.address.port());
    let http = http_builder().resolve("city.test", service.address).no_proxy();
    Client::builder(&address, client, secret).scopes(["public", "proposals", "oauth", "webhooks"]).http(http)
}

fn machine(service: &Service) -> Client {
    builder(service, "id_city_full", "key_city_full").build().unwrap()
}

fn user(service: &Service, nickname: &str) -> Client {
    builder(service, "id_city_full", "key_city_full").user(nickname).build().unwrap()
}

fn vote(service: &Service, weight: i64) -> Value {
    json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": weight}})
}

#[tokio::test]
async fn a_vote_is_cast_and_a_second_one_is_an_error() {
    for service in services(&[]).await {
        let nora = user(&service, "norablum");
        let cast: Document<Record> =
            nora.post("/vote_proposals/sync").json(&vote(&service, 1)).send().await.unwrap();
        assert_eq!(cast.data.attributes["weight"], 1);
        let again = nora.post("/vote_proposals/sync").json(&vote(&service, 1)).send::<Value>().await;
        let error = again.unwrap_err();
        let api = error.api().unwrap();
        assert_eq!((api.status, api.description.as_str()), (StatusCode::BAD_REQUEST, "Already voted"));
        assert_eq!(
            (api.method.as_str(), api.url.path()),
            ("POST", "/api/rest_full/v0.3/vote_proposals/sync")
        );
        let deleted: Value =
            nora.delete(&format!("/vote_proposals/{}/sync", cast.data.id)).send().await.unwrap();
        assert_eq!(deleted["data"]["id"], cast.data.id);
    }
}

#[tokio::test]
async fn a_job_returns_what_the_synchronous_endpoint_returns_or_its_error() {
    for service in services(&[]).await {
        let nora = user(&service, "norablum");
        let send = |weight| nora.post("/vote_proposals").json(&vote(&service, weight));
        let cast: Document<Record> = send(1).run().await.unwrap();
        assert_eq!(cast.data.attributes["weight"], 1);
        let Error::JobFailed { class, message, .. } = send(1).run::<Value>().await.unwrap_err() else {
            panic!("another error")
        };
        assert_eq!((class.as_str(), message.as_str()), ("BadRequest", "Already voted"));
        let accepted: Value = user(&service, "luisortega")
            .post("/vote_proposals")
            .json(&vote(&service, 1))
            .send()
            .await
            .unwrap();
        let id = accepted["job_id"].as_str().unwrap().parse().unwrap();
        let job = nora.wait(id, Duration::from_secs(30)).await.unwrap();
        assert_eq!((job.id, job.command_key.is_empty()), (id, false));
        let missing = nora.wait(uuid::Uuid::nil(), Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(missing.status(), Some(StatusCode::NOT_FOUND));
    }
}

#[tokio::test]
async fn a_key_gives_a_repeated_request_one_effect() {
    for service in services(&[]).await {
        let nora = user(&service, "norablum");
        let cast = || nora.post("/vote_proposals/sync").json(&vote(&service, 1)).idempotency_key("one-vote");
        let (first, second): (Value, Value) = (cast().send().await.unwrap(), cast().send().await.unwrap());
        assert_eq!(first, second);
    }
}

#[tokio::test]
async fn pages_and_items_return_every_record_once() {
    for service in services_with_proposals().await {
        let client = machine(&service);
        let list = || client.get("/proposals").query("component_id", service.id("component", "many"));
        let pages: Vec<Page<Record>> = list().query("per_page", 50).pages().try_collect().await.unwrap();
        assert_eq!(pages.iter().map(|page| page.data.len()).collect::<Vec<_>>(), [50, 50, 50, 50, 5]);
        let items: Vec<Record> = list().items().try_collect().await.unwrap();
        let mut ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((items.len(), ids.len()), (PROPOSALS, PROPOSALS));
        let fifth: Vec<Page<Record>> =
            list().query("page", 5).query("per_page", 50).pages().try_collect().await.unwrap();
        assert_eq!(fifth.iter().map(|page| page.data.len()).collect::<Vec<_>>(), [5]);
        let some = list().query("filter[id_in][]", ids[0]).query("filter[id_in][]", ids[7]);
        assert_eq!(some.items::<Record>().try_collect::<Vec<_>>().await.unwrap().len(), 2);
        let some = list().filter("id_in", vec![ids[0], ids[7]]);
        assert_eq!(some.items::<Record>().try_collect::<Vec<_>>().await.unwrap().len(), 2);
        let refused = list().query("filter[nothing_eq]", 1).items::<Record>().try_collect::<Vec<_>>().await;
        assert_eq!(refused.unwrap_err().status(), Some(StatusCode::BAD_REQUEST));
    }
}

#[tokio::test]
async fn filters_orders_and_totals_of_a_list() {
    for service in services_with_proposals().await {
        let client = machine(&service);
        let list = || client.get("/proposals").query("component_id", service.id("component", "many"));
        let published = OffsetDateTime::from_unix_timestamp(1_770_022_800).unwrap();
        let day = published.date();
        let totals = [
            (list(), PROPOSALS),
            (list().per_page(50), PROPOSALS),
            (list().filter("title_cont", "NUMBER 20"), 6),
            (list().filter("search_text_cont", "bénch").filter("id_blank", false), PROPOSALS),
            (list().filter("published_at_lteq", published), PROPOSALS),
            (list().filter("published_at_gt", published), 0),
            (list().filter("published_at_gteq", day), PROPOSALS),
            (list().filter("published_at_gteq", day.next_day().unwrap()), 0),
        ];
        for (list, total) in totals {
            assert_eq!(list.total().await.unwrap(), total as u64);
        }
        let counted = list().per_page(7).header("prefer", "count=exact").response().await.unwrap();
        assert_eq!(counted.total(), Some(PROPOSALS as u64));
        assert_eq!(counted.json::<Page<Record>>().unwrap().meta.next.as_deref(), counted.next_page());
        let plain = list().per_page(7).response().await.unwrap();
        assert_eq!((plain.total(), plain.next_page().is_some()), (None, true));
        let newest = list().order("id", Direction::Descending).per_page(100).items::<Record>();
        let newest: Vec<Record> = newest.try_collect().await.unwrap();
        let ids: Vec<u64> = newest.iter().map(|proposal| proposal.id.parse().unwrap()).collect();
        assert!(ids.len() == PROPOSALS && ids.is_sorted_by(|left, right| left > right));
        let path = format!("/proposals/{}", ids[0]);
        assert!(matches!(client.get(&path).total().await, Err(Error::NoTotal)));
    }
}

#[tokio::test]
async fn an_unchanged_answer_comes_from_the_cache_of_the_client() {
    for service in services(&[]).await {
        let nora = user(&service, "norablum");
        let path = format!("/proposals/{}", service.id("proposal", "p2"));
        let is_hit = |answer: &civitas_client::Response| answer.headers.contains_key("cache-status");
        let first = nora.get(&path).response().await.unwrap();
        let second = nora.get(&path).response().await.unwrap();
        assert_eq!((is_hit(&first), is_hit(&second)), (false, true));
        assert_eq!((first.status, &first.body), (second.status, &second.body));
        let french = nora.get(&path).header("accept-language", "fr").response().await.unwrap();
        assert!(!is_hit(&french));
        nora.post("/vote_proposals/sync").json(&vote(&service, 1)).send::<Value>().await.unwrap();
        let changed = nora.get(&path).response().await.unwrap();
        assert!(!is_hit(&changed));
        assert_eq!(changed.json::<Value>().unwrap()["data"]["meta"]["voted"], json!({"weight": 1}));
        let uncached = builder(&service, "id_city_full", "key_city_full").cache_bytes(0).build().unwrap();
        for _ in 0..2 {
            assert!(!is_hit(&uncached.get(&path).response().await.unwrap()));
        }
    }
}

#[tokio::test]
async fn one_token_serves_until_it_is_rejected_or_nearly_expired() {
    for service in services(&[("token_lifetime_seconds", "4")]).await {
        let client = machine(&service);
        let token = client.access_token().await.unwrap();
        client.get("/proposals").send::<Value>().await.unwrap();
        assert_eq!(client.access_token().await.unwrap(), token);
        let body = json!({"token": token, "client_id": "id_city_full", "client_secret": "key_city_full"});
        client.post("/oauth/revoke").json(&body).send::<Value>().await.unwrap();
        client.get("/proposals").send::<Value>().await.unwrap();
        let renewed = client.access_token().await.unwrap();
        assert_ne!(renewed, token);
        tokio::time::sleep(Duration::from_millis(3_400)).await;
        assert_ne!(client.access_token().await.unwrap(), renewed);
    }
}

#[tokio::test]
async fn errors_have_the_members_of_the_interface() {
    for service in services(&[]).await {
        let refused = |client: &str, secret: &str| {
            let client = builder(&service, client, secret).build().unwrap();
            async move { client.get("/proposals").send::<Value>().await.unwrap_err() }
        };
        let error = refused("id_city_full", "a wrong secret").await;
        assert_eq!(error.api().unwrap().error, "invalid_client");
        assert!(!format!("{error} {error:?}").contains("wrong secret"));
        let client = machine(&service);
        let missing = client.get("/proposals/999999999").send::<Value>().await.unwrap_err();
        assert_eq!(missing.status(), Some(StatusCode::NOT_FOUND));
        let elsewhere = client.get("/../../../health").send::<Value>().await.unwrap_err();
        assert!(matches!(elsewhere, Error::Address(_)), "{elsewhere}");
        let decoded = client.get("/proposals").send::<Record>().await.unwrap_err();
        assert!(matches!(decoded, Error::Decode(_)), "{decoded}");
        for address in ["", "city.test", "ftp://city.test", "mailto:a@b.test"] {
            assert!(
                matches!(Client::builder(address, "id", "secret").build(), Err(Error::Address(_))),
                "{address}"
            );
        }
    }
}

#[tokio::test]
async fn a_delivery_is_verified() {
    for service in services(&[("webhook_allowed_networks", "127.0.0.0/8")]).await {
        let hooks = || builder(&service, "id_city_hooks", "key_city_hooks");
        let receiver = Receiver::start().await;
        let attributes = json!({"url": receiver.url("/hook"), "subscriptions": ["user.created"]});
        let client = hooks().build().unwrap();
        let registration: Document<Record> = client
            .post("/webhook_registrations")
            .json(&json!({"data": {"attributes": attributes}}))
            .send()
            .await
            .unwrap();
        let secret = registration.data.attributes["signing_secret"].as_str().unwrap();
        let meta = json!({"register_on_missing": true, "skip_confirmation_on_register": true});
        let newcomer = hooks().user("newcomer").meta(meta).build();
        newcomer.unwrap().access_token().await.unwrap();
        let delivery = receiver.wait_for(1).await.remove(0);
        let header = |name: &str| delivery.headers.get(name)?.to_str().ok();
        let event = verify_webhook(header, &delivery.body, secret).unwrap();
        assert_eq!((event.kind.as_str(), event.id.as_str()), ("user.created", delivery.id()));
        assert_eq!(event.data["attributes"]["nickname"], "newcomer");
        let other = verify_webhook(header, &delivery.body, "another secret");
        assert_eq!(other, Err(WebhookError::Signature));
        let late = UNIX_EPOCH + Duration::from_secs(event.timestamp + 301);
        assert_eq!(verify_webhook_at(header, &delivery.body, secret, late), Err(WebhookError::Stale));
    }
}
