//! Secrets: random texts that give access, and their stored digests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_kernel::text::hexadecimal;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;
use subtle::ConstantTimeEq;

/// A secret text. Shown once, when it is created.
#[derive(Clone)]
pub struct Secret(SecretString);

/// The SHA-256 of a secret, which is stored instead of it. As text in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Secret {
    /// `length` random characters of the URL-safe alphabet (6 bits each) behind a prefix.
    ///
    /// # Panics
    /// When the system's random source fails.
    pub fn random(prefix: &str, length: usize) -> Self {
        let mut bytes = vec![0; length];
        SystemRandom::new().fill(&mut bytes).expect("the system's random generator works");
        let text = URL_SAFE_NO_PAD.encode(&bytes);
        Self::new(format!("{prefix}{}", &text[..length]))
    }

    /// 270 random bits in letters and digits, which need no escaping in addresses.
    ///
    /// # Panics
    /// When the system's random source fails.
    pub fn alphanumeric() -> Self {
        // URL-safe text has no bits that base64 would write as `+` or `/`, and its length leaves no `=`.
        Self::new(URL_SAFE_NO_PAD.encode(Self::random("", 45).expose()))
    }

    /// A secret that was sent or chosen.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Its digest, which may be stored.
    pub fn digest(&self) -> Digest {
        Digest(hexadecimal(digest(&SHA256, self.expose().as_bytes()).as_ref()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Digest {
    /// A stored digest: 64 hexadecimal digits.
    pub fn from_stored(hex: impl Into<String>) -> Self {
        Self(hex.into())
    }

    /// The stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the digest of this secret, in constant time.
    pub fn matches(&self, secret: &Secret) -> bool {
        self.0.as_bytes().ct_eq(secret.digest().0.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_the_length_asked_and_is_new_each_time() {
        let (a, b) = (Secret::random("id_", 16), Secret::random("id_", 16));
        assert_eq!(a.expose().len(), 19);
        assert_ne!(a.expose(), b.expose());
        assert!(!a.digest().matches(&b));
    }

    #[test]
    fn an_alphanumeric_secret_is_that_and_has_more_than_256_bits() {
        for _ in 0..1000 {
            let secret = Secret::alphanumeric();
            assert_eq!(secret.expose().len(), 60, "of 45 characters, 6 bits each");
            assert!(secret.expose().bytes().all(|b| b.is_ascii_alphanumeric()), "{}", secret.expose());
        }
    }

    #[test]
    fn the_digest_is_sha_256_in_hexadecimal() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Secret::new("abc").digest().as_str(), known);
    }
}
