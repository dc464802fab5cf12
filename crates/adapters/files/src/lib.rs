//! Stores files in a directory or in object storage, and inspects their content.
//!
//! [`FileStorage`] implements `FileStore`, [`DirectoryIntake`] implements `FileIntake`.
//!
//! ```
//! use civitas_attachments::{FileContent, FileStore};
//! use std::io::Write;
//!
//! # #[tokio::main]
//! # async fn main() -> civitas_kernel::Result<()> {
//! let directory = tempfile::tempdir().expect("a temporary directory");
//! let store = civitas_files::FileStorage::open(&format!("file://{}", directory.path().display()), [])?;
//! let mut file = tempfile::tempfile().expect("a temporary file");
//! file.write_all(b"hello").expect("space on the disk");
//! store.put("CITY/greeting", FileContent { file, byte_size: 5 }).await?;
//! assert!(store.read("CITY/greeting", 0..5).await?.is_some());
//! # Ok(())
//! # }
//! ```

mod bucket;
mod connector;
mod detect;
mod directory;
mod disk;
mod images;
mod intake;
mod name;
mod store;
#[cfg(test)]
mod tests;

pub use intake::DirectoryIntake;
pub use store::FileStorage;
