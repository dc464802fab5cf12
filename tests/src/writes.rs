//! Writes without use cases.

use civitas_application::{EventCommitter, Store, Transaction, remove_organization};
pub use civitas_kernel::records::conformance::replace;
use civitas_kernel::{OrganizationId, Result};
use time::OffsetDateTime;

/// Does work in one transaction and commits it. Its events are discarded.
///
/// # Errors
/// Those of the work and of the commit.
pub async fn commit<T>(
    store: &dyn Store,
    work: impl AsyncFnOnce(&dyn Transaction) -> Result<T>,
) -> Result<T> {
    let transaction = store.begin().await?;
    let done = work(&*transaction).await?;
    transaction.commit().await?;
    Ok(done)
}

/// Deletes an organization in a transaction of its own.
///
/// # Errors
/// `NotFound`.
pub async fn delete_organization(
    store: &dyn Store,
    committer: &EventCommitter,
    id: OrganizationId,
    now: OffsetDateTime,
) -> Result<()> {
    committer.in_transaction(store, now, async |tx| remove_organization(tx, committer, id, now).await).await
}
