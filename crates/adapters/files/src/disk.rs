//! Work with files, off the threads of the runtime.

use civitas_kernel::{Error, Result};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// A read or write failed: the disk is full, read-only or broken.
pub(crate) fn disk_error(cause: io::Error) -> Error {
    Error::Unavailable(cause.into())
}

/// Creates a directory with its parents where they are absent, for its owner only (mode 0700).
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
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
