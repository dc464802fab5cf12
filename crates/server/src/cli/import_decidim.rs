//! `civitas import-decidim` (sheet 13 §1).

use super::archive::{ArchiveCipher, is_console, open, show};
use super::progress::ProgressLine;
use super::{CommandError, CommandResult, Console, configure, open_store};
use crate::config::{Config, Scheme, SettingSources};
use crate::secret_key::create_private_directory;
use crate::{files, paths, webhooks};
use civitas_application::Store;
use civitas_archive::{
    FileServices, ImportOptions, ImportProgress, ImportReport, WebhookArchive, import_seekable,
};
use civitas_decidim::{
    AcceptedLosses, DecidimError, ExtractOptions, Extraction, SourceFiles, extract, is_loss,
};
use civitas_kernel::clock;
use civitas_storage_postgres::connect_to_read;
use civitas_tokens::Argon2Passwords;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tempfile::{NamedTempFile, TempDir};
use url::Url;

/// The address of the source, where it is no argument: arguments are in the list of processes, with their passwords.
const SOURCE: &str = "CIVITAS_DECIDIM_URL";

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct ImportDecidimArgs {
    /// The database: `postgres://USER:PASSWORD@HOST/DATABASE` [default: the environment variable `CIVITAS_DECIDIM_URL`].
    source: Option<String>,
    /// Writes an archive instead of importing; `-` writes standard output. Files are copied to `FILE.files`.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only the organization with this host. May be repeated.
    #[arg(long, value_name = "HOST")]
    organization: Vec<String>,
    /// Where the files of a storage service are: `local=file:///PATH`, `s3=s3://BUCKET?region=..&endpoint=..`.
    #[arg(long, value_name = "SERVICE=URL", value_parser = pair)]
    files: Vec<(String, String)>,
    /// Leaves out the files of this storage service.
    #[arg(long, value_name = "SERVICE")]
    without_files: Vec<String>,
    /// A locale that this deployment does not offer, and the one that its texts get.
    #[arg(long, value_name = "FROM=TO", value_parser = pair)]
    locale_map: Vec<(String, String)>,
    /// A time zone that is not offered, and another one instead.
    #[arg(long, value_name = "FROM=TO", value_parser = pair)]
    time_zone_map: Vec<(String, String)>,
    /// The losses to accept, or `all`. Without it a run with losses ends with the list of them.
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = code)]
    accept: Vec<String>,
    /// Where to write what has no place here: personal data, one JSON object in a line.
    #[arg(long, value_name = "FILE")]
    residue: Option<PathBuf>,
    /// Where to write the report, one JSON object.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Assigns new ids. Clients must then be changed.
    #[arg(long)]
    new_ids: bool,
    /// Accepts that jobs of the module are pending: they are left out.
    #[arg(long)]
    allow_pending_jobs: bool,
    /// Stores nothing: reads everything; without losses it also imports, and rolls back.
    #[arg(long)]
    dry_run: bool,
    /// No progress and no table.
    #[arg(long)]
    quiet: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty());
    parts.map(|(from, to)| (from.to_owned(), to.to_owned())).ok_or_else(|| "must be FROM=TO".to_owned())
}

fn code(text: &str) -> Result<String, String> {
    if text == "all" || is_loss(text) { Ok(text.to_owned()) } else { Err("is no code of a loss".to_owned()) }
}

