//! `civitas import` and `civitas export` (contract 10).

use super::progress::ProgressLine;
use super::{CommandError, CommandResult, Console, actor, configure, open_store};
use crate::config::{Config, Scheme, SettingSources};
use crate::{files, paths, webhooks};
use civitas_application::Store;
use civitas_archive::{
    self as archive, ExportError, ExportOptions, ExportServices, FileServices, ImportOptions, ImportPass,
    ImportProgress, WebhookArchive,
};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{Result, clock};
use civitas_tokens::{Argon2Passwords, WebhookCipher};
use civitas_webhooks::{SealedSecret, SecretCipher, SigningSecret};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct ImportArgs {
    /// The archive; `-` reads standard input.
    file: PathBuf,
    /// Imports everything, then rolls back.
    #[arg(long)]
    dry_run: bool,
    /// Only records of the organization with this primary host; any other record ends the run.
    #[arg(long, value_name = "HOST")]
    into: Option<String>,
    /// Also system administrators, deployment-wide API clients and their webhook registrations.
    #[arg(long)]
    allow_operators: bool,
    /// Also API clients whose `client_secret` cannot have 128 bits of randomness.
    #[arg(long)]
    allow_weak_secrets: bool,
    /// New records get the ids that the archive brings, which must be free.
    #[arg(long, conflicts_with = "into")]
    keep_ids: bool,
    /// Adds the events of all changes to the outbox, as the same changes through the interface do.
    #[arg(long)]
    emit_events: bool,
    /// No progress.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Only the organization of this primary host.
    #[arg(long, value_name = "HOST")]
    organization: Option<String>,
    /// The file to write; `-` writes standard output. A plain file is replaced when the archive is complete.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// With the hashes of passwords and client secrets, and the signing secrets of webhook registrations.
    #[arg(long)]
    with_secrets: bool,
    /// With the ids of records, for an import with `--keep-ids`.
    #[arg(long)]
    with_ids: bool,
}

/// Encrypts signing secrets. Reads the secret key at the first use: most archives need none.
pub(super) struct ArchiveCipher<'a> {
    config: &'a Config,
    cipher: OnceLock<WebhookCipher>,
}

impl<'a> ArchiveCipher<'a> {
    /// With the secret key of this configuration.
    pub(super) fn new(config: &'a Config) -> Self {
        Self { config, cipher: OnceLock::new() }
    }

    fn cipher(&self) -> Result<&WebhookCipher> {
        if let Some(cipher) = self.cipher.get() {
            return Ok(cipher);
        }
        let cipher = webhooks::webhook_cipher(self.config)?;
        Ok(self.cipher.get_or_init(|| cipher))
    }
}

impl SecretCipher for ArchiveCipher<'_> {
    fn generate(&self) -> Result<SigningSecret> {
        self.cipher()?.generate()
    }

    fn seal(&self, secret: &SigningSecret) -> Result<SealedSecret> {
        self.cipher()?.seal(secret)
    }

    fn open(&self, sealed: &SealedSecret) -> Result<SigningSecret> {
        self.cipher()?.open(sealed)
    }
}

pub(super) fn is_console(path: &Path) -> bool {
    path == Path::new("-")
}

pub(super) async fn import(
    args: ImportArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let committer = civitas_api::event_committer(crate::site::from_config(&config));
    let objects = files::open_file_store(&config)?;
    let intake = files::open_intake(&config)?;
    // Paths of files are relative to the archive.
    let directory = if is_console(&args.file) { None } else { Some(paths::directory_of(&args.file)) };
    let (cipher, policy) = (ArchiveCipher::new(&config), webhooks::target_policy(&config));
    let options = ImportOptions {
        dry_run: args.dry_run,
        single_label_hosts: config.public_scheme == Scheme::Http,
        committer: args.emit_events.then_some(&committer),
        files: Some(FileServices { objects: &objects, intake: &intake, directory }),
        webhooks: Some(WebhookArchive { cipher: &cipher, policy: &policy }),
        into: args.into.as_deref(),
        allow_operators: args.allow_operators,
        allow_weak_secrets: args.allow_weak_secrets,
        keep_ids: args.keep_ids,
        ..ImportOptions::new(&config.locales, clock::now())
    };
    let file = if is_console(&args.file) { None } else { Some(open(&args.file)?) };
    let store = open_store(&config).await?;
    let length = file.as_ref().and_then(|(_, length)| *length);
    let mut line = ProgressLine::new(&mut *console.stderr, console.watched && !args.quiet);
    let passwords = Argon2Passwords::without_wait_limit();
    let mut observe = |progress: ImportProgress| show(&mut line, length, progress);
    let report = match file {
        Some((file, Some(_))) => {
            archive::import_seekable(&*store, &passwords, file, options, &mut observe).await
        }
        Some((pipe, None)) => archive::import(&*store, &passwords, pipe, options, &mut observe).await,
        None => archive::import(&*store, &passwords, &mut *console.stdin, options, &mut observe).await,
    };
    line.clear();
    console.print(report?.to_json())
}

