//! Work with files, off the threads of the runtime.

use civitas_kernel::{Error, Result};
use std::io;

/// A read or write failed: the disk is full, read-only or broken.
pub(crate) fn disk_error(cause: io::Error) -> Error {
    Error::Unavailable(cause.into())
}

/// Runs `work` on a thread for blocking work.
///
/// # Errors
/// Those of `work`. `Internal` when it panics.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T>
where
    F: FnOnce() -> Result<T> + Send + 'static,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}
