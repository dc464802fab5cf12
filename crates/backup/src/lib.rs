//! Backups of a deployment: the database, the files of attachments, and the secret key if the backup is encrypted.
//!
//! [`Backup`] makes one while the server runs, and restores its database into a temporary one before it is complete.
//! [`Restore`] checks a backup, or restores it. [`Retention`] removes old ones.
//!
//! A target has these objects:
//!
//! - `backups/NAME/PART`: the parts of a backup. `NAME` begins with the time at which it was begun.
//! - `backups/NAME/files.list.gz`: the objects of `files/` that belong to the backup.
//! - `backups/NAME/manifest.json`: written last; a backup without it is incomplete.
//! - `files/GROUP/..`: the files of attachments, each stored once for all backups with the same recipients.
//!
//! The ports are [`DatabaseCopies`], [`Sealing`], [`Opening`] and [`Listing`]; the files of attachments and the target
//! are a `FileStore` of `civitas-attachments`. The format, and why: `docs/decisions/0039-backups.md`.

mod contents;
mod files;
mod making;
mod manifest;
mod parts;
mod ports;
mod restoring;
mod retention;
mod schedule;
#[cfg(test)]
mod tests;

pub use contents::{Contents, Table};
pub use files::{CopiedFiles, RestoredFiles};
pub use making::{Backup, Made, Source, Step};
pub use manifest::{Engine, FilesOf, Manifest, Name, Part};
pub use ports::{DatabaseCopies, DatabaseCopy, Guard, Listed, Listing, Opening, Plain, Sealing, Target};
pub use restoring::{Checked, Restore};
pub use retention::{Removed, Retention};
pub use schedule::{Schedule, TimeOfDay};
