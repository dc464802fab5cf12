//! Certificates are verified.

use crate::receiver::{Receiver, Reply, Seen, serve};
use crate::{TIMEOUTS, Table, attempt, failed, loopback};
use civitas_delivery::HttpWebhookSender;
use civitas_webhooks::SendErrorKind;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::crypto::ring::default_provider;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A receiver with a certificate that it signed itself.
struct Secure {
    address: SocketAddr,
    seen: Arc<Seen>,
    certificate: CertificateDer<'static>,
}

async fn secure(name: &str, last_year: i32) -> Secure {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(last_year, 12, 31);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let (acceptor, seen) = (TlsAcceptor::from(Arc::new(config)), Arc::new(Seen::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, shared) = (listener.local_addr().unwrap(), seen.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                tokio::spawn(serve(stream, number, Reply::status(200, "", b""), shared.clone()));
            }
        }
    });
    Secure { address, seen, certificate }
}

/// A sender that trusts this certificate, and none of the system.
fn trusting(certificate: Option<&CertificateDer<'static>>) -> HttpWebhookSender {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificate.cloned());
    let names = Table::of(&[("hooks.example", &[&["127.0.0.1"]]), ("other.example", &[&["127.0.0.1"]])]);
    HttpWebhookSender::with_timeouts(loopback(), names, TIMEOUTS, roots).unwrap()
}

#[tokio::test]
async fn a_trusted_certificate_for_the_name_is_accepted_and_the_connection_used_again() {
    let receiver = secure("hooks.example", 2090).await;
    let sender = trusting(Some(&receiver.certificate));
    let url = format!("https://hooks.example:{}/civic", receiver.address.port());
    for _ in 0..3 {
        assert_eq!(attempt(&sender, &url).await.result.unwrap().status, 200);
    }
    assert_eq!(receiver.seen.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_untrusted_an_expired_and_a_foreign_certificate_are_refused() {
    let untrusted = secure("hooks.example", 2090).await;
    let expired = secure("hooks.example", 2021).await;
    let foreign = secure("hooks.example", 2090).await;
    for (receiver, sender, host) in [
        (&untrusted, trusting(None), "hooks.example"),
        (&expired, trusting(Some(&expired.certificate)), "hooks.example"),
        (&foreign, trusting(Some(&foreign.certificate)), "other.example"),
        (&foreign, trusting(Some(&foreign.certificate)), "127.0.0.1"),
    ] {
        let url = format!("https://{host}:{}/civic", receiver.address.port());
        assert_eq!(failed(&sender, &url).await, SendErrorKind::Tls, "{url}");
        assert!(receiver.seen.requests.lock().unwrap().is_empty(), "{url}: nothing was sent");
    }
}

#[tokio::test]
async fn a_receiver_without_tls_is_refused() {
    let receiver = Receiver::start(Reply::status(200, "", b"")).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 X\r\n\r\n").await;
        }
    });
    let sender = trusting(None);
    assert_eq!(failed(&sender, &format!("https://{address}/")).await, SendErrorKind::Tls);
    assert_eq!(failed(&sender, &format!("https://{}/", receiver.address)).await, SendErrorKind::Timeout);
    assert!(receiver.requests().is_empty());
}
