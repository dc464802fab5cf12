//! Administrators of the deployment: the accounts of the system panel, which belong to no organization (contract 04
//! §1). A participant is never one of them.

mod admin;
#[cfg(test)]
pub(crate) mod memory;
mod second_factor;
mod second_factor_admin;
mod sessions;
mod sign_in;

pub use self::admin::{Administrators, NewPassword, refusals};
#[cfg(any(test, feature = "mocks"))]
pub use self::second_factor::{MockSecondFactorCodes, MockTextCipher};
pub use self::second_factor::{NewSecondFactor, SecondFactor, SecondFactorCodes, TextCipher};
pub use self::second_factor_admin::SecondFactors;
pub use self::sessions::{
    PANEL_SESSION_IDLE, PANEL_SESSION_LIFETIME, PANEL_SESSION_TOUCH, PanelSession, PanelSessionStore,
};
pub use self::sign_in::{CheckedPassword, SignInAttempt, SignInFault, SignedIn};

use async_trait::async_trait;
use civitas_kernel::records::Entity;
use civitas_kernel::{AdministratorId, Error, Locale, OrganizationId, Page, PageRequest, Result};
use std::fmt;
use time::{Duration, OffsetDateTime};

/// An account of the system panel.
#[derive(Clone, PartialEq, Eq)]
pub struct Administrator {
    /// The address to sign in with: lower case, unique in the deployment.
    pub email: String,
    /// The hash of the password, of Argon2id, or of bcrypt until the first sign-in; `None`: cannot sign in.
    pub password: Option<String>,
    /// The failed attempts to sign in since the last successful one, or since the end of the last lock.
    pub failed_attempts: i32,
    /// Until when it cannot sign in. A time in the past has no effect.
    pub locked_until: Option<OffsetDateTime>,
    /// The language of the panel; `None`: that of the browser.
    pub locale: Option<Locale>,
    /// The colours of the panel.
    pub theme: Theme,
    /// The second factor; `None`: the password is enough.
    pub second_factor: Option<SecondFactor>,
    /// The organization that was opened last; `None` also after its deletion.
    pub organization: Option<OrganizationId>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When an administrator last changed it. Signing in does not count.
    pub updated_at: OffsetDateTime,
    /// When it last signed in.
    pub last_sign_in_at: Option<OffsetDateTime>,
}

/// The colours of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// As the device is set.
    #[default]
    Device,
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

impl Theme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Device, Self::Light, Self::Dark];

    /// The stored name: `device`, `light`, `dark`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == name)
    }
}

impl Administrator {
    /// The failed attempts after which the account is locked (contract 04 §1).
    pub const FAILURES_THAT_LOCK: i32 = 20;
    /// How long it is locked (contract 04 §1).
    pub const LOCK: Duration = Duration::hours(1);

    /// An account without a password.
    pub fn new(email: String, now: OffsetDateTime) -> Self {
        Self {
            email,
            password: None,
            failed_attempts: 0,
            locked_until: None,
            locale: None,
            theme: Theme::Device,
            second_factor: None,
            organization: None,
            created_at: now,
            updated_at: now,
            last_sign_in_at: None,
        }
    }

    /// Whether it cannot sign in at this time.
    pub fn is_locked(&self, now: OffsetDateTime) -> bool {
        self.locked_until.is_some_and(|until| until > now)
    }

    /// Counts a failed attempt; the twentieth locks. After the end of a lock the count begins at zero. Attempts during
    /// a lock do not extend it.
    pub fn count_failure(&mut self, now: OffsetDateTime) {
        if self.is_locked(now) {
            return;
        }
        if self.locked_until.take().is_some() {
            self.failed_attempts = 0;
        }
        self.failed_attempts += 1;
        if self.failed_attempts >= Self::FAILURES_THAT_LOCK {
            self.locked_until = Some(now + Self::LOCK);
        }
    }

    /// Ends a lock, and sets the count to zero.
    pub fn unlock(&mut self) {
        self.failed_attempts = 0;
        self.locked_until = None;
    }

    /// Another account has the address.
    pub fn taken() -> Error {
        Error::rejected(refusals::EMAIL_TAKEN)
    }

