//! The archive: a deployment, or one organization of it, as newline-delimited JSON (contract 10).
//!
//! Each line is one record. Parents come before children. Records refer to each other by `ref`, a name chosen by the
//! author of the file. The format is used for demo data, tests, backups of one organization, and the move from one
//! database engine to another. [`export_person`] writes what is kept of one person.
//!
//! To add a record type, see `README.md` of this crate.
//!
//! ```
//! let first = civitas_archive::demo_archive().lines().next().unwrap_or_default();
//! assert!(first.starts_with(r#"{"type": "system_admin""#));
//! ```

mod check;
mod chunk;
mod context;
mod error;
mod export;
mod files;
mod first_record;
mod ids;
mod import;
mod kind;
mod lines;
mod members;
mod output;
mod owner;
mod passwords;
mod person;
mod person_export;
mod prepared;
mod progress;
mod reader;
mod record;
mod refs;
mod report;
mod stored_files;
mod table;
mod target;
mod types;

pub use context::{ExportServices, ImportOptions, WebhookArchive};
pub use error::{ExportError, ImportError, LineError};
pub use export::{ExportOptions, export};
pub use files::FileServices;
pub use import::{import, import_seekable};
pub use person_export::export_person;
pub use progress::{ImportPass, ImportProgress};
pub use report::ImportReport;

/// The archive that `civitas demo` imports: one organization on `localhost` (contract 10 §3).
pub fn demo_archive() -> &'static str {
    include_str!("demo.ndjson")
}
