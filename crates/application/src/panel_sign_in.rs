//! Sign-in to the system panel: each attempt is one transaction.

use crate::metrics::{self, LoginEndpoint};
use crate::{EventCommitter, Store, Transaction};
use civitas_accounts::administrators::{
    AdministratorSignIn, PasswordCheck, SecondFactorCodes, SignInError, SignInPorts, TextCipher,
};
use civitas_accounts::{Administrator, Digest, Passwords, Secret, SendSignInNotice, is_replaceable};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{AdministratorId, NewTask, PageRequest, Result};
use civitas_organizations::OrganizationQuery;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until};

/// How long a refusal takes at least, so that the caller cannot tell a known address from an unknown one by the time:
/// longer than two comparisons with a hash of Argon2id, or of bcrypt with the usual cost.
pub(crate) const MIN_REFUSAL_TIME: Duration = Duration::from_millis(500);

/// Signs administrators in and out (contract 04 §1).
pub struct PanelSignIn<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Ends transactions.
    pub committer: &'a EventCommitter,
    /// Checks passwords.
    pub passwords: &'a dyn Passwords,
    /// Opens the secrets of second factors.
    pub cipher: &'a dyn TextCipher,
    /// Checks codes.
    pub codes: &'a dyn SecondFactorCodes,
    /// The address of the client, for the audit trail.
    pub from: Option<String>,
    /// The keyed digest of that address ([`civitas_accounts::administrators::SignInSources`]).
    pub source: String,
    /// Whether hashes of passwords stay as they are.
    pub read_only: bool,
}

