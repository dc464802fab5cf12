//! Issuing, describing and revoking tokens (contract 02 §2.5, §3, §4).

use super::{CheckedTokenRequest, TokenRequest};
use crate::token_authenticator::{AuthContext, TokenAuthenticator};
use crate::{
    AccessToken, Claims, ClientStore, Secret, TokenError, TokenIdentity, TokenSigner, TokenStore, User,
    UserStore,
};
use civitas_kernel::{ClientId, Error, Result, TokenId, UserId};
use time::Duration;

/// A token that was just issued. Its text is not available later.
#[derive(Debug)]
pub struct IssuedToken {
    /// The JWT.
    pub token: String,
    /// Its lifetime, in seconds.
    pub expires_in: i64,
    /// The granted scopes in the order of the request.
    pub scope: String,
    /// When it was issued, in Unix seconds.
    pub created_at: i64,
}

/// Issues a token. `issuer` is the address of the organization's primary host, `user` the user it acts for.
pub async fn issue(
    tokens: &dyn TokenStore,
    signer: &dyn TokenSigner,
    auth: AuthContext,
    issuer: String,
    checked_request: &CheckedTokenRequest,
    user: Option<UserId>,
    lifetime: Duration,
) -> Result<IssuedToken> {
    let jti = Secret::random("", 43);
    let issued_at = auth.now.replace_nanosecond(0).map_err(Error::internal)?;
    let expires_at = issued_at + lifetime;
    let row = AccessToken {
        organization: auth.organization,
        client: checked_request.client,
        user,
        digest: jti.digest(),
        scope: checked_request.scope.clone(),
        issued_at,
        expires_at,
        revoked_at: None,
    };
    let id = tokens.add(&row).await?;
    let claims = Claims {
        iss: issuer.clone(),
        aud: issuer,
        sub: id.to_string(),
        jti: jti.expose().to_owned(),
        client_id: checked_request.client_uid.clone(),
        scope: checked_request.scope.clone(),
        iat: issued_at.unix_timestamp(),
        exp: expires_at.unix_timestamp(),
    };
    Ok(IssuedToken {
        token: signer.sign(&claims)?,
        expires_in: lifetime.whole_seconds(),
        scope: checked_request.scope.clone(),
        created_at: issued_at.unix_timestamp(),
    })
}

/// The result of introspection.
#[derive(Debug)]
pub enum IntrospectionResult {
    /// Not active: unknown, expired, or of another client.
    Inactive,
    /// A valid token.
    Known {
        /// The token's number.
        id: TokenId,
        /// The token and its client.
        identity: Box<TokenIdentity>,
        /// Its user.
        user: Option<Box<User>>,
        /// Whether it can be used: its user, if any, may act.
        active: bool,
    },
}

/// Describes tokens to the client they were issued to.
pub struct Introspection<'a> {
    /// Authenticates tokens.
    pub callers: TokenAuthenticator<'a>,
    /// The store of accounts.
    pub users: &'a dyn UserStore,
}

impl Introspection<'_> {
    /// The client of the bearer token. The inner `Err` is the fault of that token.
    pub async fn client(&self, auth: AuthContext, bearer: &str) -> Result<Result<ClientId, TokenError>> {
        Ok(self.callers.identify(auth, bearer).await?.map(|(_, identity)| identity.token.client))
    }

    /// Describes a token to a client.
    pub async fn describe(
        &self,
        auth: AuthContext,
        client: ClientId,
        token: &str,
    ) -> Result<IntrospectionResult> {
        let Ok((id, identity)) = self.callers.identify(auth, token).await? else {
            return Ok(IntrospectionResult::Inactive);
        };
        if identity.token.client != client {
            return Ok(IntrospectionResult::Inactive);
        }
        let user = match identity.token.user {
            Some(user) => self.users.find(auth.organization, user).await?,
            None => None,
        };
        let active = user.as_ref().is_none_or(|u| u.state().check().is_ok());
        let (identity, user) = (Box::new(identity), user.map(Box::new));
        Ok(IntrospectionResult::Known { id, identity, user, active })
    }
}

/// Revokes tokens for the client they were issued to.
pub struct Revocation<'a> {
    /// The store of clients.
    pub clients: &'a dyn ClientStore,
    /// Authenticates tokens.
    pub callers: TokenAuthenticator<'a>,
}

impl Revocation<'_> {
    /// Revokes a token of the client whose credentials the request carries. For an invalid token it does nothing, with
    /// any credentials.
    ///
    /// # Errors
    /// `unauthorized_client` when the token is valid and the credentials are not those of its client.
    pub async fn revoke(&self, auth: AuthContext, request: &TokenRequest, token: &str) -> Result<()> {
        let Ok((id, identity)) = self.callers.identify(auth, token).await? else { return Ok(()) };
        let client = request.known_client(self.clients).await?;
        let owner =
            client.is_some_and(|(id, client)| id == identity.token.client && request.proves(&client.secret));
        if !owner {
            return Err(Error::OAuth {
                code: "unauthorized_client",
                description: "You are not authorized to revoke this token",
            });
        }
        self.callers.tokens.revoke(auth.organization, id, auth.now).await
    }
}
