//! `/events` by pull, with `after` or `format` (contract 09 D).

use super::events_stream::{append_events, permit};
use civitas_kernel::{Ability, EventName};
use civitas_tests::at_once;
use civitas_tests::service::{Answer, BASE, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const DRAFT: EventName = Ability::DraftProposalCreation;
const PROPOSAL: EventName = Ability::ProposalCreation;

/// Stores events as [`append_events`], and waits until they have positions.
async fn relayed(service: &Service, organization: &str, name: EventName, bodies: &[Value]) -> Vec<String> {
    let ids = append_events(service, organization, name, bodies).await;
    let started = Instant::now();
    while service.store.outbox().has_unrelayed().await.unwrap() {
        assert!(started.elapsed() < Duration::from_secs(30), "the relay does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ids
}

/// The ids of the events of a JSON document.
fn ids(answer: &Answer) -> Vec<&str> {
    answer.data().as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap()).collect()
}

/// The answer as a JSON event on each line.
async fn lines(client: &Client, query: &str) -> Answer {
    client.raw(Method::GET, &format!("{BASE}/events?{query}"), &[], None).await.is(200)
}

#[tokio::test]
async fn a_pull_has_the_stored_events_as_cloud_events_and_its_cursor_continues() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let none = client.get("/events?after=").await.is(200);
        assert_eq!(none.body, json!({"data": [], "next": null}));
        let bodies = [json!({"n": 1}), json!({"n": "two\nlines"}), json!({"n": 3})];
        let stored = relayed(&service, "city", DRAFT, &bodies).await;

        let all = client.get("/events?format=json").await.is(200);
        assert_eq!(all.header("content-type"), "application/json; charset=utf-8");
        assert_eq!((all.header("cache-control"), all.header("etag")), ("no-store", ""));
        assert_eq!(ids(&all), stored);
        assert_eq!(all.body["next"], stored[2].as_str());
        let first = &all.data()[0];
        let expected = json!({"specversion": "1.0", "id": stored[0], "source": "https://city.test",
            "type": DRAFT.as_str(), "time": first["time"], "datacontenttype": "application/json",
            "data": bodies[0]});
        assert_eq!(*first, expected);

        let rest = client.get(&format!("/events?after={}", stored[0])).await.is(200);
        assert_eq!(*rest.data(), json!(all.data().as_array().unwrap()[1..]));
        let end = client.get(&format!("/events?after={}", stored[2])).await.is(200);
        assert_eq!(end.body, json!({"data": [], "next": stored[2]}));

        let in_lines = lines(&client, &format!("after={}&format=ndjson", stored[0])).await;
        assert_eq!(in_lines.header("content-type"), "application/x-ndjson");
        assert_eq!(in_lines.header("cache-control"), "no-store");
        let read: Vec<Value> =
            in_lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((json!(read), in_lines.text.ends_with('\n')), (rest.data().clone(), true));
        let no_lines = lines(&client, &format!("after={}&format=ndjson", stored[2])).await;
        assert_eq!((no_lines.header("content-type"), no_lines.text.as_str()), ("application/x-ndjson", ""));

        let mut stream = client.open("/events", &[("last-event-id", stored[1].as_str())]).await.unwrap();
        assert_eq!(stream.next().await.unwrap().id, stored[2], "a stream continues after a cursor");
    })
    .await;
}

#[tokio::test]
async fn an_answer_has_at_most_a_thousand_events_and_about_a_mebibyte() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let long = json!({"text": "x".repeat(600 * 1024)});
        let longest = json!({"text": "x".repeat(2 * 1024 * 1024)});
        let mut stored = relayed(&service, "city", DRAFT, &[long.clone(), long, longest]).await;
        let many: Vec<Value> = (0..1_001).map(|n| json!({"n": n})).collect();
        for some in many.chunks(250) {
            stored.extend(relayed(&service, "city", DRAFT, some).await);
        }
        let (mut received, mut counts, mut after) = (Vec::new(), Vec::new(), String::new());
        loop {
            let answer = client.get(&format!("/events?after={after}")).await.is(200);
            let found = ids(&answer);
            if found.is_empty() {
                break;
            }
            counts.push(found.len());
            received.extend(found.into_iter().map(str::to_owned));
            answer.body["next"].as_str().unwrap().clone_into(&mut after);
        }
        assert_eq!(received, stored);
        assert_eq!(counts, [1, 1, 1, 1_000, 1]);
    })
    .await;
}

#[tokio::test]
async fn each_party_pulls_the_events_it_may_receive_of_its_organization() {
    at_once(Service::on_both_engines().await, |service| async move {
        let draft = relayed(&service, "city", DRAFT, &[json!({"n": 1})]).await.remove(0);
        let foreign = relayed(&service, "town", DRAFT, &[json!({"n": 2})]).await.remove(0);
        let proposal = relayed(&service, "city", PROPOSAL, &[json!({"n": 3})]).await.remove(0);
        relayed(&service, "city", Ability::UserCreated, &[json!({"n": 4})]).await;
        let client = service.machine().await;
        let other = service.user_through("city", "second", "norablum").await;
        let town = service.user_through("town", "full", "norablum").await;
        permit(&service, |ability| ability != DRAFT).await;

        assert_eq!(ids(&client.get("/events?after=").await.is(200)), [&proposal]);
        assert_eq!(ids(&other.get("/events?after=").await.is(200)), [&draft, &proposal]);
        assert_eq!(ids(&town.get("/events?after=").await.is(200)), [&foreign]);
        assert_eq!(lines(&town, "format=ndjson").await.text.lines().count(), 1);
        let chosen = format!("/events?format=json&types[]={PROPOSAL}");
        assert_eq!(ids(&other.get(&chosen).await.is(200)), [&proposal]);
        let after = client.get(&format!("/events?after={draft}")).await.is(200);
        assert_eq!(ids(&after), [&proposal], "after an event that it may not receive any more");

        let of_city = town.bearing(client.token.as_deref().unwrap());
        of_city.get("/events?after=").await.is(401);
        let bare = service.user_through("city", "bare", "norablum").await;
        bare.get("/events?format=json").await.is(403);
        service.anonymous().get("/events?after=").await.is(401);
        permit(&service, |ability| !ability.is_event()).await;
        assert_eq!(client.get("/events?after=").await.is(200).body, json!({"data": [], "next": null}));
    })
    .await;
}

#[tokio::test]
async fn a_cursor_that_is_none_is_refused_and_one_that_is_not_stored_is_gone() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let foreign = relayed(&service, "town", DRAFT, &[json!({"n": 1})]).await.remove(0);
        for cursor in ["x", "7", "00000000000000000000000000000000", "00000000-0000-0000-0000-00000000000x"] {
            let refused = client.get(&format!("/events?after={cursor}&format=ndjson")).await;
            refused.refuses(400, "Invalid value for after");
        }
        for cursor in ["00000000-0000-0000-0000-000000000000", foreign.as_str()] {
            let refused = client.get(&format!("/events?after={cursor}")).await;
            refused.refuses(410, "Event is no longer available");
        }
        client.get("/events?format=xml").await.refuses(400, "Unknown format xml");
        let refused = client.get("/events?after=&types[]=nothing").await.is(400);
        assert_eq!(refused.body["error_description"], "Subscription to nothing is not allowed");
    })
    .await;
}