pub(super) async fn run(
    args: ImportDecidimArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let begun = Instant::now();
    let config = configure(sources)?;
    let of_environment = || console.environment.iter().find(|(name, _)| name == SOURCE).map(|(_, url)| url);
    let Some(url) = args.source.as_ref().or_else(of_environment) else {
        return Err(CommandError::Misused(format!(
            "the address of the Decidim database is missing: set {SOURCE}"
        )));
    };
    let store = open_target(&args, &config).await?;
    let target = Target::from_args(&args, &config)?;
    let options = options(&args, &config, &target, store.is_none())?;
    let client = connect_to_read(url).await?;
    let mut residue = args.residue.as_deref().map(private_file).transpose()?.map(BufWriter::new);
    let residue = residue.as_mut().map(|file| file as &mut (dyn Write + Send));
    let mut draft = target.draft()?;
    let extracted = match &mut draft {
        Some(draft) => extract(client, &options, &mut BufWriter::new(draft.as_file_mut()), residue).await,
        None => extract(client, &options, &mut *console.stdout, residue).await,
    };
    let Extraction { report, obstacles } = match extracted {
        Err(DecidimError::Stopped(lines)) => return stop(&lines, console),
        extracted => extracted?,
    };
    if !args.quiet {
        console.note(&report)?;
    }
    let draft = draft.filter(|_| obstacles.is_empty() && !options.plan_only);
    let imported = import(store, &target, draft, &report, (&args, &config), console).await;
    if let Ok(Some(imported)) = &imported
        && !imported.secrets.is_empty()
        && !args.dry_run
    {
        console.print(json!({ "secrets": imported.secrets }))?;
    }
    if let Some(path) = &args.report {
        let failure: &[String] = match &imported {
            Err(CommandError::Because(reason)) => std::slice::from_ref(reason),
            _ => &obstacles,
        };
        let done = imported.as_ref().ok().and_then(Option::as_ref);
        let report = whole_report(&report, done, failure, &args, begun)?;
        writeln!(private_file(path)?, "{report}")?;
    }
    if obstacles.is_empty() { imported.map(drop) } else { stop(&obstacles, console) }
}

/// The database to import into; `None` for an archive, and for a dry run without a database.
async fn open_target(args: &ImportDecidimArgs, config: &Config) -> CommandResult<Option<Arc<dyn Store>>> {
    if args.output.is_some() {
        return Ok(None);
    }
    match open_store(config).await {
        Err(_) if args.dry_run => Ok(None),
        opened => opened.map(Some),
    }
}

/// Prints why nothing was stored, a line each.
fn stop(lines: &[String], console: &mut Console<'_>) -> CommandResult {
    for line in lines {
        console.note(line)?;
    }
    Err(CommandError::Reported)
}

/// Where the archive goes.
struct Target {
    /// `None`: standard output.
    archive: Option<PathBuf>,
    /// The directory of an archive that is imported; it is deleted at the end.
    _directory: Option<PrivateDirectory>,
}

impl Target {
    fn from_args(args: &ImportDecidimArgs, config: &Config) -> CommandResult<Self> {
        let (archive, directory) = match &args.output {
            Some(output) if is_console(output) => (None, None),
            Some(output) => (Some(paths::follow_links(output)), None),
            None => {
                let directory = PrivateDirectory::create(&config.data_dir)?;
                (Some(directory.directory.path().join("archive.ndjson")), Some(directory))
            }
        };
        Ok(Self { archive, _directory: directory })
    }

    /// The directory of the bytes of files.
    fn files(&self) -> Option<PathBuf> {
        let mut name = self.archive.clone()?.into_os_string();
        name.push(".files");
        Some(name.into())
    }

    /// The file that is written until the archive is complete. Only its owner may read it: it has hashes of passwords.
    fn draft(&self) -> CommandResult<Option<NamedTempFile>> {
        let Some(archive) = &self.archive else { return Ok(None) };
        let draft = tempfile::Builder::new().suffix(".part").tempfile_in(paths::directory_of(archive));
        draft.map(Some).map_err(|error| CommandError::from(paths::with_path(archive, error)))
    }

    fn keep(&self, draft: NamedTempFile) -> CommandResult<PathBuf> {
        let archive = self.archive.clone().unwrap_or_default();
        draft.persist(&archive).map_err(|failed| paths::with_path(&archive, failed.error))?;
        Ok(archive)
    }
}

