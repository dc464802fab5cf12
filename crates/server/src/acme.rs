//! Certificates by ACME (RFC 8555) for the hosts of all organizations (docs/decisions/0069-certificates-by-acme.md): where
//! they are kept, and which of them a handshake gets. [`CertificateOrders`] makes them.

mod orders;

pub(crate) use orders::CertificateOrders;

use crate::config::Config;
use crate::secret_key::create_private_directory;
use crate::{paths, tls};
use civitas_kernel::clock;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::{PrivatePkcs8KeyDer, ServerName};
use std::collections::HashMap;
use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;
use time::OffsetDateTime;
use tokio::sync::mpsc;
use x509_cert::der::Decode;

/// The protocol of handshakes that check a challenge (RFC 8737, 4).
const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";
/// How many names of handshakes wait for their lookup. Beyond it a name is looked up when a client sends it again.
const MAX_WAITING_NAMES: usize = 256;

/// The certificates in use.
#[derive(Debug)]
pub(crate) struct AcmeCertificates {
    provider: Arc<CryptoProvider>,
    directory: PathBuf,
    /// By host.
    in_use: Mutex<HashMap<String, StoredCertificate>>,
    /// The host whose challenge is being checked, and the certificate that answers it.
    challenge: Mutex<Option<(String, Arc<CertifiedKey>)>>,
    /// For clients that name no host: checks of health by address, which accept any certificate.
    nameless: Arc<CertifiedKey>,
    /// The hosts of handshakes that found no certificate.
    missing: mpsc::Sender<String>,
}

/// A certificate with its validity.
#[derive(Debug)]
pub(crate) struct StoredCertificate {
    key: Arc<CertifiedKey>,
    pub(crate) ends_at: OffsetDateTime,
    /// When a third of its validity is left.
    renew_at: OffsetDateTime,
}

impl AcmeCertificates {
    /// Those of the data directory, and where hosts arrive that need one.
    ///
    /// # Errors
    /// When the directory cannot be created or read. A file that cannot be read is logged, and its certificate made again.
    fn open(config: &Config) -> io::Result<(Arc<Self>, mpsc::Receiver<String>)> {
        let directory = directory(config);
        create_private_directory(&directory)?;
        let provider = Arc::new(default_provider());
        let in_use = Mutex::new(stored_certificates(config)?);
        let nameless = self_signed("localhost", Vec::new(), &provider).map_err(io::Error::other)?;
        let (missing, receiver) = mpsc::channel(MAX_WAITING_NAMES);
        let challenge = Mutex::default();
        Ok((Arc::new(Self { provider, directory, in_use, challenge, nameless, missing }), receiver))
    }

    /// The configuration of a listener.
    pub(crate) fn server_config(self: &Arc<Self>) -> io::Result<ServerConfig> {
        tls::server_config(self.provider.clone(), self.clone(), &[tls::HTTP, CHALLENGE_PROTOCOL])
    }

    fn in_use(&self) -> MutexGuard<'_, HashMap<String, StoredCertificate>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a host has no certificate, or one that has to be renewed.
    fn is_due(&self, host: &str) -> bool {
        self.in_use().get(host).is_none_or(|stored| stored.renew_at <= clock::now())
    }

    /// Answers the challenge of a host until [`Self::end_challenge`]; `digest` is that of the key authorization.
    fn begin_challenge(&self, host: &str, digest: &[u8]) -> Result<(), rcgen::Error> {
        let proof = vec![CustomExtension::new_acme_identifier(digest)];
        let key = self_signed(host, proof, &self.provider)?;
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = Some((host.to_owned(), key));
        Ok(())
    }

