//! Reads a Decidim database (PostgreSQL) and writes its content as an archive (sheet 13; the archive: contract 10).
//!
//! [`extract`] reads everything twice in one snapshot: the first pass maps all rows and collects codes, the second writes
//! the records. Nothing is written to the source. `schema` names every table and column read; statements are written in
//! the names of Decidim 0.32, whatever the version. Each module of `records` maps one group of tables.

mod codes;
mod error;
mod extract;
mod options;
mod records;
mod report;
mod residue;
mod row;
mod run;
mod schema;
mod settings;
mod source;
mod text;
mod time_zones;
mod version;

pub use codes::is_loss;
pub use error::DecidimError;
pub use extract::{Extraction, extract};
pub use options::{AcceptedLosses, ExtractOptions, SourceFiles};
pub use report::ExtractionReport;
pub use version::Version;

type Result<T = (), E = DecidimError> = std::result::Result<T, E>;
