//! The types of records, one file each.

mod api_client;
mod component;
mod entry;
mod meeting;
mod organization;
mod password;
mod proposal;
mod proposal_state;
mod role;
mod space;
mod step;
mod system_admin;
mod user;
mod vote;

use super::export::{ExportError, Sink};
use super::failure::Fault;
use super::import::{Import, Put};
use super::record::Record;
use crate::Ports;
use async_trait::async_trait;
use civitas_kernel::OrganizationId;
use civitas_spaces::EntryKind;

/// The type all others belong to.
pub(super) const ORGANIZATION: &str = "organization";

/// Every type, parents before children: the order in which they are exported.
pub(super) const TYPES: &[&dyn RecordType] = &[
    &system_admin::SystemAdmins,
    &organization::Organizations,
    &user::Users,
    &api_client::ApiClients,
    &space::Spaces,
    &step::Steps,
    &role::Roles,
    &component::Components,
    &proposal_state::ProposalStates,
    &proposal::Proposals,
    &vote::Votes,
    &meeting::Meetings,
    &entry::Entries(EntryKind::Page),
    &entry::Entries(EntryKind::Budget),
    &entry::Entries(EntryKind::Result),
    &entry::Entries(EntryKind::Debate),
];

/// One type of record.
#[async_trait]
pub(super) trait RecordType: Sync {
    /// Its `type`.
    fn name(&self) -> &'static str;

    /// Keeps a record: adds a row, changes the one it stands for, or finds that there is nothing to change.
    async fn put(&self, import: &mut Import<'_>, record: Record) -> Result<Put, Fault>;

    /// Writes the rows of an organization.
    async fn export(
        &self,
        ports: &dyn Ports,
        organization: OrganizationId,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExportError>;

    /// Writes the rows that belong to no organization.
    async fn export_deployment_wide(&self, _: &dyn Ports, _: &mut Sink<'_>) -> Result<(), ExportError> {
        Ok(())
    }
}

/// The type of that name.
pub(super) fn find(name: &str) -> Option<&'static dyn RecordType> {
    TYPES.iter().copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_name() {
        for kind in TYPES {
            assert_eq!(find(kind.name()).map(RecordType::name), Some(kind.name()));
        }
        assert!(find("access_token").is_none(), "tokens arise from use only");
    }
}
