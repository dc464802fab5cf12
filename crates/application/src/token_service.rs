//! Issues access tokens.

use crate::metrics::{self, LoginEndpoint};
use crate::panel_sign_in::MIN_REFUSAL_TIME;
use crate::{AuthenticationLimit, EventCommitter, ShareHolder, SharedResource, Shares, Store, Transaction};
use civitas_accounts::grants::{
    CheckedTokenRequest, GrantKind, Grants, Impersonation, ImpersonationGrant, IssuedToken, LOGIN_LOCKED,
    LoginGrant, Logins, TokenRequest, UNKNOWN_CLIENT, issue,
};
use civitas_accounts::{AuthContext, Passwords, RegistrationMails, TokenSigner, User};
use civitas_audit::{Action, Actor, AuditFilter, AuditScope, NewAuditEntry};
use civitas_kernel::records::Change;
use civitas_kernel::{ClientId, Error, OrganizationId, PageRequest, Result, UserId};
use civitas_organizations::Tenant;
use std::net::IpAddr;
use std::sync::Arc;
use time::{Duration, OffsetDateTime};
use tokio::time::{Instant, sleep_until};

/// The refusals of a client within this time have one entry in the audit trail, and so have its impersonations of a general
/// administrator.
const ONCE_IN: Duration = Duration::minutes(1);

/// Issues tokens (contract 02 §2).
pub struct TokenService {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Checks passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Commits registrations, with their events.
    pub committer: EventCommitter,
    /// How long a token is valid.
    pub lifetime: Duration,
    /// Counts refused credentials. The caller checks it before, and counts refused clients.
    pub limit: Arc<AuthenticationLimit>,
    /// What clients and organizations use of this process.
    pub shares: Arc<Shares>,
    /// The most extended data of a user, in bytes, after merging `extra`.
    pub extra_limit: usize,
    /// Whether accounts stay as they are: no registration, no `extra`, no new hash of a password. Tokens, failed logins and
    /// the audit trail are written.
    pub read_only: bool,
}

impl TokenService {
    /// Issues a token, or returns the error. The client is checked before the user. `from`: the address of the client.
    ///
    /// A token refers to its organization, client and user, whose rows writes lock: it takes a permit of
    /// [`SharedResource::Writes`] as they do. So the tokens of an organization wait for its own writes, and never use
    /// the permits of others.
    #[tracing::instrument(name = "application.token_service.grant", skip_all)]
    pub async fn grant(
        &self,
        tenant: &Tenant,
        request: TokenRequest,
        from: Option<IpAddr>,
        now: OffsetDateTime,
    ) -> Result<IssuedToken> {
        let uid = request.client_id().unwrap_or_default().to_owned();
        let checked_request =
            match (Grants { clients: self.store.clients() }).check_request(tenant.id, request).await {
                Err(refusal @ Error::OAuth { code: "invalid_client", .. }) => {
                    self.record_refusal(tenant, &uid, None, now).await;
                    return Err(refusal);
                }
                Err(error @ Error::Rejected(_)) => {
                    if error.description() == UNKNOWN_CLIENT {
                        self.limit.count(from);
                    }
                    return Err(error);
                }
                checked => checked?,
            };
        let holder =
            ShareHolder { organization: tenant.id, client: Some(checked_request.client), record: None };
        let user = match &checked_request.grant {
            GrantKind::Login(login) => {
                let begin = Instant::now();
                let checked = self.check_login(holder, tenant, &checked_request, login, now).await;
                if let Err(Error::Rejected(_)) = &checked {
                    self.limit.count(from);
                    self.record_refusal(tenant, &uid, Some(&login.username), now).await;
                    sleep_until(begin + MIN_REFUSAL_TIME).await;
                }
                Some(checked?)
            }
            GrantKind::Service | GrantKind::Impersonate(_) => None,
        };
        let _permit = self.shares.acquire(SharedResource::Writes, holder).await?;
        let user = match &checked_request.grant {
            GrantKind::Impersonate(asked) => {
                Some(self.impersonate(tenant, (&uid, &checked_request), asked, now).await?)
            }
            GrantKind::Service | GrantKind::Login(_) => user,
        };
        self.issue(tenant, &checked_request, user, now).await
    }

    /// Whether the accounts of an organization stay as they are.
    fn is_read_only(&self, tenant: &Tenant) -> bool {
        self.read_only || tenant.move_state.is_some()
    }

    /// The user of a login. Its password is compared while a permit is held, of [`SharedResource::Passwords`].
    async fn check_login(
        &self,
        holder: ShareHolder<'_>,
        tenant: &Tenant,
        checked_request: &CheckedTokenRequest,
        login: &LoginGrant,
        now: OffsetDateTime,
    ) -> Result<UserId> {
        let _permit = self.shares.acquire(SharedResource::Passwords, holder).await?;
        let logins = Logins {
            users: self.store.users(),
            failures: self.store.login_failures(),
            passwords: &*self.passwords,
        };
        let checked = logins.check(holder.organization, checked_request.client, login, now).await;
        count(&checked);
        let (user, replaceable) = checked?;
        if let Some(old) = replaceable.filter(|_| !self.is_read_only(tenant))
            && let Err(error) = self.replace_hash(holder.organization, user, old, login, now).await
        {
            tracing::warn!(%error, "the hash of a password could not be replaced");
        }
        Ok(user)
    }

