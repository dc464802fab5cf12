//! Opens the store of files that the configuration names.

use crate::config::Config;
use crate::paths;
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
    let settings = settings.iter().cloned();
    let Some(path) = url.strip_prefix("file://") else { return Store::open(url, settings) };
    // The default is relative to the working directory.
    let path = std::path::absolute(path).map_err(|error| invalid(&error.to_string()))?;
    let url = Url::from_file_path(&path).map_err(|()| invalid("no path"))?;
    Store::open(url.as_str(), settings).map_err(|error| paths::of_adapter(&path, error))
}

/// The store of files of the configuration.
pub fn store_of(config: &Config) -> Result<Store> {
    store_at(&config.files_url, &config.object_storage)
}

/// Receives and inspects files in the data directory.
pub fn intake_of(config: &Config) -> Result<Intake> {
    let incoming = config.data_dir.join(INCOMING);
    Intake::open(&incoming).map_err(|error| paths::of_adapter(&incoming, error))
}
