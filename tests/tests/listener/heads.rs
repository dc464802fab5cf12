//! Request heads that HTTP refuses: the answer has the shape of contract 01 §3, and closes the connection.

use crate::tls;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Heads that are no HTTP/1.1: the request line, a header, lengths, the host.
const MALFORMED: [&str; 9] = [
    "nonsense\r\n\r\n",
    "GET / HTTP/9.9\r\nhost: city.test\r\n\r\n",
    "GET /a b HTTP/1.1\r\nhost: city.test\r\n\r\n",
    "GET / HTTP/1.1\r\nhost city\0test\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: city.test\r\nbad name: 1\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: one\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
];

async fn service(settings: &[(&str, &str)]) -> Service {
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, settings).await
}

fn valid(path: &str) -> String {
    format!("GET {BASE}{path} HTTP/1.1\r\nhost: city.test\r\n\r\n")
}

/// All answers to these bytes, to the end of the connection.
async fn answers(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).await.unwrap();
    stream.flush().await.unwrap();
    let mut all = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("the connection ends").unwrap();
    all
}

async fn answers_over_tcp(service: &Service, bytes: &[u8]) -> Vec<u8> {
    answers(TcpStream::connect(service.address).await.unwrap(), bytes).await
}

/// The first answer, its head and its body; takes it from the bytes. The lines of the head are sorted and have no date.
pub(crate) fn take(bytes: &mut Vec<u8>) -> (String, Vec<u8>) {
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
    let head = String::from_utf8(bytes.drain(..end).collect()).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let length: usize = length.parse().unwrap();
    let body = bytes.drain(..length).collect();
    // The status line stays the first: it has capitals.
    let mut lines: Vec<_> = head.trim_end().lines().filter(|line| !line.starts_with("date: ")).collect();
    lines.sort_unstable();
    (lines.join("\n"), body)
}

/// Checks that the bytes are one answer to a refused head, and nothing else.
fn check_refusal(mut bytes: Vec<u8>, status: &str, error: &str, description: &str) {
    let (head, body) = take(&mut bytes);
    assert!(bytes.is_empty(), "after the last answer: {}", bytes.escape_ascii());
    let expected = format!(
        "HTTP/1.1 {status}\nconnection: close\ncontent-length: {}\ncontent-type: application/json; charset=utf-8\n\
         strict-transport-security: max-age=31536000\nx-content-type-options: nosniff",
        body.len()
    );
    assert_eq!(head, expected);
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body, json!({"error": error, "error_description": description}));
}

fn check_malformed(bytes: Vec<u8>) {
    check_refusal(bytes, "400 Bad Request", "400: Bad request", "Malformed request head");
}

fn check_too_large(bytes: Vec<u8>) {
    let error = "431: Request header fields too large";
    check_refusal(bytes, "431 Request Header Fields Too Large", error, "Request header fields too large");
}

fn too_large() -> [String; 2] {
    let long = format!("GET / HTTP/1.1\r\nhost: city.test\r\na: {}\r\n\r\n", "a".repeat(200_000));
    let many = format!("GET / HTTP/1.1\r\nhost: city.test\r\n{}\r\n", "a: a\r\n".repeat(200));
    [long, many]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_head_is_answered_in_the_shape_of_the_contract() {
    let service = service(&[]).await;
    for head in MALFORMED {
        check_malformed(answers_over_tcp(&service, head.as_bytes()).await);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_large_is_answered_in_the_shape_of_the_contract() {
    let service = service(&[]).await;
    for head in too_large() {
        check_too_large(answers_over_tcp(&service, head.as_bytes()).await);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_end_is_answered_in_the_shape_of_the_contract() {
    let service = service(&[]).await;
    let begun = Instant::now();
    let answer = answers_over_tcp(&service, b"GET / HTTP/1.1\r\nhost: ci").await;
    // The clock of the library for its limit of ten seconds is not exact.
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
    check_refusal(answer, "408 Request Timeout", "408: Request timeout", "Request timeout");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_heads_are_answered_in_the_same_way_over_tls() {
    let service = tls::service(&[]).await;
    for head in MALFORMED {
        let stream = tls::connect(service.address, &["http/1.1"]).await.unwrap();
        check_malformed(answers(stream, head.as_bytes()).await);
    }
    for head in too_large() {
        let stream = tls::connect(service.address, &["http/1.1"]).await.unwrap();
        check_too_large(answers(stream, head.as_bytes()).await);
    }
    let stream = tls::connect(service.address, &["http/1.1"]).await.unwrap();
    let mut all = answers(stream, (valid("/health") + MALFORMED[0]).as_bytes()).await;
    assert!(take(&mut all).0.starts_with("HTTP/1.1 200 OK\n"));
    check_malformed(all);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_has_the_headers_that_the_scheme_of_the_server_asks_for() {
    for (scheme, expected) in [("https", true), ("http", false)] {
        let service = service(&[("public_scheme", scheme)]).await;
        let mut all = answers_over_tcp(&service, MALFORMED[0].as_bytes()).await;
        let (head, _) = take(&mut all);
        assert_eq!(head.contains("\nstrict-transport-security: "), expected, "{head}");
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_before_a_malformed_head_are_not_altered() {
    let service = service(&[]).await;
    // The last one is an error of the application with the same status.
    let paths = ["/health", "/openapi.json", "/nowhere", "/proposals?filter[nothing]=1", "/docs"];
    let mut alone = Vec::new();
    for path in paths {
        let request = valid(path).replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        let mut bytes = answers_over_tcp(&service, request.as_bytes()).await;
        let (head, body) = take(&mut bytes);
        assert!(bytes.is_empty());
        alone.push((head.replace("\nconnection: close", ""), body));
    }
    for head in [MALFORMED[0], MALFORMED[5]] {
        let requests: String = paths.into_iter().map(valid).collect();
        let mut all = answers_over_tcp(&service, (requests + head).as_bytes()).await;
        for (path, expected) in paths.into_iter().zip(&alone) {
            assert!(&take(&mut all) == expected, "{path}");
        }
        check_malformed(all);
    }
    service.stop().await;
}

/// The answers fill all buffers of the connection before the client reads.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_gets_all_answers_and_the_one_to_its_malformed_head() {
    let service = service(&[]).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(service.address).await.unwrap();
    let number = 12;
    let requests = valid("/openapi.json").repeat(number) + MALFORMED[0];
    stream.write_all(requests.as_bytes()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let mut all = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("the connection ends").unwrap();
    let first = take(&mut all);
    for _ in 1..number {
        assert!(take(&mut all) == first, "an answer is altered");
    }
    check_malformed(all);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_application_is_not_altered() {
    let service = service(&[]).await;
    let length = "content-length: 9\r\ncontent-type: application/json";
    let request =
        format!("POST {BASE}/oauth/token HTTP/1.1\r\nhost: city.test\r\n{length}\r\n\r\n{{\"broken\"");
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    for _ in 0..2 {
        // The connection stays open.
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = vec![0; 4096];
        let length = timeout(PATIENCE, stream.read(&mut bytes)).await.expect("an answer").unwrap();
        bytes.truncate(length);
        let (head, body) = take(&mut bytes);
        assert!(
            head.starts_with("HTTP/1.1 400 Bad Request\n") && !head.contains("connection: close"),
            "{head}"
        );
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"], "400: Malformed JSON request");
    }
    service.stop().await;
}