    /// Replaces the hash of a password that has just been checked, unless it has changed meanwhile.
    async fn replace_hash(
        &self,
        organization: OrganizationId,
        id: UserId,
        old: String,
        login: &LoginGrant,
        now: OffsetDateTime,
    ) -> Result<()> {
        let new = self.passwords.hash(login.password.clone()).await?;
        let replace = async |tx: &dyn Transaction| {
            let Some(user) = tx.users().find_for_update(organization, id).await? else { return Ok(()) };
            if user.password_hash.as_ref() != Some(&old) {
                return Ok(());
            }
            let after = User { password_hash: Some(new.clone()), ..user.clone() };
            tx.users().save(organization, id, &Change::new(user, after)).await
        };
        self.committer.in_transaction(&*self.store, now, replace).await
    }

    /// The client whose credentials a request carries (contract 02 §3). A refusal is written into the audit trail.
    ///
    /// # Errors
    /// `invalid_client`.
    pub async fn authenticate(
        &self,
        tenant: &Tenant,
        request: &TokenRequest,
        now: OffsetDateTime,
    ) -> Result<ClientId> {
        let known = (Grants { clients: self.store.clients() }).authenticate(tenant.id, request).await;
        if matches!(known, Err(Error::OAuth { .. })) {
            self.record_refusal(tenant, request.client_id().unwrap_or_default(), None, now).await;
        }
        known
    }

    /// Finds or creates the user, with events, in one transaction. Of two concurrent registrations of one name, one is
    /// repeated and finds the user of the other. Registrations and general administrators have an entry of the audit trail.
    ///
    /// # Errors
    /// `ReadOnly` when an account would be created or changed in a read-only deployment; those of
    /// [`Impersonation::resolve`].
    async fn impersonate(
        &self,
        tenant: &Tenant,
        (uid, checked_request): (&str, &CheckedTokenRequest),
        asked: &ImpersonationGrant,
        now: OffsetDateTime,
    ) -> Result<UserId> {
        let work = async |tx: &dyn Transaction| {
            let registration_mails = RegistrationMails {
                queue: tx.queue(),
                organizations: tx.organization_lookup(),
                counts: tx.mail_counts(),
                client: Some(checked_request.client),
            };
            let impersonation =
                Impersonation { users: tx.users(), registration_mails, extra_limit: self.extra_limit };
            let (id, user, is_new) = impersonation.resolve(tenant.id, asked, now).await?;
            if self.is_read_only(tenant)
                && (is_new || tx.users().find(tenant.id, id).await?.as_ref() != Some(&user))
            {
                return Err(Error::ReadOnly);
            }
            self.committer.render_recorded_events(tx, now).await?;
            let new_entry = |action| {
                let (uid, acting) = (uid.to_owned(), Some((id, user.nickname.clone())));
                let actor = Actor::Client { uid, name: String::new(), user: acting };
                NewAuditEntry::new(actor, action).in_organization(tenant.id).with_object(
                    "user",
                    &id.to_string(),
                    &user.nickname,
                )
            };
            if is_new {
                tx.audit().append(&new_entry(Action::UserCreated), now).await?;
            } else if user.admin {
                let impersonated = new_entry(Action::UserImpersonated);
                tx.audit().append_unless_since(&impersonated, now - ONCE_IN, now).await?;
            }
            Ok(id)
        };
        self.committer.in_transaction(&*self.store, now, work).await
    }

    /// Writes a refusal into the audit trail, at most one a minute for each client; those of unknown clients share one.
    /// The answer to the caller does not depend on it.
    async fn record_refusal(&self, tenant: &Tenant, uid: &str, username: Option<&str>, now: OffsetDateTime) {
        if let Err(error) = self.append_refusal(tenant, uid, username, now).await {
            tracing::warn!(%error, "refused credentials could not be written into the audit trail");
        }
    }

    async fn append_refusal(
        &self,
        tenant: &Tenant,
        uid: &str,
        username: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<()> {
        let known = self.store.clients().find_by_uid(uid).await?;
        let (id, name) = match &known {
            Some((_, client)) => (uid, client.name.as_str()),
            None => ("unknown", "an unknown client"),
        };
        let since = now - ONCE_IN;
        // Reads first: most refusals follow another one, and need not wait for a writer.
        let filter = AuditFilter {
            scope: AuditScope::Organization(tenant.id),
            action: Some(Action::CredentialsRefused),
            object: Some(("api_client".to_owned(), id.to_owned())),
            since: Some(since),
            ..AuditFilter::default()
        };
        let one = PageRequest::new(1, 1);
        if !self.store.audit().list(&filter, one).await?.items.is_empty() {
            return Ok(());
        }
        let entry =
            NewAuditEntry::new(Actor::Anonymous, Action::CredentialsRefused).in_organization(tenant.id);
        let mut entry = entry.with_object("api_client", id, name);
        if let Some(username) = username {
            entry = entry.with_change("username", None, Some(username));
        }
        let appended = self.committer.in_transaction(&*self.store, now, async |tx| {
            tx.audit().append_unless_since(&entry, since, now).await
        });
        appended.await.map(drop)
    }

    async fn issue(
        &self,
        tenant: &Tenant,
        checked_request: &CheckedTokenRequest,
        user: Option<UserId>,
        now: OffsetDateTime,
    ) -> Result<IssuedToken> {
        let auth = AuthContext { organization: tenant.id, default_locale: tenant.default_locale, now };
        let issuer = self.committer.site().origin(&tenant.host);
        issue(self.store.tokens(), &*self.signer, auth, issuer, checked_request, user, self.lifetime).await
    }
}

/// Counts a login. Faults of the machine are not logins.
fn count<T>(checked: &Result<T>) {
    let outcome = match checked {
        Ok(_) => "succeeded",
        Err(Error::Rejected(error)) if error.description == LOGIN_LOCKED => "locked",
        Err(Error::Rejected(_)) => "refused",
        Err(_) => return,
    };
    metrics::login_ended(LoginEndpoint::Token, outcome);
}
