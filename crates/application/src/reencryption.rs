//! Encrypts the stored secrets with the first key of the deployment, so that older keys can be removed.

use crate::Store;
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{AdministratorId, RegistrationId, Result};
use civitas_webhooks::SealedSecret;
use time::OffsetDateTime;

/// The most rows of one transaction.
const BATCH: i64 = 100;

/// The text encrypted with the first key; `None` when it is already. An error when no key opens it.
pub type ReencryptText<'a> = &'a (dyn Fn(&str) -> Result<Option<String>> + Send + Sync);

/// Encrypts again: signing secrets of webhooks, and secrets of second factors.
pub struct Reencryption<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Encrypts a signing secret.
    pub webhook_secret: ReencryptText<'a>,
    /// Encrypts the secret of a second factor.
    pub second_factor: ReencryptText<'a>,
    /// Who asks for it.
    pub actor: Actor,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReencryptionResult {
    /// Secrets that were encrypted again.
    pub changed: u64,
    /// Secrets that were encrypted with the first key before.
    pub current: u64,
    /// Secrets that no key opens; they stay as they are.
    pub unreadable: u64,
}

impl ReencryptionResult {
    /// Counts a secret. Returns its new form, if it is to be stored.
    fn take(&mut self, kind: &'static str, id: i64, resealed: Result<Option<String>>) -> Option<String> {
        match resealed {
            Ok(Some(sealed)) => {
                self.changed += 1;
                Some(sealed)
            }
            Ok(None) => {
                self.current += 1;
                None
            }
            Err(error) => {
                tracing::warn!(%error, kind, id, "a secret cannot be decrypted");
                self.unreadable += 1;
                None
            }
        }
    }
}

impl Reencryption<'_> {
    /// Encrypts in batches, each in a transaction; then writes an entry of the audit trail. It can be repeated.
    pub async fn run(&self, now: OffsetDateTime) -> Result<ReencryptionResult> {
        let mut done = ReencryptionResult::default();
        let mut last = None;
        while let Some(id) = self.registrations(last, &mut done).await? {
            last = Some(id);
        }
        let mut last = None;
        while let Some(id) = self.administrators(last, &mut done).await? {
            last = Some(id);
        }
        let changed = done.changed.to_string();
        let entry = NewAuditEntry::new(self.actor.clone(), Action::SecretsReencrypted);
        let entry = entry.with_change("encrypted", None, Some(&changed));
        let tx = self.store.begin().await?;
        tx.audit().append(&entry, now).await?;
        tx.commit().await?;
        Ok(done)
    }

    /// One batch of registrations; the last id, `None` when there are no more.
    async fn registrations(
        &self,
        after: Option<RegistrationId>,
        done: &mut ReencryptionResult,
    ) -> Result<Option<RegistrationId>> {
        let tx = self.store.begin().await?;
        let page = tx.registrations().page_after(None, after, BATCH).await?;
        let last = page.last().map(|(id, _)| *id);
        for (id, _) in page {
            // Read again under a lock: workers store the health of a registration in its row.
            let Some(mut registration) = tx.registrations().find_unrestricted_for_update(id).await? else {
                continue;
            };
            let resealed = (self.webhook_secret)(&registration.secret.0);
            let Some(sealed) = done.take("webhook", id.0, resealed) else { continue };
            registration.secret = SealedSecret(sealed);
            tx.registrations().save(id, &registration).await?;
        }
        tx.commit().await?;
        Ok(last)
    }

    /// One batch of administrators; the last id, `None` when there are no more.
    async fn administrators(
        &self,
        after: Option<AdministratorId>,
        done: &mut ReencryptionResult,
    ) -> Result<Option<AdministratorId>> {
        let tx = self.store.begin().await?;
        let page = tx.administrators().page_after(after, BATCH).await?;
        let last = page.last().map(|(id, _)| *id);
        for (id, _) in page {
            let Some(mut administrator) = tx.administrators().find_for_update(id).await? else { continue };
            let Some(factor) = &mut administrator.second_factor else { continue };
            let resealed = (self.second_factor)(&factor.secret);
            let Some(sealed) = done.take("second factor", id.0, resealed) else { continue };
            factor.secret = sealed;
            tx.administrators().save(id, &administrator).await?;
        }
        tx.commit().await?;
        Ok(last)
    }
}
