//! The port: the store of the audit trail.

use crate::{Action, ActorKind, AuditEntry, ChainHead, NewAuditEntry};
use async_trait::async_trait;
use civitas_kernel::{OrganizationId, Page, PageRequest, Result, UserId};
use time::OffsetDateTime;

/// A search by text looks at this many of the newest entries that satisfy the other conditions. No index serves a
/// search inside texts, so that the number of rows it reads must be limited.
pub const MAX_SEARCHED_ENTRIES: i64 = 10_000;

/// Whose entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditScope {
    /// Those of all organizations and of the deployment.
    #[default]
    All,
    /// Those of the deployment alone.
    Deployment,
    /// Those of this organization.
    Organization(OrganizationId),
}

/// A condition on the list of entries. All members must be satisfied; `None` is always satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Whose entries.
    pub scope: AuditScope,
    /// What was done.
    pub action: Option<Action>,
    /// The kind of the actor.
    pub actor: Option<ActorKind>,
    /// Kind and id of the record that was acted on.
    pub object: Option<(String, String)>,
    /// A part of the name of the actor, of the nickname of its user, or of the label of the object, in any case. Searches
    /// the newest [`MAX_SEARCHED_ENTRIES`] entries that satisfy the other conditions.
    pub text: Option<String>,
    /// At this time or later.
    pub since: Option<OffsetDateTime>,
    /// Before this time.
    pub until: Option<OffsetDateTime>,
}

/// An entry as the verification reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAuditEntry {
    /// Its number.
    pub number: i64,
    /// The entry; `None` when the row has content that no entry can have.
    pub entry: Option<AuditEntry>,
}

/// Stores the audit trail: a chain of entries for each organization, and one for the deployment (`None`). Entries
/// outlive their organization.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Appends an entry to the chain of its organization. Locks the head of the chain until the transaction ends, so
    /// that numbers have no gaps: append as late in the transaction as possible.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn append(&self, entry: &NewAuditEntry, now: OffsetDateTime) -> Result<AuditEntry>;

    /// Appends an entry unless its organization has one with the same actor, action and object since this time; whether it
    /// was appended. Exact under concurrency. Locks the head of the chain only to append.
    ///
    /// # Errors
    /// `Internal` outside a transaction.
    async fn append_unless_since(
        &self,
        entry: &NewAuditEntry,
        since: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<bool>;

    /// Entries, the newest first. Rows that cannot be read are left out, and logged: the verification finds them.
    async fn list(&self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>>;

    /// The entries of a chain after this number, in ascending order, at most `limit`.
    async fn page_after(
        &self,
        organization: Option<OrganizationId>,
        number: i64,
        limit: i64,
    ) -> Result<Vec<StoredAuditEntry>>;

    /// Erases the details of entries about this user, and of those of acts for this user, at most `limit` of each.
    /// Returns how many were erased. Entries without a digest of their details stay as they are.
    async fn erase_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64>;

    /// The head of a chain; `None` when it has never had an entry.
    async fn head(&self, organization: Option<OrganizationId>) -> Result<Option<ChainHead>>;

    /// The organizations with a head or with entries after this id, in ascending order, at most `limit`.
    async fn organizations_after(&self, after: OrganizationId, limit: i64) -> Result<Vec<OrganizationId>>;

    /// Removes at most `limit` entries before this time from the beginning of one chain, and keeps number and hash of
    /// the last of them in its head. Returns their number; 0: no chain begins with such an entry.
    async fn remove_before(&self, before: OffsetDateTime, limit: i64) -> Result<u64>;
}
