//! What the rows of a record type belong to: an organization, or the deployment.

use super::error::RecordError;
use super::record::ArchiveRecord;
use civitas_kernel::OrganizationId;

/// What rows of a record type belong to.
pub(super) trait RecordOwner: Copy + Send + Sync {
    /// Whether a record has the member `organization`.
    const IS_IN_RECORD: bool = true;

    /// The owner of an imported record; an error if the record must, or must not, have an organization.
    fn from_record(record: &ArchiveRecord) -> Result<Self, RecordError>;

    /// The owner of the rows to export for an organization, or for none; `None` if there are no such rows.
    fn for_export(organization: Option<OrganizationId>) -> Option<Self>;
}

/// Each row belongs to an organization.
impl RecordOwner for OrganizationId {
    fn from_record(record: &ArchiveRecord) -> Result<Self, RecordError> {
        record.organization.ok_or_else(|| "organization is required".into())
    }

    fn for_export(organization: Option<OrganizationId>) -> Option<Self> {
        organization
    }
}

/// A row may belong to an organization or to the deployment.
impl RecordOwner for Option<OrganizationId> {
    fn from_record(record: &ArchiveRecord) -> Result<Self, RecordError> {
        Ok(record.organization)
    }

    fn for_export(organization: Option<OrganizationId>) -> Option<Self> {
        Some(organization)
    }
}

/// A record has no organization. In an export: the organization that is exported, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoOrganization(pub(super) Option<OrganizationId>);

impl RecordOwner for NoOrganization {
    const IS_IN_RECORD: bool = false;

    fn from_record(record: &ArchiveRecord) -> Result<Self, RecordError> {
        match record.organization {
            None => Ok(Self(None)),
            Some(_) => Err("belongs to no organization".into()),
        }
    }

    fn for_export(organization: Option<OrganizationId>) -> Option<Self> {
        Some(Self(organization))
    }
}
