//! HTTPS: rustls on ring, with a certificate of files that can be read again while the server runs.

use crate::paths;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The protocol of the interface. HTTP/2 is not offered (docs/decisions/0063-the-library-reads-http.md).
pub(crate) const HTTP: &[u8] = b"http/1.1";
/// In the first lines of a key with a passphrase: `BEGIN ENCRYPTED PRIVATE KEY`, `Proc-Type: 4,ENCRYPTED`.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// The certificate in use, and the files it came from.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    in_use: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads a certificate with its chain, and its private key, from PEM files.
    ///
    /// # Errors
    /// When a file cannot be read or has no certificate or key, or when the key is not that of the certificate.
    pub fn read(chain: &Path, key: &Path) -> io::Result<Arc<Self>> {
        let provider = Arc::new(default_provider());
        let in_use = RwLock::new(read_certified_key(chain, key, &provider)?);
        Ok(Arc::new(Self { chain: chain.to_owned(), key: key.to_owned(), provider, in_use }))
    }

    /// Reads the files again. New connections get the new certificate; a fault leaves the old one in use.
    pub fn reload(&self) -> io::Result<()> {
        let fresh = read_certified_key(&self.chain, &self.key, &self.provider)?;
        *self.in_use.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// The configuration of a listener.
    pub fn server_config(self: &Arc<Self>) -> io::Result<ServerConfig> {
        server_config(self.provider.clone(), self.clone(), &[HTTP])
    }
}

/// The configuration of a listener: TLS 1.2 and 1.3, these certificates, and protocols by descending preference.
pub(crate) fn server_config(
    provider: Arc<CryptoProvider>,
    certificates: Arc<dyn ResolvesServerCert>,
    protocols: &[&[u8]],
) -> io::Result<ServerConfig> {
    let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(io::Error::other)?.with_no_client_auth();
    let mut config = config.with_cert_resolver(certificates);
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.in_use.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Reads a certificate with its chain, and its key, from PEM files; one file may have both.
pub(crate) fn read_certified_key(
    chain: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> io::Result<Arc<CertifiedKey>> {
    let (certificates, private) = (paths::read(chain)?, paths::read(key)?);
    let certificates = CertificateDer::pem_slice_iter(&certificates).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| fault(chain, &error))?;
    if certificates.is_empty() {
        return Err(fault(chain, &"there is no certificate in it"));
    }
    if private.windows(ENCRYPTED.len()).any(|part| part == ENCRYPTED) {
        return Err(fault(key, &"it is protected by a passphrase: remove it with `openssl pkey`"));
    }
    let private = PrivateKeyDer::from_pem_slice(&private).map_err(|error| fault(key, &error))?;
    let certified = CertifiedKey::from_der(certificates, private, provider);
    certified.map(Arc::new).map_err(|error| fault(key, &error))
}

fn fault(file: &Path, error: &dyn Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const CHAIN: &str = include_str!("../tests/tls/first.crt");
    const KEY: &str = include_str!("../tests/tls/first.key");

    /// Why these files are refused, without their directory.
    fn refusal(chain: &[u8], key: &[u8]) -> String {
        let directory = tempfile::tempdir().unwrap();
        let (chain_file, key_file) = (directory.path().join("chain.pem"), directory.path().join("key.pem"));
        fs::write(&chain_file, chain).unwrap();
        fs::write(&key_file, key).unwrap();
        let refused = Certificate::read(&chain_file, &key_file).unwrap_err().to_string();
        refused.replace(&format!("{}/", directory.path().display()), "")
    }

    #[test]
    fn a_key_with_a_passphrase_is_refused_with_what_to_do() {
        let pkcs8 = KEY.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let openssl = KEY.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n");
        for key in [pkcs8, openssl] {
            let expected = "key.pem: it is protected by a passphrase: remove it with `openssl pkey`";
            assert_eq!(refusal(CHAIN.as_bytes(), key.as_bytes()), expected);
        }
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        let expected = "it begins with a byte order mark: save it as UTF-8 without one";
        let utf16: Vec<u8> = format!("\u{feff}{KEY}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (key, chain) = (format!("\u{feff}{KEY}"), format!("\u{feff}{CHAIN}"));
        assert_eq!(refusal(CHAIN.as_bytes(), key.as_bytes()), format!("key.pem: {expected}"));
        assert_eq!(refusal(CHAIN.as_bytes(), &utf16), format!("key.pem: {expected}"));
        assert_eq!(refusal(chain.as_bytes(), KEY.as_bytes()), format!("chain.pem: {expected}"));
    }
}
