//! Stores in memory and readable codes, for the tests of the rules.

use crate::administrators::{
    Administrator, AdministratorStore, Administrators, NewPassword, PanelSession, PanelSessionStore,
    SecondFactorCodes, SignInPorts, TextCipher,
};
use crate::{Digest, Passwords, Secret};
use async_trait::async_trait;
use civitas_kernel::{AdministratorId, Error, Page, PageRequest, Result};
use std::sync::{Mutex, MutexGuard};
use time::OffsetDateTime;
use time::macros::datetime;

pub(crate) const NOW: OffsetDateTime = datetime!(2026-01-01 8:00 UTC);
pub(crate) const LATER: OffsetDateTime = datetime!(2026-01-02 8:00 UTC);
pub(crate) const EMAIL: &str = "ada@city.example";
pub(crate) const PASSWORD: &str = "correct horse battery";

#[derive(Default)]
pub(crate) struct Memory {
    accounts: Mutex<Vec<(AdministratorId, Administrator)>>,
    sessions: Mutex<Vec<PanelSession>>,
}

impl Memory {
    fn accounts(&self) -> MutexGuard<'_, Vec<(AdministratorId, Administrator)>> {
        self.accounts.lock().unwrap()
    }

    pub(crate) fn administrators(&self) -> Administrators<'_> {
        Administrators { administrators: self, sessions: self }
    }

    pub(crate) fn sign_in(&self) -> SignInPorts<'_> {
        SignInPorts { administrators: self, sessions: self, cipher: &PlainCipher, codes: &StepCodes }
    }

    pub(crate) fn edit(&self, id: AdministratorId, change: impl FnOnce(&mut Administrator)) {
        let mut accounts = self.accounts();
        let found = accounts.iter_mut().find(|(known, _)| *known == id).unwrap();
        change(&mut found.1);
    }

    /// The one account.
    pub(crate) fn only_account(&self) -> Administrator {
        let accounts = self.accounts();
        assert_eq!(accounts.len(), 1);
        accounts[0].1.clone()
    }

    /// The number of sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.lock().unwrap().len()
    }
}

#[async_trait]
impl AdministratorStore for Memory {
    async fn find(&self, id: AdministratorId) -> Result<Option<Administrator>> {
        Ok(self.accounts().iter().find(|(known, _)| *known == id).map(|(_, found)| found.clone()))
    }

    async fn find_by_email(&self, email: &str) -> Result<Option<(AdministratorId, Administrator)>> {
        Ok(self.accounts().iter().find(|(_, found)| found.email == email).cloned())
    }

    async fn find_for_update(&self, id: AdministratorId) -> Result<Option<Administrator>> {
        AdministratorStore::find(self, id).await
    }

    async fn add(&self, administrator: &Administrator) -> Result<AdministratorId> {
        let mut accounts = self.accounts();
        if accounts.iter().any(|(_, other)| other.email == administrator.email) {
            return Err(Administrator::key_taken_error());
        }
        let id = AdministratorId(accounts.last().map_or(1, |(last, _)| last.0 + 1));
        accounts.push((id, administrator.clone()));
        Ok(id)
    }

    async fn save(&self, id: AdministratorId, administrator: &Administrator) -> Result<()> {
        let mut accounts = self.accounts();
        if accounts.iter().any(|(other, found)| *other != id && found.email == administrator.email) {
            return Err(Administrator::key_taken_error());
        }
        let found = accounts.iter_mut().find(|(known, _)| *known == id).ok_or(Error::NotFound)?;
        found.1 = administrator.clone();
        Ok(())
    }

    async fn remove(&self, id: AdministratorId) -> Result<()> {
        let mut accounts = self.accounts();
        if accounts.len() == 1 {
            return Err(Administrator::last_administrator_error());
        }
        accounts.retain(|(known, _)| *known != id);
        Ok(())
    }

    async fn list(
        &self,
        _: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<(AdministratorId, Administrator)>> {
        Ok(Page::from_fetched(self.accounts().clone(), page))
    }

    async fn count(&self) -> Result<i64> {
        Ok(i64::try_from(self.accounts().len()).unwrap())
    }

    async fn page_after(
        &self,
        after: Option<AdministratorId>,
        _: i64,
    ) -> Result<Vec<(AdministratorId, Administrator)>> {
        Ok(self.accounts().iter().filter(|(id, _)| Some(*id) > after).cloned().collect())
    }
}

#[async_trait]
impl PanelSessionStore for Memory {
    async fn add(&self, session: &PanelSession) -> Result<()> {
        self.sessions.lock().unwrap().push(session.clone());
        Ok(())
    }