/// The file and its length; a pipe has none, and can be read only once.
pub(super) fn open(path: &Path) -> CommandResult<(BufReader<File>, Option<u64>)> {
    let fault = |error| paths::with_path(path, error);
    let file = File::open(path).map_err(fault)?;
    let found = file.metadata().map_err(fault)?;
    Ok((BufReader::new(file), found.is_file().then_some(found.len())))
}

/// `length` is that of the archive, in bytes.
pub(super) fn show(line: &mut ProgressLine<'_>, length: Option<u64>, progress: ImportProgress) {
    line.show(|time| {
        let speed = u128::from(progress.lines) * 1000 / time.as_millis().max(1);
        let pass = if progress.pass == ImportPass::Check { "checked" } else { "written" };
        let part =
            length.map_or_else(String::new, |all| format!("{} %, ", progress.bytes * 100 / all.max(1)));
        format!("{part}{} lines {pass}, {speed} lines/s", progress.lines)
    });
}

pub(super) async fn export(
    args: ExportArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let options = ExportOptions {
        organization: args.organization,
        with_secrets: args.with_secrets,
        with_ids: args.with_ids,
    };
    let store = open_store(&config).await?;
    write_export_entry(&*store, &export_audit_entry(&options)).await?;
    let objects = files::open_file_store(&config)?;
    let cipher = ArchiveCipher::new(&config);
    let export = async |writer: &mut (dyn Write + Send)| {
        let services = ExportServices { objects: &objects, cipher: &cipher };
        archive::export(&*store, services, &options, BufWriter::new(writer)).await
    };
    write_to(&args.output, console, export).await
}

/// Writes an archive to a file, or to standard output for `-`.
pub(super) async fn write_to(
    output: &Path,
    console: &mut Console<'_>,
    export: impl AsyncFn(&mut (dyn Write + Send)) -> Result<(), ExportError>,
) -> CommandResult {
    // An archive that is not read to its end is a failure.
    let failed = |error: ExportError| CommandError::Because(error.to_string());
    // A second opening of `/dev/stdout` would write over what a redirected output has already.
    if is_console(output) || output == Path::new("/dev/stdout") {
        return export(&mut *console.stdout).await.map_err(failed);
    }
    let fault = |error: io::Error| CommandError::Because(paths::with_path(output, error).to_string());
    // A pipe or a device.
    if fs::metadata(output).is_ok_and(|found| !found.is_file()) {
        let mut file = OpenOptions::new().write(true).open(output).map_err(fault)?;
        return export(&mut file).await.map_err(failed);
    }
    // Written under another name until complete, so that an incomplete archive is not taken for a complete one. Only its
    // owner may read it: it has content of private spaces.
    let target = paths::follow_links(output);
    let draft = tempfile::Builder::new().suffix(".part").tempfile_in(paths::directory_of(&target));
    let mut draft = draft.map_err(fault)?;
    export(draft.as_file_mut()).await.map_err(failed)?;
    draft.persist(target).map(drop).map_err(|failed| fault(failed.error))
}

pub(super) fn export_audit_entry(options: &ExportOptions) -> NewAuditEntry {
    let secrets = if options.with_secrets { "with secrets" } else { "without secrets" };
    let audit_entry = NewAuditEntry::new(actor("export"), Action::ArchiveExported);
    let mut audit_entry = audit_entry.with_change("content", None, Some(secrets));
    if let Some(host) = &options.organization {
        audit_entry = audit_entry.with_object("organization", "", host);
    }
    audit_entry
}

/// Writes an export into the audit trail, before it begins.
pub(super) async fn write_export_entry(store: &dyn Store, audit_entry: &NewAuditEntry) -> CommandResult {
    let tx = store.begin().await?;
    tx.audit().append(audit_entry, clock::now()).await?;
    tx.commit().await.map_err(CommandError::from)
}
