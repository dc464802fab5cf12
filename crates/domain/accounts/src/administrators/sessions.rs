//! Sessions of the system panel.

use super::Administrator;
use crate::{Digest, Secret};
use async_trait::async_trait;
use civitas_kernel::{AdministratorId, Result};
use time::{Duration, OffsetDateTime};

/// The longest life of a session of the panel.
pub const PANEL_SESSION_LIFETIME: Duration = Duration::hours(12);
/// How long a session of the panel is valid without a request.
pub const PANEL_SESSION_IDLE: Duration = Duration::hours(2);
/// A request extends its session when the last extension is at least as long ago: not each request writes.
pub const PANEL_SESSION_TOUCH: Duration = Duration::minutes(1);

/// How long a session may change accounts and sign-in of administrators after its administrator gave the password
/// (contract 04 §1).
pub const PASSWORD_CONFIRMATION_LIFETIME: Duration = Duration::minutes(5);

/// A stored session of the panel, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelSession {
    /// Who signed in.
    pub administrator: AdministratorId,
    /// The digest of its text, which is in the cookie.
    pub digest: Digest,
    /// The sealed text to show on the next page, once.
    pub notice: Option<String>,
    /// When the administrator signed in.
    pub created_at: OffsetDateTime,
    /// When it was last extended.
    pub last_seen_at: OffsetDateTime,
    /// When it expires.
    pub expires_at: OffsetDateTime,
    /// When the administrator last gave the password in it.
    pub confirmed_at: Option<OffsetDateTime>,
}

impl PanelSession {
    /// A new session, and its text.
    pub fn begin(administrator: AdministratorId, now: OffsetDateTime) -> (Self, Secret) {
        let text = Secret::alphanumeric();
        let session = Self {
            administrator,
            digest: text.digest(),
            notice: None,
            created_at: now,
            last_seen_at: now,
            expires_at: now + PANEL_SESSION_IDLE,
            confirmed_at: None,
        };
        (session, text)
    }

    /// Whether it may change accounts and sign-in of administrators.
    pub fn is_confirmed(&self, now: OffsetDateTime) -> bool {
        self.confirmed_at.is_some_and(|at| now < at.saturating_add(PASSWORD_CONFIRMATION_LIFETIME))
    }

    /// The new end for [`PanelSessionStore::touch`]: [`PANEL_SESSION_IDLE`] from now, at most
    /// [`PANEL_SESSION_LIFETIME`] after the beginning. `None` when it was extended less than [`PANEL_SESSION_TOUCH`]
    /// ago.
    pub fn extended_end(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        let is_due = now - self.last_seen_at >= PANEL_SESSION_TOUCH;
        is_due.then(|| (now + PANEL_SESSION_IDLE).min(self.created_at.saturating_add(PANEL_SESSION_LIFETIME)))
    }
}

/// Stores sessions of the panel.
#[async_trait]
pub trait PanelSessionStore: Send + Sync {
    /// Stores a new session, and removes at most 100 that expired before it began.
    async fn add(&self, session: &PanelSession) -> Result<()>;
    /// A session that is not expired, with its administrator. One statement.
    async fn find(
        &self,
        digest: &Digest,
        now: OffsetDateTime,
    ) -> Result<Option<(AdministratorId, Administrator, PanelSession)>>;
    /// Extends a session that is not expired; nothing happens to others. See [`PanelSession::extended`].
    async fn touch(&self, digest: &Digest, now: OffsetDateTime, expires_at: OffsetDateTime) -> Result<()>;
    /// Records that its administrator gave the password.
    async fn confirm(&self, digest: &Digest, now: OffsetDateTime) -> Result<()>;
    /// Stores the sealed text to show on the next page; `None` removes it.
    async fn set_notice(&self, digest: &Digest, notice: Option<&str>) -> Result<()>;
    /// Removes the sealed text and returns it. Of two calls at the same time one gets it.
    async fn take_notice(&self, digest: &Digest) -> Result<Option<String>>;
    /// Removes the session. Nothing happens without one.
    async fn remove(&self, digest: &Digest) -> Result<()>;
    /// Removes all sessions of an administrator; all but `except`.
    async fn remove_all_of(&self, administrator: AdministratorId, except: Option<&Digest>) -> Result<()>;
    /// Records that a form of this session was submitted. `false` when it was before, or the session is gone. Of two
    /// calls at the same time one gets `true`. The caller has checked that the nonce is one it made.
    async fn use_form(&self, digest: &Digest, nonce: &str, now: OffsetDateTime) -> Result<bool>;
    /// Forgets that a form was submitted: it was refused, and may be submitted again.
    async fn forget_form(&self, digest: &Digest, nonce: &str) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 8:00 UTC);

    #[test]
    fn a_session_is_extended_by_use_until_its_longest_life() {
        let (session, text) = PanelSession::begin(AdministratorId(1), NOW);
        assert!(session.digest.matches(&text));
        assert_eq!(session.expires_at, NOW + Duration::hours(2));
        assert_eq!(session.extended_end(NOW + Duration::seconds(59)), None, "not each request writes");
        let minute = NOW + Duration::MINUTE;
        assert_eq!(session.extended_end(minute), Some(minute + Duration::hours(2)));
        let late = NOW + Duration::hours(11);
        assert_eq!(session.extended_end(late), Some(NOW + Duration::hours(12)));
    }

    #[test]
    fn a_session_is_confirmed_for_five_minutes_and_not_by_the_sign_in() {
        let (session, _) = PanelSession::begin(AdministratorId(1), NOW);
        assert!(!session.is_confirmed(NOW));
        let session = PanelSession { confirmed_at: Some(NOW), ..session };
        let end = NOW + Duration::minutes(5);
        assert!(session.is_confirmed(end - Duration::SECOND) && !session.is_confirmed(end));
    }
}
