//! Connections over TLS: limits, and the protocol. HTTP/2 is not offered (decision 0063).

use crate::listener::operations::{get, value};
use civitas_server::open_files;
use civitas_tests::service::{BASE, CITIES, Service, http_builder};
use civitas_tests::{Database, Engine};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The preface of HTTP/2 with empty settings (RFC 9113, 3.4 and 6.5).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/server/tests/tls").join(name)
}

pub(crate) async fn service(settings: &[(&str, &str)]) -> Service {
    let [chain, key] = ["first.crt", "first.key"].map(|name| fixture(name).display().to_string());
    let mut all = vec![("tls_certificate", chain.as_str()), ("tls_key", key.as_str())];
    all.extend(settings);
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &all).await
}

/// A connection whose handshake is done, by a client that offers these protocols.
pub(crate) async fn connect(address: SocketAddr, protocols: &[&str]) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("first.crt")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await?;
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await
}

/// Sends a request of HTTP/1.1. Whether the server answers; otherwise it has closed the connection.
async fn is_served(stream: &mut TlsStream<TcpStream>) -> bool {
    let request = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n");
    if stream.write_all(request.as_bytes()).await.is_err() || stream.flush().await.is_err() {
        return false;
    }
    let mut answer = [0; 9];
    let read = timeout(TIMEOUT, stream.read_exact(&mut answer)).await.expect("an answer or an end");
    assert!(read.is_err() || &answer == b"HTTP/1.1 ", "{answer:?}");
    read.is_ok()
}

/// Whether a new connection is served.
async fn is_admitted(address: SocketAddr) -> bool {
    let Ok(mut stream) = connect(address, &["http/1.1"]).await else { return false };
    is_served(&mut stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_counts_before_its_handshake_which_has_the_time_of_a_head() {
    open_files::raise_limit();
    let service = service(&[("operations_listen", "127.0.0.1:0")]).await;
    // More than the limit: before all are accepted, a client that is not silent may be.
    let mut silent = Vec::new();
    for _ in 0..1005 {
        silent.push(TcpStream::connect(service.address).await.unwrap());
    }
    // Each is closed after 10 s without a handshake.
    let begun = Instant::now();
    let mut refused = 0;
    while refused < 5 {
        refused = if is_admitted(service.address).await { 0 } else { refused + 1 };
        assert!(begun.elapsed() < Duration::from_secs(5), "silent connections do not count");
    }
    while !is_admitted(service.address).await {
        assert!(begun.elapsed() < TIMEOUT, "no connection is free");
        sleep(Duration::from_millis(50)).await;
    }
    assert!(begun.elapsed() > Duration::from_secs(9), "{:?}", begun.elapsed());
    TcpStream::connect(service.address).await.unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    for (outcome, least) in [("succeeded", 1.0), ("late", 1.0), ("failed", 1.0)] {
        let metric = format!("civitas_tls_handshakes_total{{outcome=\"{outcome}\"}}");
        while value(&get(&service, "/metrics").await.1, &metric).is_none_or(|count| count < least) {
            assert!(begun.elapsed() < TIMEOUT, "{metric}");
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_offers_both_protocols_gets_http_1() {
    let service = service(&[]).await;
    let mut stream = connect(service.address, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
    assert!(is_served(&mut stream).await);

    let certificate = reqwest::Certificate::from_pem(&std::fs::read(fixture("first.crt")).unwrap()).unwrap();
    let client = http_builder().tls_certs_only([certificate]).resolve("localhost", service.address);
    let address = format!("https://localhost:{}{BASE}/health", service.address.port());
    let response = client.build().unwrap().get(address).header("host", "city.test").send().await.unwrap();
    assert_eq!((response.version(), response.status().as_u16()), (reqwest::Version::HTTP_11, 200));
    service.stop().await;
}

/// The server cannot limit the streams of a connection, nor the bytes of a head.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_speaks_only_http_2_is_refused() {
    let service = service(&[]).await;
    let refused = connect(service.address, &["h2"]).await.map(drop).unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");

    let mut stream = connect(service.address, &[]).await.unwrap();
    stream.write_all(PREFACE).await.unwrap();
    let mut answer = Vec::new();
    // A reset is an end too.
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect("an end");
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{}", answer.escape_ascii());
    assert!(is_admitted(service.address).await, "others are served");
    service.stop().await;
}
