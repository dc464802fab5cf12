//! The passwords of an archive: hashed in parallel before the transaction begins, and written to a temporary file, so that
//! memory does not depend on their number.

use super::prepared::{PreparedLines, PreparedWriter};
use civitas_accounts::{Passwords, Secret};
use civitas_kernel::{Error, Result};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

/// The most passwords that are hashed at a time. The hasher bounds how many of them it works on.
const AT_ONCE: usize = 64;

/// A password of a line, hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreparedPassword {
    /// The hash that the account had.
    seen: Option<String>,
    /// The new hash; `None` when the password is that of `seen`.
    hash: Option<String>,
}

impl PreparedPassword {
    /// The hash to store for an account with this one; `None` when the account has changed since, so that it is not
    /// known.
    pub(super) fn hash_for(&self, current: Option<&str>) -> Option<&str> {
        if self.seen.as_deref() == current { self.hash.as_deref().or(self.seen.as_deref()) } else { None }
    }
}

/// Hashes passwords in the order of their lines.
pub(super) struct PasswordHasher<'a> {
    passwords: &'a dyn Passwords,
    pending: Vec<(u64, Secret, Option<String>)>,
    prepared: PreparedWriter,
}

impl<'a> PasswordHasher<'a> {
    pub(super) fn new(passwords: &'a dyn Passwords) -> Result<Self> {
        Ok(Self { passwords, pending: Vec::new(), prepared: PreparedWriter::new()? })
    }

    /// Adds the password of a line. `seen`: the hash that the account has.
    pub(super) async fn add(&mut self, line: u64, password: &str, seen: Option<String>) -> Result<()> {
        self.pending.push((line, Secret::new(password), seen));
        if self.pending.len() < AT_ONCE { Ok(()) } else { self.hash_pending().await }
    }

    async fn hash_pending(&mut self) -> Result<()> {
        let passwords = self.passwords;
        let prepared = std::mem::take(&mut self.pending).into_iter().map(async |(line, password, seen)| {
            let is_same = seen.is_some() && passwords.verify(password.clone(), seen.clone()).await?;
            let hash = if is_same { None } else { Some(passwords.hash(password).await?) };
            Ok::<_, Error>((line, PreparedPassword { seen, hash }))
        });
        for (line, password) in try_join_all(prepared).await? {
            self.prepared.add(line, &password)?;
        }
        Ok(())
    }

    /// Hashes the rest. The result is read from the beginning.
    pub(super) async fn finish(mut self) -> Result<PreparedLines<PreparedPassword>> {
        self.hash_pending().await?;
        self.prepared.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts the passwords it hashes.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    #[async_trait]
    impl Passwords for Counting {
        async fn hash(&self, password: Secret) -> Result<String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(format!("hash of {}", password.expose()))
        }

        async fn verify(&self, _: Secret, hash: Option<String>) -> Result<bool> {
            Ok(hash.is_some())
        }

        fn check_hash(&self, _: &str) -> Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn each_password_is_hashed_once_and_found_by_its_line() {
        let passwords = Counting::default();
        let mut hasher = PasswordHasher::new(&passwords).unwrap();
        for line in 0..100 {
            hasher.add(3 * line, &format!("p{line}"), None).await.unwrap();
        }
        hasher.add(300, "known", Some("stored".into())).await.unwrap();
        hasher.add(301, "last", None).await.unwrap();
        let mut prepared = hasher.finish().await.unwrap();
        for line in 0..300 {
            let found = prepared.take(line).unwrap().pop();
            let expected = line.is_multiple_of(3).then(|| format!("hash of p{}", line / 3));
            let hash = found.as_ref().and_then(|found| found.hash_for(None)).map(str::to_owned);
            assert_eq!(hash, expected, "line {line}");
        }
        let known = prepared.take(300).unwrap().pop().unwrap();
        assert_eq!(known.hash_for(Some("stored")), Some("stored"), "the password is the same");
        assert_eq!(known.hash_for(Some("changed meanwhile")), None);
        assert_eq!(prepared.take(301).unwrap().len(), 1);
        assert!(prepared.take(302).unwrap().is_empty());
        assert_eq!(passwords.0.load(Ordering::Relaxed), 101);
    }
}
