//! Encrypts texts of the panel (secrets of second factors, notices), and stored answers.

use crate::aes_gcm::AesGcmCipher;
use crate::keys::SecretKeys;
use civitas_accounts::TextCipher;
use civitas_kernel::Result;

/// Encrypts texts with a key for one purpose. Each encryption uses a new random nonce of 96 bits.
pub struct PurposeCipher(AesGcmCipher);

impl PurposeCipher {
    /// For texts of the panel, with keys derived from the deployment's secrets.
    pub fn for_panel(secrets: &SecretKeys) -> Self {
        Self(AesGcmCipher::new(secrets, "panel texts", "a text of the panel"))
    }

    /// For answers to writes with an idempotency key.
    pub fn for_answers(secrets: &SecretKeys) -> Self {
        Self(AesGcmCipher::new(secrets, "kept answers", "a kept answer"))
    }

    /// A text encrypted with the first key; `None` when it is already.
    pub fn reseal(&self, sealed: &str) -> Result<Option<String>> {
        self.0.reseal(sealed)
    }
}

impl TextCipher for PurposeCipher {
    fn seal(&self, text: &str) -> Result<String> {
        self.0.seal(text)
    }

    fn open(&self, sealed: &str) -> Result<String> {
        self.0.open(sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebhookCipher;
    use crate::keys::SECRET_BYTES;
    use civitas_kernel::Error;
    use civitas_webhooks::{SealedSecret, SecretCipher};

    #[test]
    fn a_sealed_text_is_opened_by_its_deployment_and_purpose_alone() {
        let keys = |byte| SecretKeys::single([byte; SECRET_BYTES]);
        let cipher = PurposeCipher::for_panel(&keys(7));
        for text in ["", "Secret: key_é", &"x".repeat(10_000)] {
            let (first, second) = (cipher.seal(text).unwrap(), cipher.seal(text).unwrap());
            assert_ne!(first, second, "each has a nonce of its own");
            assert!(first.is_ascii() && (text.is_empty() || !first.contains(text)));
            assert_eq!(cipher.open(&first).unwrap(), text);
            assert!(PurposeCipher::for_panel(&keys(8)).open(&first).is_err());
            assert!(PurposeCipher::for_answers(&keys(7)).open(&first).is_err());
            assert!(WebhookCipher::new(&keys(7)).open(&SealedSecret(first)).is_err());
        }
        for text in ["", "v1.", "v1.AAAA", "plain"] {
            assert!(matches!(cipher.open(text), Err(Error::Internal(_))), "{text}");
        }
    }
}
