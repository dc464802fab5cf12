//! A store of files in a temporary directory.

use civitas_application::archive::FileServices;
use civitas_files::{Intake, Store};
use tempfile::TempDir;

/// A store of files in a directory that is deleted with it.
pub struct Files {
    /// Stores the bytes of files.
    pub objects: Store,
    /// Receives and inspects files.
    pub intake: Intake,
    /// The directory of both.
    pub directory: TempDir,
}

impl Files {
    /// An empty store.
    ///
    /// # Panics
    /// When there is no temporary directory.
    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        Self {
            objects: Store::open(&format!("file://{}/files", path.display()), []).expect("a store"),
            intake: Intake::open(path.join("incoming")).expect("a directory"),
            directory,
        }
    }

    /// The same for an import.
    pub fn services(&self) -> FileServices<'_> {
        FileServices { objects: &self.objects, intake: &self.intake, directory: Some(self.directory.path()) }
    }
}
