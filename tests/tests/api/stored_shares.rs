//! Shares of what clients store (contract 01 §3, 429): one client stores until it is refused, others are served.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_tests::service::{Answer, BASE, CITIES, Client, Service};
use md5::{Digest, Md5};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// The clients `first` to `fifth` of the city, and one of the town.
fn archive() -> String {
    let client = |name: &str, organization: &str| {
        let client = json!({"type": "api_client", "ref": name, "organization": organization,
            "client_id": format!("id_{organization}_{name}"), "client_secret": format!("key_{organization}_{name}"),
            "name": name, "scopes": ["attachments", "oauth"],
            "permissions": ["attachments.read", "attachments.write", "oauth.impersonate"]});
        format!("{client}\n")
    };
    let own = ["first", "third", "fourth", "fifth", "sixth"].map(|name| client(name, "city")).concat();
    format!("{}\n{own}{}", CITIES.trim_end(), client("first", "town"))
}

async fn services(bytes: &str) -> Vec<Service> {
    Service::on_both_engines_with(&archive(), &[("max_stored_bytes_per_client", bytes)]).await
}

/// A client on its own.
async fn machine(service: &Service, organization: &str, client: &str) -> Client {
    let asked = json!({"grant_type": "client_credentials", "client_id": format!("id_{organization}_{client}"),
        "client_secret": format!("key_{organization}_{client}"), "scope": "attachments"});
    service.at(&format!("{organization}.test")).with_token(&asked).await
}

fn assert_refused(answer: Answer) {
    let refused = answer.refuses(429, "Too many requests");
    assert_eq!(refused.header("retry-after"), "60");
}

/// Asks until the answer is not 429: the count is at most a second old.
async fn served(ask: impl AsyncFn() -> Answer) -> Answer {
    for _ in 0..100 {
        let answer = ask().await;
        if answer.status != 429 {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it is refused for ten seconds");
}

/// Requests an upload of so many bytes.
async fn stage(client: &Client, bytes: usize) -> Answer {
    let checksum = STANDARD.encode(Md5::digest(vec![b'a'; bytes]));
    let upload_request = json!({"filename": "a.txt", "byte_size": bytes, "checksum": checksum});
    client.post("/attachments/direct_upload", &upload_request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_attaches_nothing_stages_its_share_and_an_organization_four_times_as_much() {
    for service in services("1000").await {
        let (first, town) =
            (machine(&service, "city", "first").await, machine(&service, "town", "first").await);
        let signed = stage(&first, 400).await.is(201).body["signed_id"].as_str().unwrap().to_owned();
        stage(&first, 400).await.is(201);
        assert_refused(stage(&first, 400).await);
        for name in ["third", "fourth", "fifth"] {
            stage(&machine(&service, "city", name).await, 1_000).await.is(201);
        }
        let sixth = machine(&service, "city", "sixth").await;
        stage(&sixth, 200).await.is(201);
        assert_refused(stage(&sixth, 1).await);
        stage(&town, 1_000).await.is(201);

        let sent = (Method::PUT, format!("{BASE}/attachments/direct_upload/{signed}"));
        first
            .raw(sent.0, &sent.1, &[("content-type", "application/octet-stream")], Some(vec![b'a'; 400]))
            .await
            .is(204);
        assert_refused(stage(&first, 400).await);
        let attached = json!({"signed_id": signed, "attached_to_type": "proposals",
            "attached_to_id": service.id("proposal", "p1"), "title": "T", "description": "D"});
        first.post("/attachments", &attached).await.is(201);
        served(async || stage(&first, 400).await).await.is(201);
        assert_refused(stage(&first, 400).await);
    }
}

/// Queues a job with 300 bytes.
async fn queue(client: &Client, n: usize) -> Answer {
    client.put("/me/extended_data", &json!({"data": {"text": "x".repeat(300), "n": n}})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_queues_jobs_until_its_share_is_used_and_others_go_on() {
    for service in services("4000").await {
        let first = service.user_through("city", "full", "norablum").await;
        let others = [
            service.user_through("city", "second", "luisortega").await,
            service.user_through("town", "full", "norablum").await,
        ];
        let (mut jobs, mut refused) = (Vec::new(), None);
        for n in 0..100 {
            let answer = queue(&first, n).await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            jobs.push(answer.is(202).body["job_id"].as_str().unwrap().to_owned());
            if n < 3 {
                for other in &others {
                    queue(other, n).await.is(202);
                }
            }
        }
        assert_refused(refused.unwrap());
        for other in &others {
            queue(other, 0).await.is(202);
        }
        first.put("/me/extended_data/sync", &json!({"data": {"n": 1}})).await.is(200);
        for job in jobs {
            first.delete(&format!("/jobs/{job}")).await.is(204);
        }
        served(async || queue(&first, 0).await).await.is(202);
    }
}

/// A write with a key; its answer has more than 300 bytes.
async fn keyed(client: &Client, key: &str, data: &Value) -> Answer {
    let body = json!({"data": {"text": "x".repeat(300), "own": data}});
    client.send(Method::PUT, "/me/extended_data/sync", &[("idempotency-key", key)], Some(&body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_keeps_answers_until_its_share_is_used_and_then_writes_without_keys() {
    for service in services("2000").await {
        let nora = async |organization, client| service.user_through(organization, client, "norablum").await;
        let (first, second, town) =
            (nora("city", "full").await, nora("city", "second").await, nora("town", "full").await);
        let kept = keyed(&first, "0", &json!(0)).await.is(200);
        let mut last = 0;
        let refused = loop {
            let answer = keyed(&first, &format!("{}", last + 1), &json!(last + 1)).await;
            if answer.status == 429 {
                break answer;
            }
            answer.is(200);
            last += 1;
            assert!(last < 100, "{:?}: it keeps a hundred answers", service.engine);
        };
        assert_refused(refused);
        let data = first.get("/me/extended_data?object_path=own").await.is(200);
        assert!(
            data.text.contains(&last.to_string()) && !data.text.contains(&(last + 1).to_string()),
            "{}",
            data.text
        );
        let again = keyed(&first, "0", &json!(0)).await.is(200);
        assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &kept.text));
        first.put("/me/extended_data/sync", &json!({"data": {"n": 1}})).await.is(200);
        keyed(&second, "0", &json!(0)).await.is(200);
        keyed(&town, "0", &json!(0)).await.is(200);

        service.database.execute("DELETE FROM idempotency_keys").await;
        // The refusal was not kept.
        let key = format!("{}", last + 1);
        let answer = served(async || keyed(&first, &key, &json!(1)).await).await.is(200);
        assert_eq!(answer.header("idempotent-replayed"), "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_limit_nothing_is_refused() {
    for service in services("0").await {
        let first = machine(&service, "city", "first").await;
        for _ in 0..3 {
            stage(&first, 1_000_000).await.is(201);
        }
    }
}
