//! Selects the database engine by the database URL.

use crate::config::Config;
use crate::paths;
use crate::secret_key::create_private_directory;
use civitas_application::{SchemaState, Store};
use civitas_kernel::{Error, Result};
use civitas_storage_postgres as postgres;
use civitas_storage_sqlite as sqlite;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for a connection before it answers 503; longer in builds without optimization, which are
/// slow.
const WAIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 2 });

/// The address of the database. Connects only when opened.
#[derive(Debug, Clone)]
pub enum Database {
    /// One file on this machine.
    Sqlite(sqlite::DatabaseSettings),
    /// A server.
    Postgres(postgres::DatabaseSettings),
}

impl Database {
    /// The database the configuration names.
    pub fn from_config(config: &Config) -> Self {
        let (url, locales) = (config.database_url.clone(), config.locales.clone());
        let pool_size = config.database_pool_size.get();
        if config.is_sqlite() {
            let limits = sqlite::StatementLimits::default();
            Self::Sqlite(sqlite::DatabaseSettings {
                url,
                pooler_url: None,
                read_url: None,
                pool_size,
                wait: WAIT,
                locales,
                limits,
            })
        } else {
            let limits = postgres::StatementLimits::default();
            let pooler_url = config.database_pooler_url.clone();
            Self::Postgres(postgres::DatabaseSettings {
                url,
                pooler_url,
                read_url: config.database_read_url.clone(),
                pool_size,
                wait: WAIT,
                locales,
                limits,
            })
        }
    }

    /// The same, for commands that may write for long.
    #[must_use]
    pub fn for_long_work(mut self) -> Self {
        match &mut self {
            Self::Sqlite(settings) => settings.limits = settings.limits.for_long_work(),
            Self::Postgres(settings) => settings.limits = settings.limits.for_long_work(),
        }
        self
    }

    /// The same without its replicas, for commands.
    #[must_use]
    pub fn without_replicas(mut self) -> Self {
        if let Self::Postgres(settings) = &mut self {
            settings.read_url = None;
        }
        self
    }

    /// Opens it.
    pub async fn open(&self) -> Result<Arc<dyn Store>> {
        match self {
            Self::Sqlite(settings) => sqlite::open(settings).await.map_err(|error| self.explained(error)),
            Self::Postgres(settings) => postgres::open(settings).await,
        }
    }

    /// Opens it if its schema is the one this build needs; else says why not, and what to do. Creates nothing.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer.
    pub async fn open_current(&self) -> Result<Result<Arc<dyn Store>, String>> {
        let refusal = async { Ok::<_, Error>(self.schema().await?.refusal()) };
        let (refusal, store) = match self {
            Self::Sqlite(_) => match refusal.await? {
                None => (None, self.open().await),
                Some(refusal) => return Ok(Err(refusal)),
            },
            // Each opens a connection, and waits for the server most of the time.
            Self::Postgres(_) => {
                let (refusal, store) = tokio::join!(refusal, self.open());
                match (refusal?, store) {
                    // A migration may have ended meanwhile.
                    (None, Err(_)) => (None, self.open().await),
                    done => done,
                }
            }
        };
        refusal.map_or_else(|| store.map(Ok), |refusal| Ok(Err(refusal)))
    }

    /// Applies the missing migrations and returns their names. Creates the SQLite file if missing.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer, `Internal` when a migration fails.
    pub async fn migrate(&self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(settings) => {
                let directory = self.file().and_then(Path::parent);
                if let Some(directory) = directory.filter(|path| !path.as_os_str().is_empty()) {
                    create_private_directory(directory).map_err(Error::internal)?;
                }
                sqlite::migrate(settings).await.map_err(|error| self.explained(error))
            }
            Self::Postgres(settings) => postgres::migrate(settings).await,
        }
    }

    /// The state of its schema. Creates nothing.
    pub async fn schema(&self) -> Result<SchemaState> {
        if let Some(file) = self.file() {
            let exists = file.try_exists();
            if !exists.map_err(|error| Error::Unavailable(paths::with_path(file, error).into()))? {
                return Ok(SchemaState::Older(vec!["all of them: there is no database yet".to_owned()]));
            }
        }
        match self {
            Self::Sqlite(settings) => sqlite::schema(settings).await.map_err(|error| self.explained(error)),
            Self::Postgres(settings) => postgres::schema(settings).await,
        }
    }

    /// The settings that a use of a connection lacks, one text for each. Empty for SQLite.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer.
    pub async fn missing_settings(&self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(settings) => postgres::missing_settings(settings).await,
        }
    }

    /// The states of its replicas, one text for each.
    ///
    /// # Errors
    /// `Unavailable` when one cannot be used.
    pub async fn replica_states(&self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(_) => Ok(Vec::new()),
            Self::Postgres(settings) => postgres::replica_states(settings).await,
        }
    }

    /// The file of an SQLite database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(settings) => settings.url.strip_prefix("sqlite://").map(Path::new),
            Self::Postgres(_) => None,
        }
    }

    /// Locks an SQLite database for one server; `None` for PostgreSQL, which allows many. The lock is released when it
    /// is dropped or its process ends, however it ends.
    ///
    /// # Errors
    /// `Internal` with a sentence for the operator when another server has the lock, or the lock file cannot be
    /// created.
    pub fn lock(&self) -> Result<Option<DatabaseLock>> {
        self.file().map(DatabaseLock::acquire).transpose()
    }

    /// The error of SQLite with the path and what the system says: SQLite itself says neither.
    fn explained(&self, error: Error) -> Error {
        let (Some(file), Error::Unavailable(cause)) = (self.file(), &error) else { return error };
        let cause = cause.to_string();
        Error::Unavailable(match OpenOptions::new().read(true).write(true).open(file) {
            Err(reason) => paths::with_path(file, reason).into(),
            // It creates files beside it too.
            Ok(_) if cause.contains("unable to open") || cause.contains("readonly") => {
                let owner = paths::owner_text(paths::directory_of(file));
                format!("{}: {cause}{owner}", file.display()).into()
            }
            Ok(_) => format!("{}: {cause}", file.display()).into(),
        })
    }
}

/// The lock of the one server of an SQLite database: an advisory lock on a file in the same directory.
#[derive(Debug)]
pub struct DatabaseLock {
    /// Open as long as the lock is held.
    _file: File,
}

impl DatabaseLock {
    fn acquire(database: &Path) -> Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let path = Path::new(&path);
        let failed = |error| Error::internal(paths::with_path(path, error));
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let mut file = open.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                // The id is only used in the error message.
                let _ = file.read_to_string(&mut process);
                return Err(Error::internal(format!(
                    "another civitas (process {}) serves {}: stop it first, or use PostgreSQL for several servers",
                    process.trim(),
                    database.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = written {
            tracing::warn!(path = %path.display(), %error, "the lock file does not name this process");
        }
        Ok(Self { _file: file })
    }
}
