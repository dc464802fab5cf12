//! Writes without use-cases.

use civitas_application::{Store, Transaction};
use civitas_kernel::Result;
pub use civitas_kernel::records::conformance::replace;

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
