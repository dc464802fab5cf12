//! The deployment's secret keys: set by the operator, or generated and stored in the data directory.

use crate::config::{Config, SecretKey};
use civitas_tokens::SecretKeys;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The configured keys, else those of the data directory, else a new one that is stored there (mode 0600).
///
/// # Errors
/// When the file cannot be read or created, or has no key.
pub fn of(config: &Config) -> io::Result<SecretKeys> {
    if let Some(keys) = SecretKeys::of(config.secret_key.iter().map(|key| key.0)) {
        return Ok(keys);
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

/// The keys of a file, one a line; the first one signs and encrypts.
///
/// # Errors
/// When the file cannot be read, or a line has no key.
pub fn read(path: &Path) -> io::Result<SecretKeys> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Option<Vec<SecretKey>> = lines.map(|line| line.parse().ok()).collect();
    let keys = keys.and_then(|keys| SecretKeys::of(keys.into_iter().map(|key| key.0)));
    keys.ok_or_else(|| {
        io::Error::new(ErrorKind::InvalidData, "it does not hold 32 bytes in base64, one key a line")
    })
}

/// A new key.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random() -> io::Result<SecretKey> {
    let mut key = SecretKey([0; civitas_tokens::SECRET_BYTES]);
    SystemRandom::new().fill(&mut key.0).map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(key)
}

/// Writes a new first key before those of the file (mode 0600). The file is replaced in one step.
///
/// # Errors
/// When the file cannot be read or replaced, or a line has no key.
pub fn rotate(path: &Path) -> io::Result<SecretKeys> {
    let old = read(path)?;
    let secrets = std::iter::once(random()?.0).chain(old.iter().copied());
    let keys = SecretKeys::of(secrets).unwrap_or(old);
    let draft = write_draft(path, &keys)?;
    fs::rename(&draft, path)?;
    if let Some(directory) = path.parent() {
        // The rename itself must survive a power cut.
        File::open(directory)?.sync_all()?;
    }
    Ok(keys)
}

/// Creates a directory that only its owner can enter, and its parents.
///
/// # Errors
/// When it cannot be created.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a new key under another name first, so that it is never read incomplete; an existing key is not replaced.
fn generate(path: &Path) -> io::Result<()> {
    let draft = write_draft(path, &SecretKeys::one(random()?.0))?;
    let kept = match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    };
    fs::remove_file(&draft)?;
    kept
}

/// Writes keys to a file of another name in the same directory.
fn write_draft(path: &Path, keys: &SecretKeys) -> io::Result<PathBuf> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    for key in keys.iter() {
        writeln!(file, "{}", SecretKey(*key).encoded())?;
    }
    file.sync_all()?;
    Ok(draft)
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
    fn a_rotated_key_stands_before_the_old_ones_and_only_its_owner_can_read_it() {
        let place = tempfile::tempdir().unwrap();
        let config = config_in(place.path());
        let first = of(&config).unwrap();
        let second = rotate(&path(&config)).unwrap();
        assert_eq!((second.count(), second.iter().nth(1)), (2, Some(first.first())));
        assert_ne!(second.first(), first.first());
        assert_eq!(of(&config).unwrap(), second);
        assert_eq!(rotate(&path(&config)).unwrap().count(), 3);
        assert_eq!(fs::metadata(path(&config)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else is left there");
        fs::write(path(&config), "not a key").unwrap();
        assert_eq!(rotate(&path(&config)).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(fs::read_to_string(path(&config)).unwrap(), "not a key");
    }

    #[test]
    fn a_spoiled_key_stops_the_start_instead_of_being_replaced() {
        let place = tempfile::tempdir().unwrap();
        let config = config_in(place.path());
        fs::write(path(&config), "not a key").unwrap();
        assert_eq!(of(&config).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
