//! Opens the store of files that the configuration names.

use crate::config::Config;
use crate::paths;
use civitas_files::{DirectoryIntake, FileStorage};
use civitas_kernel::{Error, Result};
use url::Url;

/// The directory for files that are being received, in the data directory.
const INCOMING: &str = "incoming";

/// The store at this address. `settings` are the variables of object storage (`AWS_*`).
///
/// # Errors
/// `Internal` for an invalid address, `Unavailable` when the directory cannot be created.
pub fn open_store_at(url: &str, settings: &[(String, String)]) -> Result<FileStorage> {
    let invalid = |cause: &str| Error::internal(format!("files_url is invalid: {cause}"));
    let settings = settings.iter().cloned();
    let Some(path) = url.strip_prefix("file://") else { return FileStorage::open(url, settings) };
    // The default is relative to the working directory.
    let path = std::path::absolute(path).map_err(|error| invalid(&error.to_string()))?;
    let url = Url::from_file_path(&path).map_err(|()| invalid("no path"))?;
    FileStorage::open(url.as_str(), settings).map_err(|error| paths::adapter_error_with_path(&path, error))
}

/// The store of files of the configuration.
pub fn open_file_store(config: &Config) -> Result<FileStorage> {
    open_store_at(&config.files_url, &config.object_storage)
}

/// Receives and inspects files in the data directory.
pub fn open_intake(config: &Config) -> Result<DirectoryIntake> {
    let incoming = config.data_dir.join(INCOMING);
    DirectoryIntake::open(&incoming).map_err(|error| paths::adapter_error_with_path(&incoming, error))
}