impl PanelSignIn<'_> {
    /// Begins a session. `code`: of the app, or a recovery code; `None` until it is asked for.
    ///
    /// An unknown address and a wrong password have the same answer, in the same time. 20 failures from one source refuse
    /// it for an hour, 100 from all sources those from which the account never signed in; the owner gets a mail.
    #[tracing::instrument(name = "application.panel_sign_in.sign_in", skip_all)]
    pub async fn sign_in(
        &self,
        email: &str,
        password: Secret,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<AdministratorSignIn, SignInError> {
        let begin = Instant::now();
        let administrators = self.store.administrators();
        let decided = loop {
            let compared =
                PasswordCheck::compare_by_email(administrators, self.passwords, email, password.clone());
            let checked = compared.await?;
            let decide = async |tx: &dyn Transaction| {
                let decided = self.attempt(tx).decide(&checked, code, &self.source, now).await?;
                let stored = decided.as_ref().map(|signed| signed.administrator.email.as_str());
                let account = (checked.administrator(), stored.unwrap_or(email));
                self.append_audit_entry(tx, account, decided.as_ref().err(), now).await?;
                Ok(decided)
            };
            let decided = self.committer.in_transaction(self.store, now, decide).await?;
            if !matches!(decided, Err(SignInError::Outdated)) {
                break decided;
            }
        };
        count(decided.as_ref().err());
        if matches!(decided, Err(SignInError::Refused { .. })) {
            sleep_until(begin + MIN_REFUSAL_TIME).await;
        }
        if !self.read_only
            && let Ok(AdministratorSignIn { id, administrator, .. }) = &decided
            && let Some(old) = administrator.password.as_ref().filter(|old| is_replaceable(old, &password))
            && let Err(error) = self.replace_hash(*id, old, password, now).await
        {
            tracing::warn!(%error, "the hash of a password could not be replaced");
        }
        decided
    }

    /// Replaces the hash of a password that has just been checked, unless it has changed meanwhile.
    async fn replace_hash(
        &self,
        id: AdministratorId,
        old: &str,
        password: Secret,
        now: OffsetDateTime,
    ) -> Result<()> {
        let new = self.passwords.hash(password).await?;
        let replace = async |tx: &dyn Transaction| match tx.administrators().find_for_update(id).await? {
            Some(found) if found.password.as_deref() == Some(old) => {
                let renewed = Administrator { password: Some(new.clone()), ..found };
                tx.administrators().save(id, &renewed).await
            }
            _ => Ok(()),
        };
        self.committer.in_transaction(self.store, now, replace).await
    }

    /// Confirms the session of an administrator with the password, and a code if there is a second factor: what changes
    /// accounts and sign-in of administrators needs it. A failure counts as one to sign in, and ends the session at the
    /// limit ([`SignInPorts::confirm`]).
    #[tracing::instrument(name = "application.panel_sign_in.check_password", skip_all)]
    pub async fn check_password(
        &self,
        (id, email, session): (AdministratorId, &str, &Digest),
        password: Secret,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<(), SignInError> {
        let administrators = self.store.administrators();
        let confirmed = loop {
            let compared = PasswordCheck::compare_by_id(administrators, self.passwords, id, password.clone());
            let checked = compared.await?;
            let confirm = async |tx: &dyn Transaction| {
                let confirmed =
                    self.attempt(tx).confirm(&checked, code, (session, &self.source), now).await?;
                if let Err(fault) = &confirmed {
                    self.append_audit_entry(tx, (Some(id), email), Some(fault), now).await?;
                }
                Ok(confirmed)
            };
            let confirmed = self.committer.in_transaction(self.store, now, confirm).await?;
            if !matches!(confirmed, Err(SignInError::Outdated)) {
                break confirmed;
            }
        };
        if let Err(fault) = &confirmed {
            count(Some(fault));
        }
        confirmed
    }

    /// Writes the attempt into the audit trail, and queues the mail to the owner. Of the refusals for one account there is
    /// one entry a minute; those for unknown addresses share one, so that nobody can fill the trail.
    async fn append_audit_entry(
        &self,
        tx: &dyn Transaction,
        (known, email): (Option<AdministratorId>, &str),
        fault: Option<&SignInError>,
        now: OffsetDateTime,
    ) -> Result<()> {
        let action = match fault {
            None => Action::SignInSucceeded,
            Some(SignInError::Refused { is_locked: true, .. }) => Action::SignInLocked,
            // The password was right, and the form asks for the code; or it is compared again.
            Some(SignInError::CodeNeeded | SignInError::Outdated) => return Ok(()),
            Some(_) => Action::SignInRefused,
        };
        let actor = match known.filter(|_| fault.is_none()) {
            Some(id) => Actor::Administrator { id: id.0, email: email.to_owned() },
            None => Actor::Anonymous,
        };
        let (id, label) = match known {
            Some(id) => (id.to_string(), email),
            None => ("unknown".to_owned(), "an unknown address"),
        };
        let entry = NewAuditEntry::new(actor, action)
            .with_object("administrator", &id, label)
            .with_address(self.from.as_deref());
        if fault.is_none() {
            tx.audit().append(&entry, now).await?;
        } else {
            tx.audit().append_unless_since(&entry, now - time::Duration::MINUTE, now).await?;
        }
        match (known, fault) {
            (Some(id), Some(SignInError::Refused { locks: true, .. })) => queue_notice(tx, id, now).await,
            _ => Ok(()),
        }
    }

    fn attempt<'p>(&'p self, tx: &'p dyn Transaction) -> SignInPorts<'p> {
        SignInPorts {
            administrators: tx.administrators(),
            sessions: tx.panel_sessions(),
            cipher: self.cipher,
            codes: self.codes,
        }
    }
}

/// Queues the mail that tells an administrator that sources are refused. The task is of the organization that the account
/// opened last, or of the first one: a task has an organization.
async fn queue_notice(tx: &dyn Transaction, id: AdministratorId, now: OffsetDateTime) -> Result<()> {
    let opened = tx.administrators().find(id).await?.and_then(|own| own.organization);
    let one = PageRequest::new(1, 1);
    let found = tx.organizations().list(&OrganizationQuery::ById(opened, Vec::new()), one).await?;
    let Some((organization, _)) = found.items.first() else { return Ok(()) };
    let task = NewTask::new(*organization, &SendSignInNotice { administrator: id }, now)?;
    tx.queue().add(&task.with_subject(format!("notice/{id}"))).await
}

/// Counts a sign-in. Faults of the database are not sign-ins, and after a right password the code is yet to come.
fn count(fault: Option<&SignInError>) {
    let outcome = match fault {
        None => "succeeded",
        Some(SignInError::Refused { is_locked: false, .. }) => "refused",
        Some(SignInError::Refused { is_locked: true, .. }) => "locked",
        Some(SignInError::CodeNeeded | SignInError::Outdated | SignInError::Store(_)) => return,
    };
    metrics::login_ended(LoginEndpoint::Panel, outcome);
}
