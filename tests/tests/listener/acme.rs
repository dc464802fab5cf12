//! Certificates by ACME: of a small CA, for confirmed hosts alone (decision 0069).

use crate::listener::acme_server::AcmeServer;
use civitas_kernel::testing::text;
use civitas_kernel::{Locale, clock};
use civitas_organizations::Organization;
use civitas_tests::service::{BASE, CITIES, Service, http_builder};
use civitas_tests::{Database, Engine, commit};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;

/// Longer than anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The hosts of the cities.
const HOSTS: [&str; 3] = ["city.test", "town.test", "www.city.test"];

async fn service(ca: &AcmeServer, archive: &str) -> Service {
    let directory = ca.directory();
    let settings = [("tls_acme_email", "operator@city.example"), ("tls_acme_directory", directory.as_str())];
    let service = Service::over(Database::fresh(Engine::Sqlite).await.unwrap(), archive, &settings).await;
    ca.lead_to(Some(service.address));
    service
}

/// The certificate that the server shows for a host; it must be of a CA of `roots`, and valid.
async fn shown(address: SocketAddr, roots: RootCertStore, host: &str) -> io::Result<CertificateDer<'static>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    Ok(stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned())
}

/// Shakes hands until the server has a valid certificate for the host.
async fn wait_for(service: &Service, ca: &AcmeServer, host: &str) -> CertificateDer<'static> {
    let begun = Instant::now();
    loop {
        match shown(service.address, ca.roots(), host).await {
            Ok(certificate) => return certificate,
            Err(error) => assert!(begun.elapsed() < TIMEOUT, "{host}: {error}"),
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// The files of the certificates and of the account.
fn files(service: &Service) -> Vec<PathBuf> {
    let data = service.flags().iter().find(|(name, _)| name == "data_dir").unwrap();
    let ca = fs::read_dir(Path::new(&data.1).join("acme")).unwrap().next().unwrap().unwrap().path();
    fs::read_dir(ca).unwrap().map(|file| file.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn confirmed_hosts_get_certificates_that_are_kept_and_other_hosts_get_none() {
    let ca = AcmeServer::start().await;
    let pending = r#""secondary_hosts": ["www.city.test", "late.city.test"],
        "unconfirmed_secondary_hosts": ["late.city.test"], "unconfirmed_host": "new.city.test""#;
    let pending = pending.replace('\n', "");
    let mut service =
        service(&ca, &CITIES.replace(r#""secondary_hosts": ["www.city.test"]"#, &pending)).await;
    for host in HOSTS {
        wait_for(&service, &ca, host).await;
    }
    for host in ["late.city.test", "new.city.test", "unknown.test"] {
        for _ in 0..5 {
            shown(service.address, ca.roots(), host).await.unwrap_err();
        }
    }
    let third = Organization::new("third.test".to_owned(), text("Third"), Locale::EN, clock::now());
    commit(&*service.database.store, async |tx| tx.organizations().add(&third).await).await.unwrap();
    wait_for(&service, &ca, "third.test").await;
    assert_eq!(ca.ordered(), ["city.test", "third.test", "town.test", "www.city.test"]);

    let root = reqwest::Certificate::from_der(&ca.root()).unwrap();
    let client = http_builder().tls_certs_only([root]).resolve("city.test", service.address).build().unwrap();
    let address = format!("https://city.test:{}{BASE}/health", service.address.port());
    assert_eq!(client.get(address).send().await.unwrap().status().as_u16(), 200);
    // A check of health by address names no host, and accepts any certificate.
    let client = http_builder().tls_danger_accept_invalid_certs(true).build().unwrap();
    let address = format!("https://{}{BASE}/health", service.address);
    assert!(client.get(address).send().await.unwrap().status().as_u16() < 400);

    for file in files(&service) {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    service.restart_with(&[]).await;
    for host in HOSTS {
        shown(service.address, ca.roots(), host).await.unwrap();
    }
    assert_eq!((ca.ordered().len(), ca.accounts()), (4, 1), "nothing is made again");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_renewed_when_a_third_of_its_validity_is_left() {
    let ca = AcmeServer::start().await;
    ca.sign_for(61, 29);
    let mut service = service(&ca, CITIES).await;
    // No handshake before: a queued one could order again what has to be renewed at once.
    let begun = Instant::now();
    while files(&service).iter().filter(|file| file.extension().is_some_and(|end| end == "pem")).count() < 3 {
        assert!(begun.elapsed() < TIMEOUT, "{:?}", files(&service));
        sleep(Duration::from_millis(20)).await;
    }
    let mut old = Vec::new();
    for host in HOSTS {
        old.push(wait_for(&service, &ca, host).await);
    }
    ca.sign_for(0, 90);
    ca.lead_to(None);
    service.restart_with(&[]).await;
    ca.lead_to(Some(service.address));
    let begun = Instant::now();
    for (host, old) in HOSTS.into_iter().zip(old) {
        // The old one is shown until then.
        while shown(service.address, ca.roots(), host).await.unwrap() == old {
            assert!(begun.elapsed() < TIMEOUT, "{host} is not renewed");
            sleep(Duration::from_millis(20)).await;
        }
    }
    service.restart_with(&[]).await;
    sleep(Duration::from_millis(300)).await;
    assert_eq!(ca.ordered().len(), 2 * HOSTS.len(), "each once, and not again");
    assert_eq!(ca.accounts(), 1);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_city_whose_names_lead_elsewhere_has_one_order_and_does_not_delay_another_city() {
    let ca = AcmeServer::start().await;
    ca.lose("city.test");
    ca.lose("www.city.test");
    let service = service(&ca, CITIES).await;
    // The first order of all is that of the city.
    let begun = Instant::now();
    while ca.ordered().is_empty() {
        assert!(begun.elapsed() < TIMEOUT, "nothing is ordered");
        for host in ["city.test", "www.city.test"] {
            shown(service.address, ca.roots(), host).await.unwrap_err();
        }
    }
    wait_for(&service, &ca, "town.test").await;
    for _ in 0..50 {
        for host in ["city.test", "www.city.test"] {
            shown(service.address, ca.roots(), host).await.unwrap_err();
        }
    }
    sleep(Duration::from_millis(300)).await;
    assert_eq!(ca.ordered(), ["city.test", "town.test"]);
    service.stop().await;
}
