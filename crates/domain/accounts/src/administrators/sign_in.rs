//! Sign-in to the panel (contract 04 §1): password, second factor, refused sources.
//!
//! Two steps, because a password takes 20 ms to check and the database is not locked meanwhile: [`PasswordCheck`] on
//! the pool, then [`SignInPorts`] in a transaction. The transaction is committed after a refusal too, so that the
//! attempt counts.

use super::{
    Administrator, AdministratorStore, PanelSession, PanelSessionStore, SecondFactorCodes, TextCipher,
};
use crate::{Digest, Passwords, Secret, normal_email};
use civitas_kernel::{AdministratorId, Error, Result};
use std::fmt;
use time::OffsetDateTime;

/// Why a sign-in was refused.
#[derive(Debug)]
pub enum SignInError {
    /// Unknown address, wrong password, wrong code or refused source: the answer does not say which.
    Refused {
        /// Attempts from this source are refused, whatever the password.
        is_locked: bool,
        /// This failure refuses sources that were not refused: the owner gets a mail.
        locks: bool,
        /// This failure, or earlier ones from this source, refuse it: a session there ends.
        ends_session: bool,
    },
    /// The password is right, and the account has a second factor: ask for a code, and send all of it again.
    CodeNeeded,
    /// The hash has changed since the password was compared: compare again. Another sign-in at the same time may have replaced
    /// one of bcrypt.
    Outdated,
    /// The database failed.
    Store(Error),
}

impl SignInError {
    /// Counted for no source: there is no account, or no failure.
    const REFUSED: Self = Self::Refused { is_locked: false, locks: false, ends_session: false };
}

impl fmt::Display for SignInError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { .. } => f.write_str("E-mail address or password is not right."),
            Self::Outdated => f.write_str("The password was changed meanwhile."),
            Self::CodeNeeded => f.write_str("Enter the code of your authenticator app."),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SignInError {}

impl From<Error> for SignInError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// A successful sign-in.
#[derive(Debug)]
pub struct AdministratorSignIn {
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
pub struct PasswordCheck {
    found: Option<(AdministratorId, Option<String>)>,
    is_right: bool,
}

impl PasswordCheck {
    /// Compares it with that of the account with this address, in any case. Without such an account, or one without
    /// password, it takes as long.
    pub async fn compare_by_email(
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
        Self::compare(passwords, found, password).await
    }

    /// Compares it with that of an account that is signed in.
    pub async fn compare_by_id(
        administrators: &dyn AdministratorStore,
        passwords: &dyn Passwords,
        id: AdministratorId,
        password: Secret,
    ) -> Result<Self> {
        let found = administrators.find(id).await?.map(|administrator| (id, administrator));
        Self::compare(passwords, found, password).await
    }

