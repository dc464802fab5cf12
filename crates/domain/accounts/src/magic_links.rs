//! Links that sign a user in, for one use (contract 03 §3).

pub mod redirect;

use crate::{Digest, OrganizationLookup, ParticipantSession, Secret, SessionStore, User, UserStore};
use async_trait::async_trait;
use civitas_kernel::{
    Ability, Access, Command, CommandHandler, Ctx, Error, MagicLinkId, OrganizationId, Result, Scope, UserId,
    commands,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{Duration, OffsetDateTime};

/// The lifetime of a link.
pub const MAGIC_LINK_LIFETIME: Duration = Duration::minutes(5);

/// A stored link, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MagicLink {
    /// The user it signs in.
    pub user: UserId,
    /// The digest of its token.
    pub digest: Digest,
    /// The address to redirect to; the organization's front page when absent.
    pub redirect_url: Option<String>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

/// Stores links.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MagicLinkStore: Send + Sync {
    /// Stores a link; replaces the one of its user.
    async fn replace(&self, organization: OrganizationId, link: &MagicLink) -> Result<MagicLinkId>;
    /// The link with this digest, expired or not.
    async fn find(
        &self,
        organization: OrganizationId,
        digest: &Digest,
    ) -> Result<Option<(MagicLinkId, MagicLink)>>;
    /// Removes a link. Whether it existed.
    async fn remove(&self, organization: OrganizationId, id: MagicLinkId) -> Result<bool>;
}

/// Creates a link for the token's user, which replaces the previous one. Returns the only copy of its token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreateMagicLink {
    /// The address to redirect to, as sent.
    pub redirect_url: Option<Value>,
}

commands! {
    CreateMagicLink: "magic_links#create",
        Access::user(Scope::Oauth, &[Ability::OauthMagicLink]) => NewMagicLink;
}

/// A link that was just created. Its token is not available later.
#[derive(Debug)]
pub struct NewMagicLink {
    /// Its number.
    pub id: MagicLinkId,
    /// Its token.
    pub token: Secret,
    /// The address it redirects to.
    pub redirect_url: Option<String>,
}

/// Creates links, and signs users in with them.
pub struct MagicLinks<'a> {
    /// The store of links.
    pub links: &'a dyn MagicLinkStore,
    /// The store of accounts.
    pub users: &'a dyn UserStore,
    /// Reads the hosts that links may redirect to.
    pub organizations: &'a dyn OrganizationLookup,
    /// The store of sessions.
    pub sessions: &'a dyn SessionStore,
}

#[async_trait]
impl CommandHandler<CreateMagicLink> for MagicLinks<'_> {
    async fn handle(&self, ctx: &Ctx, command: CreateMagicLink) -> Result<NewMagicLink> {
        ctx.require(&CreateMagicLink::ACCESS)?;
        let user = ctx.user()?.id;
        let redirect_url = match redirect::read(command.redirect_url.as_ref())? {
            Some(url) => {
                redirect::check(&url, &self.destinations(ctx.organization).await?)?;
                Some(url)
            }
            None => None,
        };
        // Of two links created at once for one user, the second replaces the first.
        self.users.find_for_update(ctx.organization, user).await?;
        let token = Secret::alphanumeric();
        let link = MagicLink {
            user,
            digest: token.digest(),
            redirect_url: redirect_url.clone(),
            created_at: ctx.now,
            expires_at: ctx.now + MAGIC_LINK_LIFETIME,
        };
        let id = self.links.replace(ctx.organization, &link).await?;
        Ok(NewMagicLink { id, token, redirect_url })
    }
}

/// A user who has signed in.
#[derive(Debug)]
pub struct MagicLinkSignIn {
    /// The text of the session, not available later.
    pub session: Secret,
    /// The address to redirect to.
    pub location: String,
}

impl MagicLinks<'_> {
    /// Creates a session for the link's user, and removes the link: of several concurrent requests, one succeeds.
    /// Runs inside one transaction.
    ///
    /// # Errors
    /// `Token not found`, `Invalid Token`, `User blocked`, `User locked` (contract 03 §3.2); then the link stays.
    pub async fn sign_in(
        &self,
        organization: OrganizationId,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<MagicLinkSignIn> {
        let (id, link) = self.find(organization, token, now).await?;
        may_sign_in(self.users.find_for_update(organization, link.user).await?)?;
        if !self.links.remove(organization, id).await? {
            return Err(not_found());
        }
        let (session, text) = ParticipantSession::begin(link.user, now);
        self.sessions.add(organization, &session).await?;
        Ok(MagicLinkSignIn { session: text, location: self.location(organization, &link).await? })
    }

    /// The address the link would redirect to. Does not sign in or remove the link.
    ///
    /// # Errors
    /// As [`Self::sign_in`].
    pub async fn find_redirect(
        &self,
        organization: OrganizationId,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<String> {
        let (_, link) = self.find(organization, token, now).await?;
        may_sign_in(self.users.find(organization, link.user).await?)?;
        self.location(organization, &link).await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        token: &Secret,
        now: OffsetDateTime,
    ) -> Result<(MagicLinkId, MagicLink)> {
        let found = self.links.find(organization, &token.digest()).await?;
        let (id, link) = found.ok_or_else(not_found)?;
        if now < link.expires_at { Ok((id, link)) } else { Err(Error::rejected("Invalid Token")) }
    }

    /// The address that was given when it is still allowed, exactly; else the front page.
    async fn location(&self, organization: OrganizationId, link: &MagicLink) -> Result<String> {
        const FRONT_PAGE: &str = "/";
        let Some(url) = &link.redirect_url else { return Ok(FRONT_PAGE.to_owned()) };
        let allowed = redirect::check(url, &self.destinations(organization).await?).is_ok();
        Ok(if allowed { url.clone() } else { FRONT_PAGE.to_owned() })
    }

    async fn destinations(&self, organization: OrganizationId) -> Result<Vec<String>> {
        let found = self.organizations.find(organization).await?;
        Ok(found.ok_or(Error::NotFound)?.destinations)
    }
}

fn may_sign_in(user: Option<User>) -> Result<()> {
    user.filter(|user| user.deleted_at.is_none()).ok_or_else(not_found)?.state().check()
}

fn not_found() -> Error {
    Error::rejected("Token not found")
}

#[cfg(test)]
mod tests;
