//! The one organization whose records an import accepts (`--into`).

use super::context::ImportedRecord;
use super::error::RecordError;
use super::refs::RecordId;
use super::report::RecordOutcome;
use civitas_application::Ports;
use civitas_kernel::{OrganizationId, Result};

/// The organization whose records are accepted.
pub(super) struct ImportTarget {
    /// Its primary host.
    host: String,
    /// Its id; `None` until it exists.
    id: Option<OrganizationId>,
}

impl ImportTarget {
    /// The organization with this primary host. It may be created by the import.
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.trim().to_lowercase(), id: None }
    }

    /// Its id.
    pub(super) fn id(&self) -> Option<OrganizationId> {
        self.id
    }

    /// Finds its id.
    pub(super) async fn find(&mut self, ports: &dyn Ports) -> Result<()> {
        self.id = ports.organizations().find_by_host(&self.host).await?;
        Ok(())
    }

    /// An error unless a record belongs to the organization.
    pub(super) fn check(&self, organization: Option<OrganizationId>) -> Result<(), RecordError> {
        if organization.is_some() && organization == self.id { Ok(()) } else { Err(self.refuse()) }
    }

    /// An error unless an imported organization is this one: it has the host now, and had it before if it existed.
    pub(super) async fn check_organization(
        &mut self,
        ports: &dyn Ports,
        imported: &ImportedRecord,
    ) -> Result<(), RecordError> {
        let (before, imported_id) = (self.id, OrganizationId::parse(&imported.id));
        self.find(ports).await?;
        let is_this = self.id.is_some() && self.id == imported_id;
        let is_same = before == self.id || imported.outcome == RecordOutcome::Created;
        if is_this && is_same { Ok(()) } else { Err(self.refuse()) }
    }

    fn refuse(&self) -> RecordError {
        format!("does not belong to {}: --into accepts no other records", self.host).into()
    }
}
