//! The organizations of API clients.

use async_trait::async_trait;
use civitas_accounts::ClientOrganizationLookup;
use civitas_kernel::{OrganizationId, Result};
use civitas_organizations::OrganizationStore;

/// Looks up the organizations that clients belong to.
pub struct ClientOrganizations<'a>(pub &'a dyn OrganizationStore);

#[async_trait]
impl ClientOrganizationLookup for ClientOrganizations<'_> {
    async fn exists(&self, organization: OrganizationId) -> Result<bool> {
        Ok(self.0.tenant(organization).await?.is_some())
    }
}