    /// The last account cannot be deleted.
    pub fn last() -> Error {
        Error::rejected(refusals::LAST)
    }
}

impl fmt::Debug for Administrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Administrator")
            .field("email", &self.email)
            .field("has_password", &self.password.is_some())
            .field("failed_attempts", &self.failed_attempts)
            .field("locked_until", &self.locked_until)
            .field("locale", &self.locale)
            .field("theme", &self.theme)
            .field("second_factor", &self.second_factor)
            .field("organization", &self.organization)
            .field("created_at", &self.created_at)
            .field("updated_at", &self.updated_at)
            .field("last_sign_in_at", &self.last_sign_in_at)
            .finish_non_exhaustive()
    }
}

impl Entity for Administrator {
    type Id = AdministratorId;

    fn updated_at(&mut self) -> Option<&mut OffsetDateTime> {
        Some(&mut self.updated_at)
    }
}

/// Stores the accounts of the system panel.
#[async_trait]
pub trait AdministratorStore: Send + Sync {
    /// The account.
    async fn find(&self, id: AdministratorId) -> Result<Option<Administrator>>;
    /// The account with this address (lower case).
    async fn find_by_email(&self, email: &str) -> Result<Option<(AdministratorId, Administrator)>>;
    /// The account, locked against other writers until the transaction ends.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn find_for_update(&self, id: AdministratorId) -> Result<Option<Administrator>>;
    /// Stores a new one.
    ///
    /// # Errors
    /// [`Administrator::taken`].
    async fn add(&self, administrator: &Administrator) -> Result<AdministratorId>;
    /// Stores a new state.
    ///
    /// # Errors
    /// [`Administrator::taken`]; `NotFound`.
    async fn save(&self, id: AdministratorId, administrator: &Administrator) -> Result<()>;
    /// Removes it with its sessions. Of two removals at the same time one leaves the last account.
    ///
    /// # Errors
    /// [`Administrator::last`]; `NotFound`.
    async fn remove(&self, id: AdministratorId) -> Result<()>;
    /// By address. `search`: those whose address contains this text, in any case.
    async fn list(
        &self,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<(AdministratorId, Administrator)>>;
    /// The number of accounts.
    async fn count(&self) -> Result<i64>;
    /// Accounts after `after` in ascending order of id, at most `limit`; for export.
    async fn page_after(
        &self,
        after: Option<AdministratorId>,
        limit: i64,
    ) -> Result<Vec<(AdministratorId, Administrator)>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

    #[test]
    fn the_twentieth_failure_locks_for_an_hour_and_later_ones_do_not_extend_it() {
        let mut ada = Administrator::new("ada@city.example".to_owned(), NOW);
        for n in 1..20 {
            ada.count_failure(NOW);
            assert!(!ada.is_locked(NOW), "after {n}");
        }
        ada.count_failure(NOW);
        let end = NOW + Duration::HOUR;
        ada.count_failure(end - Duration::SECOND);
        assert_eq!((ada.failed_attempts, ada.locked_until), (20, Some(end)));
        assert!(ada.is_locked(end - Duration::SECOND) && !ada.is_locked(end));
        ada.count_failure(end);
        assert_eq!((ada.failed_attempts, ada.locked_until), (1, None), "the count begins again");
    }

    #[test]
    fn debug_shows_no_hash_and_no_secret() {
        let factor =
            SecondFactor { secret: "sealed-text".to_owned(), recovery_codes: Vec::new(), last_step: 1 };
        let ada = Administrator {
            password: Some("$argon2id$hash".to_owned()),
            second_factor: Some(factor),
            ..Administrator::new("ada@city.example".to_owned(), NOW)
        };
        let text = format!("{ada:?}");
        assert!(text.contains("has_password: true") && text.contains("last_step: 1"), "{text}");
        assert!(!text.contains("argon2id") && !text.contains("sealed-text"), "{text}");
    }

    #[test]
    fn a_theme_is_read_by_its_name() {
        for theme in Theme::ALL {
            assert_eq!(Theme::parse(theme.as_str()), Some(theme));
        }
        assert_eq!(Theme::parse("pink"), None);
    }
}
