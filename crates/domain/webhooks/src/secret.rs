//! The keys of signatures.

use civitas_kernel::Result;
use std::fmt;

/// The key of the signatures of a registration: its text is the key (contract 09 C.3). New ones have 64 lowercase
/// hexadecimal digits of 32 random bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(String);

impl SigningSecret {
    /// A secret with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether an archive may contain this text: 16 to 255 printable ASCII characters.
    pub fn is_valid(text: &str) -> bool {
        (16..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(..)")
    }
}

/// An encrypted [`SigningSecret`], as the database stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret(pub String);

/// Creates and encrypts the secrets of registrations.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait SecretCipher: Send + Sync {
    /// A new secret.
    fn generate(&self) -> Result<SigningSecret>;
    /// Encrypts a secret. The result differs each time.
    fn seal(&self, secret: &SigningSecret) -> Result<SealedSecret>;
    /// Decrypts a secret.
    ///
    /// # Errors
    /// `Internal` when it was changed, or encrypted with another key.
    fn open(&self, sealed: &SealedSecret) -> Result<SigningSecret>;
}
