//! Ports: what this crate needs from outside.

use crate::ExtendedDataOwner;
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, ReadContext, Result};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// The extended data of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredExtendedData {
    /// All of it. An organization's holds `unconfirmed_host` while a change of its host is pending.
    pub data: Map<String, Value>,
    /// When its record was last changed.
    pub updated_at: OffsetDateTime,
}

/// Stores extended data with its record.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ExtendedDataStore: Send + Sync {
    /// The data of a visible record; a deleted account is not visible.
    async fn find(
        &self,
        read_context: ReadContext,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>>;
    /// The data of a visible record, locked against other writers until the transaction ends. `Internal` outside a
    /// transaction.
    async fn find_for_update(
        &self,
        read_context: ReadContext,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>>;
    /// The data of a record, visible or not; a deleted one is not found. For administrators.
    async fn find_unrestricted(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>>;
    /// The data of any record, locked against other writers until the transaction ends. `Internal` outside a
    /// transaction.
    async fn find_unrestricted_for_update(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
    ) -> Result<Option<StoredExtendedData>>;
    /// Stores a new state; its `updated_at` is the time of change of the record. `unconfirmed_host` can only be removed
    /// from an organization's data, which cancels the change of its host. `NotFound` when the record does not exist.
    /// Records the event of the owner ([`ExtendedDataOwner::event`]).
    async fn save(
        &self,
        organization: OrganizationId,
        owner: ExtendedDataOwner,
        data: &StoredExtendedData,
    ) -> Result<()>;
}
