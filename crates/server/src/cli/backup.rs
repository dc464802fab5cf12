//! `civitas backup` and `civitas restore`.

use super::{Console, Failure, Outcome, because, configure, open_store};
use crate::backup::{Backups, Place, copies, work};
use crate::config::{Config, Sources};
use crate::files::{intake_of, store_of};
use crate::paths;
use crate::secret_key::{self, create_private_directory};
use crate::store::Database;
use civitas_application::Store;
use civitas_audit::{Action, Actor, Record};
use civitas_backup::{Manifest, Name, Opening, Plain, Restore, RestoredFiles, Step};
use civitas_database_copies::Identities;
use civitas_kernel::clock;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// Where to store it: a directory, or a URL as in `backup_to`, which is the default.
    #[arg(long, value_name = "DIR|URL")]
    to: Option<String>,
    /// An age recipient (`age1...`) to encrypt it to; may be repeated. Default: `backup_recipients`.
    #[arg(long = "recipient", value_name = "AGE")]
    recipients: Vec<String>,
    /// Makes none: prints those that are there, one JSON object in a line.
    #[arg(long)]
    list: bool,
    /// No progress.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// Where backups are: a directory, or a URL as in `backup_to`.
    from: String,
    /// The name of the backup [default: the newest complete one].
    #[arg(long, value_name = "NAME", value_parser = read_name)]
    backup: Option<Name>,
    /// The file with the age identity that decrypts it.
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Changes nothing: restores the database into a temporary one, and reads all files.
    #[arg(long)]
    check: bool,
    /// Only files of attachments that are missing; the database is restored already.
    #[arg(long, conflicts_with = "check")]
    files_only: bool,
}

fn read_name(text: &str) -> Result<Name, String> {
    Name::parse(text).ok_or_else(|| "expected a name as 20261123T023000Z-8f1c22d0".to_owned())
}

pub(super) async fn backup(args: BackupArgs, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let mut config = configure(sources).map_err(because)?;
    if !args.recipients.is_empty() {
        config.backup_recipients = args.recipients;
    }
    let to = args.to.or_else(|| config.backup_to.clone());
    let to = to.ok_or_else(|| Failure::Because("say where to: --to DIR, or set backup_to".to_owned()))?;
    if args.list {
        return list(&config, &to, console).await;
    }
    let store = open_store(&config).await?;
    let backups = Backups::new(&config, store, &to, "civitas backup").map_err(because)?;
    let bar = if console.watched && !args.quiet { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    bar.enable_steady_tick(Duration::from_millis(200));
    let made = backups.make(&|step| bar.set_message(words(step))).await;
    bar.finish_and_clear();
    let (made, removed) = made.map_err(because)?;
    let said = json!({"backup": made, "removed": removed});
    writeln!(console.stdout, "{said}").map_err(because)?;
    if !made.encrypted && config.secret_key.is_empty() && !args.quiet {
        let key = secret_key::path(&config);
        let note = format!("The backup does not have the secret key: keep a copy of {}.", key.display());
        writeln!(console.stderr, "{note}").map_err(because)?;
    }
    if made.files.missing > 0 {
        let missing = made.files.missing;
        return Err(Failure::Because(format!(
            "the backup is complete but for {missing} files that are missing or damaged: see `civitas files check`"
        )));
    }
    Ok(())
}

fn words(step: Step) -> &'static str {
    match step {
        Step::Files => "copying files",
        Step::Database => "copying the database",
        Step::Check => "restoring the copy into a temporary database",
        Step::Store => "storing the copy",
    }
}

async fn list(config: &Config, to: &str, console: &mut Console<'_>) -> Outcome {
    let place = Place::open(config, to).map_err(because)?;
    for (name, manifest) in place.target().list().await.map_err(because)? {
        let line = match manifest {
            Some(Ok(manifest)) => json!({
                "name": name,
                "complete": true,
                "engine": manifest.engine,
                "encrypted": !manifest.recipients.is_empty(),
                "database_bytes": manifest.database.iter().map(|part| part.bytes).sum::<u64>(),
                "files": manifest.files.count,
                "missing_files": manifest.files.missing,
            }),
            Some(Err(error)) => {
                json!({"name": name, "complete": true, "fault": crate::backup::cause(&error)})
            }
            None => json!({"name": name, "complete": false}),
        };
        writeln!(console.stdout, "{line}").map_err(because)?;
    }
    Ok(())
}

