//! Signs access tokens, hashes passwords, encrypts texts, checks codes of second factors, and derives a key for each
//! purpose from the one secret of the deployment.
//!
//! ```
//! use civitas_accounts::{Claims, TokenSigner};
//! use civitas_tokens::{SecretKeys, JwtTokenSigner};
//!
//! let signer = JwtTokenSigner::new(&SecretKeys::single([7; 32]));
//! let text = String::new;
//! let (sub, jti) = ("12".to_owned(), "random".to_owned());
//! let claims =
//!     Claims { iss: text(), aud: text(), sub, jti, client_id: text(), scope: text(), iat: 0, exp: 7200 };
//! let token = signer.sign(&claims)?;
//! assert_eq!(*signer.verify(&token).unwrap(), claims);
//! let other = JwtTokenSigner::new(&SecretKeys::single([8; 32]));
//! assert!(other.verify(&token).is_err(), "another deployment's key");
//! # Ok::<(), civitas_kernel::Error>(())
//! ```

mod aes_gcm;
mod bytes;
mod hs256;
mod keys;
mod passwords;
mod signer;
mod text_cipher;
mod totp;
mod webhook_secrets;

pub use keys::{SECRET_BYTES, SecretKeys, derive, key_id};
pub use passwords::Argon2Passwords;
pub use signer::JwtTokenSigner;
pub use text_cipher::PurposeCipher;
pub use totp::TotpCodes;
pub use webhook_secrets::{WebhookCipher, random_webhook_secret};