    async fn find(
        &self,
        _: &Digest,
        _: OffsetDateTime,
    ) -> Result<Option<(AdministratorId, Administrator, PanelSession)>> {
        Ok(None)
    }

    async fn touch(&self, _: &Digest, _: OffsetDateTime, _: OffsetDateTime) -> Result<()> {
        Ok(())
    }

    async fn confirm(&self, digest: &Digest, now: OffsetDateTime) -> Result<()> {
        let mut sessions = self.sessions.lock().unwrap();
        let own = sessions.iter_mut().filter(|session| session.digest == *digest);
        own.for_each(|session| session.confirmed_at = Some(now));
        Ok(())
    }

    async fn set_notice(&self, _: &Digest, _: Option<&str>) -> Result<()> {
        Ok(())
    }

    async fn take_notice(&self, _: &Digest) -> Result<Option<String>> {
        Ok(None)
    }

    async fn remove(&self, digest: &Digest) -> Result<()> {
        self.sessions.lock().unwrap().retain(|session| session.digest != *digest);
        Ok(())
    }

    async fn remove_all_of(&self, administrator: AdministratorId, except: Option<&Digest>) -> Result<()> {
        self.sessions
            .lock()
            .unwrap()
            .retain(|session| session.administrator != administrator || Some(&session.digest) == except);
        Ok(())
    }

    async fn use_form(&self, _: &Digest, _: &str, _: OffsetDateTime) -> Result<bool> {
        Ok(true)
    }

    async fn forget_form(&self, _: &Digest, _: &str) -> Result<()> {
        Ok(())
    }
}

/// A hash is `hash of` and the password.
pub(crate) struct PlainPasswords;

#[async_trait]
impl Passwords for PlainPasswords {
    async fn hash(&self, password: Secret) -> Result<String> {
        Ok(format!("hash of {}", password.expose()))
    }

    async fn verify(&self, password: Secret, hash: Option<String>) -> Result<bool> {
        Ok(hash.is_some_and(|hash| hash == format!("hash of {}", password.expose())))
    }

    fn check_hash(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

/// Seals a text by `sealed:` before it.
pub(crate) struct PlainCipher;

impl TextCipher for PlainCipher {
    fn seal(&self, text: &str) -> Result<String> {
        Ok(format!("sealed:{text}"))
    }

    fn open(&self, sealed: &str) -> Result<String> {
        let text = sealed.strip_prefix("sealed:").map(str::to_owned);
        text.ok_or_else(|| Error::internal("not sealed"))
    }
}

/// The code of a step is the secret and the number of the step, in any case; all steps are valid at any time.
pub(crate) struct StepCodes;

impl SecondFactorCodes for StepCodes {
    fn generate(&self) -> Result<Secret> {
        Ok(Secret::new("S"))
    }

    fn url(&self, secret: &Secret, account: &str, issuer: &str) -> Result<Secret> {
        Ok(Secret::new(format!("otpauth://{issuer}/{account}/{}", secret.expose())))
    }

    fn step_of(&self, secret: &Secret, code: &str, _: OffsetDateTime) -> Result<Option<i64>> {
        let step = code.strip_prefix(&secret.expose().to_lowercase());
        Ok(step.and_then(|step| step.parse().ok()))
    }
}

/// A password that meets the rule.
pub(crate) async fn password(email: &str, text: &str) -> Result<NewPassword> {
    NewPassword::new(&PlainPasswords, email, &Secret::new(text)).await
}

/// A store with one account.
pub(crate) async fn ada() -> (Memory, AdministratorId) {
    let memory = Memory::default();
    let id =
        memory.administrators().create(password(" Ada@City.example", PASSWORD).await.unwrap(), NOW).await;
    (memory, id.unwrap())
}

/// Begins a session.
pub(crate) async fn session(memory: &Memory, id: AdministratorId) -> Digest {
    let (session, _) = PanelSession::begin(id, NOW);
    PanelSessionStore::add(memory, &session).await.unwrap();
    session.digest
}

/// The text of a refusal.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::Rejected(error)) => error.description,
        other => panic!("{other:?}"),
    }
}
