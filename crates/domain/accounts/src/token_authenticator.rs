//! Authenticates bearer tokens: builds the [`Ctx`] of a request (contract 02 §1, §2.5).

use crate::{TokenError, TokenIdentity, TokenSigner, TokenStore};
use civitas_kernel::{
    Caller, Ctx, Error, Locale, Locales, OrganizationId, Result, TokenId, TokenUser, Viewer,
};
use time::OffsetDateTime;

/// The organization and time for the check of a token.
#[derive(Debug, Clone, Copy)]
pub struct AuthContext {
    /// The organization the host selected.
    pub organization: OrganizationId,
    /// Its default language.
    pub default_locale: Locale,
    /// The current time.
    pub now: OffsetDateTime,
}

/// Authenticates tokens.
pub struct TokenAuthenticator<'a> {
    /// The store of tokens.
    pub tokens: &'a dyn TokenStore,
    /// Verifies the signature of tokens.
    pub signer: &'a dyn TokenSigner,
    /// The languages of the deployment.
    pub locales: &'a Locales,
}

impl TokenAuthenticator<'_> {
    /// The context of a request with this token.
    ///
    /// # Errors
    /// `Unauthenticated` for any invalid token.
    pub async fn authenticate(&self, auth: AuthContext, token: &str) -> Result<Ctx> {
        let (id, identity) = self.identify(auth, token).await?.map_err(|_| Error::Unauthenticated)?;
        Ok(ctx(auth, self.locales.clone(), id, identity))
    }

    /// The caller of a token, or its fault. Checks signature, stored row, digest, client, user and time every time.
    pub async fn identify(
        &self,
        auth: AuthContext,
        token: &str,
    ) -> Result<Result<(TokenId, TokenIdentity), TokenError>> {
        let claims = match self.signer.verify(token) {
            Ok(claims) => claims,
            Err(fault) => return Ok(Err(fault)),
        };
        let Some(id) = claims.token() else { return Ok(Err(TokenError::Invalid)) };
        let Some(identity) = self.tokens.identify(auth.organization, id).await? else {
            return Ok(Err(TokenError::Invalid));
        };
        let ours = identity.token.digest.matches(&crate::Secret::new(&*claims.jti));
        let fault = if ours { check_token(auth, &identity).err() } else { Some(TokenError::Invalid) };
        Ok(match fault {
            Some(fault) => Err(fault),
            None => Ok((id, identity)),
        })
    }

    /// The context of a job that was accepted with this token. The token may have expired since; all other checks apply
    /// (contract 09 A.5).
    ///
    /// # Errors
    /// `Unauthenticated` when the token was revoked, or its client or user was deleted.
    pub async fn resume(&self, auth: AuthContext, token: TokenId) -> Result<Ctx> {
        let identity = self.tokens.identify(auth.organization, token).await?.ok_or(Error::Unauthenticated)?;
        match check_token(auth, &identity) {
            Ok(()) | Err(TokenError::Expired) => Ok(ctx(auth, self.locales.clone(), token, identity)),
            Err(_) => Err(Error::Unauthenticated),
        }
    }
}

/// Checks that a stored token is valid for this organization and time. Returns the first fault in this order.
fn check_token(auth: AuthContext, identity: &TokenIdentity) -> Result<(), TokenError> {
    let token = &identity.token;
    let gone = identity.user.is_some_and(|u| u.deleted) || token.user.is_some() != identity.user.is_some();
    if gone || token.organization != auth.organization || !identity.client.serves(auth.organization) {
        Err(TokenError::Invalid)
    } else if token.revoked_at.is_some() {
        Err(TokenError::Revoked)
    } else if token.expires_at <= auth.now {
        Err(TokenError::Expired)
    } else {
        Ok(())
    }
}