/// A directory of one run in `data_dir`, deleted at the end. Only its owner may read it.
struct PrivateDirectory {
    directory: TempDir,
    /// Locked until the directory is deleted, or the process ends.
    _lock: File,
}

impl PrivateDirectory {
    /// The beginning of its name.
    const PREFIX: &str = "import-decidim-";

    /// Creates one, and deletes those of runs that were killed: their archives have hashes of passwords.
    fn create(data_dir: &Path) -> CommandResult<Self> {
        create_private_directory(data_dir)?;
        let failed = |error| CommandError::from(paths::with_path(data_dir, error));
        let lock = private_file(&data_dir.join("import-decidim.lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = format!("{}: another import-decidim is running", data_dir.display());
                return Err(CommandError::Because(text));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        for entry in fs::read_dir(data_dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if name.starts_with(Self::PREFIX) {
                fs::remove_dir_all(&path).map_err(|error| paths::with_path(&path, error))?;
            }
        }
        let mode = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix(Self::PREFIX).permissions(mode).tempdir_in(data_dir);
        Ok(Self { directory: directory.map_err(failed)?, _lock: lock })
    }
}

/// An empty file that only its owner may read, also if it was there before.
fn private_file(path: &Path) -> CommandResult<File> {
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    let file = opened.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)).map(|()| file));
    file.map_err(|error| CommandError::from(paths::with_path(path, error)))
}

fn options(
    args: &ImportDecidimArgs,
    config: &Config,
    target: &Target,
    no_target: bool,
) -> CommandResult<ExtractOptions> {
    let services = args.files.iter().map(|(service, url)| Ok((service.clone(), source_files(url, config)?)));
    let files_directory = target.files();
    if let (Some(directory), false) = (&files_directory, args.files.is_empty()) {
        create_private_directory(directory)?;
    }
    Ok(ExtractOptions {
        locales: config.locales.clone(),
        organizations: args.organization.iter().map(|host| host.trim().to_lowercase()).collect(),
        locale_map: args.locale_map.iter().cloned().collect(),
        time_zone_map: args.time_zone_map.iter().cloned().collect(),
        files: services.collect::<CommandResult<_>>()?,
        without_files: args.without_files.iter().cloned().collect(),
        files_directory,
        accepted: if args.accept.iter().any(|code| code == "all") {
            AcceptedLosses::All
        } else {
            AcceptedLosses::Codes(args.accept.iter().cloned().collect())
        },
        allow_pending_jobs: args.allow_pending_jobs,
        single_label_hosts: config.public_scheme == Scheme::Http,
        plan_only: args.dry_run && no_target,
    })
}

/// The store of a storage service. The parameters `region` and `endpoint` of a bucket replace the variables `AWS_*`.
fn source_files(address: &str, config: &Config) -> CommandResult<SourceFiles> {
    let misused = |reason: &str| CommandError::Misused(format!("--files {address}: {reason}"));
    let mut url = Url::parse(address).map_err(|error| misused(&error.to_string()))?;
    let mut settings = config.object_storage.clone();
    for (name, value) in url.query_pairs() {
        settings.push((format!("AWS_{}", name.to_uppercase()), value.to_string()));
        if name == "endpoint" && value.starts_with("http://") {
            settings.push(("AWS_ALLOW_HTTP".to_owned(), "true".to_owned()));
        }
    }
    url.set_query(None);
    let nested = url.scheme() == "file";
    if nested && !url.to_file_path().is_ok_and(|path| path.is_dir()) {
        return Err(misused("there is no such directory"));
    }
    let store = civitas_files::FileStorage::open_to_read(url.as_str(), settings)?;
    Ok(SourceFiles { store: Arc::new(store), nested })
}

