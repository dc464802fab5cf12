//! Argon2id on a few dedicated threads: each call takes 20 ms and 19 MiB.

use argon2::password_hash::Error as HashError;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use async_trait::async_trait;
use civitas_accounts::{Passwords, Secret};
use civitas_kernel::{Error, Result};
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The length of a salt, in bytes (RFC 9106, 3.1).
const SALT_BYTES: usize = 16;

/// The hash that is checked for an unknown account, so that it takes as long as a known one. Its password is random and
/// not stored.
static NOBODY: LazyLock<Result<String>> = LazyLock::new(|| hash(&Secret::random("", 32)));

/// Hashes passwords with Argon2id and its default cost (19 MiB, two passes). At most one call per core runs at once;
/// the others wait, without a thread.
#[derive(Debug)]
pub struct Argon2Passwords {
    turns: Arc<Semaphore>,
}

impl Argon2Passwords {
    /// One permit for each core.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self { turns: Arc::new(Semaphore::new(cores)) }
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // The permit is released with the work, not with the caller: a dropped request must not start another one
        // early.
        let turn = self.turns.clone().acquire_owned().await.map_err(Error::internal)?;
        let task = spawn_blocking(move || {
            let outcome = work();
            drop(turn);
            outcome
        });
        task.await.map_err(Error::internal)?
    }
}

impl Default for Argon2Passwords {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Passwords for Argon2Passwords {
    async fn hash(&self, password: Secret) -> Result<String> {
        self.in_turn(move || hash(&password)).await
    }

    async fn verify(&self, password: Secret, hash: Option<String>) -> Result<bool> {
        self.in_turn(move || match hash {
            Some(hash) => matches(&password, &hash),
            None => matches(&password, nobody()?).map(|_| false),
        })
        .await
    }
}

fn hash(password: &Secret) -> Result<String> {
    let mut salt = [0; SALT_BYTES];
    SystemRandom::new().fill(&mut salt).map_err(|_| Error::internal("the system gives no random bytes"))?;
    let hash = Argon2::default().hash_password_with_salt(password.expose().as_bytes(), &salt);
    hash.map(|h| h.to_string()).map_err(Error::internal)
}

fn matches(password: &Secret, hash: &str) -> Result<bool> {
    match Argon2::default().verify_password(password.expose().as_bytes(), hash) {
        Ok(()) => Ok(true),
        Err(HashError::PasswordInvalid) => Ok(false),
        Err(error) => {
            // Possibly imported. The sign-in fails like one with a wrong password.
            tracing::warn!(%error, "a stored password hash cannot be read");
            matches(password, nobody()?).map(|_| false)
        }
    }
}

fn nobody() -> Result<&'static str> {
    NOBODY.as_ref().map(String::as_str).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn a_password_opens_its_own_hash_only() {
        let passwords = Argon2Passwords::new();
        let (first, second) = tokio::join!(
            passwords.hash(Secret::new("correct horse")),
            passwords.hash(Secret::new("correct horse")),
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        assert!(first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
        assert_ne!(first, second, "each hash has a salt of its own");
        assert!(passwords.verify(Secret::new("correct horse"), Some(first.clone())).await.unwrap());
        assert!(!passwords.verify(Secret::new("correct horsf"), Some(first)).await.unwrap());
    }

    #[tokio::test]
    async fn without_a_hash_it_takes_as_long_and_says_no() {
        let passwords = Argon2Passwords::new();
        let hash = passwords.hash(Secret::new("a password")).await.unwrap();
        assert!(
            !passwords.verify(Secret::new(""), None).await.unwrap(),
            "the first one makes the hash of nobody"
        );
        let fastest = async |hash: Option<String>| {
            let mut best = Duration::MAX;
            for _ in 0..5 {
                let begin = Instant::now();
                assert!(!passwords.verify(Secret::new("another"), hash.clone()).await.unwrap());
                best = best.min(begin.elapsed());
            }
            best
        };
        let (known, unknown) = (fastest(Some(hash)).await, fastest(None).await);
        assert!(unknown > known / 3 && known > unknown / 3, "known {known:?}, unknown {unknown:?}");
    }

    #[tokio::test]
    async fn no_password_matches_a_broken_hash() {
        let passwords = Argon2Passwords::new();
        for broken in ["", "secret", "$argon2id$", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ", "$2b$10$x"] {
            assert!(
                !passwords.verify(Secret::new("secret"), Some(broken.to_owned())).await.unwrap(),
                "{broken}"
            );
        }
    }
}
