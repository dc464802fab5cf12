//! The port to organizations.

use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result};

/// The settings of an organization that accounts use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountSettings {
    /// Whether new users get a welcome mail.
    pub welcomes: bool,
    /// The hosts a magic link may redirect to: the organization's host, its secondary hosts and its external domain
    /// allow-list, in the stored form.
    pub destinations: Vec<String>,
}

/// Reads organizations.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OrganizationLookup: Send + Sync {
    /// The settings of this organization; `None` when there is none, or it was removed.
    async fn find(&self, organization: OrganizationId) -> Result<Option<AccountSettings>>;
}
