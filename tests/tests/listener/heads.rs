//! Request heads that HTTP refuses: the library answers with a 4xx without a body, and the connection ends.

use crate::listener::tls;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Heads that are no HTTP/1.1: the request line, a header, lengths that two readers could read differently, the host.
const MALFORMED: [&str; 14] = [
    "nonsense\r\n\r\n",
    "GET / HTTP/9.9\r\nhost: city.test\r\n\r\n",
    "GET /a b HTTP/1.1\r\nhost: city.test\r\n\r\n",
    "GET / HTTP/1.1\r\nhost city\0test\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: city.test\r\nbad name: 1\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: one\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: +1\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nhost: city.test\r\ntransfer-encoding: xchunked\r\n\r\n",
    "POST / HTTP/1.0\r\nhost: city.test\r\ntransfer-encoding: chunked\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: city.test\r\nhost: town.test\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
];

async fn service() -> Service {
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await
}

fn valid(path: &str) -> String {
    format!("GET {BASE}{path} HTTP/1.1\r\nhost: city.test\r\n\r\n")
}

/// All answers to these bytes, to the end of the connection.
async fn answers(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    // A reset is an end too: the library does not read what follows a head that it refuses.
    let _ = stream.write_all(bytes).await;
    let _ = stream.flush().await;
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut all)).await.expect("the connection ends");
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
fn check_refusal(mut bytes: Vec<u8>, status: &str) {
    let (head, body) = take(&mut bytes);
    assert!(head.starts_with(&format!("HTTP/1.1 {status}\n")) && body.is_empty(), "{head}");
    assert!(bytes.is_empty(), "after the last answer: {}", bytes.escape_ascii());
}

fn too_large() -> [String; 2] {
    let long = format!("GET / HTTP/1.1\r\nhost: city.test\r\na: {}\r\n\r\n", "a".repeat(200_000));
    let many = format!("GET / HTTP/1.1\r\nhost: city.test\r\n{}\r\n", "a: a\r\n".repeat(200));
    [long, many]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_malformed_or_too_large_is_refused_and_ends_its_connection() {
    let (plain, encrypted) = (service().await, tls::service(&[]).await);
    let malformed = MALFORMED.iter().map(|head| ((*head).to_owned(), "400 Bad Request"));
    let large = too_large().map(|head| (head, "431 Request Header Fields Too Large"));
    for (head, status) in malformed.chain(large) {
        check_refusal(answers_over_tcp(&plain, head.as_bytes()).await, status);
        let stream = tls::connect(encrypted.address, &["http/1.1"]).await.unwrap();
        check_refusal(answers(stream, head.as_bytes()).await, status);
        // A request after it is not served: it may be a part of a body.
        let more = head.clone() + &valid("/health");
        check_refusal(answers_over_tcp(&plain, more.as_bytes()).await, status);
    }
    plain.stop().await;
    encrypted.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_end_is_refused() {
    let service = service().await;
    let begun = Instant::now();
    let answer = answers_over_tcp(&service, b"GET / HTTP/1.1\r\nhost: ci").await;
    // The clock of the library for its limit of ten seconds is not exact.
    assert!(begun.elapsed() >= Duration::from_secs(9), "{:?}", begun.elapsed());
    check_refusal(answer, "408 Request Timeout");
    service.stop().await;
}

/// The answers fill all buffers of the connection before the client reads.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_gets_all_answers_and_the_one_to_its_malformed_head() {
    let service = service().await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(service.address).await.unwrap();
    let number = 12;
    let requests = valid("/openapi.json").repeat(number) + MALFORMED[0];
    stream.write_all(requests.as_bytes()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let mut all = Vec::new();
    timeout(TIMEOUT, stream.read_to_end(&mut all)).await.expect("the connection ends").unwrap();
    let first = take(&mut all);
    for _ in 1..number {
        assert!(take(&mut all) == first, "an answer is altered");
    }
    check_refusal(all, "400 Bad Request");
    service.stop().await;
}
