//! Sessions of participants who signed in with a browser.

use crate::{Digest, Secret};
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result, UserId};
use time::{Duration, OffsetDateTime};

/// The lifetime of a session; it is not extended.
///
/// Source: docs/decisions/0016-magic-links-and-sessions.md.
pub const SESSION_LIFETIME: Duration = Duration::hours(2);

/// A stored session of a participant, without its text. It is not valid for the system panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantSession {
    /// The user.
    pub user: UserId,
    /// The digest of its text.
    pub digest: Digest,
    /// When the user signed in.
    pub created_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
}

impl ParticipantSession {
    /// A new session of this user, and its text.
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
    /// Stores a new session, and removes the expired ones of its user.
    async fn add(&self, organization: OrganizationId, session: &ParticipantSession) -> Result<()>;
    /// The user of a session that is not expired. The caller checks the account.
    async fn find(
        &self,
        organization: OrganizationId,
        digest: &Digest,
        now: OffsetDateTime,
    ) -> Result<Option<UserId>>;
}
