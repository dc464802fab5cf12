//! Writes with an `Idempotency-Key` (contract 01 §11c).

use civitas_server::config::{Config, SettingSources};
use civitas_server::wiring::start;
use civitas_tests::Engine;
use civitas_tests::service::{Answer, BASE, Client, Service};
use reqwest::Method;
use serde_json::{Value, json};

const REPLAYED: &str = "idempotent-replayed";

/// `POST` with a key.
async fn post(client: &Client, key: &str, path: &str, body: &Value) -> Answer {
    client.send(Method::POST, path, &[("idempotency-key", key)], Some(body)).await
}

fn blog_post(service: &Service, title: &str) -> Value {
    let attributes = json!({"title": {"en": title}, "body": {"en": "Text"}});
    json!({"data": {"component_id": service.id("component", "news"), "attributes": attributes}})
}

async fn count(client: &Client, title: &str) -> usize {
    let posts = client.get("/blogs?per_page=100").await.is(200);
    posts.data().as_array().unwrap().iter().filter(|post| post["attributes"]["title"]["en"] == title).count()
}

#[tokio::test]
async fn of_two_hundred_requests_with_one_key_at_once_one_has_an_effect() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        for (path, status) in [("/blogs/sync", 201), ("/blogs", 202)] {
            let body = blog_post(&service, &format!("Once at {path}"));
            let attempts = (0..200).map(|_| {
                let (nora, body) = (nora.clone(), body.clone());
                tokio::spawn(async move { post(&nora, path, path, &body).await })
            });
            let mut bodies = Vec::new();
            for attempt in attempts.collect::<Vec<_>>() {
                let answer = attempt.await.unwrap();
                if answer.status == 409 {
                    assert_eq!(answer.header("retry-after"), "1");
                    answer.refuses(409, "A request with this Idempotency-Key is in progress");
                } else {
                    bodies.push(answer.is(status).text);
                }
            }
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{:?}: {bodies:?}", service.engine);
            let again = post(&nora, path, path, &body).await.is(status);
            assert_eq!((again.header(REPLAYED), &again.text), ("true", &bodies[0]));
            if status == 202 {
                assert_eq!(nora.finished(&again).await["status"], "completed");
            }
            assert_eq!(count(&nora, &format!("Once at {path}")).await, 1, "{:?}", service.engine);
        }
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_client_and_user() {
    for service in Service::on_both_engines().await {
        let (nora, luis) = (service.user("norablum").await, service.user("luisortega").await);
        let vote =
            |weight: i64| json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": weight}});
        let first = post(&nora, "k", "/vote_proposals/sync", &vote(1)).await.is(200);
        assert_eq!(first.header(REPLAYED), "");
        let used = "Idempotency-Key was used for another request";
        post(&nora, "k", "/vote_proposals/sync", &vote(2)).await.refuses(422, used);
        post(&nora, "k", "/vote_proposals", &vote(1)).await.refuses(422, used);
        post(&nora, "k", "/vote_proposals/sync?locales=fr", &vote(1)).await.refuses(422, used);
        // Another user, another key.
        assert_eq!(post(&luis, "k", "/vote_proposals/sync", &vote(1)).await.is(200).header(REPLAYED), "");
        post(&nora, "l", "/vote_proposals/sync", &vote(1)).await.refuses(400, "Already voted");
        let again = post(&nora, "k", "/vote_proposals/sync", &vote(1)).await.is(200);
        assert_eq!((again.header(REPLAYED), &again.text), ("true", &first.text));
    }
}

#[tokio::test]
async fn refusals_of_the_use_case_are_kept_and_others_are_not() {
    for service in Service::on_both_engines().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        let vote = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
        // A right that is missing may be given: that is decided again.
        let refused = post(&machine, "k", "/vote_proposals/sync", &vote).await;
        let again = post(&machine, "k", "/vote_proposals/sync", &vote).await;
        assert_eq!((refused.status, &refused.text), (again.status, &again.text));
        assert!(refused.status.is_client_error());
        assert_eq!(again.header(REPLAYED), "");

        let unknown = json!({"proposal_id": 99_999_999, "data": {"weight": 1}});
        let refused = post(&nora, "n", "/vote_proposals/sync", &unknown).await;
        assert!(refused.status.is_client_error(), "{}", refused.text);
        let again = post(&nora, "n", "/vote_proposals/sync", &unknown).await;
        assert_eq!((again.header(REPLAYED), &again.text), ("true", &refused.text));

        service
            .anonymous()
            .send(Method::POST, "/vote_proposals/sync", &[("idempotency-key", "k")], Some(&vote))
            .await
            .is(401);
        for malformed in [String::new(), "two words".to_owned(), "x".repeat(256)] {
            let answer = post(&nora, &malformed, "/vote_proposals/sync", &vote).await;
            answer.refuses(400, "Invalid Idempotency-Key");
        }
        post(&nora, &"x".repeat(255), "/vote_proposals/sync", &vote).await.is(200);
    }
}