    fn end_challenge(&self) {
        *self.challenge.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// An empty file for a key with its certificates (mode 0600).
    fn draft(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(&self.directory).map_err(|error| paths::with_path(&self.directory, error))
    }

    /// Stores a key with its certificates instead of a draft, and uses them for new connections.
    ///
    /// # Errors
    /// When they cannot be read or stored; then the old ones stay.
    fn store(&self, host: &str, mut draft: NamedTempFile, pem: &str) -> io::Result<()> {
        let path = self.file(host);
        draft.write_all(pem.as_bytes())?;
        let stored = StoredCertificate::read(draft.path(), &self.provider)?;
        persist(draft, &path)?;
        self.in_use().insert(host.to_owned(), stored);
        Ok(())
    }

    fn remove(&self, host: &str) -> io::Result<()> {
        let path = self.file(host);
        let is_stored = self.in_use().remove(host).is_some();
        if is_stored {
            fs::remove_file(&path).map_err(|error| paths::with_path(&path, error))
        } else {
            Ok(())
        }
    }

    fn file(&self, host: &str) -> PathBuf {
        self.directory.join(format!("{host}.pem"))
    }
}

impl ResolvesServerCert for AcmeCertificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let Some(host) = hello.server_name() else { return Some(self.nameless.clone()) };
        if hello.alpn().is_some_and(|offered| offered.eq([CHALLENGE_PROTOCOL])) {
            let challenge = self.challenge.lock().unwrap_or_else(PoisonError::into_inner);
            return challenge.as_ref().filter(|(of, _)| of == host).map(|(_, key)| key.clone());
        }
        let found = self.in_use().get(host).map(|stored| stored.key.clone());
        if found.is_none() {
            // A full queue drops the name.
            let _ = self.missing.try_send(host.to_owned());
        }
        found
    }
}

impl StoredCertificate {
    /// Reads a key and its certificates from a PEM file.
    fn read(path: &Path, provider: &CryptoProvider) -> io::Result<Self> {
        let fault = |error: &dyn Error| {
            paths::with_path(path, io::Error::new(ErrorKind::InvalidData, format!("no certificate: {error}")))
        };
        let key = tls::read_certified_key(path, path, provider)?;
        let certificate = key.end_entity_cert().map_err(|error| fault(&error))?;
        let certificate = x509_cert::Certificate::from_der(certificate).map_err(|error| fault(&error))?;
        let validity = certificate.tbs_certificate.validity;
        let [begins_at, ends_at] = [validity.not_before, validity.not_after]
            .map(|time| OffsetDateTime::UNIX_EPOCH + time.to_unix_duration());
        Ok(Self { key, ends_at, renew_at: ends_at - (ends_at - begins_at) / 3 })
    }
}

/// Whether ACME can certify a host: it is a name, and no literal address.
pub(crate) fn is_name(host: &str) -> bool {
    matches!(ServerName::try_from(host), Ok(ServerName::DnsName(_)))
}

/// The certificates in the data directory, by host. A file that cannot be read is logged.
pub(crate) fn stored_certificates(config: &Config) -> io::Result<HashMap<String, StoredCertificate>> {
    let (directory, provider) = (directory(config), default_provider());
    let entries = match fs::read_dir(&directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(HashMap::new()),
        entries => entries.map_err(|error| paths::with_path(&directory, error))?,
    };
    let mut found = HashMap::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_suffix(".pem"));
        match name.map(|host| (host, StoredCertificate::read(&path, &provider))) {
            Some((host, Ok(stored))) => drop(found.insert(host.to_owned(), stored)),
            Some((_, Err(error))) => {
                tracing::warn!(%error, "a certificate cannot be read, and is made again");
            }
            None => {}
        }
    }
    Ok(found)
}

/// The directory of the account and the certificates of this CA.
fn directory(config: &Config) -> PathBuf {
    let address = config.tls_acme_directory.0.as_str();
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let name = address.replace(|c: char| !c.is_ascii_alphanumeric() && !".-".contains(c), "_");
    config.data_dir.join("acme").join(name)
}

/// Replaces a file by this one in one step.
fn persist(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    let persisted = draft.as_file().sync_all().and_then(|()| {
        draft.persist(path)?;
        // The rename itself must survive a power cut.
        File::open(paths::directory_of(path))?.sync_all()
    });
    persisted.map_err(|error| paths::with_path(path, error))
}

fn self_signed(
    host: &str,
    extensions: Vec<CustomExtension>,
    provider: &CryptoProvider,
) -> Result<Arc<CertifiedKey>, rcgen::Error> {
    let mut params = CertificateParams::new(vec![host.to_owned()])?;
    params.custom_extensions = extensions;
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?.der().clone();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let key = provider.key_provider.load_private_key(key.into());
    let key = key.map_err(|_| rcgen::Error::KeyGenerationUnavailable)?;
    // `CertifiedKey::from_der` would refuse the extension of challenges, which it does not know and which is critical.
    Ok(Arc::new(CertifiedKey::new(vec![certificate], key)))
}
