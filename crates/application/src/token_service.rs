//! Issues access tokens.

use crate::{Announcer, Store};
use civitas_accounts::grants::{
    ExtraLimit, GrantKind, Granted, Grants, Impersonate, Impersonation, Issued, Logins, TokenRequest, issue,
};
use civitas_accounts::{AuthContext, Passwords, RegistrationMails, TokenSigner};
use civitas_kernel::{Result, UserId};
use civitas_organizations::Tenant;
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

/// Issues tokens (contract 02 §2).
pub struct TokenService {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Checks passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Commits registrations, with their events.
    pub announcer: Announcer,
    /// How long a token is valid.
    pub lifetime: Duration,
    /// The most extended data of a user, in bytes, after merging `extra`.
    pub extra_limit: ExtraLimit,
}

impl TokenService {
    /// Issues a token, or returns the error. The client is checked before the user.
    #[tracing::instrument(name = "application.token_service.grant", skip_all)]
    pub async fn grant(&self, tenant: &Tenant, request: TokenRequest, now: OffsetDateTime) -> Result<Issued> {
        let granted = Grants { clients: self.store.clients() }.begin(tenant.id, request).await?;
        match &granted.grant {
            GrantKind::Service => self.issue(tenant, &granted, None, now).await,
            GrantKind::Login(login) => {
                let logins = Logins { users: self.store.users(), passwords: &*self.passwords };
                let user = logins.check(tenant.id, login, now).await?;
                self.issue(tenant, &granted, Some(user), now).await
            }
            GrantKind::Impersonate(asked) => self.impersonate(tenant, &granted, asked, now).await,
        }
    }

    /// Finds or creates the user, with events, in one transaction. Of two concurrent registrations of one name, one is
    /// repeated and finds the user of the other.
    async fn impersonate(
        &self,
        tenant: &Tenant,
        granted: &Granted,
        asked: &Impersonate,
        now: OffsetDateTime,
    ) -> Result<Issued> {
        let user = self.announcer.in_transaction(&*self.store, now, async |tx| {
            let registration_mails =
                RegistrationMails { queue: tx.queue(), organizations: tx.organization_lookup() };
            let impersonation =
                Impersonation { users: tx.users(), registration_mails, extra_limit: self.extra_limit };
            impersonation.resolve(tenant.id, asked, now).await
        });
        self.issue(tenant, granted, Some(user.await?), now).await
    }

    async fn issue(
        &self,
        tenant: &Tenant,
        granted: &Granted,
        user: Option<UserId>,
        now: OffsetDateTime,
    ) -> Result<Issued> {
        let auth = AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now };
        issue(self.store.tokens(), &*self.signer, auth, &tenant.host, granted, user, self.lifetime).await
    }
}
