//! `civitas webhook fire`: one sample delivery, without a database.

use crate::command_line::city::{City, Said};
use civitas_tests::{Behaviour, Receiver};
use serde_json::Value;

const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";
const EVENT: &str = "proposal_creation.succeeded";

/// Permits receivers on this machine.
async fn fire(city: &City, words: &[&str]) -> Said {
    city.run(&[&["--webhook-allowed-networks", "127.0.0.0/8", "webhook", "fire"], words].concat()).await
}

#[tokio::test]
async fn a_sample_delivery_is_signed_and_the_exchange_is_one_json_object() {
    let (city, receiver) = (City::unmigrated(), Receiver::start().await);
    let url = receiver.url("/civic?a=b");
    let said = fire(&city, &["--url", &url, "--event", EVENT, "--secret", SECRET]).await.done();
    assert_eq!(said.out.lines().count(), 1);
    let shown = said.json();
    assert_eq!(
        (&shown["status"], &shown["accepted"], &shown["error"]),
        (&204.into(), &true.into(), &Value::Null)
    );
    assert_eq!((&shown["url"], &shown["event"]), (&url.into(), &EVENT.into()));
    assert!(shown["duration_ms"].is_u64() && shown["secret"].is_null() && shown["body"].is_null());

    let requests = receiver.received();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.target, "/civic?a=b");
    assert_eq!(request.event(), EVENT);
    assert_eq!(shown["id"], request.id());
    assert_eq!(shown["body_bytes"], request.body.len());
    let headers = shown["headers"].as_object().unwrap();
    assert_eq!(headers.len(), request.headers.len(), "{headers:?}");
    for (name, value) in headers {
        assert_eq!(value, request.header(name), "{name}");
    }
    assert!(!city.path().join("data").exists(), "nothing is created");
}

#[tokio::test]
async fn a_dry_run_prints_the_request_and_sends_nothing() {
    let (city, receiver) = (City::unmigrated(), Receiver::start().await);
    let url = receiver.url("/");
    let words = ["--url", &url, "--event", "user.created", "--dry-run"];
    let shown = fire(&city, &words).await.done().json();
    let body: Value = serde_json::from_str(shown["body"].as_str().unwrap()).unwrap();
    assert_eq!((&body["type"], &body["data"]["type"]), (&"user.created".into(), &"user".into()));
    assert_eq!(shown["secret"].as_str().map(str::len), Some(64), "a random one");
    assert!(shown["headers"]["X-Webhook-Signature"].as_str().unwrap().starts_with("v1="));
    assert!(shown.get("status").is_none());
    assert_ne!(shown["secret"], fire(&city, &words).await.done().json()["secret"]);
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn a_delivery_that_is_not_accepted_is_exit_code_one() {
    let (city, receiver) = (City::unmigrated(), Receiver::start().await);
    receiver.behave(Behaviour::Answer(500));
    let url = receiver.url("/");
    let said = fire(&city, &["--url", &url, "--event", EVENT]).await;
    assert_eq!((said.code, said.err.as_str()), (1, ""));
    assert_eq!((&said.json()["status"], &said.json()["accepted"]), (&500.into(), &false.into()));

    let said = city.run(&["webhook", "fire", "--url", &url, "--event", EVENT]).await;
    assert_eq!((said.code, said.err.as_str()), (1, ""));
    assert_eq!(said.json()["error"], "refused: the address is not allowed");
    assert_eq!(said.json()["status"], Value::Null);
    assert_eq!(receiver.received().len(), 1, "no connection to an address that is not allowed");
}

#[tokio::test]
async fn invalid_arguments_are_one_clear_line() {
    let city = City::unmigrated();
    let url = "https://hooks.example/";
    for (words, line) in [
        (
            &["--url", "hooks.example", "--event", EVENT][..],
            "civitas: --url must be a valid HTTP or HTTPS URL\n",
        ),
        (
            &["--url", url, "--event", EVENT, "--secret", "short"],
            "civitas: --secret must have 16 to 255 printable ASCII characters\n",
        ),
    ] {
        let said = fire(&city, words).await;
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (1, "", line));
    }
    for name in ["proposals.read", "nothing"] {
        let said = fire(&city, &["--url", url, "--event", name]).await;
        assert_eq!((said.code, said.out.as_str()), (1, ""));
        let begin =
            format!("civitas: {name} is not an event; events are draft_proposal_creation.succeeded, ");
        assert!(said.err.starts_with(&begin), "{}", said.err);
    }
}
