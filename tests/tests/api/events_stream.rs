//! `/events` and `/jobs/{id}/events` (contract 09 D).

use civitas_kernel::{Ability, EventName, OrganizationId, clock, sortable_id};
use civitas_tests::service::{CITIES, Client, Service};
use civitas_tests::{SentEvent, at_once};
use civitas_webhooks::{OutboxEvent, envelope};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const DRAFT: EventName = Ability::DraftProposalCreation;
const PROPOSAL: EventName = Ability::ProposalCreation;

/// Stores events of an organization in the outbox. Returns their ids.
pub(super) async fn append_events(
    service: &Service,
    organization: &str,
    name: EventName,
    bodies: &[Value],
) -> Vec<String> {
    let organization = OrganizationId(service.id_in(organization, "organization", organization));
    let events: Vec<_> = bodies
        .iter()
        .map(|body| {
            let (payload, occurred_at) = (envelope(name, body), clock::now());
            OutboxEvent { id: sortable_id(), organization, name, payload, occurred_at }
        })
        .collect();
    service.store.outbox().append(&events).await.unwrap();
    events.iter().map(|event| event.id.to_string()).collect()
}

async fn append_event(service: &Service, name: EventName, body: &str) -> String {
    append_events(service, "city", name, &[json!(body)]).await.remove(0)
}

fn message(id: &str, name: EventName, body: &str) -> SentEvent {
    SentEvent { id: id.to_owned(), event: name.as_str().to_owned(), data: envelope(name, &json!(body)) }
}

/// Changes the permissions of the full client.
pub(super) async fn permit(service: &Service, is_kept: impl Fn(Ability) -> bool) {
    let clients = service.store.clients();
    let (id, mut client) = clients.find_by_uid("id_city_full").await.unwrap().unwrap();
    client.permissions = client.permissions.iter().filter(|ability| is_kept(*ability)).collect();
    clients.save(id, &client).await.unwrap();
}

#[tokio::test]
async fn a_stream_begins_now_has_each_event_once_and_continues_after_any_of_them() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        append_event(&service, DRAFT, "before").await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let mut stream = client.open("/events", &[]).await.unwrap();
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        assert_eq!(stream.headers()["cache-control"], "no-store");
        assert_eq!(stream.headers()["x-accel-buffering"], "no");
        assert!(!stream.headers().contains_key("etag"));

        let nora = service.user("norablum").await;
        let body = json!({"data": {"component_id": service.id("component", "ideas")}});
        let draft = nora.post("/draft_proposals/sync", &body).await.is(200);
        let sent = stream.next().await.unwrap();
        assert_eq!(sent.event, DRAFT.as_str());
        assert_eq!(sent.json()["data"]["id"], draft.data()["id"]);
        append_events(&service, "town", DRAFT, &[json!("foreign")]).await;
        append_event(&service, Ability::UserCreated, "not granted").await;
        let second = append_event(&service, PROPOSAL, "second").await;
        let third = append_event(&service, DRAFT, "third\nline").await;
        let expected = [message(&second, PROPOSAL, "second"), message(&third, DRAFT, "third\nline")];
        for expected in &expected {
            assert_eq!(stream.next().await.as_ref(), Some(expected));
        }

        let header = [("last-event-id", sent.id.as_str())];
        let mut again = client.open(&format!("/events?last_event_id={third}"), &header).await.unwrap();
        let mut by_query = client.open(&format!("/events?last_event_id={}", sent.id), &[]).await.unwrap();
        for expected in &expected {
            assert_eq!(again.next().await.as_ref(), Some(expected), "the header takes precedence");
            assert_eq!(by_query.next().await.as_ref(), Some(expected));
        }
        let fourth = append_event(&service, DRAFT, "fourth").await;
        for stream in [&mut stream, &mut again, &mut by_query] {
            assert_eq!(stream.next().await, Some(message(&fourth, DRAFT, "fourth")));
            assert!(stream.is_silent_for(Duration::from_millis(300)).await);
            assert_eq!(stream.comments, 1, "the first bytes");
        }
        let path = "/api/rest_full/v0.3/events";
        let head = client.raw(Method::HEAD, path, &[], None).await.is(200);
        assert_eq!((head.header("content-type"), head.text.as_str()), ("text/event-stream", ""));
    })
    .await;
}