#[tokio::test]
async fn answers_with_headers_or_without_a_body_are_repeated_as_they_were() {
    for service in Service::on_both_engines().await {
        let (nora, machine) = (service.user("norablum").await, service.machine().await);
        // A header, and a secret in the body.
        let path =
            "/attachments/direct_upload?filename=note.txt&byte_size=12&checksum=b1kCrCNwJL3QwXbLkwY9xA%3D%3D";
        let announced = post(&machine, "u", path, &json!({})).await.is(201);
        let again = post(&machine, "u", path, &json!({})).await.is(201);
        assert_eq!((again.header("location"), &again.text), (announced.header("location"), &announced.text));
        assert_eq!((again.header("cache-control"), again.header(REPLAYED)), ("no-store", "true"));
        let secret = announced.body["signed_id"].as_str().unwrap();
        let columns = service.database.columns_with(&[secret]).await;
        assert!(!columns.iter().any(|column| column.starts_with("idempotency_keys")), "{columns:?}");

        // A form, whose boundary differs each time.
        let mut texts = Vec::new();
        for boundary in ["a", "b"] {
            let part = |name: &str, value: &str| {
                format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
            };
            let proposal = service.id("proposal", "p2").to_string();
            let file = format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"note.txt\"\r\n\r\nhello world\n\r\n--{boundary}--\r\n"
            );
            let body = part("attached_to_type", "proposals")
                + &part("attached_to_id", &proposal)
                + &part("title[en]", "Note")
                + &part("description[en]", "Hello")
                + &file;
            let media_type = format!("multipart/form-data; boundary={boundary}");
            let headers = [("content-type", media_type.as_str()), ("idempotency-key", "f")];
            let path = format!("{BASE}/attachments");
            texts
                .push(machine.raw(Method::POST, &path, &headers, Some(body.into_bytes())).await.is(201).text);
        }
        assert_eq!(texts[0], texts[1]);

        let job = post(&nora, "j", "/blogs", &blog_post(&service, "By a job")).await.is(202);
        nora.finished(&job).await;
        let path = format!("/jobs/{}", job.body["job_id"].as_str().unwrap());
        let key = [("idempotency-key", "d")];
        nora.send(Method::DELETE, &path, &key, None).await.is(204);
        let again = nora.send(Method::DELETE, &path, &key, None).await.is(204);
        assert_eq!(again.header(REPLAYED), "true");
        nora.delete(&path).await.is(404);
    }
}

#[tokio::test]
async fn one_key_at_two_servers_has_one_effect() {
    for service in Service::on_both_engines().await {
        // SQLite has one server only.
        if service.engine == Engine::Sqlite {
            continue;
        }
        let config =
            Config::load(&SettingSources { flags: service.flags().to_vec(), ..SettingSources::default() });
        let second = start(config.unwrap()).await.unwrap();
        let here = service.user("norablum").await;
        let there = here.moved_to(second.address.unwrap());
        for round in 0..10 {
            let (key, title) = (format!("two {round}").replace(' ', "-"), format!("Once of two {round}"));
            let body = blog_post(&service, &title);
            let attempts = (0..20).map(|number: usize| {
                let client = if number.is_multiple_of(2) { here.clone() } else { there.clone() };
                let (key, body) = (key.clone(), body.clone());
                tokio::spawn(async move { post(&client, &key, "/blogs/sync", &body).await })
            });
            let mut bodies = Vec::new();
            for attempt in attempts.collect::<Vec<_>>() {
                let answer = attempt.await.unwrap();
                if answer.status == 409 {
                    answer.refuses(409, "A request with this Idempotency-Key is in progress");
                } else {
                    bodies.push(answer.is(201).text);
                }
            }
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{:?}: {bodies:?}", service.engine);
            for client in [&here, &there] {
                let again = post(client, &key, "/blogs/sync", &body).await.is(201);
                assert_eq!((again.header(REPLAYED), &again.text), ("true", &bodies[0]));
            }
            assert_eq!(count(&here, &title).await, 1, "{:?}", service.engine);
        }
        second.stop().await;
    }
}

#[tokio::test]
async fn updates_carry_keys_too() {
    for service in Service::on_both_engines().await {
        let nora = service.user("norablum").await;
        let post = nora.post("/blogs/sync", &blog_post(&service, "First")).await.is(201).data()["id"].clone();
        let path = format!("/blogs/{}", post.as_str().unwrap());
        let title = |title: &str| json!({"data": {"attributes": {"title": {"en": title}}}});
        let write = async |method: Method, path: &str, key: &str, body: &Value| {
            nora.send(method, path, &[("idempotency-key", key)], Some(body)).await
        };
        let sync = format!("{path}/sync");
        let first = write(Method::PUT, &sync, "put", &title("Second")).await.is(200);
        nora.put(&sync, &title("Third")).await.is(200);
        let again = write(Method::PUT, &sync, "put", &title("Second")).await.is(200);
        assert_eq!((again.header(REPLAYED), &again.text), ("true", &first.text));
        assert_eq!(nora.get(&path).await.data()["attributes"]["title"]["en"], "Third");

        let accepted = write(Method::PATCH, &path, "patch", &title("Fourth")).await.is(202);
        nora.finished(&accepted).await;
        nora.put(&sync, &title("Fifth")).await.is(200);
        let again = write(Method::PATCH, &path, "patch", &title("Fourth")).await.is(202);
        assert_eq!(again.body["job_id"], accepted.body["job_id"]);
        nora.finished(&again).await;
        assert_eq!(nora.get(&path).await.data()["attributes"]["title"]["en"], "Fifth");
        let used = "Idempotency-Key was used for another request";
        write(Method::PUT, &path, "patch", &title("Fourth")).await.refuses(422, used);
    }
}
