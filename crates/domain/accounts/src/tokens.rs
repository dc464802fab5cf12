//! Access tokens (contract 02 §2.5).

use crate::Digest;
use civitas_kernel::{ClientId, OrganizationId, Scopes, TokenId, UserId};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// What is kept of an access token. Its text is not: only the digest of its random `jti`.
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
    /// The granted scopes in the order they were asked for, separated by single spaces.
    pub scope: String,
    /// When it was issued, in whole seconds.
    pub issued_at: OffsetDateTime,
    /// From when it no longer counts.
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
    /// The same.
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
    /// The number of the token the claims speak of.
    pub fn token(&self) -> Option<TokenId> {
        self.sub.parse().ok().map(TokenId)
    }
}

/// Why a bearer does not count (contract 02 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenFault {
    /// Forged, foreign, unknown, or of a client or user that is gone.
    Invalid,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

impl TokenFault {
    /// The `error_description` of introspection.
    pub fn description(self) -> &'static str {
        match self {
            Self::Invalid => "The access token is invalid",
            Self::Expired => "The access token expired",
            Self::Revoked => "The access token was revoked",
        }
    }
}