#[tokio::test]
async fn an_event_that_is_not_stored_is_gone() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let foreign = append_events(&service, "town", DRAFT, &[json!("foreign")]).await.remove(0);
        tokio::time::sleep(Duration::from_secs(2)).await;
        for id in ["x", "7", "00000000-0000-0000-0000-000000000000", foreign.as_str()] {
            for header in [true, false] {
                let refused = if header {
                    client.open("/events", &[("last-event-id", id)]).await
                } else {
                    client.open(&format!("/events?last_event_id={id}"), &[]).await
                };
                let refused = refused.unwrap_err().refuses(410, "Event is no longer available");
                assert_eq!(refused.body["error"], "410: Gone");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn types_choose_events_the_client_may_receive() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let mut stream = client.open("/events?types[]=proposal_creation.succeeded", &[]).await.unwrap();
        append_event(&service, DRAFT, "another type").await;
        let id = append_event(&service, PROPOSAL, "chosen").await;
        assert_eq!(stream.next().await, Some(message(&id, PROPOSAL, "chosen")));
        let path = "/events?types[]=nothing&types[]=proposal_creation.succeeded&types[]=user.created";
        let refused = client.open(path, &[]).await.unwrap_err().is(400);
        let texts = ["nothing", "user.created"].map(|name| format!("Subscription to {name} is not allowed"));
        let details =
            texts.clone().map(|text| json!({"code": "inclusion", "field": "types", "description": text}));
        let expected = json!({"error": "400: Bad request", "error_description": texts.join(". "),
            "error_details": details});
        assert_eq!(refused.body, expected);

        permit(&service, |ability| !ability.is_event()).await;
        let mut empty = client.open("/events", &[]).await.unwrap();
        append_event(&service, PROPOSAL, "not granted").await;
        assert!(empty.is_silent_for(Duration::from_secs(2)).await);
    })
    .await;
}

#[tokio::test]
async fn a_withdrawn_permission_stops_its_event_and_a_revoked_token_ends_the_stream() {
    at_once(Service::on_both_engines().await, |service| async move {
        let client = service.machine().await;
        let mut stream = client.open("/events", &[]).await.unwrap();
        let first = append_event(&service, PROPOSAL, "first").await;
        assert_eq!(stream.next().await, Some(message(&first, PROPOSAL, "first")));
        permit(&service, |ability| ability != PROPOSAL).await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        append_event(&service, PROPOSAL, "withdrawn").await;
        let draft = append_event(&service, DRAFT, "still granted").await;
        assert_eq!(stream.next().await, Some(message(&draft, DRAFT, "still granted")));

        let token = client.token.clone().unwrap();
        let revoke = json!({"token": token, "client_id": "id_city_full", "client_secret": "key_city_full"});
        client.post("/oauth/revoke", &revoke).await.is(200);
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        append_event(&service, DRAFT, "too late").await;
        assert_eq!(stream.next().await, None);
        client.open("/events", &[]).await.unwrap_err().is(401);
    })
    .await;
}

