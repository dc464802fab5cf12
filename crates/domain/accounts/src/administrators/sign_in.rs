//! Sign-in to the panel (contract 04 §1): password, second factor, lock.
//!
//! Two steps, because a password takes 20 ms to check and the database is not locked meanwhile: [`CheckedPassword`] on
//! the pool, then [`SignInAttempt`] in a transaction. The transaction is committed after a refusal too, so that the
//! attempt counts.

use super::{
    Administrator, AdministratorStore, PanelSession, PanelSessionStore, SecondFactorCodes, TextCipher,
};
use crate::{Passwords, Secret, normal_email};
use civitas_kernel::{AdministratorId, Error, Result};
use std::fmt;
use time::OffsetDateTime;

/// Why a sign-in was refused.
#[derive(Debug)]
pub enum SignInFault {
    /// Unknown address, wrong password or wrong code: the caller is not told which.
    Refused,
    /// The account is locked. Told after the right password only.
    Locked,
    /// The password is right, and the account has a second factor: ask for a code, and send all of it again.
    CodeNeeded,
    /// The database failed.
    Store(Error),
}

impl fmt::Display for SignInFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("E-mail address or password is not right."),
            Self::Locked => f.write_str("The account is locked for an hour after 20 failed attempts."),
            Self::CodeNeeded => f.write_str("Enter the code of your authenticator app."),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SignInFault {}

impl From<Error> for SignInFault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// A successful sign-in.
#[derive(Debug)]
pub struct SignedIn {
    /// Who signed in.
    pub id: AdministratorId,
    /// The account.
    pub administrator: Administrator,
    /// The stored session.
    pub session: PanelSession,
    /// The text of the session, for the cookie.
    pub text: Secret,
}

/// A password that was compared with the hash of an account, outside a transaction.
#[derive(Debug)]
pub struct CheckedPassword {
    found: Option<(AdministratorId, Option<String>)>,
    is_right: bool,
}

impl CheckedPassword {
    /// Compares it with that of the account with this address, in any case. Without such an account, or one without
    /// password, it takes as long.
    pub async fn of_email(
        administrators: &dyn AdministratorStore,
        passwords: &dyn Passwords,
        email: &str,
        password: Secret,
    ) -> Result<Self> {
        let mut found = administrators.find_by_email(&normal_email(email)).await?;
        if found.is_none() && !email.is_ascii() {
            // An older version stored domains as they were typed.
            found = administrators.find_by_email(&email.trim().to_lowercase()).await?;
        }
        Self::of_found(passwords, found, password).await
    }

    /// Compares it with that of an account that is signed in.
    pub async fn of(
        administrators: &dyn AdministratorStore,
        passwords: &dyn Passwords,
        id: AdministratorId,
        password: Secret,
    ) -> Result<Self> {
        let found = administrators.find(id).await?.map(|administrator| (id, administrator));
        Self::of_found(passwords, found, password).await
    }

    async fn of_found(
        passwords: &dyn Passwords,
        found: Option<(AdministratorId, Administrator)>,
        password: Secret,
    ) -> Result<Self> {
        let found = found.map(|(id, administrator)| (id, administrator.password));
        let hash = found.as_ref().and_then(|(_, hash)| hash.clone());
        let is_right = passwords.verify(password, hash).await?;
        Ok(Self { found, is_right })
    }

    /// The account, whether or not the password is right.
    pub fn administrator(&self) -> Option<AdministratorId> {
        self.found.as_ref().map(|(id, _)| *id)
    }

    /// Whether it is the password of this account, and it has not changed since it was compared.
    pub fn opens(&self, id: AdministratorId, administrator: &Administrator) -> bool {
        let is_same = |(known, hash): &(AdministratorId, Option<String>)| {
            *known == id && hash.is_some() && *hash == administrator.password
        };
        self.is_right && self.found.as_ref().is_some_and(is_same)
    }
}

/// Decides attempts to sign in, in a transaction that is committed whatever the result.
pub struct SignInAttempt<'a> {
    /// The accounts.
    pub administrators: &'a dyn AdministratorStore,
    /// The sessions.
    pub sessions: &'a dyn PanelSessionStore,
    /// Opens the secrets of second factors.
    pub cipher: &'a dyn TextCipher,
    /// Checks codes.
    pub codes: &'a dyn SecondFactorCodes,
}

