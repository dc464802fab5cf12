//! One secret of the deployment, one key for each purpose (RFC 5869).

use ring::hkdf::{HKDF_SHA256, Salt};

/// The length of the deployment's secret and of every key, in bytes.
pub const SECRET_BYTES: usize = 32;

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
    fn the_key_is_the_first_block_of_hkdf() {
        let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
        let extracted = sign(b"civitas", &[1; 32]);
        let first_block = sign(extracted.as_ref(), b"access tokens\x01");
        assert_eq!(derive(&[1; 32], "access tokens"), first_block.as_ref());
    }
}
