//! Administrators of the deployment: the accounts of the system panel, which belong to no organization (contract 04
//! §1). A participant is never one of them.

mod admin;
mod second_factor;
mod second_factor_admin;
mod sessions;
mod sign_in;
mod sources;

use self::admin::refusals;
pub use self::admin::{Administrators, NewPassword};
#[cfg(any(test, feature = "mocks"))]
pub use self::second_factor::{MockSecondFactorCodes, MockTextCipher};
pub use self::second_factor::{NewSecondFactor, SecondFactor, SecondFactorCodes, TextCipher};
pub use self::sessions::{
    PANEL_SESSION_IDLE, PANEL_SESSION_LIFETIME, PANEL_SESSION_TOUCH, PASSWORD_CONFIRMATION_LIFETIME,
    PanelSession, PanelSessionStore,
};
pub use self::sign_in::{AdministratorSignIn, PasswordCheck, SignInError, SignInPorts};
pub use self::sources::{
    MAX_FAILURES_PER_ACCOUNT, MAX_FAILURES_PER_SOURCE, SOURCE_REFUSAL_DURATION, SignInSources,
};

use async_trait::async_trait;
use civitas_kernel::records::Entity;
use civitas_kernel::{AdministratorId, Error, Locale, OrganizationId, Page, PageRequest, Result};
use std::fmt;
use time::OffsetDateTime;

/// An account of the system panel.
#[derive(Clone, PartialEq, Eq)]
pub struct Administrator {
    /// The address to sign in with: lower case, unique in the deployment.
    pub email: String,
    /// The hash of the password, of Argon2id, or of bcrypt until the first sign-in; `None`: cannot sign in.
    pub password: Option<String>,
    /// From where it signed in, and failed to.
    pub sources: SignInSources,
    /// The language of the panel; `None`: that of the browser.
    pub locale: Option<Locale>,
    /// The colours of the panel.
    pub theme: PanelTheme,
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

civitas_kernel::named_enum! {
    /// The colours of the panel.
    #[derive(Default)]
    pub enum PanelTheme {
        /// As the device is set.
        #[default]
        Device = "device",
        /// Dark text on a light ground.
        Light = "light",
        /// Light text on a dark ground.
        Dark = "dark",
    }
}

impl Administrator {
    /// An account without a password.
    pub fn new(email: String, now: OffsetDateTime) -> Self {
        Self {
            email,
            password: None,
            sources: SignInSources::default(),
            locale: None,
            theme: PanelTheme::Device,
            second_factor: None,
            organization: None,
            created_at: now,
            updated_at: now,
            last_sign_in_at: None,
        }
    }

    /// Another account has the address.
    pub fn key_taken_error() -> Error {
        Error::rejected_field("email", "taken", refusals::EMAIL_TAKEN)
    }

    /// The last account cannot be deleted.
    pub fn last_administrator_error() -> Error {
        Error::rejected_field("administrator", "is_last", refusals::LAST_ADMINISTRATOR)
    }
}

impl fmt::Debug for Administrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Administrator")
            .field("email", &self.email)
            .field("has_password", &self.password.is_some())
            .field("sources", &self.sources)
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

    civitas_kernel::time_fields!(updated_at);
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
    /// [`Administrator::key_taken_error`].
    async fn add(&self, administrator: &Administrator) -> Result<AdministratorId>;
    /// Stores a new state.
    ///
    /// # Errors
    /// [`Administrator::key_taken_error`]; `NotFound`.
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
pub(crate) mod tests;
