//! AES-256-GCM (NIST SP 800-38D) under a key for one purpose.

use crate::keys::{SECRET_BYTES, derive};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// The format of a sealed text: this, and the base64 form of nonce, ciphertext and tag.
const PREFIX: &str = "v1.";

/// Encrypts texts. Each encryption uses a new random nonce of 96 bits.
pub(crate) struct Sealing(LessSafeKey);

impl Sealing {
    /// With the key of a purpose, derived from the deployment's secret.
    ///
    /// # Panics
    /// Never: the length of the key is a constant.
    pub(crate) fn new(secret: &[u8; SECRET_BYTES], purpose: &str) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, &derive(secret, purpose));
        Self(LessSafeKey::new(key.expect("AES-256 has a key of 32 bytes")))
    }

    /// The sealed text; `None` when the system gives no random bytes, or the text is longer than 64 GiB.
    pub(crate) fn seal(&self, text: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut text = text.as_bytes().to_vec();
        let used = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(used, Aad::empty(), &mut text).ok()?;
        Some(format!("{PREFIX}{}", STANDARD.encode([&nonce[..], &text].concat())))
    }

    /// The text; `None` when it was changed, or sealed with another key.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        let bytes = STANDARD.decode(sealed.strip_prefix(PREFIX)?).ok()?;
        let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let text = self.0.open_in_place(nonce, Aad::empty(), &mut text).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}
