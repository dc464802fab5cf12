//! What receivers answer, and what they do instead.

use crate::receiver::{Receiver, Reply};
use crate::{TIMEOUTS, answered, attempt, failed, loopback, sender};
use async_trait::async_trait;
use civitas_delivery::{HttpWebhookSender, Timeouts};
use civitas_kernel::{Error, Result};
use civitas_webhooks::{ReceiverResponse, SendErrorKind, TargetPolicy, TargetResolver};
use rustls::RootCertStore;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

const PAUSE: Duration = Duration::from_millis(20);

#[tokio::test]
async fn the_status_decides_and_only_200_to_299_are_a_success() {
    for status in [200, 201, 202, 204, 299, 300, 304, 400, 404, 410, 418, 429, 500, 503, 599] {
        let reply = if matches!(status, 204 | 304) {
            Reply::Answer(format!("HTTP/1.1 {status} X\r\n\r\n").into_bytes())
        } else {
            Reply::status(status, "", b"{}")
        };
        let receiver = Receiver::start(reply).await;
        let answer = answered(&sender(), &receiver.url()).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.is_success(), (200..300).contains(&status), "{status}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Receiver::start(Reply::status(200, "", b"")).await;
    for status in [300, 301, 302, 303, 307, 308] {
        for location in [other.url(), format!("//{}/", other.address)] {
            let headers = format!("Location: {location}\r\nRefresh: 0; url={location}\r\n");
            let receiver = Receiver::start(Reply::status(status, &headers, b"")).await;
            let answer = answered(&sender(), &receiver.url()).await;
            assert_eq!((answer.status, answer.is_success()), (status, false));
            assert_eq!(receiver.requests().len(), 1);
        }
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn retry_after_is_read_in_both_forms() {
    let date = "Retry-After: Thu, 01 Jan 2099 00:00:00 GMT\r\n";
    for (headers, least, most) in [
        ("Retry-After: 120\r\n", 120, 120),
        ("retry-after: 0\r\n", 0, 0),
        (date, 1_000_000_000, 2_500_000_000),
        ("Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 0, 0),
    ] {
        let receiver = Receiver::start(Reply::status(503, headers, b"")).await;
        let delay = answered(&sender(), &receiver.url()).await.retry_after.unwrap().as_secs();
        assert!((least..=most).contains(&delay), "{headers}: {delay}");
    }
    let receiver = Receiver::start(Reply::status(503, "Retry-After: \u{e9}\r\n", b"")).await;
    assert!(
        attempt(&sender(), &receiver.url()).await.result.is_ok_and(|answer| answer.retry_after.is_none())
    );
}

#[tokio::test]
async fn the_first_bytes_of_a_body_are_kept_as_text() {
    let long = "é".repeat(5_000);
    let cut = "é".repeat(ReceiverResponse::MAX_STORED_BODY_BYTES / 2);
    let odd = format!("a{long}");
    let odd_cut = format!("a{}", "é".repeat(511));
    for (sent, kept) in [
        (long.as_bytes(), cut.as_str()),
        (odd.as_bytes(), &odd_cut),
        (b"a\0b\xFF", "a\u{FFFD}b\u{FFFD}"),
        (b"", ""),
    ] {
        let receiver = Receiver::start(Reply::status(500, "", sent)).await;
        assert_eq!(answered(&sender(), &receiver.url()).await.body, kept);
    }
    let receiver = Receiver::start(Reply::status(200, "Content-Encoding: gzip\r\n", b"plain")).await;
    assert_eq!(answered(&sender(), &receiver.url()).await.body, "plain", "nothing is decompressed");
}

#[tokio::test]
async fn a_receiver_that_sends_too_slowly_is_a_timeout() {
    let ok = "HTTP/1.1 200 OK\r\n";
    let body = |headers: &str| format!("{ok}{headers}\r\n").into_bytes();
    for (name, first, next) in [
        ("silence", Vec::new(), Vec::new()),
        ("a slow head", ok.as_bytes().to_vec(), b"A: b\r\n".to_vec()),
        ("one byte after the other", body("Content-Length: 60000\r\n"), b"a".to_vec()),
        ("small chunks", body("Transfer-Encoding: chunked\r\n"), b"1\r\na\r\n".to_vec()),
        ("an answer that ends with its connection", body(""), b"a".to_vec()),
        (
            "information without end",
            b"HTTP/1.1 102 Wait\r\n\r\n".to_vec(),
            b"HTTP/1.1 102 Wait\r\n\r\n".to_vec(),
        ),
    ] {
        let receiver = Receiver::start(Reply::Drip(first, next, PAUSE)).await;
        let begun = Instant::now();
        assert_eq!(failed(&sender(), &receiver.url()).await, SendErrorKind::Timeout, "{name}");
        let elapsed = begun.elapsed();
        assert!((TIMEOUTS.exchange..TIMEOUTS.exchange * 3).contains(&elapsed), "{name}: {elapsed:?}");
        receiver.closed(1).await;
    }
}

#[tokio::test]
async fn a_body_without_end_is_read_to_its_limit_and_the_connection_is_closed() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let receiver = Receiver::start(Reply::Drip(head, vec![b'x'; 1024], Duration::from_millis(1))).await;
    let slow = Timeouts { exchange: Duration::from_secs(15), ..TIMEOUTS };
    let sender =
        HttpWebhookSender::with_timeouts(loopback(), Arc::new(Silent), slow, RootCertStore::empty()).unwrap();
    let answer = answered(&sender, &receiver.url()).await;
    assert_eq!((answer.status, answer.body), (200, "x".repeat(1024)));
    receiver.closed(1).await;
    let written = receiver.seen.written.load(Ordering::SeqCst);
    assert!((65_536..200_000).contains(&written), "{written}");
    answered(&sender, &receiver.url()).await;
    assert_eq!(receiver.connections(), 2, "the connection is not used again");
}

#[tokio::test]
async fn a_closed_or_refused_connection_is_an_error_of_the_connection() {
    for bytes in [
        &b""[..],
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ] {
        let receiver = Receiver::start(Reply::Close(bytes.to_vec())).await;
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(failed(&sender(), &receiver.url()).await, SendErrorKind::Connection, "{text}");
    }
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(failed(&sender(), &format!("http://{free}/")).await, SendErrorKind::Connection);
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_an_error_of_the_protocol() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(10_000));
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(2_000_000));
    for bytes in [
        "220 mail.example ESMTP\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "HTTP/1.1 9999 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\0\0\0\0\0\0\0\0\r\n\r\n",
        many.as_str(),
        long.as_str(),
    ] {
        let receiver = Receiver::start(Reply::Close(bytes.as_bytes().to_vec())).await;
        let kind = failed(&sender(), &receiver.url()).await;
        assert_eq!(kind, SendErrorKind::Protocol, "{}", bytes.get(..60).unwrap_or(bytes));
    }
}

/// A resolver without an answer.
struct Silent;

#[async_trait]
impl TargetResolver for Silent {
    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>> {
        if name == "slow.example" {
            std::future::pending::<()>().await;
        }
        Err(Error::Unavailable("no name server".into()))
    }
}

#[tokio::test]
async fn a_name_without_address_or_answer_is_an_error_of_dns() {
    assert_eq!(failed(&sender(), "http://unknown.example/").await, SendErrorKind::Dns);
    let policy = TargetPolicy::default();
    let sender =
        HttpWebhookSender::with_timeouts(policy, Arc::new(Silent), TIMEOUTS, RootCertStore::empty()).unwrap();
    assert_eq!(failed(&sender, "https://hooks.example/").await, SendErrorKind::Dns);
    let begun = Instant::now();
    assert_eq!(failed(&sender, "https://slow.example/").await, SendErrorKind::Timeout);
    assert!((TIMEOUTS.connect..TIMEOUTS.exchange).contains(&begun.elapsed()), "the limit of a connection");
}

#[test]
fn the_time_limits_are_those_of_the_contract() {
    let Timeouts { connect, exchange } = Timeouts::default();
    assert_eq!((connect.as_secs(), exchange.as_secs()), (5, 15));
}
