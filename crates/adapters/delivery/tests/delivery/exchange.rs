//! What a receiver gets, and on which connection.

use crate::receiver::{Receiver, Reply};
use crate::{BODY, SECRET, answered, sender};
use civitas_delivery::sign;
use civitas_webhooks::SigningSecret;
use standardwebhooks::Webhook;
use std::collections::BTreeSet;
use std::process::Command;
use uuid::Uuid;

#[tokio::test]
async fn a_request_has_the_headers_of_the_contract_and_the_exact_bytes_of_the_body() {
    let receiver = Receiver::start(Reply::status(200, "", b"thanks")).await;
    let url = format!("http://hooks.example:{}/civic/a%20b?token=x%2Fy&é", receiver.address.port());
    let answer = answered(&sender(), &url).await;
    assert_eq!((answer.status, answer.body.as_str(), answer.retry_after), (200, "thanks", None));

    let requests = receiver.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.head.lines().next(), Some("POST /civic/a%20b?token=x%2Fy&%C3%A9 HTTP/1.1"));
    assert_eq!(request.body, BODY.as_bytes());
    let names: BTreeSet<&str> =
        request.head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    let expected = [
        "Accept",
        "Content-Length",
        "Content-Type",
        "Host",
        "User-Agent",
        "Webhook-Id",
        "Webhook-Signature",
        "Webhook-Timestamp",
        "X-Webhook-Id",
        "X-Webhook-Signature",
        "X-Webhook-Timestamp",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    assert_eq!(request.header("Content-Type"), Some("application/json"));
    assert_eq!(request.header("User-Agent"), Some("civitas-webhook/1"));
    assert_eq!(request.header("Host"), Some(format!("hooks.example:{}", receiver.address.port()).as_str()));
    assert!(Uuid::parse_str(request.header("X-Webhook-Id").unwrap()).is_ok());
    assert_eq!(request.header("X-Webhook-Id"), request.header("Webhook-Id"));
    assert_eq!(request.header("X-Webhook-Timestamp"), request.header("Webhook-Timestamp"));
    let timestamp = request.header("X-Webhook-Timestamp").unwrap().parse().unwrap();
    let signature = sign(&SigningSecret::new(SECRET), timestamp, BODY);
    assert_eq!(request.header("X-Webhook-Signature"), Some(signature.as_str()));
}

#[tokio::test]
async fn a_receiver_with_the_library_of_standard_webhooks_accepts_a_request() {
    let receiver = Receiver::start(Reply::status(204, "", b"")).await;
    answered(&sender(), &receiver.url()).await;
    let request = &receiver.requests()[0];
    let mut headers = reqwest::header::HeaderMap::new();
    for name in ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"] {
        let name_there: reqwest::header::HeaderName = name.parse().unwrap();
        headers.insert(name_there, request.header(name).unwrap().parse().unwrap());
    }
    let key = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, SECRET);
    Webhook::new(&format!("whsec_{key}")).unwrap().verify(&request.body, &headers).unwrap();
    let other = Webhook::new("whsec_MDEyMzQ1Njc4OWFiY2RlZg==").unwrap();
    assert!(other.verify(&request.body, &headers).is_err());
}

#[tokio::test]
async fn attempts_one_after_the_other_use_one_connection() {
    let receiver = Receiver::start(Reply::status(200, "Set-Cookie: a=b\r\n", b"ok")).await;
    let sender = sender();
    for _ in 0..4 {
        assert_eq!(answered(&sender, &receiver.url()).await.status, 200);
    }
    let requests = receiver.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|request| request.connection == 1), "{requests:?}");
    assert!(requests.iter().all(|request| request.header("Cookie").is_none()), "no cookie is sent back");
}

#[tokio::test]
async fn a_connection_that_the_receiver_closed_is_not_used_again() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let receiver = Receiver::start(Reply::Close(answer)).await;
    let sender = sender();
    for number in 1..4 {
        assert_eq!(answered(&sender, &receiver.url()).await.status, 200);
        receiver.closed(number).await;
    }
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn proxies_in_the_environment_are_not_used() {
    let proxy = Receiver::start(Reply::status(200, "", b"proxy")).await;
    let test = "exchange::a_request_has_the_headers_of_the_contract_and_the_exact_bytes_of_the_body";
    let mut command = Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, format!("http://{}", proxy.address));
    }
    let child = command.env_remove("NO_PROXY").env_remove("no_proxy").args(["--exact", test]);
    let output = child.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
    assert_eq!(proxy.connections(), 0);
}
