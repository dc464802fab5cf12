//! Connects backups with the database, the stores of files and the configuration, and makes them at their times.

use crate::config::Config;
use crate::files::{intake_of, store_at, store_of};
use crate::store::Database;
use crate::{paths, secret_key};
use async_trait::async_trait;
use civitas_application::{Store, metrics};
use civitas_audit::{Action, Actor, Record};
use civitas_backup::{
    Backup, DatabaseCopies, Listed, Listing, Made, Plain, Removed, Retention, Schedule, Sealing, Source,
    Step, Target,
};
use civitas_database_copies::{Access, Age, Postgres, Sqlite};
use civitas_files::{Intake, Store as Objects};
use civitas_kernel::{Error, Result, clock};
use civitas_storage_postgres as postgres;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_postgres::Client;

/// The directory for temporary files, in the data directory.
const WORK: &str = "backup";
/// How often the schedule is looked at.
const INTERVAL: Duration = Duration::from_secs(20);
/// The pause after a backup that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(600);

/// A store of backups.
pub struct Place {
    objects: Objects,
}

impl Listing for Place {
    fn list(&self, prefix: &str) -> BoxStream<'static, Result<Listed>> {
        let listed = self.objects.list(prefix);
        listed.map_ok(|object| Listed { name: object.name, bytes: object.byte_size }).boxed()
    }
}

impl Place {
    /// A directory, or a URL as in `backup_to`.
    ///
    /// # Errors
    /// `Internal` for an invalid address, `Unavailable` when the directory cannot be created.
    pub fn open(config: &Config, to: &str) -> Result<Self> {
        let url = if to.contains("://") { to.to_owned() } else { format!("file://{to}") };
        Ok(Self { objects: store_at(&url, &config.object_storage)? })
    }

    /// As the target of backups.
    pub fn target(&self) -> Target<'_> {
        Target { objects: &self.objects, names: self }
    }
}

/// The directory for temporary files; creates it.
///
/// # Errors
/// `Unavailable` when it cannot be created.
pub fn work(config: &Config) -> Result<PathBuf> {
    let work = config.data_dir.join(WORK);
    secret_key::create_private_directory(&work).map_err(|error| Error::Unavailable(error.into()))?;
    Ok(work)
}

/// Copies and restores the database of the configuration.
///
/// # Errors
/// As [`work`].
pub fn copies(config: &Config) -> Result<Box<dyn DatabaseCopies>> {
    let (database, work) = (Database::of(config), work(config)?);
    Ok(match database {
        Database::Postgres(settings) => Box::new(Postgres { access: Arc::new(Server { settings }), work }),
        Database::Sqlite(_) => {
            // A link to a file on another disk stays one.
            let path = paths::target(database.file().unwrap_or(Path::new("")));
            Box::new(Sqlite { path, work })
        }
    })
}

struct Server {
    settings: postgres::Settings,
}

#[async_trait]
impl Access for Server {
    async fn connect(&self) -> Result<Client> {
        postgres::connect_client(&self.settings).await
    }

    async fn create_tables(&self, schema: Option<&str>, versions: &[String]) -> Result<()> {
        postgres::create_tables(&self.settings, schema.map(str::to_owned), versions.to_vec()).await
    }
}

/// Makes backups of a deployment.
pub struct Backups {
    config: Config,
    store: Arc<dyn Store>,
    place: Place,
    copies: Box<dyn DatabaseCopies>,
    objects: Objects,
    intake: Intake,
    sealing: Box<dyn Sealing>,
    actor: Actor,
}

impl Backups {
    /// Into a store: a directory, or a URL. `command`: who makes them, for the audit trail.
    ///
    /// # Errors
    /// `Internal` for an invalid address, `Unavailable` when a directory cannot be created.
    pub fn new(config: &Config, store: Arc<dyn Store>, to: &str, command: &str) -> Result<Self> {
        let recipients = &config.backup_recipients;
        let sealing: Box<dyn Sealing> = if recipients.is_empty() {
            Box::new(Plain)
        } else {
            Box::new(Age::new(recipients, work(config)?)?)
        };
        Ok(Self {
            store,
            place: Place::open(config, to)?,
            copies: copies(config)?,
            objects: store_of(config)?,
            intake: intake_of(config)?,
            sealing,
            actor: Actor::CommandLine { command: command.to_owned() },
            config: config.clone(),
        })
    }

