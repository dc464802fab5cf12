//! The HTTP client for object storage: TLS on ring, with the certificates that the system trusts.

use object_store::ClientOptions;
use object_store::client::{ClientConfigKey, HttpClient, HttpConnector};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;

/// The time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time without any byte of an answer. Uploading a part must end within it too.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Builds HTTP clients.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let tls = client_config().map_err(|cause| failed(cause.into()))?;
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(!allow_http)
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(IDLE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if let Some(proxy) = options.get_config_value(&ClientConfigKey::ProxyUrl) {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|cause| failed(cause.into()))?);
        }
        builder.build().map(HttpClient::new).map_err(|cause| failed(cause.into()))
    }
}

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> object_store::Error {
    object_store::Error::Generic { store: "S3", source }
}

/// TLS 1.2 and 1.3. Does not use the default provider of the process.
fn client_config() -> Result<ClientConfig, rustls::Error> {
    let found = rustls_native_certs::load_native_certs();
    for cause in &found.errors {
        tracing::warn!(%cause, "a certificate of the system cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    Ok(builder.with_safe_default_protocol_versions()?.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_needs_no_provider_of_the_process() {
        assert!(rustls::crypto::CryptoProvider::get_default().is_none());
        assert!(Connector.connect(&ClientOptions::new()).is_ok());
    }

    #[tokio::test]
    async fn an_invalid_proxy_is_an_error() {
        assert!(Connector.connect(&ClientOptions::new().with_proxy_url("::")).is_err());
    }
}
