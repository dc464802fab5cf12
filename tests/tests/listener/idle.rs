//! Connections with several requests, and with bodies that no handler reads.

use crate::listener::heads::take;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn service() -> Service {
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &[]).await
}

/// The first bytes of the next answer.
async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = vec![0; 4096];
    let length = timeout(TIMEOUT, stream.read(&mut answer)).await.expect("an answer").unwrap();
    answer[..length].escape_ascii().to_string()
}

/// Sends a request and reads its answer.
async fn ask(stream: &mut TcpStream) {
    let request = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = answer(stream).await;
    assert!(answer.starts_with(r"HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// A connection on which the head of a chunked body that no handler reads was sent, and answered by 404.
async fn refused(service: &Service) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let head =
        format!("POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    stream
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
    let ended = timeout(TIMEOUT, stream.read(&mut [0; 64])).await.expect("the connection ends");
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_sent_ahead_are_answered_in_their_order() {
    const PAIRS: usize = 1000;
    let service = service().await;
    let (mut reader, mut writer) = TcpStream::connect(service.address).await.unwrap().into_split();
    let request = |path: &str| format!("GET {BASE}{path} HTTP/1.1\r\nhost: city.test\r\n\r\n");
    let requests = (request("/health") + &request("/nowhere")).repeat(PAIRS);
    let sent = tokio::spawn(async move { writer.write_all(requests.as_bytes()).await.map(|()| writer) });
    let (mut answers, mut statuses) = (Vec::new(), Vec::new());
    while statuses.len() < 2 * PAIRS {
        let length = timeout(TIMEOUT, reader.read_buf(&mut answers)).await.expect("an answer").unwrap();
        assert!(length > 0, "the connection ended after {} answers", statuses.len());
        let text = str::from_utf8(&answers).unwrap();
        statuses = text
            .match_indices("HTTP/1.1 ")
            .filter_map(|(at, _)| text.get(at + 9..at + 12))
            .map(str::to_owned)
            .collect();
    }
    sent.await.unwrap().unwrap();
    assert!(statuses.chunks(2).all(|pair| pair == ["200", "404"]), "{statuses:?}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_behind_an_event_stream_end_their_connection() {
    let service = service().await;
    let token = service.machine().await.token.unwrap();
    let head =
        format!("GET {BASE}/events HTTP/1.1\r\nhost: city.test\r\nauthorization: Bearer {token}\r\n\r\n");
    let ahead = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n").repeat(5_000);
    let (mut reader, mut writer) = TcpStream::connect(service.address).await.unwrap().into_split();
    // The connection may end before all is sent.
    let sent = tokio::spawn(async move { drop(writer.write_all((head + &ahead).as_bytes()).await) });
    let mut answers = Vec::new();
    // In the meantime the stream sends comments only, one each 15 s.
    let ended = timeout(TIMEOUT, reader.read_to_end(&mut answers)).await;
    assert!(ended.is_ok() && answers.len() < 10_000, "{}", answers.len());
    sent.await.unwrap();
    ask(&mut TcpStream::connect(service.address).await.unwrap()).await;
    service.stop().await;
}

/// Its body looks as a request.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_refused_unread_is_no_request_and_the_answer_arrives_whole() {
    let service = service().await;
    let body = format!("GET {BASE}/docs HTTP/1.1\r\nhost: city.test\r\n\r\n").repeat(5000);
    let request = format!(
        "POST {BASE}/nowhere HTTP/1.1\r\nhost: city.test\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await.expect("the connection ends").unwrap();
    let (head, text) = take(&mut bytes);
    assert!(head.starts_with("HTTP/1.1 404") && head.contains("connection: close"), "{head}");
    assert!(text.ends_with(b"}") && bytes.is_empty(), "{}", bytes.escape_ascii());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_read_of_chunks_is_not_the_beginning_of_a_head() {
    let service = service().await;
    let mut stream = refused(&service).await;
    sleep(Duration::from_secs(1)).await;
    stream.write_all(b"5\r\nhello\r\n0\r\n\r\n").await.unwrap();
    ask(&mut stream).await;
    service.stop().await;
}

/// The trailer names the length of a body, and the next request is as long as that.
#[tokio::test(flavor = "multi_thread")]
async fn the_length_of_a_body_is_not_taken_from_the_trailer_of_another() {
    let service = service().await;
    let mut stream = refused(&service).await;
    let head = format!(
        "POST {BASE}/vote_proposals HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
         content-length: 2\r\n\r\n"
    );
    let bytes = format!("0\r\ncontent-length: {}\r\n\r\n{head}{{}}", head.len());
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let begun = Instant::now();
    let answer = answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
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
    timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect("the connection ends").unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 404") && answer.ends_with(b"}"), "{}", answer.escape_ascii());
    service.stop().await;
}

/// A refused request whose body does not come.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_does_not_delay_the_end_of_the_server() {
    let service = service().await;
    let _stream = refused(&service).await;
    let begun = Instant::now();
    service.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}
