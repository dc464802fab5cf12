//! Clients that hold connections: too many of them, slow bodies, answers that are not read.

use civitas_server::open_files;
use civitas_tests::service::{BASE, CITIES, Service};
use civitas_tests::{Database, Engine};
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn service(settings: &[(&str, &str)]) -> Service {
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, settings).await
}

/// A connection with the head of a request whose body has this length.
async fn with_head(service: &Service, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let head = format!(
        "POST {BASE}/oauth/introspect HTTP/1.1\r\nhost: city.test\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// What comes before the end of the connection.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset is an end too.
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await.expect("the connection ends");
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_drips_is_ended_after_the_limit() {
    const LIMIT: Duration = Duration::from_secs(60);
    let service = service(&[]).await;
    let stream = with_head(&service, 1_000_000).await;
    let (mut reader, mut writer) = stream.into_split();
    let begun = Instant::now();
    // Faster than 1 KiB a second, which is the least speed; the whole body would take 100 s.
    let dripping = tokio::spawn(async move {
        while begun.elapsed() < LIMIT + TIMEOUT && writer.write_all(&[b' '; 4096]).await.is_ok() {
            sleep(Duration::from_millis(400)).await;
        }
    });
    let mut answer = [0; 12];
    timeout(LIMIT + TIMEOUT, reader.read_exact(&mut answer)).await.expect("an answer in time").unwrap();
    let took = begun.elapsed();
    assert_eq!(&answer, b"HTTP/1.1 400");
    assert!(took >= LIMIT && took < LIMIT + Duration::from_secs(10), "{took:?}");
    dripping.abort();
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_slow_clients_do_not_stop_a_healthy_one() {
    let service = service(&[]).await;
    let nora = service.user("norablum").await;
    let mut slow = Vec::new();
    for _ in 0..300 {
        slow.push(with_head(&service, 100_000).await);
    }
    for _ in 0..3 {
        for stream in &mut slow {
            // After ten seconds the server gives the body up.
            let _ = stream.write_all(b" ").await;
        }
        let begun = Instant::now();
        for _ in 0..20 {
            nora.get("/proposals").await.is(200);
        }
        assert!(begun.elapsed() < TIMEOUT);
        sleep(Duration::from_secs(1)).await;
    }
    drop(slow);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_a_limited_number_of_connections_and_a_proxy_has_not() {
    open_files::raise_limit();
    for (proxies, refused) in [("192.0.2.0/24", 5), ("127.0.0.0/8", 0)] {
        let service = service(&[("trusted_proxies", proxies)]).await;
        let mut open = Vec::new();
        for _ in 0..1005 {
            open.push(TcpStream::connect(service.address).await.unwrap());
        }
        // The last ones may still wait for their acceptance.
        sleep(Duration::from_secs(2)).await;
        let is_closed = |stream: &&TcpStream| {
            !stream.try_read(&mut [0]).is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
        };
        let closed = open.iter().filter(is_closed).count();
        assert_eq!(closed, refused, "{proxies}");
        drop(open);
        let begun = Instant::now();
        // The server has to notice that they are closed.
        loop {
            let mut stream = TcpStream::connect(service.address).await.unwrap();
            let request =
                format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\nconnection: close\r\n\r\n");
            let is_sent = stream.write_all(request.as_bytes()).await.is_ok();
            if is_sent && rest(&mut stream).await.starts_with(b"HTTP/1.1 200") {
                break;
            }
            assert!(begun.elapsed() < TIMEOUT, "no connection is free");
            sleep(Duration::from_millis(50)).await;
        }
        service.stop().await;
    }
}

/// Answers that do not fit into the buffers of the connection.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_its_answers_is_left() {
    let service = service(&[]).await;
    let path = format!("{BASE}/openapi.json");
    let length = service.anonymous().raw(reqwest::Method::GET, &path, &[], None).await.text.len();
    let requests = 64 * 1024 * 1024 / length;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: city.test\r\n\r\n");
    stream.write_all(request.repeat(requests).as_bytes()).await.unwrap();
    // The limit is 30 s.
    sleep(Duration::from_secs(45)).await;
    let received = rest(&mut stream).await.len();
    assert!(received < length * requests, "the connection was left open");
    service.stop().await;
}