#[tokio::test]
async fn a_client_has_ten_streams_at_once() {
    at_once(Service::on_both_engines().await, |service| async move {
        let (client, nora) = (service.machine().await, service.user("norablum").await);
        let mut streams = Vec::new();
        for n in 0..10 {
            let client = if n % 2 == 0 { &client } else { &nora };
            streams.push(client.open("/events", &[]).await.unwrap());
        }
        let refused = client.open("/events", &[]).await.unwrap_err().refuses(429, "Too many requests");
        assert_eq!(refused.body["error"], "429: Too many requests");
        assert_eq!(refused.header("retry-after"), "1");
        let head = client.raw(Method::HEAD, "/api/rest_full/v0.3/events", &[], None).await;
        assert_eq!(head.status, 429);
        client.get("/events?after=").await.refuses(429, "Too many requests");
        let other = service.user_through("city", "second", "norablum").await;
        other.get("/events?after=").await.is(200);
        other.open("/events", &[]).await.unwrap();
        drop(streams);
        // The server notices it when it writes: a comment each 15 s.
        let started = Instant::now();
        while client.open("/events", &[]).await.is_err() {
            assert!(started.elapsed() < Duration::from_secs(45), "the streams of closed connections stay");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_slow_reader_is_cut_off_and_continues_by_the_last_id_without_loss() {
    const COUNT: usize = 3_000;
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let mut stream = client.open("/events", &[]).await.unwrap();
        let bodies: Vec<Value> = (0..COUNT).map(|n| json!({"n": n, "text": "x".repeat(16 * 1024)})).collect();
        let mut ids = Vec::new();
        for some in bodies.chunks(250) {
            ids.extend(append_events(&service, "city", DRAFT, some).await);
        }
        let started = Instant::now();
        while service.store.outbox().has_unrelayed().await.unwrap() {
            assert!(started.elapsed() < Duration::from_secs(30), "the relay does not end");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        let mut received = Vec::new();
        while let Some(event) = stream.next().await {
            received.push(event.id);
        }
        assert!(received.len() < COUNT, "the stream was not cut off");
        assert_eq!(received, ids[..received.len()]);
        let last = received.last().map_or("", String::as_str);
        let mut stream = client.open("/events", &[("last-event-id", last)]).await.unwrap();
        for id in &ids[received.len()..] {
            assert_eq!(&stream.next().await.unwrap().id, id);
        }
    }
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    for service in Service::on_both_engines().await {
        let client = service.machine().await;
        let mut stream = client.open("/events", &[]).await.unwrap();
        let started = Instant::now();
        let (end, ()) = tokio::join!(stream.next(), service.stop());
        assert_eq!(end, None);
        assert!(started.elapsed() < Duration::from_secs(8), "the server waited for the stream");
    }
}

/// The stream of a job until its end: the documents of its states.
async fn states(client: &Client, path: &str) -> Vec<Value> {
    let mut stream = client.open(path, &[]).await.unwrap();
    assert_eq!(stream.headers()["cache-control"], "no-store");
    let mut states = Vec::new();
    loop {
        let message = stream.next().await.unwrap();
        assert_eq!(message.id, "");
        match message.event.as_str() {
            "status" => states.push(message.json()),
            "end" => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(stream.next().await, None);
    states
}

#[tokio::test]
async fn a_job_is_followed_to_its_end_by_whoever_knows_its_id_in_its_organization() {
    for service in Service::on_both_engines_with(CITIES, &[]).await {
        let nora = service.user("norablum").await;
        let body = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
        let accepted = nora.post("/vote_proposals", &body).await.is(202);
        let path = format!("/jobs/{}", accepted.body["job_id"].as_str().unwrap());
        let events = format!("{path}/events");
        let anonymous = service.anonymous();
        let followed = states(&anonymous.bearing("nonsense"), &events).await;
        let job = anonymous.get(&path).await.is(200).body;
        assert_eq!(followed.last(), Some(&job));
        assert!(["completed", "failed"].contains(&job["status"].as_str().unwrap()));
        assert_eq!(states(&anonymous, &events).await, [job], "an ended job");
        service.at("town.test").open(&events, &[]).await.unwrap_err().refuses(404, "Resource not found");
        for id in ["x", "00000000-0000-0000-0000-000000000000"] {
            anonymous.open(&format!("/jobs/{id}/events"), &[]).await.unwrap_err().is(404);
        }
        let head = format!("/api/rest_full/v0.3{events}");
        let head = anonymous.raw(Method::HEAD, &head, &[], None).await.is(200);
        assert_eq!((head.header("content-type"), head.text.as_str()), ("text/event-stream", ""));
    }
}

/// The path of the stream of a job that never ends.
async fn endless_job(service: &Service, organization: &str) -> String {
    let user = service.user_through(organization, "full", "norablum").await;
    let accepted = user.put("/me/extended_data", &json!({"object_path": "k", "data": 1})).await.is(202);
    user.finished(&accepted).await;
    // Without a lease no worker takes it.
    service.database.execute("UPDATE jobs SET status = 'processing', leased_until = NULL").await;
    format!("/jobs/{}/events", accepted.body["job_id"].as_str().unwrap())
}

#[tokio::test]
async fn an_organization_has_two_hundred_streams_of_jobs_and_leaves_the_others_theirs() {
    let service = Service::on_both_engines().await.remove(0);
    let job = endless_job(&service, "city").await;
    let city = service.anonymous();
    let mut streams = Vec::new();
    for _ in 0..200 {
        streams.push(city.open(&job, &[]).await.unwrap());
    }
    let refused = city.open(&job, &[]).await.unwrap_err().refuses(429, "Too many requests");
    assert_eq!(refused.header("retry-after"), "1");
    let job = endless_job(&service, "town").await;
    let mut stream = service.at("town.test").open(&job, &[]).await.unwrap();
    assert_eq!(stream.next().await.unwrap().event, "status");
}
