//! The archive: a deployment, or one organization of it, as newline-delimited JSON (contract 10).
//!
//! One record a line; parents stand before children; records point at each other by `ref`, a name the author of
//! the file chose. The same format carries demo data, tests, the backup of a tenant and the move from one
//! database engine to another.
//!
//! To add a type of record: write one file in `types/` (its record struct, how it is kept, how it is exported) and
//! one line in the table of `types/mod.rs`, behind the types it points at.
//!
//! ```
//! let first = civitas_application::archive::demo().lines().next().unwrap_or_default();
//! assert!(first.starts_with(r#"{"type": "system_admin""#));
//! ```

mod export;
mod failure;
mod import;
mod lines;
mod members;
mod record;
mod refs;
mod report;
mod types;

pub use export::{ExportError, ExportOptions, export};
pub use failure::{ImportError, LineError};
pub use import::{ImportOptions, Progress, import};
pub use report::Report;

/// The archive `civitas demo` starts with: one organization on `localhost` (contract 10 §3).
pub fn demo() -> &'static str {
    include_str!("demo.ndjson")
}
