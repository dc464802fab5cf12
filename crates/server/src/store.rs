//! The database: which engine, from its address.

use crate::config::Config;
use crate::secret_key::create_private_directory;
use civitas_application::Store;
use civitas_kernel::{Error, Result};
use civitas_storage_postgres as postgres;
use civitas_storage_sqlite as sqlite;
use std::fmt::Display;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for a connection before it is told to come back later; longer in builds that are not
/// optimized, where everything takes its time.
const WAIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 2 });

/// Where the data is. Nothing is opened until it is asked for.
#[derive(Debug, Clone)]
pub enum Database {
    /// One file on this machine.
    Sqlite(sqlite::Settings),
    /// A server.
    Postgres(postgres::Settings),
}

/// How the schema of a database stands to what this build needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    /// It is what this build needs.
    Current,
    /// These migrations, by name, are missing.
    Older(Vec<String>),
    /// These were applied by a newer build.
    Newer(Vec<String>),
}

impl Database {
    /// The database the configuration names.
    pub fn of(config: &Config) -> Self {
        let (url, locales) = (config.database_url.clone(), config.locales.clone());
        let pool_size = config.database_pool_size.get();
        if config.is_sqlite() {
            Self::Sqlite(sqlite::Settings { url, pool_size, wait: WAIT, locales })
        } else {
            Self::Postgres(postgres::Settings { url, pool_size, wait: WAIT, locales })
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer.
    pub async fn open(&self) -> Result<Arc<dyn Store>> {
        match self {
            Self::Sqlite(settings) => sqlite::open(settings).await,
            Self::Postgres(settings) => postgres::open(settings).await,
        }
    }

    /// Applies the migrations that are missing, and says which. Makes the SQLite file when there is none.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer, `Internal` when a migration fails.
    pub async fn migrate(&self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(settings) => {
                if let Some(directory) =
                    self.file().and_then(Path::parent).filter(|d| !d.as_os_str().is_empty())
                {
                    create_private_directory(directory).map_err(Error::internal)?;
                }
                sqlite::migrate(settings).await
            }
            Self::Postgres(settings) => postgres::migrate(settings).await,
        }
    }

    /// How its schema stands. Makes nothing.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer.
    pub async fn schema(&self) -> Result<Schema> {
        Ok(match self {
            Self::Sqlite(_) if !self.exists() => {
                Schema::Older(vec!["all of them: there is no database yet".to_owned()])
            }
            Self::Sqlite(settings) => match sqlite::schema(settings).await? {
                sqlite::SchemaState::Current => Schema::Current,
                sqlite::SchemaState::Older(names) => Schema::Older(names),
                sqlite::SchemaState::Newer(versions) => Schema::Newer(versions),
            },
            Self::Postgres(settings) => match postgres::schema(settings).await? {
                postgres::SchemaState::Current => Schema::Current,
                postgres::SchemaState::Older(names) => Schema::Older(names),
                postgres::SchemaState::Newer(versions) => Schema::Newer(versions),
            },
        })
    }

    /// The file of an SQLite database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(settings) => settings.url.strip_prefix("sqlite://").map(Path::new),
            Self::Postgres(_) => None,
        }
    }

    /// Takes the only place among the servers of an SQLite database; `None` for a server of PostgreSQL, which has domain crate
    /// for many. The place is free again when the lock is dropped or its process ends, however it ends.
    ///
    /// # Errors
    /// `Internal` with a sentence for the operator when another server has it, or the lock file cannot be made.
    pub fn lock(&self) -> Result<Option<Lock>> {
        self.file().map(Lock::take).transpose()
    }

    /// Whether there may be something to open; of a server nobody knows before it answers.
    fn exists(&self) -> bool {
        self.file().is_none_or(Path::exists)
    }
}

/// The only place among the servers of an SQLite database: an advisory lock on a file beside it.
#[derive(Debug)]
pub struct Lock {
    /// Open as long as the lock is held.
    _file: File,
}

impl Lock {
    fn take(database: &Path) -> Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let path = Path::new(&path);
        let failed = |error: &dyn Display| Error::internal(format!("{}: {error}", path.display()));
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let mut file = open.map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                // It is there for the message alone.
                let _ = file.read_to_string(&mut process);
                return Err(Error::internal(format!(
                    "another civitas (process {}) serves {}: stop it first, or use PostgreSQL for several servers",
                    process.trim(),
                    database.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = written {
            tracing::warn!(path = %path.display(), %error, "the lock file does not name this process");
        }
        Ok(Self { _file: file })
    }
}

impl Schema {
    /// Why a server cannot work with it, and what to do; `None` when it can.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Current => None,
            Self::Older(names) => {
                Some(format!("the database lacks migrations ({}): run `civitas migrate`", names.join(", ")))
            }
            Self::Newer(versions) => Some(format!(
                "the database was migrated by a newer civitas ({}): install that version, or restore a backup",
                versions.join(", ")
            )),
        }
    }
}
