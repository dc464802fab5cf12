//! Access tokens (contract 02 §2.5).

use crate::Digest;
use civitas_kernel::{ClientId, OrganizationId, Scopes, TokenId, UserId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A stored access token, without its text: only with the digest of its random `jti`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The organization on whose host it was issued; it is valid there only.
    pub organization: OrganizationId,
    /// The client it was issued to.
    pub client: ClientId,
    /// The user of a user token.
    pub user: Option<UserId>,
    /// The digest of its `jti`.
    pub digest: Digest,
    /// The granted scopes in the order of the request, separated by single spaces.
    pub scope: String,
    /// When it was issued, in whole seconds.
    pub issued_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
    /// When it was revoked.
    pub revoked_at: Option<OffsetDateTime>,
}

impl AccessToken {
    /// The granted scopes as a set.
    pub fn scopes(&self) -> Scopes {
        Scopes::read(&self.scope)
    }
}

/// The claims of the JWT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// `https://{host}` of the issuing organization.
    pub iss: String,
    /// As `iss`.
    pub aud: String,
    /// The token's number, as text.
    pub sub: String,
    /// A random id.
    pub jti: String,
    /// The public name of the client.
    pub client_id: String,
    /// The granted scopes, separated by spaces.
    pub scope: String,
    /// Issued at, in Unix seconds.
    pub iat: i64,
    /// Expires at, in Unix seconds.
    pub exp: i64,
}

impl Claims {
    /// The number of the token in the claims.
    pub fn token(&self) -> Option<TokenId> {
        self.sub.parse().ok().map(TokenId)
    }
}

/// Why a bearer token is not valid (contract 02 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenError {
    /// Forged, of another host, unknown, or of a deleted client or user.
    Invalid,
    /// It is expired.
    Expired,
    /// It was revoked.
    Revoked,
}

impl TokenError {
    /// The `error_description` of introspection.
    pub fn description(self) -> &'static str {
        match self {
            Self::Invalid => "The access token is invalid",
            Self::Expired => "The access token expired",
            Self::Revoked => "The access token was revoked",
        }
    }
}