    async fn compare(
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

    /// Whether the account has another hash than the one that was compared.
    fn is_outdated(&self, administrator: &Administrator) -> bool {
        self.found.as_ref().is_some_and(|(_, hash)| *hash != administrator.password)
    }

    /// Whether it is the password of this account, and it has not changed since it was compared.
    pub fn is_right_for(&self, id: AdministratorId, administrator: &Administrator) -> bool {
        let is_same = |(known, hash): &(AdministratorId, Option<String>)| {
            *known == id && hash.is_some() && *hash == administrator.password
        };
        self.is_right && self.found.as_ref().is_some_and(is_same)
    }
}

/// The ports of sign-ins and second factors. Attempts to sign in are decided in a transaction that is committed whatever
/// the result.
pub struct SignInPorts<'a> {
    /// The accounts.
    pub administrators: &'a dyn AdministratorStore,
    /// The sessions.
    pub sessions: &'a dyn PanelSessionStore,
    /// Seals and opens the secrets of second factors.
    pub cipher: &'a dyn TextCipher,
    /// Makes and checks codes.
    pub codes: &'a dyn SecondFactorCodes,
}

impl SignInPorts<'_> {
    /// Signs in from a source, or counts the failure. The row of the account is locked: of many attempts at the same
    /// time none escapes the count.
    ///
    /// # Errors
    /// The outer result: the database failed, nothing is to be committed. The inner one: the sign-in was refused.
    pub async fn decide(
        &self,
        checked: &PasswordCheck,
        code: Option<&str>,
        source: &str,
        now: OffsetDateTime,
    ) -> Result<Result<AdministratorSignIn, SignInError>> {
        let (id, mut administrator) = match self.check(checked, code, source, now).await? {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        administrator.sources.remember(source, now);
        administrator.last_sign_in_at = Some(now);
        self.administrators.save(id, &administrator).await?;
        let (session, text) = PanelSession::begin(id, now);
        self.sessions.add(&session).await?;
        Ok(Ok(AdministratorSignIn { id, administrator, session, text }))
    }

    /// Confirms a session ([`PanelSession::is_confirmed`]), and remembers its source. A failure counts like one to sign in;
    /// when failures from the source refuse it the session ends. Those from other sources alone end no session.
    ///
    /// # Errors
    /// As [`Self::decide`].
    pub async fn confirm(
        &self,
        checked: &PasswordCheck,
        code: Option<&str>,
        (session, source): (&Digest, &str),
        now: OffsetDateTime,
    ) -> Result<Result<(), SignInError>> {
        let mut outcome = self.check(checked, code, source, now).await?;
        match &mut outcome {
            Ok((id, administrator)) => {
                administrator.sources.remember(source, now);
                self.administrators.save(*id, administrator).await?;
                self.sessions.confirm(session, now).await?;
            }
            Err(SignInError::Refused { ends_session: true, .. }) => self.sessions.remove(session).await?,
            Err(_) => {}
        }
        Ok(outcome.map(drop))
    }

    /// The account, locked, if its source is not refused, and password and code are right; a used code is marked in it.
    /// A failure is counted.
    async fn check(
        &self,
        checked: &PasswordCheck,
        code: Option<&str>,
        source: &str,
        now: OffsetDateTime,
    ) -> Result<Result<(AdministratorId, Administrator), SignInError>> {
        let Some(id) = checked.administrator() else { return Ok(Err(SignInError::REFUSED)) };
        let Some(mut administrator) = self.administrators.find_for_update(id).await? else {
            return Ok(Err(SignInError::REFUSED));
        };
        if administrator.sources.is_refused(source, now) {
            let ends_session = administrator.sources.has_failed_too_often(source, now);
            return Ok(Err(SignInError::Refused { is_locked: true, locks: false, ends_session }));
        }
        if checked.is_outdated(&administrator) {
            return Ok(Err(SignInError::Outdated));
        }
        match self.compare(id, &mut administrator, checked, code, now)? {
            Ok(()) => Ok(Ok((id, administrator))),
            Err(SignInError::Refused { .. }) => {
                let locks = administrator.sources.count_failure(source, now);
                let is_locked = administrator.sources.is_refused(source, now);
                self.administrators.save(id, &administrator).await?;
                Ok(Err(SignInError::Refused { is_locked, locks, ends_session: is_locked }))
            }
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// Password, then code. An accepted code is marked as used in `administrator`.
    fn compare(
        &self,
        id: AdministratorId,
        administrator: &mut Administrator,
        checked: &PasswordCheck,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Result<(), SignInError>> {
        if !checked.is_right_for(id, administrator) {
            return Ok(Err(SignInError::REFUSED));
        }
        let Some(factor) = &mut administrator.second_factor else { return Ok(Ok(())) };
        let Some(code) = code.filter(|code| !code.trim().is_empty()) else {
            return Ok(Err(SignInError::CodeNeeded));
        };
        let is_right = factor.accept(code, self.cipher, self.codes, now)?;
        Ok(if is_right { Ok(()) } else { Err(SignInError::REFUSED) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::memory::{
        EMAIL, Memory, NOW, PASSWORD as RIGHT, PlainCipher, PlainPasswords, ada as new_ada,
    };
    use super::super::{SecondFactor, SignInSources};
    use super::*;
    use time::Duration;

    async fn ada(change: impl FnOnce(&mut Administrator)) -> Memory {
        let (memory, id) = new_ada().await;
        memory.edit(id, change);
        memory
    }

    fn fault_text(fault: &SignInError) -> String {
        match fault {
            SignInError::Refused { is_locked: true, locks, .. } => format!("Locked, {locks}"),
            SignInError::Refused { .. } => "Refused".to_owned(),
            other => format!("{other:?}"),
        }
    }

    /// The failures that are missing until a source is refused.
    fn left(memory: &Memory) -> usize {
        let mut sources = memory.only_account().sources;
        (1..=20).find(|_| sources.count_failure("home", NOW)).unwrap()
    }

    async fn try_at(memory: &Memory, password: &str, code: Option<&str>, now: OffsetDateTime) -> String {
        let checked = PasswordCheck::compare_by_email(
            memory,
            &PlainPasswords,
            " Ada@City.example ",
            Secret::new(password),
        )
        .await
        .unwrap();
        let attempt = memory.sign_in();
        match attempt.decide(&checked, code, "home", now).await.unwrap() {
            Ok(signed_in) => format!("session of {}", signed_in.administrator.email),
            Err(fault) => fault_text(&fault),
        }
    }

    #[tokio::test]
    async fn an_unknown_address_and_a_wrong_password_have_the_same_answer() {
        let memory = ada(|_| ()).await;
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused");
        assert_eq!(left(&memory), 19);
        assert_eq!(try_at(&Memory::default(), RIGHT, None, NOW).await, "Refused");
        let without = ada(|ada| ada.password = None).await;
        assert_eq!(try_at(&without, "", None, NOW).await, "Refused");
    }

    #[tokio::test]
    async fn a_right_password_begins_a_session_and_forgets_failures() {
        let memory = ada(|ada| {
            (0..19).for_each(|_| assert!(!ada.sources.count_failure("home", NOW)));
        })
        .await;
        assert_eq!(try_at(&memory, RIGHT, None, NOW).await, "session of ada@city.example");
        assert_eq!(memory.sessions(), 1);
        assert_eq!((left(&memory), memory.only_account().last_sign_in_at), (20, Some(NOW)));
    }

    #[tokio::test]
    async fn twenty_failures_refuse_the_right_password_too_for_an_hour() {
        let memory = ada(|_| ()).await;
        for _ in 0..19 {
            assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Refused");
        }
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Locked, true");
        assert_eq!(try_at(&memory, "wrong", None, NOW).await, "Locked, false", "the owner is told once");
        assert_eq!(try_at(&memory, RIGHT, None, NOW + Duration::minutes(59)).await, "Locked, false");
        assert_eq!(memory.sessions(), 0);
        assert!(try_at(&memory, RIGHT, None, NOW + Duration::hours(1)).await.starts_with("session"));
    }

    #[tokio::test]
    async fn a_session_is_confirmed_by_password_and_code_and_ends_at_the_limit() {
        let memory = ada(|ada| {
            let (factor, _) = SecondFactor::activate(&Secret::new("S"), 5, &PlainCipher).unwrap();
            ada.second_factor = Some(factor);
        })
        .await;
        let (id, _) = memory.find_by_email(EMAIL).await.unwrap().unwrap();
        let (session, _) = PanelSession::begin(id, NOW);
        PanelSessionStore::add(&memory, &session).await.unwrap();
        let confirm = async |password: &str, code: &str| {
            let checked =
                PasswordCheck::compare_by_id(&memory, &PlainPasswords, id, Secret::new(password)).await;
            let attempt = memory.sign_in();
            let at = (&session.digest, "home");
            match attempt.confirm(&checked.unwrap(), Some(code), at, NOW).await.unwrap() {
                Ok(()) => "confirmed".to_owned(),
                Err(fault) => fault_text(&fault),
            }
        };
        assert_eq!(confirm(RIGHT, "").await, "CodeNeeded");
        assert_eq!(confirm(RIGHT, "S5").await, "Refused", "a used code");
        assert_eq!(confirm(RIGHT, "S6").await, "confirmed");
        assert_eq!(confirm(RIGHT, "S6").await, "Refused", "it was stored as used");
        for _ in 0..18 {
            assert_eq!(confirm("wrong", "S7").await, "Refused");
        }
        assert_eq!(memory.sessions(), 1);
        assert_eq!((confirm("wrong", "S7").await.as_str(), memory.sessions()), ("Locked, true", 0));
    }

    #[tokio::test]
    async fn failures_from_other_sources_end_no_session() {
        let attack = |sources: &mut SignInSources, now| {
            let refusals = (0..100).filter(|n| sources.count_failure(&format!("attacker {n}"), now));
            assert_eq!(refusals.count(), 1);
        };
        let memory = ada(|ada| attack(&mut ada.sources, NOW)).await;
        let (id, _) = memory.find_by_email(EMAIL).await.unwrap().unwrap();
        let (session, _) = PanelSession::begin(id, NOW);
        PanelSessionStore::add(&memory, &session).await.unwrap();
        let attempt = memory.sign_in();
        let confirm = async |now| {
            let checked =
                PasswordCheck::compare_by_id(&memory, &PlainPasswords, id, Secret::new(RIGHT)).await;
            let at = (&session.digest, "new");
            attempt.confirm(&checked.unwrap(), None, at, now).await.unwrap()
        };
        assert_eq!(fault_text(&confirm(NOW).await.unwrap_err()), "Locked, false");
        assert_eq!(memory.sessions(), 1);
        confirm(NOW + Duration::HOUR).await.unwrap();
        memory.edit(id, |ada| attack(&mut ada.sources, NOW + Duration::HOUR));
        assert!(confirm(NOW + Duration::HOUR).await.is_ok(), "the source is known now");
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
        assert_eq!(left(&memory), 18);
        assert!(try_at(&memory, RIGHT, Some("S6"), NOW).await.starts_with("session"));
        assert_eq!(try_at(&memory, RIGHT, Some("S6"), NOW).await, "Refused", "it was stored as used");
    }

    #[tokio::test]
    async fn a_password_that_changed_since_it_was_compared_opens_nothing() {
        let memory = ada(|_| ()).await;
        let checked = PasswordCheck::compare_by_email(&memory, &PlainPasswords, EMAIL, Secret::new(RIGHT))
            .await
            .unwrap();
        let (id, before) = memory.find_by_email(EMAIL).await.unwrap().unwrap();
        assert!(checked.is_right_for(id, &before));
        assert!(!checked.is_right_for(AdministratorId(id.0 + 1), &before));
        memory.edit(id, |ada| ada.password = Some("another".to_owned()));
        assert!(
            !checked.is_right_for(id, &memory.only_account()) && checked.is_outdated(&memory.only_account())
        );
    }
}
