//! What this room needs from outside.

use crate::{Organization, Tenant};
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Result};

/// What a host leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Located {
    /// It is the primary host of this organization.
    Primary(Tenant),
    /// It is a secondary host; requests belong to this primary one.
    Secondary {
        /// The primary host to send the caller to.
        primary: String,
    },
}

/// Where organizations are kept.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OrganizationStore: Send + Sync {
    /// What this host (lower case, no port) leads to. A host that waits for confirmation leads nowhere.
    async fn locate(&self, host: &str) -> Result<Option<Located>>;
    /// What requests need to know of an organization.
    async fn tenant(&self, id: OrganizationId) -> Result<Option<Tenant>>;
    /// The organization.
    async fn find(&self, id: OrganizationId) -> Result<Option<Organization>>;
    /// The organization with this primary host.
    async fn find_by_host(&self, host: &str) -> Result<Option<OrganizationId>>;
    /// Keeps a new one. `Rejected` when one of its hosts is taken.
    async fn add(&self, organization: &Organization) -> Result<OrganizationId>;
    /// Keeps a new state. `Rejected` when one of its hosts is taken.
    async fn save(&self, id: OrganizationId, organization: &Organization) -> Result<()>;
    /// All ids in ascending order, at most `limit` after `after`.
    async fn ids(&self, after: Option<OrganizationId>, limit: i64) -> Result<Vec<OrganizationId>>;
}
