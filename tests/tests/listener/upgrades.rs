//! Offers of another protocol (RFC 9110, 7.8) are ignored: the answer does not name them, and says that the connection ends.

use crate::listener::heads::take;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// What clients send that would rather speak HTTP/2 (Java's `HttpClient`, `curl --http2`), and what WebSocket clients send.
const OFFERS: [&str; 4] = [
    "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nUpgrade: h2c\r\n",
    "connection: keep-alive, upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n",
    "Connection: Upgrade\r\nUpgrade: WebSocket\r\n",
    "Upgrade: websocket, h2c\r\n",
];

/// Sends a request on a connection of its own, and returns the head and the document of its answer.
async fn ask(service: &Service, request: &str) -> (String, Value) {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let length = timeout(TIMEOUT, stream.read_buf(&mut bytes)).await.expect("an answer").unwrap();
        assert!(length > 0, "the connection has ended after {}", bytes.escape_ascii());
        let length = || {
            let end = bytes.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
            let head = str::from_utf8(&bytes[..end]).unwrap();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            Some(end + length.parse::<usize>().unwrap())
        };
        if length() == Some(bytes.len()) {
            let (head, body) = take(&mut bytes);
            return (head, serde_json::from_slice(&body).unwrap());
        }
    }
}

fn write(token: &str, offer: &str, key: &str) -> String {
    let body = json!({"object_path": key, "data": 1}).to_string();
    format!(
        "PUT {BASE}/me/extended_data/sync HTTP/1.1\r\nHost: city.test\r\nAuthorization: Bearer {token}\r\n{offer}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_of_another_protocol_is_ignored_and_no_write_is_lost() {
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await;
    let nora = service.user("norablum").await;
    let token = nora.token.clone().unwrap();
    for (number, offer) in OFFERS.into_iter().enumerate() {
        let begun = Instant::now();
        for count in 0..10 {
            let read = format!("GET {BASE}/health HTTP/1.1\r\nHost: city.test\r\n{offer}\r\n");
            for (request, expected) in [
                (write(&token, offer, &format!("k{number}.n{count}")), json!({"data": 1})),
                (read, json!({"message": "OK"})),
            ] {
                let (head, body) = ask(&service, &request).await;
                assert_eq!(body, expected);
                assert!(head.starts_with("HTTP/1.1 200 OK\n") && !head.contains("pgrade"), "{head}");
                let is_offer = offer.to_ascii_lowercase().contains("connection: ");
                assert_eq!(head.contains("\nconnection: close\n"), is_offer, "{head}");
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "an answer waits for the end of the request");
        let stored = nora.get(&format!("/me/extended_data?object_path=k{number}")).await.is(200);
        assert_eq!(stored.data().as_object().unwrap().len(), 10, "{offer}");
    }
    service.stop().await;
}
