//! Encrypts the secrets of webhooks.

use crate::aes_gcm::AesGcmCipher;
use crate::bytes::random;
use crate::keys::SecretKeys;
use civitas_kernel::Result;
use civitas_kernel::text::hexadecimal;
use civitas_webhooks::{SealedSecret, SecretCipher, SigningSecret};

/// Encrypts with the key for webhook secrets. Each encryption uses a new random nonce of 96 bits.
pub struct WebhookCipher(AesGcmCipher);

impl WebhookCipher {
    /// With the keys derived from the deployment's secrets.
    pub fn new(secrets: &SecretKeys) -> Self {
        Self(AesGcmCipher::new(secrets, "webhook secrets", "a webhook secret"))
    }

    /// A secret encrypted with the first key; `None` when it is already.
    pub fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        self.0.reseal(sealed)
    }
}

/// A new secret: 64 lowercase hexadecimal digits of 32 random bytes.
pub fn random_webhook_secret() -> Result<SigningSecret> {
    Ok(SigningSecret::new(hexadecimal(&random::<32>()?)))
}

impl SecretCipher for WebhookCipher {
    fn generate(&self) -> Result<SigningSecret> {
        random_webhook_secret()
    }

    fn seal(&self, secret: &SigningSecret) -> Result<SealedSecret> {
        self.0.seal(secret.expose()).map(SealedSecret)
    }

    fn open(&self, sealed: &SealedSecret) -> Result<SigningSecret> {
        self.0.open(&sealed.0).map(SigningSecret::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SECRET_BYTES;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use civitas_kernel::Error;

    const SECRET: &str = "8f2a1c4e6b7d90315a2f4c6e8b0d1f3a5c7e9b1d3f5a7c9e0b2d4f6a8c0e2f4a";

    fn cipher() -> WebhookCipher {
        WebhookCipher::new(&SecretKeys::single([7; SECRET_BYTES]))
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
        assert!(matches!(
            WebhookCipher::new(&SecretKeys::single([8; SECRET_BYTES])).open(&sealed),
            Err(Error::Internal(_))
        ));
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
