//! The deployment's secret keys: set by the operator, or generated and stored in the data directory.

use crate::config::{Config, SecretKey};
use crate::paths;
use civitas_tokens::SecretKeys;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The configured keys, else those of the data directory, else a new one that is stored there (mode 0600).
///
/// # Errors
/// When the file cannot be read or created, or has no key.
pub fn load(config: &Config) -> io::Result<SecretKeys> {
    if let Some(keys) = SecretKeys::new(config.secret_key.iter().map(|key| key.0)) {
        return Ok(keys);
    }
    let path = path(config);
    match read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_private_directory(&config.data_dir)?;
            generate(&path).map_err(|error| paths::with_path(&path, error))?;
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
/// When the file cannot be read, or a line has no key; with the path.
pub fn read(path: &Path) -> io::Result<SecretKeys> {
    let bytes = paths::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Option<Vec<SecretKey>> = lines.map(|line| line.parse().ok()).collect();
    let keys = keys.and_then(|keys| SecretKeys::new(keys.into_iter().map(|key| key.0)));
    keys.ok_or_else(|| {
        let text = "it does not hold 32 bytes in base64, one key a line";
        paths::with_path(path, io::Error::new(ErrorKind::InvalidData, text))
    })
}

/// A new key.
pub fn random() -> io::Result<SecretKey> {
    let mut key = SecretKey([0; civitas_tokens::SECRET_BYTES]);
    SystemRandom::new().fill(&mut key.0).map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(key)
}

/// Writes a new first key before those of the file (mode 0600). The file, also behind a link, is replaced in one step.
///
/// # Errors
/// When the file cannot be read or replaced, or a line has no key; with the path.
pub fn rotate(path: &Path) -> io::Result<SecretKeys> {
    let old = read(path)?;
    let secrets = std::iter::once(random()?.0).chain(old.iter().copied());
    let keys = SecretKeys::new(secrets).unwrap_or(old);
    let path = paths::follow_links(path);
    let replaced = write_draft(&path, &keys).and_then(|draft| {
        draft.persist(&path)?;
        // The rename itself must survive a power cut.
        File::open(paths::directory_of(&path))?.sync_all()
    });
    replaced.map(|()| keys).map_err(|error| paths::with_path(&path, error))
}

/// Creates a directory that only its owner can enter, and its parents.
///
/// # Errors
/// When it cannot be created; with the path.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| paths::with_path(path, error))
}

/// Writes a new key under another name first, so that it is never read incomplete; an existing key is not replaced.
fn generate(path: &Path) -> io::Result<()> {
    match write_draft(path, &SecretKeys::single(random()?.0))?.persist_noclobber(path) {
        Err(kept) if kept.error.kind() == ErrorKind::AlreadyExists => Ok(()),
        outcome => Ok(outcome.map(drop)?),
    }
}

/// Writes keys to a file of another name in the same directory (mode 0600).
fn write_draft(path: &Path, keys: &SecretKeys) -> io::Result<NamedTempFile> {
    let mut draft = NamedTempFile::new_in(paths::directory_of(path))?;
    for key in keys.iter() {
        writeln!(draft, "{}", SecretKey(*key).encoded())?;
    }
    draft.as_file().sync_all()?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SettingSources;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn config_in(directory: &Path) -> Config {
        let data_dir = ("data_dir".to_owned(), directory.display().to_string());
        Config::load(&SettingSources { flags: vec![data_dir], ..SettingSources::default() }).unwrap()
    }

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let config = config_in(&directory.path().join("new"));
        let first = load(&config).unwrap();
        assert_eq!(load(&config).unwrap(), first);
        assert_eq!(fs::metadata(path(&config)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&config.data_dir).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(&config.data_dir).unwrap().count(), 1, "nothing else is left there");
    }

    #[test]
    fn of_many_processes_that_begin_at_once_all_get_the_same_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret_key");
        generate(&path).unwrap();
        let first = read(&path).unwrap();
        generate(&path).unwrap();
        assert_eq!(read(&path).unwrap(), first);
    }

    #[test]
    fn a_rotated_key_stands_before_the_old_ones_and_only_its_owner_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let config = config_in(directory.path());
        let first = load(&config).unwrap();
        let second = rotate(&path(&config)).unwrap();
        assert_eq!((second.count(), second.iter().nth(1)), (2, Some(first.first())));
        assert_ne!(second.first(), first.first());
        assert_eq!(load(&config).unwrap(), second);
        assert_eq!(rotate(&path(&config)).unwrap().count(), 3);
        assert_eq!(fs::metadata(path(&config)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left there");
        fs::write(path(&config), "not a key").unwrap();
        assert_eq!(rotate(&path(&config)).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(fs::read_to_string(path(&config)).unwrap(), "not a key");
    }

    #[test]
    fn the_file_behind_a_link_is_rotated_and_the_link_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (config, elsewhere) =
            (config_in(&directory.path().join("data")), directory.path().join("secret"));
        let first = load(&config).unwrap();
        fs::rename(path(&config), &elsewhere).unwrap();
        std::os::unix::fs::symlink("../secret", path(&config)).unwrap();
        rotate(&path(&config)).unwrap();
        assert_eq!(fs::read_link(path(&config)).unwrap(), Path::new("../secret"));
        assert_eq!(read(&elsewhere).unwrap().iter().nth(1), Some(first.first()));
    }

    #[test]
    fn an_error_has_the_path_and_what_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let config = config_in(directory.path());
        let path = path(&config);
        let key = random().unwrap().encoded();
        fs::write(&path, format!("\u{feff}{key}")).unwrap();
        let expected = "it begins with a byte order mark: save it as UTF-8 without one";
        assert_eq!(load(&config).unwrap_err().to_string(), format!("{}: {expected}", path.display()));
        let within = config_in(&path);
        let refused = load(&within).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{}: ", super::path(&within).display())), "{refused}");
    }

    #[test]
    fn a_spoiled_key_stops_the_start_instead_of_being_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let config = config_in(directory.path());
        fs::write(path(&config), "not a key").unwrap();
        assert_eq!(load(&config).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
