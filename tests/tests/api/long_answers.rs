//! Long answers (contract 01 §3): at most 16 MiB, and what they cost is not the cost of others.

use civitas_accounts::User;
use civitas_kernel::{OrganizationId, clock};
use civitas_tests::Service;
use civitas_tests::service::{BASE, CITIES, Client};
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PLAIN: &str = r#"{"type": "api_client", "ref": "plain", "organization": "city", "client_id": "id_city_plain", "client_secret": "key_city_plain", "name": "Plain", "scopes": ["oauth"], "permissions": ["oauth.read"]}"#;
const TOO_LONG: &str = "Answer exceeds 16777216 bytes: use a smaller per_page";
/// The people with long extended data.
const PEOPLE: usize = 20;
/// The length of the extended data of each, in bytes.
const LENGTH: usize = 1_000_000;
/// What the pace may differ by on a busy machine, whatever the ratio.
const NOISE: Duration = Duration::from_millis(25);

/// A server on each engine, with long extended data in the city.
async fn services() -> Vec<Service> {
    let services = Service::on_both_engines_with(&format!("{CITIES}{PLAIN}\n"), &[]).await;
    for service in &services {
        let city = OrganizationId(service.id("organization", "city"));
        let tx = service.store.begin().await.unwrap();
        for number in 0..PEOPLE {
            let (nickname, email) = (format!("long{number}"), format!("long{number}@city.example"));
            let user = User::new(nickname, email, "Long Data".into(), clock::now());
            let data = [("text", "x".repeat(LENGTH).into())].into();
            tx.users().add(city, &User { extended_data: data, ..user }).await.unwrap();
        }
        tx.commit().await.unwrap();
    }
    services
}

#[tokio::test]
async fn a_list_has_at_most_16_mib() {
    for service in services().await {
        let machine = service.machine().await;
        machine.get("/users?per_page=100").await.refuses(400, TOO_LONG);
        let some = machine.get("/users?per_page=10&filter[nickname_start]=long").await.is(200);
        let people = some.data().as_array().unwrap();
        assert_eq!(people.len(), 10);
        for person in people {
            assert_eq!(person["attributes"]["extended_data"]["text"].as_str().unwrap().len(), LENGTH);
        }
        assert!(!some.header("etag").is_empty() && some.text.len() > 10 * LENGTH);
        let request = json!({"grant_type": "client_credentials", "scope": "oauth",
            "client_id": "id_city_plain", "client_secret": "key_city_plain"});
        let plain = service.anonymous().with_token(&request).await;
        let all = plain.get("/users?per_page=100").await.is(200);
        assert!(all.data().as_array().unwrap().len() > PEOPLE);
        assert!(all.data()[0]["attributes"]["extended_data"].as_object().unwrap().is_empty());
        assert!(all.text.len() < LENGTH);
    }
}

/// How long most of these requests take.
async fn pace(client: &Client) -> Duration {
    let mut times = Vec::new();
    for number in 0..60 {
        let begun = Instant::now();
        client.get(&format!("/proposals?per_page=5&page={}", number % 3 + 1)).await.is(200);
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    times.sort();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_long_lists_leave_others_their_pace() {
    for service in services().await {
        let (reader, other) =
            (service.machine().await, service.user_through("town", "full", "norablum").await);
        let quiet = pace(&other).await;
        let ended = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..8)
            .map(|number| {
                let (reader, ended) = (reader.clone(), ended.clone());
                // Seven people of the archive come first.
                let path = format!("{BASE}/users?per_page={}", if number % 2 == 0 { 21 } else { 100 });
                tokio::spawn(async move {
                    let mut answers = 0;
                    while !ended.load(Ordering::Relaxed) {
                        let status = reader.raw(Method::HEAD, &path, &[], None).await.status.as_u16();
                        assert!([200, 400, 429].contains(&status), "{status}");
                        answers += 1;
                    }
                    answers
                })
            })
            .collect();
        let beside = pace(&other).await;
        ended.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.await.unwrap() > 0);
        }
        println!("{:?}: {quiet:?} alone, {beside:?} beside eight readers", service.engine);
        assert!(beside < quiet * 3 + NOISE, "{:?}: {quiet:?}, then {beside:?}", service.engine);
    }
}
