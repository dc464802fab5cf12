//! Connections between two requests.

use crate::tls;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

async fn service() -> Service {
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await
}

/// Sends a request and reads its answer.
async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let request = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", answer[..length].escape_ascii());
}

/// Sends a byte of a head each half second, and returns how long the server reads them.
async fn drip(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Duration {
    let (begun, mut answer) = (Instant::now(), [0; 64]);
    loop {
        // Fails when the connection has ended.
        let sent = stream.write_all(b"G").await.and(stream.flush().await);
        match timeout(Duration::from_millis(500), stream.read(&mut answer)).await {
            Ok(Ok(0) | Err(_)) => return begun.elapsed(),
            Ok(Ok(length)) => panic!("an answer: {}", answer[..length].escape_ascii()),
            Err(_) if sent.is_err() => return begun.elapsed(),
            Err(_) => assert!(begun.elapsed() < PATIENCE, "it reads for ever"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_head_that_does_not_end_closes_the_connection() {
    let (plain, encrypted) = (service().await, tls::service(&[]).await);
    let mut tcp = TcpStream::connect(plain.address).await.unwrap();
    let mut tls = tls::connect(encrypted.address, &["http/1.1"]).await.unwrap();
    ask(&mut tcp).await;
    ask(&mut tls).await;
    let (tcp, tls) = tokio::join!(drip(tcp), drip(tls));
    assert!(tcp >= Duration::from_secs(9) && tls >= Duration::from_secs(9), "{tcp:?}, {tls:?}");
    plain.stop().await;
    encrypted.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_idle_is_used_again_and_does_not_delay_the_end_of_the_server() {
    let service = service().await;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    ask(&mut stream).await;
    sleep(Duration::from_secs(12)).await;
    ask(&mut stream).await;
    let begun = Instant::now();
    service.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let ended = timeout(PATIENCE, stream.read(&mut [0; 64])).await.expect("the connection ends");
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_sent_ahead_are_answered_in_their_order() {
    const REQUESTS: usize = 2000;
    let service = service().await;
    let (mut reader, mut writer) = TcpStream::connect(service.address).await.unwrap().into_split();
    let body = r#"{"proposal_id":1,"data":{"weight":1}}"#;
    // Each second one has a body; the last one ends the connection.
    let requests: String = (0..REQUESTS)
        .map(|number| match number {
            _ if number == REQUESTS - 1 => {
                format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\nconnection: close\r\n\r\n")
            }
            _ if number % 2 == 0 => format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n"),
            _ => format!(
                "POST {BASE}/vote_proposals HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            ),
        })
        .collect();
    let sent = tokio::spawn(async move { writer.write_all(requests.as_bytes()).await.map(|()| writer) });
    let mut answers = Vec::new();
    timeout(PATIENCE, reader.read_to_end(&mut answers)).await.expect("the connection ends").unwrap();
    sent.await.unwrap().unwrap();
    let answers = String::from_utf8(answers).unwrap();
    let statuses: Vec<_> =
        answers.match_indices("HTTP/1.1 ").map(|(at, _)| &answers[at + 9..at + 12]).collect();
    assert_eq!(statuses.len(), REQUESTS);
    assert!(statuses.iter().step_by(2).all(|status| *status == "200"), "{statuses:?}");
    assert!(
        statuses.iter().skip(1).step_by(2).take(REQUESTS / 2 - 1).all(|status| *status != "200"),
        "{statuses:?}"
    );
}

/// Sends this at once, and returns all answers until the connection ends.
async fn answers_to(service: &Service, requests: &str) -> String {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(requests.as_bytes()).await.unwrap();
    let mut answers = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answers)).await.expect("the connection ends").unwrap();
    String::from_utf8(answers).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_has_the_form_of_its_own_request() {
    let service = service().await;
    let head = |method: &str, version: &str, more: &str| {
        format!("{method} {BASE}/health HTTP/{version}\r\nhost: city.test\r\n{more}\r\n")
    };
    let chunks = |chunks: &str| {
        format!(
            "POST {BASE}/vote_proposals HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n{chunks}"
        )
    };
    let requests = [
        chunks("2;a=b\r\n{}\r\n0\r\n\r\n"),
        head("HEAD", "1.1", ""),
        chunks("1\r\n{\r\n1\r\n}\r\n0\r\ncontent-length: 99\r\n\r\n"),
        head("GET", "1.0", "connection: keep-alive\r\n"),
        head("GET", "1.1", ""),
        head("HEAD", "1.1", ""),
        head("GET", "1.1", ""),
        head("GET", "1.0", "connection: keep-alive\r\n"),
        head("HEAD", "1.1", "connection: close\r\n"),
    ];
    let answers = answers_to(&service, &requests.concat()).await;
    let mut bodies = Vec::new();
    for answer in answers.split("HTTP/1.").skip(1) {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        bodies.push((!body.is_empty(), head.contains("connection: close")));
    }
    let (full, empty) = ((true, false), (false, false));
    let expected = [full, empty, full, full, full, empty, full, full, (false, true)];
    assert_eq!(bodies, expected, "{answers}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_answer_arrives_whole_although_the_client_has_sent_more() {
    let service = service().await;
    let last = format!("GET {BASE}/openapi.json HTTP/1.1\r\nhost: city.test\r\nconnection: close\r\n\r\n");
    let more = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n").repeat(2000);
    let answers = answers_to(&service, &format!("{last}{more}")).await;
    let (head, body) = answers.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{} bytes", body.len());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_body_that_is_refused_unread_does_not_end_its_connection() {
    let service = service().await;
    let ask = async |length: usize| {
        let body = "a".repeat(length);
        let requests = format!(
            "POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ncontent-length: {length}\r\n\r\n{body}\
             GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\nconnection: close\r\n\r\n"
        );
        let answers = answers_to(&service, &requests).await;
        let statuses = answers.match_indices("HTTP/1.1 ").map(|(at, _)| answers[at + 9..at + 12].to_owned());
        (statuses.collect::<Vec<_>>(), answers)
    };
    let (statuses, answers) = ask(1000).await;
    assert_eq!(statuses, ["404", "200"], "{answers}");
    let (statuses, answers) = ask(100_000).await;
    assert_eq!(statuses, ["404"], "{answers}");
    assert!(answers.contains("connection: close\r\n") && answers.ends_with('}'), "{answers}");
    service.stop().await;
}

/// Sends a request whose body comes after its head, or after the answer, and then another request on the same connection.
async fn goes_on(mut stream: impl AsyncRead + AsyncWrite + Unpin, head: &str, body: &str, is_before: bool) {
    let head = format!("POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\n{head}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    if is_before {
        sleep(Duration::from_millis(20)).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
    }
    let mut answer = vec![0; 4096];
    let length = timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(text.starts_with("HTTP/1.1 404") && !text.contains("connection: close"), "{text}");
    if !is_before {
        stream.write_all(body.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        // Longer than the time of a head.
        sleep(Duration::from_secs(12)).await;
    }
    ask(&mut stream).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_body_that_follows_its_head_does_not_end_the_connection_of_a_refused_request() {
    let (plain, encrypted) = (service().await, tls::service(&[]).await);
    let tcp = TcpStream::connect(plain.address).await.unwrap();
    let tls = tls::connect(encrypted.address, &["http/1.1"]).await.unwrap();
    tokio::join!(
        goes_on(tcp, "content-length: 10", "0123456789", true),
        goes_on(tls, "content-length: 10", "0123456789", true)
    );
    plain.stop().await;
    encrypted.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_read_of_chunks_is_not_the_beginning_of_a_head() {
    let service = service().await;
    let tcp = TcpStream::connect(service.address).await.unwrap();
    goes_on(tcp, "transfer-encoding: chunked", "5\r\nhello\r\n0\r\n\r\n", false).await;
    service.stop().await;
}

/// The trailer names the length of a body, and the next request is as long as that.
#[tokio::test(flavor = "multi_thread")]
async fn the_length_of_a_body_is_not_taken_from_the_trailer_of_another() {
    let service = service().await;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let chunked =
        format!("POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(chunked.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 404"), "{}", answer[..length].escape_ascii());
    let head = format!(
        "POST {BASE}/vote_proposals HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
         content-length: 2\r\n\r\n"
    );
    let bytes = format!("0\r\ncontent-length: {}\r\n\r\n{head}{{}}", head.len());
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let begun = Instant::now();
    let length = timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 4"), "{}", answer[..length].escape_ascii());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    service.stop().await;
}

/// It is refused by its length, and the client reads only when it has sent for some seconds.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_still_sends_gets_the_refusal_of_its_upload() {
    let service = service().await;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let head = format!("POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ncontent-length: 50000000\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..15 {
        sleep(Duration::from_millis(200)).await;
        stream.write_all(&[b'a'; 16 * 1024]).await.unwrap();
    }
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the connection ends").unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 404") && answer.ends_with(b"}"), "{}", answer.escape_ascii());
    service.stop().await;
}

/// A refused request whose body does not come.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_does_not_delay_the_end_of_the_server() {
    let service = service().await;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let head =
        format!("POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    let begun = Instant::now();
    service.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}
