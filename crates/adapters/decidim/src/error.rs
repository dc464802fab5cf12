//! Errors of an extraction.

use std::io;

/// Why an extraction failed.
#[derive(Debug, thiserror::Error)]
pub enum DecidimError {
    /// The source has stops or losses that are not accepted: one line each (sheet 13 §4).
    #[error("{}", .0.join("\n"))]
    Stopped(Vec<String>),
    /// The database failed.
    #[error("the Decidim database: {}", with_cause(.0))]
    Database(#[from] tokio_postgres::Error),
    /// A value of the database is not JSON.
    #[error("the Decidim database: {0}")]
    Value(#[from] serde_json::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A store of files failed.
    #[error("a store of files: {0}")]
    Files(#[from] civitas_kernel::Error),
}

/// The text of the driver alone has no details.
fn with_cause(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
