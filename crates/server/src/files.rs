//! Opens the store of files that the configuration names.

use crate::config::Config;
use civitas_files::{Intake, Store};
use civitas_kernel::{Error, Result};
use url::Url;

/// The directory for files that are being received, in the data directory.
const INCOMING: &str = "incoming";

/// The store at this address. `settings` are the variables of object storage (`AWS_*`).
///
/// # Errors
/// `Internal` for an invalid address, `Unavailable` when the directory cannot be created.
pub fn store_at(url: &str, settings: &[(String, String)]) -> Result<Store> {
    let invalid = |cause: &str| Error::internal(format!("files_url is invalid: {cause}"));
    let url = match url.strip_prefix("file://") {
        // The default is relative to the working directory.
        Some(path) => {
            let path = std::path::absolute(path).map_err(|error| invalid(&error.to_string()))?;
            Url::from_file_path(path).map_err(|()| invalid("no path"))?.to_string()
        }
        None => url.to_owned(),
    };
    Store::open(&url, settings.iter().cloned())
}

/// The store of files of the configuration.
///
/// # Errors
/// As [`store_at`].
pub fn store_of(config: &Config) -> Result<Store> {
    store_at(&config.files_url, &config.object_storage)
}

/// Receives and inspects files in the data directory.
///
/// # Errors
/// `Unavailable` when the directory cannot be created.
pub fn intake_of(config: &Config) -> Result<Intake> {
    Intake::open(config.data_dir.join(INCOMING))
}