impl SignInAttempt<'_> {
    /// Signs in, or counts the failure. The row of the account is locked: of many attempts at the same time none
    /// escapes the count.
    ///
    /// # Errors
    /// The outer result: the database failed, nothing is to be committed. The inner one: the sign-in was refused.
    pub async fn decide(
        &self,
        checked: &CheckedPassword,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Result<SignedIn, SignInFault>> {
        let Some(id) = checked.administrator() else { return Ok(Err(SignInFault::Refused)) };
        let Some(mut administrator) = self.administrators.find_for_update(id).await? else {
            return Ok(Err(SignInFault::Refused));
        };
        if let Err(fault) = self.check(id, &mut administrator, checked, code, now)? {
            if matches!(fault, SignInFault::Refused) && !administrator.is_locked(now) {
                administrator.count_failure(now);
                self.administrators.save(id, &administrator).await?;
            }
            return Ok(Err(fault));
        }
        administrator.unlock();
        administrator.last_sign_in_at = Some(now);
        self.administrators.save(id, &administrator).await?;
        let (session, text) = PanelSession::begin(id, now);
        self.sessions.add(&session).await?;
        Ok(Ok(SignedIn { id, administrator, session, text }))
    }

    /// Checks the password of an administrator who is signed in, before an act that needs it. A failure counts like
    /// one to sign in.
    ///
    /// # Errors
    /// As [`Self::decide`]; never `CodeNeeded`.
    pub async fn confirm(
        &self,
        checked: &CheckedPassword,
        now: OffsetDateTime,
    ) -> Result<Result<(), SignInFault>> {
        let Some(id) = checked.administrator() else { return Ok(Err(SignInFault::Refused)) };
        let Some(mut administrator) = self.administrators.find_for_update(id).await? else {
            return Ok(Err(SignInFault::Refused));
        };
        Ok(match (checked.opens(id, &administrator), administrator.is_locked(now)) {
            (true, false) => Ok(()),
            (true, true) => Err(SignInFault::Locked),
            (false, true) => Err(SignInFault::Refused),
            (false, false) => {
                administrator.count_failure(now);
                self.administrators.save(id, &administrator).await?;
                Err(SignInFault::Refused)
            }
        })
    }

    /// All rules, in their order. An accepted code is marked as used in `administrator`.
    fn check(
        &self,
        id: AdministratorId,
        administrator: &mut Administrator,
        checked: &CheckedPassword,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Result<(), SignInFault>> {
        if !checked.opens(id, administrator) {
            return Ok(Err(SignInFault::Refused));
        }
        if administrator.is_locked(now) {
            return Ok(Err(SignInFault::Locked));
        }
        let Some(factor) = &mut administrator.second_factor else { return Ok(Ok(())) };
        let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
            return Ok(Err(SignInFault::CodeNeeded));
        };
        let is_right = factor.accept(code, self.cipher, self.codes, now)?;
        Ok(if is_right { Ok(()) } else { Err(SignInFault::Refused) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::{Memory, PlainCipher, PlainPasswords, StepCodes};
    use super::super::{NewPassword, SecondFactor};
    use super::*;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 8:00 UTC);
    const EMAIL: &str = "ada@city.example";
    const RIGHT: &str = "correct horse battery";

    async fn ada(change: impl FnOnce(&mut Administrator)) -> Memory {
        let memory = Memory::default();
        let password = NewPassword::of(&PlainPasswords, EMAIL, &Secret::new(RIGHT)).await.unwrap();
        let id = memory.administrators().create(password, NOW).await.unwrap();
        memory.edit(id, change);
        memory
    }

    async fn try_at(memory: &Memory, password: &str, code: Option<&str>, now: OffsetDateTime) -> String {
        let checked =
            CheckedPassword::of_email(memory, &PlainPasswords, " Ada@City.example ", Secret::new(password))
                .await
                .unwrap();
        let attempt = SignInAttempt {
            administrators: memory,
            sessions: memory,
            cipher: &PlainCipher,
            codes: &StepCodes,
        };
        match attempt.decide(&checked, code, now).await.unwrap() {
            Ok(signed_in) => format!("session of {}", signed_in.administrator.email),
            Err(fault) => format!("{fault:?}"),
        }
    }

    #[tokio::test]
    async fn an_unknown_address_and_a_wrong_password_have_the_same_answer() {
        let memory = ada(|_| ()).await;
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused");
        assert_eq!(memory.only().failed_attempts, 1);
        assert_eq!(try_at(&Memory::default(), RIGHT, None, NOW).await, "Refused");
        let without = ada(|ada| ada.password = None).await;
        assert_eq!(try_at(&without, "", None, NOW).await, "Refused");
    }

    #[tokio::test]
    async fn a_right_password_begins_a_session_and_forgets_failures() {
        let memory = ada(|ada| ada.failed_attempts = 19).await;
        assert_eq!(try_at(&memory, RIGHT, None, NOW).await, "session of ada@city.example");
        assert_eq!(memory.sessions(), 1);
        let ada = memory.only();
        assert_eq!((ada.failed_attempts, ada.last_sign_in_at), (0, Some(NOW)));
    }

    #[tokio::test]
    async fn twenty_failures_lock_for_an_hour_and_only_the_right_password_is_told() {
        let memory = ada(|_| ()).await;
        for _ in 0..20 {
            assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused");
        }
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused");
        assert_eq!(try_at(&memory, RIGHT, None, NOW + Duration::minutes(59)).await, "Locked");
        assert_eq!(memory.sessions(), 0);
        assert!(try_at(&memory, RIGHT, None, NOW + Duration::hours(1)).await.starts_with("session"));
    }

    #[tokio::test]
    async fn a_second_factor_needs_a_code_and_a_wrong_one_counts() {
        let memory = ada(|ada| {
            let (factor, _) = SecondFactor::activate(&Secret::new("S"), 5, &PlainCipher).unwrap();
            ada.second_factor = Some(factor);
        })
        .await;
        for code in [None, Some(""), Some("  ")] {
            assert_eq!(try_at(&memory, RIGHT, code, NOW).await, "CodeNeeded");
        }
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused", "a code is not asked for");
        assert_eq!(try_at(&memory, RIGHT, Some("S5"), NOW).await, "Refused", "a used code");
        assert_eq!(memory.only().failed_attempts, 2);
        assert!(try_at(&memory, RIGHT, Some("S6"), NOW).await.starts_with("session"));
        assert_eq!(try_at(&memory, RIGHT, Some("S6"), NOW).await, "Refused", "it was stored as used");
    }

    #[tokio::test]
    async fn a_password_that_changed_since_it_was_compared_opens_nothing() {
        let memory = ada(|_| ()).await;
        let checked =
            CheckedPassword::of_email(&memory, &PlainPasswords, EMAIL, Secret::new(RIGHT)).await.unwrap();
        let (id, before) = memory.find_by_email(EMAIL).await.unwrap().unwrap();
        assert!(checked.opens(id, &before));
        assert!(!checked.opens(AdministratorId(id.0 + 1), &before));
        memory.edit(id, |ada| ada.password = Some("another".to_owned()));
        assert!(!checked.opens(id, &memory.only()));
    }
}
