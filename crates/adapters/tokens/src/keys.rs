//! One secret of the deployment, one key for each purpose (RFC 5869).

use civitas_kernel::text::hexadecimal;
use ring::hkdf::{HKDF_SHA256, Salt};
use std::fmt;

/// The length of the deployment's secret and of every key, in bytes.
pub const SECRET_BYTES: usize = 32;

/// The secrets of the deployment: the first one signs and encrypts; all verify and decrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKeys {
    first: [u8; SECRET_BYTES],
    older: Vec<[u8; SECRET_BYTES]>,
}

impl SecretKeys {
    /// One secret.
    pub fn single(secret: [u8; SECRET_BYTES]) -> Self {
        Self { first: secret, older: Vec::new() }
    }

    /// These secrets; `None` without any. Repeated ones count once.
    pub fn new(secrets: impl IntoIterator<Item = [u8; SECRET_BYTES]>) -> Option<Self> {
        let mut secrets = secrets.into_iter();
        let mut keys = Self::single(secrets.next()?);
        for secret in secrets {
            if !keys.iter().any(|known| *known == secret) {
                keys.older.push(secret);
            }
        }
        Some(keys)
    }

    /// The one that signs and encrypts.
    pub fn first(&self) -> &[u8; SECRET_BYTES] {
        &self.first
    }

    /// All, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &[u8; SECRET_BYTES]> {
        std::iter::once(&self.first).chain(&self.older)
    }

    /// How many there are, at least 1.
    pub fn count(&self) -> usize {
        1 + self.older.len()
    }
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKeys({})", self.count())
    }
}

/// The name of a secret in the header of tokens: 16 hexadecimal digits. The secret cannot be computed from it.
pub fn key_id(secret: &[u8; SECRET_BYTES]) -> String {
    hexadecimal(&derive(secret, "key id")[..8])
}

/// Derives the key for a purpose. The secret and the other keys cannot be computed from it.
///
/// `purpose` is a constant of the program, such as `access tokens`; a changed purpose changes the key, and values made
/// with the old key become invalid.
///
/// # Panics
/// Never: the lengths are constants.
pub fn derive(secret: &[u8; SECRET_BYTES], purpose: &str) -> [u8; SECRET_BYTES] {
    let mut key = [0; SECRET_BYTES];
    Salt::new(HKDF_SHA256, b"civitas")
        .extract(secret)
        .expand(&[purpose.as_bytes()], HKDF_SHA256)
        .and_then(|expanded| expanded.fill(&mut key))
        .expect("HKDF-SHA256 gives 32 bytes");
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::hmac;

    #[test]
    fn each_purpose_and_each_secret_has_a_key_of_its_own() {
        let secret = [1; 32];
        assert_eq!(derive(&secret, "access tokens"), derive(&secret, "access tokens"));
        assert_ne!(derive(&secret, "access tokens"), derive(&secret, "upload links"));
        assert_ne!(derive(&secret, "access tokens"), derive(&[2; 32], "access tokens"));
        assert_ne!(derive(&secret, "access tokens"), secret);
    }

    #[test]
    fn secrets_have_an_order_and_do_not_show() {
        assert_eq!(SecretKeys::new([]), None);
        let keys = SecretKeys::new([[1; 32], [2; 32], [1; 32]]).unwrap();
        assert_eq!((keys.first(), keys.count()), (&[1; 32], 2));
        assert_eq!(keys.iter().collect::<Vec<_>>(), [&[1; 32], &[2; 32]]);
        assert_eq!(format!("{keys:?}"), "SecretKeys(2)");
        assert_eq!(key_id(&[1; 32]).len(), 16);
        assert_ne!(key_id(&[1; 32]), key_id(&[2; 32]));
    }

    #[test]
    fn the_key_is_the_first_block_of_hkdf() {
        let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
        let extracted = sign(b"civitas", &[1; 32]);
        let first_block = sign(extracted.as_ref(), b"access tokens\x01");
        assert_eq!(derive(&[1; 32], "access tokens"), first_block.as_ref());
    }
}
