//! The sessions of participants who signed in with a browser.

use crate::{Digest, Secret};
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result, UserId};
use time::{Duration, OffsetDateTime};

/// How long a session lasts; it is not prolonged.
///
/// Source: docs/decisions/0016-magic-links-and-sessions.md.
pub const SESSION_LIFETIME: Duration = Duration::hours(2);

/// What is kept of a participant's session: never its text. It opens nothing of the system panel, whoever's it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantSession {
    /// Who signed in.
    pub user: UserId,
    /// The digest of its text.
    pub digest: Digest,
    /// When they did.
    pub created_at: OffsetDateTime,
    /// From when it no longer counts.
    pub expires_at: OffsetDateTime,
}

impl ParticipantSession {
    /// A session of this user from now on, and its text.
    pub fn begin(user: UserId, now: OffsetDateTime) -> (Self, Secret) {
        let text = Secret::alphanumeric();
        let expires_at = now + SESSION_LIFETIME;
        (Self { user, digest: text.digest(), created_at: now, expires_at }, text)
    }
}

/// The store of sessions.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Stores a new session, and removes those of its user that have ended.
    async fn add(&self, organization: OrganizationId, session: &ParticipantSession) -> Result<()>;
    /// Whose session this is, while it counts. What has become of the account is for the caller to ask.
    async fn find(
        &self,
        organization: OrganizationId,
        digest: &Digest,
        now: OffsetDateTime,
    ) -> Result<Option<UserId>>;
}
