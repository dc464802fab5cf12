//! Limits of connections over TLS, with HTTP/1.1 and HTTP/2.

use civitas_tests::service::{BASE, CITIES, Service};
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
const PATIENCE: Duration = Duration::from_secs(30);
/// The preface of HTTP/2 with empty settings (RFC 9113, 3.4 and 6.5).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The type of a frame of settings, and its place in the frame.
const SETTINGS: (usize, u8) = (3, 4);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/server/tests/tls").join(name)
}

async fn service(settings: &[(&str, &str)]) -> Service {
    let [chain, key] = ["first.crt", "first.key"].map(|name| fixture(name).display().to_string());
    let mut all = vec![("tls_certificate", chain.as_str()), ("tls_key", key.as_str())];
    all.extend(settings);
    Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), CITIES, &all).await
}

/// A connection whose handshake is done, with this protocol.
async fn connect(address: SocketAddr, protocol: &str) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("first.crt")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await?;
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await
}

/// Sends the beginning of the protocol. Whether the server answers in that protocol; otherwise it has closed the
/// connection.
async fn is_served(stream: &mut TlsStream<TcpStream>, protocol: &str) -> bool {
    let request = format!("GET {BASE}/health HTTP/1.1\r\nhost: city.test\r\n\r\n");
    let sent = if protocol == "h2" { PREFACE } else { request.as_bytes() };
    if stream.write_all(sent).await.is_err() || stream.flush().await.is_err() {
        return false;
    }
    let mut answer = [0; 9];
    let read = timeout(PATIENCE, stream.read_exact(&mut answer)).await.expect("an answer or an end");
    if read.is_err() {
        return false;
    }
    let (place, kind) = SETTINGS;
    assert!(if protocol == "h2" { answer[place] == kind } else { &answer == b"HTTP/1.1 " }, "{answer:?}");
    true
}

/// Whether a new connection is served.
async fn is_admitted(address: SocketAddr, protocol: &str) -> bool {
    let Ok(mut stream) = connect(address, protocol).await else { return false };
    is_served(&mut stream, protocol).await
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_over_tls_are_limited_in_both_protocols_and_free_again_after_their_end() {
    for protocol in ["http/1.1", "h2"] {
        for limit in ["max_connections", "max_connections_per_address"] {
            let service = service(&[(limit, "20")]).await;
            let mut open = Vec::new();
            for _ in 0..25 {
                // The server may close it while the handshake ends.
                open.push(connect(service.address, protocol).await.ok());
            }
            let mut served = 0;
            for stream in open.iter_mut().flatten() {
                served += usize::from(is_served(stream, protocol).await);
            }
            assert_eq!(served, 20, "{protocol}, {limit}");
            drop(open);
            let begun = Instant::now();
            while !is_admitted(service.address, protocol).await {
                assert!(begun.elapsed() < PATIENCE, "{protocol}, {limit}: no connection is free");
                sleep(Duration::from_millis(50)).await;
            }
            service.stop().await;
        }
    }
}
