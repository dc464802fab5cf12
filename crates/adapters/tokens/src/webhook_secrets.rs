//! Encrypts the secrets of webhooks.

use crate::keys::{SECRET_BYTES, SecretKeys};
use crate::sealing::Sealing;
use civitas_kernel::{Error, Result};
use civitas_webhooks::{SealedSecret, SecretCipher, SigningSecret};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt::Write;

/// Encrypts with the key for webhook secrets. Each encryption uses a new random nonce of 96 bits.
pub struct WebhookCipher(Sealing);

impl WebhookCipher {
    /// With the key derived from the deployment's secret.
    pub fn new(secret: &[u8; SECRET_BYTES]) -> Self {
        Self::of(&SecretKeys::one(*secret))
    }

    /// With the keys derived from the deployment's secrets.
    pub fn of(secrets: &SecretKeys) -> Self {
        Self(Sealing::new(secrets, "webhook secrets"))
    }

    /// A secret encrypted with the first key; `None` when it is already.
    ///
    /// # Errors
    /// `Internal` when no key opens it.
    pub fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        self.0.reseal(sealed, changed)
    }
}

/// A new secret: 64 lowercase hexadecimal digits of 32 random bytes.
///
/// # Errors
/// `Internal` when the system gives no random bytes.
pub fn random_webhook_secret() -> Result<SigningSecret> {
    let text = random::<32>()?.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok(SigningSecret::new(text))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Error::internal("the system gives no random bytes"))?;
    Ok(bytes)
}

impl SecretCipher for WebhookCipher {
    fn generate(&self) -> Result<SigningSecret> {
        random_webhook_secret()
    }

    fn seal(&self, secret: &SigningSecret) -> Result<SealedSecret> {
        let sealed = self.0.seal(secret.expose());
        sealed.map(SealedSecret).ok_or_else(|| Error::internal("a webhook secret cannot be encrypted"))
    }

    fn open(&self, sealed: &SealedSecret) -> Result<SigningSecret> {
        self.0.open(&sealed.0).map(SigningSecret::new).ok_or_else(changed)
    }
}

fn changed() -> Error {
    Error::internal("a webhook secret was changed, or encrypted with another secret_key")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";

    fn cipher() -> WebhookCipher {
        WebhookCipher::new(&[7; SECRET_BYTES])
    }

    #[test]
    fn a_sealed_secret_can_be_opened() {
        for text in [SECRET, "", "0123456789abcdef", &"~".repeat(255)] {
            let secret = SigningSecret::new(text);
            let sealed = cipher().seal(&secret).unwrap();
            assert!(sealed.0.starts_with("v1."));
            assert_eq!(cipher().open(&sealed).unwrap(), secret);
        }
    }

    #[test]
    fn sealing_twice_gives_different_texts_without_the_secret() {
        let secret = SigningSecret::new(SECRET);
        let (first, second) = (cipher().seal(&secret).unwrap(), cipher().seal(&secret).unwrap());
        assert_ne!(first, second);
        let bytes = STANDARD.decode(first.0.strip_prefix("v1.").unwrap()).unwrap();
        assert_eq!(bytes.len(), 12 + SECRET.len() + 16, "nonce, ciphertext and tag");
        assert!(!bytes.windows(8).any(|window| SECRET.as_bytes().starts_with(window)));
    }

    #[test]
    fn a_changed_text_cannot_be_opened() {
        let sealed = cipher().seal(&SigningSecret::new(SECRET)).unwrap().0;
        let bytes = STANDARD.decode(&sealed[3..]).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let changed = SealedSecret(format!("v1.{}", STANDARD.encode(changed)));
            assert!(matches!(cipher().open(&changed), Err(Error::Internal(_))), "byte {at}");
        }
        for length in 0..bytes.len() {
            let cut = SealedSecret(format!("v1.{}", STANDARD.encode(&bytes[..length])));
            assert!(matches!(cipher().open(&cut), Err(Error::Internal(_))), "{length} bytes");
        }
        for text in ["", "v1.", "v1.?", "v2.AAAA", SECRET, &sealed[3..], &format!("{sealed}=")] {
            let changed = SealedSecret(text.to_owned());
            assert!(matches!(cipher().open(&changed), Err(Error::Internal(_))), "{text}");
        }
    }

    #[test]
    fn another_deployment_cannot_open_it() {
        let sealed = cipher().seal(&SigningSecret::new(SECRET)).unwrap();
        assert!(matches!(WebhookCipher::new(&[8; SECRET_BYTES]).open(&sealed), Err(Error::Internal(_))));
    }

    #[test]
    fn a_new_secret_has_64_lowercase_hexadecimal_digits() {
        let (first, second) = (cipher().generate().unwrap(), cipher().generate().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.expose().len(), 64);
        assert!(first.expose().bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        assert!(SigningSecret::is_valid(first.expose()));
    }
}
