//! Passwords of fixtures.

use async_trait::async_trait;
use civitas_accounts::{Passwords, Secret};
use civitas_kernel::Result;
use civitas_tokens::Argon2Passwords;
use std::collections::HashMap;
use std::sync::LazyLock;
use tokio::sync::Mutex;

/// The hashes of this process by password.
static HASHES: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

/// Hashes a password once for a process: most tests import the same accounts.
#[derive(Default)]
pub struct KnownPasswords(Argon2Passwords);

#[async_trait]
impl Passwords for KnownPasswords {
    async fn hash(&self, password: Secret) -> Result<String> {
        let mut hashes = HASHES.lock().await;
        if let Some(known) = hashes.get(password.expose()) {
            return Ok(known.clone());
        }
        let hash = self.0.hash(password.clone()).await?;
        hashes.insert(password.expose().to_owned(), hash.clone());
        Ok(hash)
    }

    async fn verify(&self, password: Secret, hash: Option<String>) -> Result<bool> {
        self.0.verify(password, hash).await
    }

    fn check_hash(&self, hash: &str) -> Result<()> {
        self.0.check_hash(hash)
    }
}
