//! AES-256-GCM (NIST SP 800-38D) under a key for one purpose.

use crate::bytes::random;
use crate::keys::{SECRET_BYTES, SecretKeys, derive};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use civitas_kernel::{Error, Result};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The format of a sealed text: this, and the base64 form of nonce, ciphertext and tag.
const PREFIX: &str = "v1.";

/// Encrypts texts with the first key, and decrypts with any. Each encryption uses a new random nonce of 96 bits.
pub(crate) struct AesGcmCipher {
    /// What is encrypted, in errors.
    subject: &'static str,
    first: LessSafeKey,
    older: Vec<LessSafeKey>,
}

impl AesGcmCipher {
    /// The keys of a purpose are derived from the deployment's secrets.
    pub(crate) fn new(secrets: &SecretKeys, purpose: &str, subject: &'static str) -> Self {
        let older = secrets.iter().skip(1).map(|secret| key_of(secret, purpose));
        Self { subject, first: key_of(secrets.first(), purpose), older: older.collect() }
    }

    /// The sealed text.
    ///
    /// # Errors
    /// `Internal` when the system gives no random bytes, or the text is longer than 64 GiB.
    pub(crate) fn seal(&self, text: &str) -> Result<String> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut text = text.as_bytes().to_vec();
        let used = Nonce::assume_unique_for_key(nonce);
        let sealed = self.first.seal_in_place_append_tag(used, Aad::empty(), &mut text);
        sealed.map_err(|_| Error::internal(format!("{} cannot be encrypted", self.subject)))?;
        Ok(format!("{PREFIX}{}", STANDARD.encode([&nonce[..], &text].concat())))
    }

    /// The text of a sealed text.
    ///
    /// # Errors
    /// `Internal` when the sealed text was changed, or no key opens it.
    pub(crate) fn open(&self, sealed: &str) -> Result<String> {
        let text = std::iter::once(&self.first).chain(&self.older).find_map(|key| open(key, sealed));
        text.ok_or_else(|| {
            let subject = self.subject;
            Error::internal(format!("{subject} was changed, or encrypted with another secret_key"))
        })
    }

    /// The same text sealed with the first key; `None` when it is already.
    pub(crate) fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        if open(&self.first, sealed).is_some() {
            return Ok(None);
        }
        self.seal(&self.open(sealed)?).map(Some)
    }
}

/// The key of a purpose.
///
/// # Panics
/// Never: the length of the key is a constant.
fn key_of(secret: &[u8; SECRET_BYTES], purpose: &str) -> LessSafeKey {
    let key = UnboundKey::new(&AES_256_GCM, &derive(secret, purpose));
    LessSafeKey::new(key.expect("AES-256 has a key of 32 bytes"))
}

fn open(key: &LessSafeKey, sealed: &str) -> Option<String> {
    let bytes = STANDARD.decode(sealed.strip_prefix(PREFIX)?).ok()?;
    let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>()?;
    let mut text = text.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let text = key.open_in_place(nonce, Aad::empty(), &mut text).ok()?;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_keys_open_and_the_first_one_seals() {
        let keys = |secrets: &[u8]| {
            let secrets = secrets.iter().map(|byte| [*byte; SECRET_BYTES]);
            AesGcmCipher::new(&SecretKeys::new(secrets).unwrap(), "webhook secrets", "a secret")
        };
        let (old, both, new) = (keys(&[1]), keys(&[2, 1]), keys(&[2]));
        let sealed = old.seal("secret").unwrap();
        assert_eq!(both.open(&sealed).unwrap(), "secret");
        assert!(new.open(&sealed).is_err() && new.reseal(&sealed).is_err());
        let resealed = both.reseal(&sealed).unwrap().unwrap();
        assert_eq!(new.open(&resealed).unwrap(), "secret");
        assert_eq!(both.reseal(&resealed).unwrap(), None, "it is sealed with the first key");
        assert!(old.open(&both.seal("secret").unwrap()).is_err());
    }
}
