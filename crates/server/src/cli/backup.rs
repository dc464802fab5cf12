//! `civitas backup` and `civitas restore`.

use super::{CommandError, CommandResult, Console, configure, open_store};
use crate::backup::{BackupResult, backups_at, cause, database_copier, make_backup, write_audit_entry};
use crate::config::{Config, SettingSources};
use crate::files::{open_file_store, open_intake};
use crate::secret_key::{self, create_private_directory};
use crate::store::Database;
use civitas_application::backups::{BackupManifest, BackupName, Backups, RestoreCheckMethod};
use civitas_application::{FileDigests, FileTransfer};
use civitas_audit::Action;
use serde_json::{Value, json};

/// The note when no temporary database could be created.
const ONLY_READ: &str = "The copy was read, not restored: the user of database_url may not create databases \
     (ALTER ROLE .. CREATEDB).";

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// Where to store it: a directory, or a URL as in `backup_to`, which is the default.
    #[arg(long, value_name = "DIR|URL")]
    to: Option<String>,
    /// Makes none: prints those that are there, one JSON object in a line.
    #[arg(long)]
    list: bool,
    /// No notes on standard error.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// Where backups are: a directory, or a URL as in `backup_to`.
    from: String,
    /// The name of the backup [default: the newest complete one].
    #[arg(long, value_name = "NAME", value_parser = read_name)]
    backup: Option<BackupName>,
    /// Changes nothing: restores the database into a temporary one, and reads all files.
    #[arg(long)]
    check: bool,
    /// Only files of attachments that are missing; the database is restored already.
    #[arg(long, conflicts_with = "check")]
    files_only: bool,
}

fn read_name(text: &str) -> Result<BackupName, String> {
    BackupName::parse(text).ok_or_else(|| "expected a name as 20261123T023000Z-8f1c22d0".to_owned())
}

pub(super) async fn backup(
    args: BackupArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let to = args.to.or_else(|| config.backup_to.clone());
    let to =
        to.ok_or_else(|| CommandError::Because("say where to: --to DIR, or set backup_to".to_owned()))?;
    if args.list {
        return list(&backups_at(&config, &to)?, console).await;
    }
    let store = open_store(&config).await?;
    let backups = backups_at(&config, &to)?;
    let made = make_backup(&config, &*store, &backups, "civitas backup").await;
    let BackupResult { manifest, new_files, removed } = made?;
    let mut report = summary(&manifest);
    report["new_files"] = json!(new_files);
    console.print(json!({"backup": report, "removed": removed}))?;
    if manifest.proof == RestoreCheckMethod::Read && !args.quiet {
        console.note(ONLY_READ)?;
    }
    if config.secret_key.is_empty() && !args.quiet {
        let key = secret_key::path(&config);
        let key = key.display();
        console.note(format_args!("The backup does not have the secret key: keep a copy of {key}."))?;
    }
    match manifest.missing_files {
        0 => Ok(()),
        missing => Err(CommandError::Because(format!(
            "the backup is complete but for {missing} files that are missing or damaged: see `civitas files check`"
        ))),
    }
}

fn summary(manifest: &BackupManifest) -> Value {
    json!({
        "name": manifest.name,
        "complete": true,
        "engine": manifest.engine,
        "proof": manifest.proof,
        "tables": manifest.rows.0.len(),
        "rows": manifest.rows.total(),
        "database_bytes": manifest.database.bytes,
        "files": manifest.files,
        "missing_files": manifest.missing_files,
    })
}

async fn list(backups: &Backups, console: &mut Console<'_>) -> CommandResult {
    for (name, complete) in backups.names().await? {
        let line = match backups.find(Some(&name)).await {
            Ok(manifest) => summary(&manifest),
            Err(error) if complete => json!({"name": name, "complete": true, "fault": cause(&error)}),
            Err(_) => json!({"name": name, "complete": false}),
        };
        console.print(line)?;
    }
    Ok(())
}

pub(super) async fn restore(
    args: RestoreArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let backups = backups_at(&config, &args.from)?;
    let manifest = backups.find(args.backup.as_ref()).await?;
    if args.check {
        return check(&backups, &manifest, &config, console).await;
    }
    let mut report = json!({"backup": manifest.name});
    if !args.files_only {
        report["database"] = database(&backups, &manifest, &config).await?;
    }
    let store = open_store(&config).await?;
    let (to, intake) = (open_file_store(&config)?, open_intake(&config)?);
    let (rows, known) = (store.files(), FileDigests::new());
    let transfer = FileTransfer { rows, intake: &intake, from: &*backups.files, to: &to, known };
    let files = transfer.run(&mut |_, _, _| {}).await?;
    report["files"] = json!(files);
    write_audit_entry(&*store, Action::BackupRestored, "civitas restore", &manifest.name).await?;
    console.print(report)?;
    let key = secret_key::path(&config);
    if config.secret_key.is_empty() && !key.exists() {
        console.note(format_args!(
            "The backup does not have the secret key: put the secret_key of the deployment to {} before the first \
             start. With another key, issued tokens are invalid and signing secrets of webhooks cannot be read.",
            key.display()
        ))?;
    }
    match files.missing {
        0 => Ok(()),
        missing => {
            Err(CommandError::Because(format!("{missing} files are missing in the backup or damaged")))
        }
    }
}

async fn check(
    backups: &Backups,
    manifest: &BackupManifest,
    config: &Config,
    console: &mut Console<'_>,
) -> CommandResult {
    let copier = database_copier(config)?;
    let copy = backups.database(manifest, copier.engine()).await?;
    let proof = copier.check(&copy).await?;
    let missing = backups.check_files(manifest).await?;
    let mut report = summary(manifest);
    report["proof"] = json!(proof);
    report["missing"] = json!(missing);
    console.print(report)?;
    if proof == RestoreCheckMethod::Read {
        console.note(ONLY_READ)?;
    }
    match missing {
        0 => Ok(()),
        missing => Err(CommandError::Because(format!("{missing} files are missing or damaged"))),
    }
}

/// Restores the database, and applies newer migrations.
async fn database(backups: &Backups, manifest: &BackupManifest, config: &Config) -> CommandResult<Value> {
    let copier = database_copier(config)?;
    let copy = backups.database(manifest, copier.engine()).await?;
    let database = Database::from_config(config);
    if let Some(directory) = database.file().and_then(|file| file.parent()) {
        create_private_directory(directory)?;
    }
    copier.restore(&copy).await?;
    let applied = database.migrate().await?;
    Ok(json!({"tables": copy.rows.0.len(), "rows": copy.rows.total(), "applied_migrations": applied}))
}
