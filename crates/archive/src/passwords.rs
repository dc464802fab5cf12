//! The passwords of an archive: hashed in parallel before the transaction begins, and written to a temporary file, so that
//! memory does not depend on their number.

use civitas_accounts::{Passwords, Secret};
use civitas_kernel::{Error, Result};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};

/// The most passwords that are hashed at a time. The hasher bounds how many of them it works on.
const AT_ONCE: usize = 64;

/// A password of a line, hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreparedPassword {
    /// The number of the line.
    line: u64,
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
    file: BufWriter<File>,
}

impl<'a> PasswordHasher<'a> {
    /// Writes to a new temporary file, which has no name.
    pub(super) fn new(passwords: &'a dyn Passwords) -> Result<Self> {
        let file = tempfile::tempfile().map_err(Error::internal)?;
        Ok(Self { passwords, pending: Vec::new(), file: BufWriter::new(file) })
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
            Ok::<_, Error>(PreparedPassword { line, seen, hash })
        });
        for one in try_join_all(prepared).await? {
            serde_json::to_writer(&mut self.file, &one).map_err(Error::internal)?;
            self.file.write_all(b"\n").map_err(Error::internal)?;
        }
        Ok(())
    }

    /// Hashes the rest. The result is read from the beginning.
    pub(super) async fn finish(mut self) -> Result<PreparedPasswords> {
        self.hash_pending().await?;
        let mut file = self.file.into_inner().map_err(|error| Error::internal(error.into_error()))?;
        file.rewind().map_err(Error::internal)?;
        Ok(PreparedPasswords { file: BufReader::new(file), next: None })
    }
}

/// The hashed passwords of an archive, in the order of their lines.
pub(super) struct PreparedPasswords {
    file: BufReader<File>,
    next: Option<PreparedPassword>,
}

impl PreparedPasswords {
    /// Those of an archive without passwords.
    #[cfg(test)]
    pub(super) fn none() -> Result<Self> {
        let file = tempfile::tempfile().map_err(Error::internal)?;
        Ok(Self { file: BufReader::new(file), next: None })
    }

    /// The password of a line, if it has one. Lines are asked for in their order.
    pub(super) fn take(&mut self, line: u64) -> Result<Option<PreparedPassword>> {
        loop {
            match &self.next {
                Some(next) if next.line > line => return Ok(None),
                Some(next) if next.line == line => return Ok(self.next.take()),
                _ => {}
            }
            let mut text = String::new();
            if self.file.read_line(&mut text).map_err(Error::internal)? == 0 {
                self.next = None;
                return Ok(None);
            }
            self.next = Some(serde_json::from_str(&text).map_err(Error::internal)?);
        }
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
            let found = prepared.take(line).unwrap();
            let expected = line.is_multiple_of(3).then(|| format!("hash of p{}", line / 3));
            let hash = found.as_ref().and_then(|found| found.hash_for(None)).map(str::to_owned);
            assert_eq!(hash, expected, "line {line}");
        }
        let known = prepared.take(300).unwrap().unwrap();
        assert_eq!(known.hash_for(Some("stored")), Some("stored"), "the password is the same");
        assert_eq!(known.hash_for(Some("changed meanwhile")), None);
        assert!(prepared.take(301).unwrap().is_some());
        assert_eq!(prepared.take(302).unwrap(), None);
        assert_eq!(passwords.0.load(Ordering::Relaxed), 101);
    }
}
