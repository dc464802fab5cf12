//! Encryption in the age format (age-encryption.org/v1), for X25519 recipients: `age1...`.

use crate::text::{blocking, disk_error};
use age::x25519;
use age::{Decryptor, Encryptor, Identity, Recipient};
use async_trait::async_trait;
use civitas_attachments::Content;
use civitas_backup::{Opening, Sealing};
use civitas_kernel::{Error, Result};
use std::io::{self, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a text is a recipient.
pub fn is_recipient(text: &str) -> bool {
    text.parse::<x25519::Recipient>().is_ok()
}

/// Encrypts for recipients.
#[derive(Clone)]
pub struct Age {
    recipients: Arc<Vec<x25519::Recipient>>,
    work: PathBuf,
}

impl Age {
    /// Encrypts for these recipients, at least one. `work`: a directory for temporary files.
    ///
    /// # Errors
    /// `Internal` with a sentence for a text that is not an X25519 recipient.
    pub fn new(recipients: &[String], work: PathBuf) -> Result<Self> {
        let parse = |text: &String| {
            text.parse::<x25519::Recipient>().map_err(|error| {
                Error::internal(format!("{text} is not an age recipient (age1...): {error}"))
            })
        };
        let recipients = recipients.iter().map(parse).collect::<Result<Vec<_>>>()?;
        Ok(Self { recipients: Arc::new(recipients), work })
    }
}

#[async_trait]
impl Sealing for Age {
    fn recipients(&self) -> Vec<String> {
        self.recipients.iter().map(ToString::to_string).collect()
    }

    async fn seal(&self, plain: Content) -> Result<Content> {
        let Self { recipients, work } = self.clone();
        blocking(move || {
            let recipients = recipients.iter().map(|recipient| recipient as &dyn Recipient);
            let encryptor = Encryptor::with_recipients(recipients).map_err(Error::internal)?;
            let mut plain = plain;
            let seal = || {
                plain.file.rewind()?;
                let sealed = tempfile::tempfile_in(&work)?;
                let mut writer = encryptor.wrap_output(sealed)?;
                io::copy(&mut plain.file, &mut writer)?;
                let mut file = writer.finish()?;
                file.flush()?;
                let byte_size = file.stream_position()?;
                Ok(Content { file, byte_size })
            };
            seal().map_err(disk_error)
        })
        .await
    }
}

/// Decrypts with identities.
#[derive(Clone)]
pub struct Identities {
    identities: Arc<Vec<x25519::Identity>>,
    work: PathBuf,
}

impl Identities {
    /// The identities of a file: one in a line (`AGE-SECRET-KEY-1...`); empty lines and lines that begin with `#` are
    /// ignored. `work`: a directory for temporary files.
    ///
    /// # Errors
    /// `Internal` with a sentence when the file cannot be read, or has another line. The line is not shown.
    pub fn read(file: &Path, work: PathBuf) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::internal(format!("{}: {error}", file.display()));
        let bytes = std::fs::read(file).map_err(|error| failed(&error))?;
        let is_sealed = |begin: &[u8]| bytes.starts_with(begin);
        if is_sealed(b"age-encryption.org/") || is_sealed(b"-----BEGIN AGE ENCRYPTED FILE-----") {
            return Err(failed(&"it is protected by a passphrase: remove it with `age --decrypt`"));
        }
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let parse = |line: &str| line.parse::<x25519::Identity>().map_err(|error| failed(&error));
        let identities = lines.map(parse).collect::<Result<Vec<_>>>()?;
        if identities.is_empty() {
            return Err(failed(&"no identity (AGE-SECRET-KEY-1...)"));
        }
        Ok(Self { identities: Arc::new(identities), work })
    }
}

#[async_trait]
impl Opening for Identities {
    async fn open(&self, sealed: Content) -> Result<Content> {
        let Self { identities, work } = self.clone();
        blocking(move || {
            let failed =
                |error: &dyn std::fmt::Display| Error::internal(format!("decryption failed: {error}"));
            let mut sealed = sealed;
            sealed.file.rewind().map_err(disk_error)?;
            let decryptor = Decryptor::new(BufReader::new(sealed.file)).map_err(|error| failed(&error))?;
            let identities = identities.iter().map(|identity| identity as &dyn Identity);
            let mut reader = decryptor.decrypt(identities).map_err(|error| failed(&error))?;
            let mut file = tempfile::tempfile_in(&work).map_err(disk_error)?;
            io::copy(&mut reader, &mut file).map_err(|error| failed(&error))?;
            let byte_size = file.stream_position().map_err(disk_error)?;
            Ok(Content { file, byte_size })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret;
    use std::io::Read;

    fn content(bytes: &[u8]) -> Content {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Content { file, byte_size: bytes.len() as u64 }
    }

    fn bytes(mut content: Content) -> Vec<u8> {
        let mut bytes = Vec::new();
        content.file.rewind().unwrap();
        content.file.read_to_end(&mut bytes).unwrap();
        assert_eq!(content.byte_size, bytes.len() as u64);
        bytes
    }

    fn identity_file(directory: &Path, identity: &x25519::Identity) -> PathBuf {
        let path = directory.join("identity");
        let text = format!("# created today\n{}\n", identity.to_string().expose_secret());
        std::fs::write(&path, text).unwrap();
        path
    }

    #[tokio::test]
    async fn only_an_identity_of_a_recipient_decrypts() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().to_owned();
        let (own, other) = (x25519::Identity::generate(), x25519::Identity::generate());
        let age = Age::new(&[own.to_public().to_string()], work.clone()).unwrap();
        let sealed = bytes(age.seal(content(b"hello")).await.unwrap());
        assert!(sealed.starts_with(b"age-encryption.org/v1"));
        let identities = Identities::read(&identity_file(place.path(), &own), work.clone()).unwrap();
        assert_eq!(bytes(identities.open(content(&sealed)).await.unwrap()), b"hello");
        let strangers = Identities::read(&identity_file(place.path(), &other), work).unwrap();
        assert!(matches!(strangers.open(content(&sealed)).await, Err(Error::Internal(_))));
        let mut damaged = sealed.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(matches!(identities.open(content(&damaged)).await, Err(Error::Internal(_))));
    }

    #[test]
    fn a_passphrase_has_a_sentence_of_its_own_and_a_byte_order_mark_is_left_out() {
        let place = tempfile::tempdir().unwrap();
        let path = identity_file(place.path(), &x25519::Identity::generate());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
        Identities::read(&path, place.path().to_owned()).map(drop).unwrap();
        for begin in ["age-encryption.org/v1\n-> scrypt", "-----BEGIN AGE ENCRYPTED FILE-----\n"] {
            std::fs::write(&path, begin).unwrap();
            let error = Identities::read(&path, place.path().to_owned()).map(drop).unwrap_err();
            assert!(error.cause().unwrap().to_string().contains("protected by a passphrase"), "{error}");
        }
    }

    #[test]
    fn what_is_not_a_key_is_refused_without_being_shown() {
        let place = tempfile::tempdir().unwrap();
        assert!(Age::new(&["age1x".to_owned()], place.path().to_owned()).is_err());
        let path = place.path().join("identity");
        for text in ["", "# nothing", "OTHER-SECRET"] {
            std::fs::write(&path, text).unwrap();
            let error = Identities::read(&path, place.path().to_owned()).map(drop).unwrap_err();
            assert!(!error.cause().unwrap().to_string().contains("OTHER"), "{error}");
        }
    }
}
