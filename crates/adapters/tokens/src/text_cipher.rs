//! Encrypts texts: those of the panel (secrets of second factors, notices), and answers that are kept.

use crate::keys::{SECRET_BYTES, SecretKeys};
use crate::sealing::Sealing;
use civitas_accounts::TextCipher;
use civitas_kernel::{Error, Result};

/// Encrypts with the key for texts of the panel. Each encryption uses a new random nonce of 96 bits.
pub struct PanelCipher(Sealing);

impl PanelCipher {
    /// With the key derived from the deployment's secret.
    pub fn new(secret: &[u8; SECRET_BYTES]) -> Self {
        Self::of(&SecretKeys::one(*secret))
    }

    /// With the keys derived from the deployment's secrets.
    pub fn of(secrets: &SecretKeys) -> Self {
        Self(Sealing::new(secrets, "panel texts"))
    }

    /// A text encrypted with the first key; `None` when it is already.
    ///
    /// # Errors
    /// `Internal` when no key opens it.
    pub fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        self.0.reseal(sealed, changed)
    }
}

impl TextCipher for PanelCipher {
    fn seal(&self, text: &str) -> Result<String> {
        self.0.seal(text).ok_or_else(|| Error::internal("a text of the panel cannot be encrypted"))
    }

    fn open(&self, sealed: &str) -> Result<String> {
        self.0.open(sealed).ok_or_else(changed)
    }
}

/// Encrypts answers to writes with an idempotency key, with a key of their own.
pub struct AnswerCipher(Sealing);

impl AnswerCipher {
    /// With the keys derived from the deployment's secrets.
    pub fn of(secrets: &SecretKeys) -> Self {
        Self(Sealing::new(secrets, "kept answers"))
    }
}

impl TextCipher for AnswerCipher {
    fn seal(&self, text: &str) -> Result<String> {
        self.0.seal(text).ok_or_else(|| Error::internal("an answer cannot be encrypted"))
    }

    fn open(&self, sealed: &str) -> Result<String> {
        let opened = self.0.open(sealed);
        opened
            .ok_or_else(|| Error::internal("a kept answer was changed, or encrypted with another secret_key"))
    }
}

fn changed() -> Error {
    Error::internal("a text of the panel was changed, or encrypted with another secret_key")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebhookCipher;
    use civitas_webhooks::{SealedSecret, SecretCipher};

    #[test]
    fn a_sealed_text_is_opened_by_its_deployment_and_purpose_alone() {
        let cipher = PanelCipher::new(&[7; SECRET_BYTES]);
        for text in ["", "Secret: key_é", &"x".repeat(10_000)] {
            let (first, second) = (cipher.seal(text).unwrap(), cipher.seal(text).unwrap());
            assert_ne!(first, second, "each has a nonce of its own");
            assert!(first.is_ascii() && (text.is_empty() || !first.contains(text)));
            assert_eq!(cipher.open(&first).unwrap(), text);
            assert!(PanelCipher::new(&[8; SECRET_BYTES]).open(&first).is_err());
            assert!(AnswerCipher::of(&SecretKeys::one([7; SECRET_BYTES])).open(&first).is_err());
            assert!(WebhookCipher::new(&[7; SECRET_BYTES]).open(&SealedSecret(first)).is_err());
        }
        for text in ["", "v1.", "v1.AAAA", "plain"] {
            assert!(matches!(cipher.open(text), Err(Error::Internal(_))), "{text}");
        }
    }
}
