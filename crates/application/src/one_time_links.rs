//! One-time links: confirms accounts and signs users in. Each step is one transaction.

use crate::{EventCommitter, Store};
use civitas_accounts::magic_links::{MagicLinkSignIn, MagicLinks};
use civitas_accounts::{Confirmations, RegistrationMails, Secret};
use civitas_kernel::{Locale, Result};
use civitas_organizations::Tenant;
use time::OffsetDateTime;

/// Confirms accounts and signs users in.
pub struct OneTimeLinks<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Ends transactions.
    pub committer: &'a EventCommitter,
}

impl OneTimeLinks<'_> {
    /// Confirms the account of a link. Returns the language of the page to show.
    ///
    /// # Errors
    /// `NotFound` for a link that is not valid.
    #[tracing::instrument(name = "application.one_time_links.confirm", skip_all)]
    pub async fn confirm(&self, tenant: &Tenant, token: &Secret, now: OffsetDateTime) -> Result<Locale> {
        // Invalid links are refused without a transaction.
        self.check_confirmation(tenant, token, now).await?;
        let confirmed = self.committer.in_transaction(self.store, now, async |tx| {
            confirmations(tx).confirm(tenant.id, token, now).await
        });
        Ok(confirmed.await?.unwrap_or(tenant.default_locale))
    }

    /// Checks that [`Self::confirm`] would succeed.
    ///
    /// # Errors
    /// `NotFound` when it would not.
    pub async fn check_confirmation(
        &self,
        tenant: &Tenant,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<()> {
        confirmations(self.store).find(tenant.id, token, now).await.map(drop)
    }

    /// Signs in the user of a magic link.
    ///
    /// # Errors
    /// Those of [`MagicLinks::sign_in`].
    #[tracing::instrument(name = "application.one_time_links.sign_in", skip_all)]
    pub async fn sign_in(
        &self,
        tenant: &Tenant,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<MagicLinkSignIn> {
        self.find_redirect(tenant, token, now).await?;
        let signed_in = self
            .committer
            .in_transaction(self.store, now, async |tx| magic_links(tx).sign_in(tenant.id, token, now).await);
        signed_in.await
    }

    /// The address [`Self::sign_in`] would redirect to.
    ///
    /// # Errors
    /// Those of [`MagicLinks::sign_in`].
    pub async fn find_redirect(
        &self,
        tenant: &Tenant,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<String> {
        magic_links(self.store).find_redirect(tenant.id, token, now).await
    }
}

fn confirmations<P: crate::Ports + ?Sized>(ports: &P) -> Confirmations<'_> {
    Confirmations {
        links: ports.confirmations(),
        users: ports.users(),
        tokens: ports.tokens(),
        registration_mails: RegistrationMails {
            queue: ports.queue(),
            organizations: ports.organization_lookup(),
            counts: ports.mail_counts(),
            client: None,
        },
    }
}

/// Creates magic links, and signs in with them.
pub fn magic_links<P: crate::Ports + ?Sized>(ports: &P) -> MagicLinks<'_> {
    MagicLinks {
        links: ports.magic_links(),
        users: ports.users(),
        organizations: ports.organization_lookup(),
        sessions: ports.sessions(),
    }
}
