//! Ports: what this crate needs from outside.

use crate::Owner;
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, ReadContext, Result};
use serde_json::{Map, Value};
use time::OffsetDateTime;

/// The extended data of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredData {
    /// All of it. An organization's holds `unconfirmed_host` while a change of its host is pending.
    pub data: Map<String, Value>,
    /// When its record was last changed.
    pub updated_at: OffsetDateTime,
}

/// Where extended data is kept: beside its record.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ExtendedDataStore: Send + Sync {
    /// That of a record which is visible here; a deleted account is not.
    async fn find(&self, read_context: ReadContext, owner: Owner) -> Result<Option<StoredData>>;
    /// The same, locked against other writers until the transaction ends. `Internal` outside a transaction.
    async fn find_for_update(&self, read_context: ReadContext, owner: Owner) -> Result<Option<StoredData>>;
    /// Stores a new state. The record was last changed at its `updated_at`. `unconfirmed_host` can only be taken away
    /// from an organization's, which cancels the change of its host. `NotFound` when the record is gone. Records the
    /// event of the owner ([`Owner::event`]).
    async fn save(&self, organization: OrganizationId, owner: Owner, data: &StoredData) -> Result<()>;
}
