//! Sign-in to the system panel: each attempt is one transaction.

use crate::{Announcer, Store, Transaction};
use civitas_accounts::administrators::{
    CheckedPassword, SecondFactorCodes, SignInAttempt, SignInFault, SignedIn, TextCipher,
};
use civitas_accounts::{Digest, Passwords, Secret};
use civitas_kernel::{AdministratorId, Result};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until};

/// How long a refusal takes at least. An attempt at a known address writes and one at an unknown address does not;
/// the caller sees no difference.
const REFUSAL_TAKES: Duration = Duration::from_millis(300);

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
        let checked = CheckedPassword::of_email(administrators, self.passwords, email, password).await?;
        let decided = if checked.administrator().is_some() {
            let decide = async |tx: &dyn Transaction| self.attempt(tx).decide(&checked, code, now).await;
            self.announcer.in_transaction(self.store, now, decide).await?
        } else {
            Err(SignInFault::Refused)
        };
        if matches!(decided, Err(SignInFault::Refused)) {
            sleep_until(begin + REFUSAL_TAKES).await;
        }
        decided
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

    /// Ends a session.
    pub async fn sign_out(&self, session: &Digest) -> Result<()> {
        self.store.panel_sessions().remove(session).await
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