fn ctx(auth: AuthContext, locales: Locales, token: TokenId, identity: TokenIdentity) -> Ctx {
    let viewer = match identity.user {
        Some(user) if user.admin => Viewer::Admin(user.id),
        Some(user) => Viewer::Participant(user.id),
        None => identity.first_admin.map_or(Viewer::Public, Viewer::Admin),
    };
    Ctx {
        organization: auth.organization,
        default_locale: auth.default_locale,
        locales,
        now: auth.now,
        caller: Caller {
            token,
            token_expires_at: identity.token.expires_at,
            client: identity.token.client,
            client_uid: identity.client.uid,
            deployment_wide: identity.client.organization.is_none(),
            token_scopes: identity.token.scopes(),
            client_scopes: identity.client.scopes,
            abilities: identity.client.permissions,
            user: identity.user.map(|u| TokenUser { id: u.id, locale: u.locale, state: u.state }),
        },
        viewer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AccessToken, ApiClient, Claims, Digest, IdentityUser, MockTokenSigner, MockTokenStore, Secret,
    };
    use civitas_kernel::{Abilities, ClientId, Scopes, UserId, UserState};
    use std::sync::Arc;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 12:00 UTC);
    const AUTH: AuthContext =
        AuthContext { organization: OrganizationId(1), default_locale: Locale::EN, now: NOW };

    fn identity() -> TokenIdentity {
        TokenIdentity {
            token: AccessToken {
                organization: OrganizationId(1),
                client: ClientId(2),
                user: Some(UserId(3)),
                digest: Secret::new("jti").digest(),
                scope: "public".to_owned(),
                issued_at: NOW,
                expires_at: NOW + Duration::hours(2),
                revoked_at: None,
            },
            client: ApiClient {
                uid: "id_of_client".to_owned(),
                secret: Digest::from_stored(""),
                name: String::new(),
                organization: Some(OrganizationId(1)),
                scopes: Scopes::read("public"),
                permissions: Abilities::default(),
                created_at: NOW,
                updated_at: NOW,
            },
            user: Some(IdentityUser {
                id: UserId(3),
                admin: false,
                locale: None,
                state: UserState::Active,
                deleted: false,
            }),
            first_admin: Some(UserId(9)),
        }
    }

    async fn identify_stored(
        identity: TokenIdentity,
    ) -> Result<Result<(TokenId, TokenIdentity), TokenError>> {
        let mut signer = MockTokenSigner::new();
        signer.expect_verify().returning(|_| {
            let text = String::new;
            let (sub, jti) = ("5".to_owned(), "jti".to_owned());
            Ok(Arc::new(Claims {
                iss: text(),
                aud: text(),
                sub,
                jti,
                client_id: text(),
                scope: text(),
                iat: 0,
                exp: 0,
            }))
        });
        let mut tokens = MockTokenStore::new();
        tokens.expect_identify().returning(move |_, _| Ok(Some(identity.clone())));
        TokenAuthenticator { tokens: &tokens, signer: &signer, locales: &Locales::standard() }
            .identify(AUTH, "token")
            .await
    }

    #[tokio::test]
    async fn a_token_is_valid_only_while_client_user_and_row_are() {
        let fault = async |change: fn(&mut TokenIdentity)| {
            let mut identity = identity();
            change(&mut identity);
            identify_stored(identity).await.unwrap().err()
        };
        assert_eq!(fault(|_| ()).await, None);
        assert_eq!(fault(|i| i.token.expires_at = NOW).await, Some(TokenError::Expired));
        assert_eq!(fault(|i| i.token.revoked_at = Some(NOW)).await, Some(TokenError::Revoked));
        assert_eq!(fault(|i| i.token.digest = Secret::new("x").digest()).await, Some(TokenError::Invalid));
        assert_eq!(fault(|i| i.token.organization = OrganizationId(2)).await, Some(TokenError::Invalid));
        assert_eq!(
            fault(|i| i.client.organization = Some(OrganizationId(2))).await,
            Some(TokenError::Invalid)
        );
        assert_eq!(fault(|i| i.user.as_mut().unwrap().deleted = true).await, Some(TokenError::Invalid));
        assert_eq!(fault(|i| i.user = None).await, Some(TokenError::Invalid), "the user is gone");
    }

    #[tokio::test]
    async fn a_service_token_sees_as_the_first_administrator_but_has_no_user() {
        let mut service = identity();
        (service.token.user, service.user) = (None, None);
        let ctx = ctx(AUTH, Locales::standard(), TokenId(5), service);
        assert_eq!((ctx.viewer, ctx.participant()), (Viewer::Admin(UserId(9)), None));
    }

    #[tokio::test]
    async fn a_job_outlives_the_expiry_of_its_token_but_not_its_revocation() {
        let resume = async |identity: TokenIdentity| {
            let mut tokens = MockTokenStore::new();
            tokens.expect_identify().returning(move |_, _| Ok(Some(identity.clone())));
            let signer = MockTokenSigner::new();
            TokenAuthenticator { tokens: &tokens, signer: &signer, locales: &Locales::standard() }
                .resume(AUTH, TokenId(5))
                .await
        };
        let (mut expired, mut revoked) = (identity(), identity());
        expired.token.expires_at = NOW;
        revoked.token.revoked_at = Some(NOW);
        resume(expired).await.unwrap();
        assert!(matches!(resume(revoked).await, Err(Error::Unauthenticated)));
    }
}
