//! Connects backups with the database, the stores of files and the configuration, and makes them at their times.

use crate::config::Config;
use crate::files::{open_file_store, open_intake, open_store_at};
use crate::store::Database;
use crate::{paths, secret_key};
use civitas_application::backups::{
    BackupManifest, BackupName, BackupSource, Backups, DatabaseCopier, RemovalResult, is_due,
};
use civitas_application::{Store, metrics};
use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{Error, Result, clock};
use civitas_storage_postgres as postgres;
use civitas_storage_sqlite as sqlite;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio::time::sleep;

/// The directory for temporary files, in the data directory.
const WORK: &str = "backup";
/// How often the schedule is looked at.
const INTERVAL: Duration = Duration::from_secs(20);
/// The pause after a backup that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(600);

/// The backups in a directory, or at a URL as in `backup_to`.
///
/// # Errors
/// `Internal` for an invalid address, `Unavailable` when a directory cannot be created.
pub fn backups_at(config: &Config, to: &str) -> Result<Backups> {
    let url = if to.contains("://") { to.to_owned() } else { format!("file://{to}") };
    let files = format!("{}/files", url.trim_end_matches('/'));
    Ok(Backups {
        objects: Arc::new(open_store_at(&url, &config.object_storage)?),
        files: Arc::new(open_store_at(&files, &config.object_storage)?),
        intake: Arc::new(open_intake(config)?),
    })
}

/// Copies and restores the database of the configuration.
pub fn database_copier(config: &Config) -> Result<Box<dyn DatabaseCopier>> {
    let (database, work) = (Database::from_config(config), config.data_dir.join(WORK));
    secret_key::create_private_directory(&work).map_err(|error| Error::Unavailable(error.into()))?;
    // A link to a file on another disk stays one.
    let file = database.file().map(paths::follow_links);
    Ok(match database {
        Database::Postgres(settings) => Box::new(postgres::EngineDatabaseCopier { settings, work }),
        Database::Sqlite(mut settings) => {
            settings.url = format!("sqlite://{}", file.unwrap_or_default().display());
            Box::new(sqlite::EngineDatabaseCopier { settings, work })
        }
    })
}

/// A backup that was made.
pub struct BackupResult {
    /// Its manifest.
    pub manifest: BackupManifest,
    /// The number of files that no earlier backup had.
    pub new_files: u64,
    /// What was removed after it.
    pub removed: RemovalResult,
}

/// Makes a backup, writes it into the audit trail, and removes old ones. `command`: who makes it.
///
/// # Errors
/// Those of [`Backups::make`]. An error while old backups or their files are removed is logged.
pub async fn make_backup(
    config: &Config,
    store: &dyn Store,
    backups: &Backups,
    command: &str,
) -> Result<BackupResult> {
    let (now, copier, files) = (clock::now(), database_copier(config)?, open_file_store(config)?);
    let source = BackupSource { database: &*copier, rows: store.files(), files: &files };
    let outcome = backups.make(source, now).await;
    // One that another process makes has not failed.
    if !matches!(outcome, Err(Error::Conflict(_))) {
        metrics::backup_ended(if outcome.is_ok() { "made" } else { "failed" });
    }
    let (manifest, new_files, _guard) = outcome?;
    metrics::newest_backup(now);
    write_audit_entry(store, Action::BackupMade, command, &manifest.name).await?;
    let removed = backups.remove_old(config.backup_retention_days.as_days(), now).await;
    let removed = removed.unwrap_or_else(|error| {
        tracing::warn!(cause = cause(&error), "old backups could not be removed");
        RemovalResult::default()
    });
    Ok(BackupResult { manifest, new_files, removed })
}

/// Writes what was done with a backup into the audit trail.
pub async fn write_audit_entry(
    store: &dyn Store,
    action: Action,
    command: &str,
    name: &BackupName,
) -> Result<()> {
    let audit_entry = NewAuditEntry::new(Actor::CommandLine { command: command.to_owned() }, action);
    let audit_entry = audit_entry.with_change("backup", None, Some(&name.to_string()));
    let tx = store.begin().await?;
    tx.audit().append(&audit_entry, clock::now()).await?;
    tx.commit().await
}

/// The error for the log and the operator.
pub fn cause(error: &Error) -> String {
    error.cause().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Makes backups at the times of the configuration.
pub struct ScheduledBackups {
    config: Config,
    store: Arc<dyn Store>,
    backups: Backups,
}

impl ScheduledBackups {
    /// `None` without times.
    pub fn from_config(config: &Config, store: Arc<dyn Store>) -> Result<Option<Self>> {
        let Some(to) = config.backup_to.as_deref().filter(|_| !config.backup_times.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Self { config: config.clone(), store, backups: backups_at(config, to)? }))
    }

    /// Runs until `stop` is true. A backup that is being made then stays incomplete.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        // The sender is dropped when the server ends.
        tokio::select! { () = self.repeat() => {}, _ = stop.wait_for(|stop| *stop) => {} }
    }

    async fn repeat(&self) {
        let mut newest = None;
        loop {
            if is_due(&self.config.backup_times, newest, clock::now()) {
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
        let newest = self.backups.newest().await?.as_ref().and_then(BackupName::begun_at);
        if let Some(newest) = newest {
            metrics::newest_backup(newest);
        }
        if !is_due(&self.config.backup_times, newest, clock::now()) {
            return Ok(newest);
        }
        match make_backup(&self.config, &*self.store, &self.backups, "civitas serve").await {
            Ok(BackupResult { manifest, new_files, removed }) => {
                let (name, proof, rows) = (manifest.name.to_string(), manifest.proof, manifest.rows.total());
                let (missing_files, removed) = (manifest.missing_files, removed.backups);
                tracing::info!(name, ?proof, rows, new_files, missing_files, removed, "a backup was made");
                Ok(manifest.name.begun_at())
            }
            // Another process makes it.
            Err(Error::Conflict(_)) => Ok(newest),
            Err(error) => Err(error),
        }
    }
}
