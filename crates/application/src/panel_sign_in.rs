//! Sign-in to the system panel: each attempt is one transaction.

use crate::metrics::{self, LoginEndpoint};
use crate::{Announcer, Store, Transaction};
use civitas_accounts::administrators::{
    CheckedPassword, SecondFactorCodes, SignInAttempt, SignInFault, SignedIn, TextCipher,
};
use civitas_accounts::{Administrator, Passwords, Secret, is_replaceable};
use civitas_audit::{Action, Actor, Record};
use civitas_kernel::{AdministratorId, Result};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until};

/// How long a refusal takes at least, so that the caller cannot tell a known address from an unknown one by the time:
/// longer than two comparisons with a hash of Argon2id, or of bcrypt with the usual cost.
pub(crate) const REFUSAL_TAKES: Duration = Duration::from_millis(500);

/// Signs administrators in and out (contract 04 §1).
pub struct SignIn<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Ends transactions.
    pub announcer: &'a Announcer,
    /// Checks passwords.
    pub passwords: &'a dyn Passwords,
    /// Opens the secrets of second factors.
    pub cipher: &'a dyn TextCipher,
    /// Checks codes.
    pub codes: &'a dyn SecondFactorCodes,
    /// The address of the client, for the audit trail.
    pub from: Option<String>,
}

impl SignIn<'_> {
    /// Begins a session. `code`: of the app, or a recovery code; `None` until it is asked for.
    ///
    /// An unknown address and a wrong password have the same answer, in the same time. 20 failures in a row lock the
    /// account for an hour.
    #[tracing::instrument(name = "application.panel_sign_in.sign_in", skip_all)]
    pub async fn sign_in(
        &self,
        email: &str,
        password: Secret,
        code: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<SignedIn, SignInFault> {
        let begin = Instant::now();
        let administrators = self.store.administrators();
        let compared = CheckedPassword::of_email(administrators, self.passwords, email, password.clone());
        let checked = compared.await?;
        let decide = async |tx: &dyn Transaction| {
            let decided = self.attempt(tx).decide(&checked, code, now).await?;
            self.record(tx, checked.administrator(), email, &decided, now).await?;
            Ok(decided)
        };
        let decided = self.announcer.in_transaction(self.store, now, decide).await?;
        count(&decided);
        if matches!(decided, Err(SignInFault::Refused | SignInFault::Locked)) {
            sleep_until(begin + REFUSAL_TAKES).await;
        }
        if let Ok(SignedIn { id, administrator, .. }) = &decided
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
        self.announcer.in_transaction(self.store, now, replace).await
    }

    /// Compares a password with that of an administrator who is signed in, before an act that needs it; a failure
    /// counts as one to sign in. Pass the result to the act, in its transaction.
    #[tracing::instrument(name = "application.panel_sign_in.check_password", skip_all)]
    pub async fn check_password(
        &self,
        id: AdministratorId,
        password: Secret,
        now: OffsetDateTime,
    ) -> Result<CheckedPassword, SignInFault> {
        let administrators = self.store.administrators();
        let checked = CheckedPassword::of(administrators, self.passwords, id, password).await?;
        let confirm = async |tx: &dyn Transaction| self.attempt(tx).confirm(&checked, now).await;
        self.announcer.in_transaction(self.store, now, confirm).await??;
        Ok(checked)
    }

    /// Writes the attempt into the audit trail. Of the refusals for one account there is one entry a minute; those for
    /// unknown addresses share one, so that nobody can fill the trail.
    async fn record(
        &self,
        tx: &dyn Transaction,
        known: Option<AdministratorId>,
        email: &str,
        decided: &Result<SignedIn, SignInFault>,
        now: OffsetDateTime,
    ) -> Result<()> {
        let (actor, action) = match decided {
            Ok(signed) => {
                let email = signed.administrator.email.clone();
                (Actor::Administrator { id: signed.id.0, email }, Action::SignInSucceeded)
            }
            Err(SignInFault::Locked) => (Actor::Anonymous, Action::SignInLocked),
            // The password was right: the form asks for the code.
            Err(SignInFault::CodeNeeded) => return Ok(()),
            Err(_) => (Actor::Anonymous, Action::SignInRefused),
        };
        let (id, label) = match known {
            Some(id) => (id.to_string(), email),
            None => ("unknown".to_owned(), "an unknown address"),
        };
        let mut record = Record::new(actor, action).on("administrator", &id, label);
        if let Some(address) = &self.from {
            record = record.from(address);
        }
        if decided.is_ok() {
            tx.audit().append(&record, now).await?;
        } else {
            tx.audit().append_unless_since(&record, now - time::Duration::MINUTE, now).await?;
        }
        Ok(())
    }

    fn attempt<'p>(&'p self, tx: &'p dyn Transaction) -> SignInAttempt<'p> {
        SignInAttempt {
            administrators: tx.administrators(),
            sessions: tx.panel_sessions(),
            cipher: self.cipher,
            codes: self.codes,
        }
    }
}

/// Counts a sign-in. Faults of the database are not sign-ins, and after a right password the code is yet to come.
fn count(decided: &Result<SignedIn, SignInFault>) {
    let outcome = match decided {
        Ok(_) => "succeeded",
        Err(SignInFault::Refused) => "refused",
        Err(SignInFault::Locked) => "locked",
        Err(SignInFault::CodeNeeded | SignInFault::Store(_)) => return,
    };
    metrics::login_ended(LoginEndpoint::Panel, outcome);
}