/// Gives the complete archive its name, and imports it as `civitas import` does, if there is a database. Each record is
/// compared with its row before the commit (§8). `None`: nothing was imported.
async fn import(
    store: Option<Arc<dyn Store>>,
    target: &Target,
    draft: Option<NamedTempFile>,
    extracted: &civitas_decidim::ExtractionReport,
    (args, config): (&ImportDecidimArgs, &Config),
    console: &mut Console<'_>,
) -> CommandResult<Option<ImportReport>> {
    let Some(draft) = draft else { return Ok(None) };
    let archive = target.keep(draft)?;
    let Some(store) = store else { return Ok(None) };
    let objects = files::open_file_store(config)?;
    let intake = files::open_intake(config)?;
    let (cipher, policy) = (ArchiveCipher::new(config), webhooks::target_policy(config));
    let (directory, expected) = (Some(paths::directory_of(&archive)), extracted.written_by_type());
    let options = ImportOptions {
        dry_run: args.dry_run,
        keep_ids: !args.new_ids,
        single_label_hosts: config.public_scheme == Scheme::Http,
        files: Some(FileServices { objects: &objects, intake: &intake, directory }),
        webhooks: Some(WebhookArchive { cipher: &cipher, policy: &policy }),
        allow_operators: args.organization.is_empty(),
        expected: Some(&expected),
        list_all_ids: args.new_ids,
        ..ImportOptions::new(&config.locales, clock::now())
    };
    let (file, length) = open(&archive)?;
    let mut line = ProgressLine::new(&mut *console.stderr, console.watched && !args.quiet);
    let mut observe = |progress: ImportProgress| show(&mut line, length, progress);
    let passwords = Argon2Passwords::without_wait_limit();
    let report = import_seekable(&*store, &passwords, file, options, &mut observe).await;
    line.clear();
    report.map(Some).map_err(CommandError::from)
}

/// The report (§8), with the options, what the import did, and why nothing was stored.
fn whole_report(
    extracted: &civitas_decidim::ExtractionReport,
    imported: Option<&ImportReport>,
    failure: &[String],
    args: &ImportDecidimArgs,
    begun: Instant,
) -> serde_json::Result<Value> {
    let services: Vec<_> = args.files.iter().map(|(service, _)| service).collect();
    let mut report = serde_json::to_value(extracted)?;
    if let Some(members) = report.as_object_mut() {
        let options = json!({
            "organization": args.organization, "files": services, "without_files": args.without_files,
            "locale_map": args.locale_map, "time_zone_map": args.time_zone_map, "accept": args.accept,
            "new_ids": args.new_ids, "dry_run": args.dry_run,
        });
        members.insert("options".to_owned(), options);
        members.insert("seconds".to_owned(), begun.elapsed().as_secs().into());
        members.insert("failure".to_owned(), json!(failure));
        members.insert("target".to_owned(), json!(imported.map(|imported| target_report(imported, args))));
    }
    Ok(report)
}

/// What the import did. The table of ids is needed only where they are new.
fn target_report(imported: &ImportReport, args: &ImportDecidimArgs) -> Value {
    let refs = args.new_ids.then_some(&imported.refs);
    json!({
        "created": imported.created, "updated": imported.updated, "unchanged": imported.unchanged, "refs": refs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_deletes_what_killed_ones_left_and_only_its_owner_may_read_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let (left, other) =
            (directory.path().join("import-decidim-killed"), directory.path().join("decidim-storage"));
        for path in [&left, &other] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("archive.ndjson"), "hashes").unwrap();
        }
        let run = PrivateDirectory::create(directory.path()).ok().unwrap();
        assert!(!left.exists() && other.join("archive.ndjson").exists());
        let own = run.directory.path().to_owned();
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700);
        let second = PrivateDirectory::create(directory.path());
        assert!(
            matches!(second, Err(CommandError::Because(text)) if text.contains("another import-decidim"))
        );
        assert!(own.exists(), "a run that is refused deletes nothing");
        drop(run);
        assert!(!own.exists() && PrivateDirectory::create(directory.path()).is_ok());
    }
}
