//! TLS on ring.

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, LazyLock};

/// Read once for a process.
static SYSTEM_ROOTS: LazyLock<RootCertStore> = LazyLock::new(read_system_roots);

/// The certificates that the system trusts. What is changed while the process runs is not seen.
pub fn system_roots() -> RootCertStore {
    SYSTEM_ROOTS.clone()
}

fn read_system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for cause in &found.errors {
        tracing::warn!(%cause, "a certificate of the system cannot be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    roots
}

/// TLS 1.2 and 1.3. Does not use the default provider of the process.
pub fn client_config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    Ok(builder.with_safe_default_protocol_versions()?.with_root_certificates(roots).with_no_client_auth())
}
