//! How a connection is made: in the clear, or over TLS where the address says `sslmode=require`.

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::{AsyncConnection, AsyncPgConnection};
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connects as the address asks. Over TLS the server must prove its name with a certificate that the system trusts
/// (`SSL_CERT_FILE` names other roots): stricter than `libpq`, whose `require` believes anybody.
pub async fn connect(url: &str) -> ConnectionResult<AsyncPgConnection> {
    let config: Config = url.parse().map_err(|error| refused(&error))?;
    if config.get_ssl_mode() != SslMode::Require {
        return AsyncPgConnection::establish(url).await;
    }
    let (client, connection) = config.connect(connector()?).await.map_err(|error| refused(&error))?;
    AsyncPgConnection::try_from_client_and_connection(client, connection).await
}

/// Made once: to read the system's certificates takes a while.
fn connector() -> ConnectionResult<MakeRustlsConnect> {
    static CONNECTOR: OnceLock<Result<MakeRustlsConnect, String>> = OnceLock::new();
    CONNECTOR
        .get_or_init(|| make().map_err(|error| error.to_string()))
        .clone()
        .map_err(ConnectionError::BadConnection)
}

fn make() -> Result<MakeRustlsConnect, Box<dyn Error>> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (known, _) = roots.add_parsable_certificates(found.certs);
    if known == 0 {
        return Err(format!("the system trusts no certificate authority: {:?}", found.errors).into());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The failure with its causes: the first of them only says that there was one.
fn refused(error: &tokio_postgres::Error) -> ConnectionError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text = format!("{text}: {deeper}");
        cause = deeper.source();
    }
    ConnectionError::BadConnection(text)
}