    /// Makes a backup, writes it into the audit trail, and removes old ones.
    ///
    /// # Errors
    /// Those of [`Backup::run`]. An error while old backups are removed is logged.
    pub async fn make(&self, observe: &(dyn Fn(Step) + Send + Sync)) -> Result<(Made, Removed)> {
        let now = clock::now();
        let backup = Backup {
            source: Source {
                database: &*self.copies,
                registry: self.store.files(),
                files: &self.objects,
                secret_key: self.generated_key(),
            },
            target: self.place.target(),
            sealing: &*self.sealing,
            intake: &self.intake,
            work: work(&self.config)?,
            version: env!("CARGO_PKG_VERSION"),
        };
        let outcome = backup.run(now, observe).await;
        metrics::backup_ended(if outcome.is_ok() { "made" } else { "failed" });
        let (made, _guard) = outcome?;
        metrics::newest_backup(now);
        let record = Record::new(self.actor.clone(), Action::BackupMade);
        self.record(record.changed("backup", None, Some(&made.name.to_string()))).await?;
        let keep = self.config.backup_retention_days.as_days();
        let retention = Retention { target: self.place.target(), intake: &self.intake, keep };
        let removed = retention.run(now).await.unwrap_or_else(|error| {
            tracing::warn!(cause = cause(&error), "old backups could not be removed");
            Removed::default()
        });
        Ok((made, removed))
    }

    async fn record(&self, record: Record) -> Result<()> {
        let tx = self.store.begin().await?;
        tx.audit().append(&record, clock::now()).await?;
        tx.commit().await
    }

    /// The content of the file of the generated key; `None` if the key is configured, or cannot be read: then nothing
    /// works anyway.
    fn generated_key(&self) -> Option<Vec<u8>> {
        if !self.config.secret_key.is_empty() {
            return None;
        }
        fs::read(secret_key::path(&self.config)).ok()
    }
}

/// The error for the log and the operator.
pub fn cause(error: &Error) -> String {
    error.cause().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Makes backups at the times of the configuration.
pub struct ScheduledBackups {
    schedule: Schedule,
    backups: Backups,
}

impl ScheduledBackups {
    /// `None` without times.
    ///
    /// # Errors
    /// As [`Backups::new`].
    pub fn of(config: &Config, store: Arc<dyn Store>) -> Result<Option<Self>> {
        let Some(to) = config.backup_to.as_deref().filter(|_| !config.backup_times.is_empty()) else {
            return Ok(None);
        };
        let backups = Backups::new(config, store, to, "civitas serve")?;
        Ok(Some(Self { schedule: Schedule { times: config.backup_times.clone() }, backups }))
    }

    /// Runs until `stop` is true. A backup that is being made then stays incomplete.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        // The sender is dropped when the server ends.
        tokio::select! { () = self.repeat() => {}, _ = stop.wait_for(|stop| *stop) => {} }
    }

    async fn repeat(&self) {
        let mut newest = None;
        loop {
            if self.schedule.is_due(newest, clock::now()) {
                match self.make_if_due().await {
                    Ok(made) => newest = made,
                    Err(error) => {
                        tracing::error!(cause = cause(&error), "the backup failed");
                        sleep(AFTER_FAILURE).await;
                    }
                }
            }
            sleep(INTERVAL).await;
        }
    }

    /// Makes a backup unless another process made it. Returns when the newest one was begun.
    async fn make_if_due(&self) -> Result<Option<OffsetDateTime>> {
        let newest = self.backups.place.target().newest().await?;
        if let Some(newest) = newest {
            metrics::newest_backup(newest);
        }
        if !self.schedule.is_due(newest, clock::now()) {
            return Ok(newest);
        }
        match self.backups.make(&|step| tracing::debug!(?step, "backup")).await {
            Ok((made, removed)) => {
                let (name, rows, files) = (made.name.to_string(), made.rows, made.files);
                let (new, missing, old) = (files.new, files.missing, removed.backups);
                tracing::info!(
                    name,
                    rows,
                    new_files = new,
                    missing_files = missing,
                    removed = old,
                    "a backup was made"
                );
                Ok(made.name.begun_at())
            }
            // Another process makes it.
            Err(Error::Conflict(_)) => Ok(newest),
            Err(error) => Err(error),
        }
    }
}
