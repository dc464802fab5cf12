//! The deployment's secret key: set by the operator, or generated once and stored in the data directory.

use crate::config::{Config, SecretKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The configured key, else the one of the data directory, else a new one that is stored there (mode 0600).
///
/// # Errors
/// When the file cannot be read or created, or has no key.
pub fn of(config: &Config) -> io::Result<SecretKey> {
    if let Some(key) = &config.secret_key {
        return Ok(key.clone());
    }
    let path = path(config);
    match read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_private_directory(&config.data_dir)?;
            generate(&path)?;
            // Another process may have been first: all read the same key.
            read(&path)
        }
        outcome => outcome,
    }
}

/// The file of the generated key.
pub fn path(config: &Config) -> PathBuf {
    config.data_dir.join("secret_key")
}

/// The key of a file.
///
/// # Errors
/// When the file cannot be read, or has no key.
pub fn read(path: &Path) -> io::Result<SecretKey> {
    let text = fs::read_to_string(path)?;
    text.trim()
        .parse()
        .map_err(|()| io::Error::new(ErrorKind::InvalidData, "it does not hold 32 bytes in base64"))
}

/// Creates a directory that only its owner can enter, and its parents.
///
/// # Errors
/// When it cannot be created.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes the key under another name first, so that it is never read incomplete; an existing key is not replaced.
fn generate(path: &Path) -> io::Result<()> {
    let mut key = SecretKey([0; civitas_tokens::SECRET_BYTES]);
    SystemRandom::new().fill(&mut key.0).map_err(|_| io::Error::other("the system gives no random bytes"))?;
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{}", key.encoded())?;
    file.sync_all()?;
    let kept = match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    };
    fs::remove_file(&draft)?;
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;
    use std::os::unix::fs::PermissionsExt;

    fn config_in(directory: &Path) -> Config {
        let data_dir = ("data_dir".to_owned(), directory.display().to_string());
        Config::load(&Sources { flags: vec![data_dir], ..Sources::default() }).unwrap()
    }

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let place = tempfile::tempdir().unwrap();
        let config = config_in(&place.path().join("new"));
        let first = of(&config).unwrap();
        assert_eq!(of(&config).unwrap(), first);
        assert_eq!(fs::metadata(path(&config)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&config.data_dir).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(&config.data_dir).unwrap().count(), 1, "nothing else is left there");
    }

    #[test]
    fn of_many_processes_that_begin_at_once_all_get_the_same_key() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("secret_key");
        generate(&path).unwrap();
        let first = read(&path).unwrap();
        generate(&path).unwrap();
        assert_eq!(read(&path).unwrap(), first);
    }

    #[test]
    fn a_spoiled_key_stops_the_start_instead_of_being_replaced() {
        let place = tempfile::tempdir().unwrap();
        let config = config_in(place.path());
        fs::write(path(&config), "not a key").unwrap();
        assert_eq!(of(&config).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
