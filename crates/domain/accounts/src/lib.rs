//! Accounts: users, the API clients that act for them, and access tokens (contract 02). A right needs three things: the
//! token has a scope, the client still owns it, the client has an ability. [`TokenAuthenticator`] builds the
//! [`civitas_kernel::Ctx`]; [`grants`] issue tokens.
//!
//! ```
//! use civitas_accounts::Secret;
//!
//! let secret = Secret::random("key_", 32);
//! assert!(secret.digest().matches(&secret), "only the digest is kept");
//! assert_eq!(format!("{secret:?}"), "Secret(..)", "and a secret never shows in a log");
//! ```

pub mod administrators;
mod client_admin;
mod clients;
mod confirmations;
#[cfg(feature = "conformance")]
pub mod conformance;
mod erasure;
pub mod grants;
pub mod login_failures;
pub mod magic_links;
mod mail;
pub mod mail_limits;
mod organization_lookup;
mod ports;
mod registration_mails;
mod roles;
mod secret;
mod sessions;
mod token_authenticator;
mod tokens;
mod user_admin;
mod users;

pub use administrators::{
    Administrator, AdministratorStore, PanelSession, PanelSessionStore, PanelTheme, TextCipher,
};
pub use client_admin::{ClientAdministration, ClientAdministrationError, NewClient};
pub use clients::{ApiClient, DEPLOYMENT_WIDE};
#[cfg(any(test, feature = "mocks"))]
pub use confirmations::MockConfirmationStore;
pub use confirmations::{CONFIRMATION_LIFETIME, Confirmation, ConfirmationStore, Confirmations};
pub use erasure::EraseAccount;
#[cfg(any(test, feature = "mocks"))]
pub use magic_links::MockMagicLinkStore;
#[cfg(any(test, feature = "mocks"))]
pub use mail::MockMailer;
pub use mail::{
    Mail, MailKind, MailPart, MailRecipient, MailSender, Mailer, SendInvitation, SendMail, SendSignInNotice,
    is_deliverable,
};
#[cfg(any(test, feature = "mocks"))]
pub use organization_lookup::MockOrganizationLookup;
pub use organization_lookup::{AccountSettings, OrganizationLookup};
pub use ports::*;
pub use registration_mails::RegistrationMails;
pub use roles::{
    CreateRole, DestroyRole, READ_ROLES, Role, RoleDetail, RoleGrant, RoleId, RoleKind, RoleType, Roles,
    SpaceRoleId, UpdateRole, WRITE_ROLES,
};
pub use secret::{Digest, Secret};
#[cfg(any(test, feature = "mocks"))]
pub use sessions::MockSessionStore;
pub use sessions::{ParticipantSession, SESSION_LIFETIME, SessionStore};
pub use token_authenticator::{AuthContext, TokenAuthenticator};
pub use tokens::{AccessToken, Claims, TokenError};
pub use user_admin::UserAdministration;
pub use users::{NICKNAME_LENGTH, READ_USERS, User, Users, is_email, is_name, is_nickname, normal_email};