pub(super) async fn restore(args: RestoreArgs, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let config = configure(sources).map_err(because)?;
    let place = Place::open(&config, &args.from).map_err(because)?;
    let intake = intake_of(&config).map_err(because)?;
    let opening: Box<dyn Opening> = match &args.identity {
        Some(file) => Box::new(Identities::read(file, work(&config).map_err(because)?).map_err(because)?),
        None => Box::new(Plain),
    };
    let restore = Restore { target: place.target(), opening: &*opening, intake: &intake };
    let manifest = restore.find(args.backup.as_ref()).await.map_err(because)?;
    if !manifest.recipients.is_empty() && args.identity.is_none() {
        let recipients = manifest.recipients.join(", ");
        return Err(Failure::Because(format!(
            "the backup is encrypted to {recipients}: give --identity FILE"
        )));
    }
    if args.check {
        return check(&restore, &manifest, &config, console).await;
    }
    let mut said = json!({"backup": manifest.name});
    if !args.files_only {
        let keep = |restored: Value| said["database"] = restored;
        database(&restore, &manifest, &config).await.map(keep)?;
        said["secret_key"] = json!(key(&restore, &manifest, &config).await?);
    }
    let store = open_store(&config).await?;
    let objects = store_of(&config).map_err(because)?;
    let files = restore.files(&manifest, store.files(), &objects).await.map_err(because)?;
    said["files"] = json!(files);
    record(&*store, &manifest).await?;
    writeln!(console.stdout, "{said}").map_err(because)?;
    if said["secret_key"] == "missing" {
        let path = secret_key::path(&config);
        let note = format!(
            "The backup does not have the secret key: put the secret_key of the deployment to {} before the first \
             start. With another key, issued tokens are invalid and signing secrets of webhooks cannot be read.",
            path.display()
        );
        writeln!(console.stderr, "{note}").map_err(because)?;
    }
    let RestoredFiles { missing, .. } = files;
    if missing > 0 {
        let sentence = format!("{missing} files are missing in the backup or damaged: see the log");
        return Err(Failure::Because(sentence));
    }
    Ok(())
}

async fn check(
    restore: &Restore<'_>,
    manifest: &Manifest,
    config: &Config,
    console: &mut Console<'_>,
) -> Outcome {
    let copies = copies(config).map_err(because)?;
    let checked = restore.check(manifest, &*copies).await.map_err(because)?;
    writeln!(console.stdout, "{}", json!(checked)).map_err(because)?;
    if checked.missing > 0 {
        return Err(Failure::Because(format!("{} files are missing or damaged", checked.missing)));
    }
    Ok(())
}

/// Restores the database, and applies newer migrations.
async fn database(restore: &Restore<'_>, manifest: &Manifest, config: &Config) -> Outcome<Value> {
    let copies = copies(config).map_err(because)?;
    let copy = restore.database(manifest, copies.engine()).await.map_err(because)?;
    let database = Database::of(config);
    if let Some(directory) = database.file().and_then(|file| file.parent()) {
        create_private_directory(directory).map_err(because)?;
    }
    copies.restore(&copy).await.map_err(because)?;
    let applied = database.migrate().await.map_err(because)?;
    let contents = &copy.contents;
    Ok(json!({"tables": contents.tables.len(), "rows": contents.rows(), "applied_migrations": applied}))
}

/// What became of the secret key: `restored`, `kept` (the deployment has one), `configured`, `missing`.
async fn key(restore: &Restore<'_>, manifest: &Manifest, config: &Config) -> Outcome<&'static str> {
    if !config.secret_key.is_empty() {
        return Ok("configured");
    }
    let path = secret_key::path(config);
    let Some(key) = restore.secret_key(manifest).await.map_err(because)? else {
        return Ok(if path.exists() { "kept" } else { "missing" });
    };
    create_private_directory(&config.data_dir).map_err(because)?;
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    match created {
        Ok(mut file) => {
            file.write_all(&key).and_then(|()| file.sync_all()).map_err(because)?;
            Ok("restored")
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok("kept"),
        Err(error) => Err(because(paths::at(&path, error))),
    }
}

async fn record(store: &dyn Store, manifest: &Manifest) -> Outcome {
    let actor = Actor::CommandLine { command: "civitas restore".to_owned() };
    let record = Record::new(actor, Action::BackupRestored);
    let record = record.changed("backup", None, Some(&manifest.name.to_string()));
    let tx = store.begin().await.map_err(because)?;
    tx.audit().append(&record, clock::now()).await.map_err(because)?;
    tx.commit().await.map_err(because)
}
