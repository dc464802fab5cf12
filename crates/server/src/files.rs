//! Opens the store of files that the configuration names.

use crate::config::Config;
use civitas_attachments::{FileIntake, FileStore};
use civitas_files::{Intake, Store};
use civitas_kernel::{Error, Result};
use std::sync::Arc;
use url::Url;

/// The directory for files that are being received, in the data directory.
const INCOMING: &str = "incoming";

/// The store at this address, with the settings of object storage of the environment.
///
/// # Errors
/// `Internal` for an invalid address, `Unavailable` when the directory cannot be created.
pub fn store_at(url: &str) -> Result<Store> {
    let invalid = |cause: &str| Error::internal(format!("files_url is invalid: {cause}"));
    let url = match url.strip_prefix("file://") {
        // The default is relative to the working directory.
        Some(path) => {
            let path = std::path::absolute(path).map_err(|error| invalid(&error.to_string()))?;
            Url::from_file_path(path).map_err(|()| invalid("no path"))?.to_string()
        }
        None => url.to_owned(),
    };
    Store::open(&url, std::env::vars())
}

/// The store of files, and what receives them.
pub(crate) type Services = (Arc<dyn FileStore>, Arc<dyn FileIntake>);

/// Opens both.
///
/// # Errors
/// As [`store_at`].
pub(crate) fn of(config: &Config) -> Result<Services> {
    let store = store_at(&config.files_url)?;
    Ok((Arc::new(store), Arc::new(Intake::open(config.data_dir.join(INCOMING))?)))
}
