//! `civitas files`: moves the bytes of files to another store, and compares the store with the database.

use super::progress::ProgressLine;
use super::{CommandError, CommandResult, Console, configure, open_store};
use crate::config::SettingSources;
use crate::files::{open_file_store, open_intake, open_store_at};
use civitas_application::{FileCheck, FileDigest, FileDigests, FileFinding, FileTransfer, TransferResult};

#[derive(Debug, clap::Subcommand)]
pub(super) enum FilesCommand {
    /// Copies all files to another store, and checks the copies. Files that are there already are skipped. Changes
    /// nothing at the source.
    Move(MoveArgs),
    /// Compares the store with the database: prints each object without a row, and each row without an object.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The new store, in the format of `files_url`: `file://PATH` or `s3://BUCKET/PREFIX`.
    #[arg(long, value_name = "URL")]
    to: String,
    /// No progress, and no reminder to set `files_url`.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Deletes objects without a row: everything at `files_url` that this database does not name.
    #[arg(long)]
    delete_unknown: bool,
}

pub(super) async fn run(
    command: FilesCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    match command {
        FilesCommand::Move(args) => copy(args, sources, console).await,
        FilesCommand::Check(args) => check(&args, sources, console).await,
    }
}

async fn copy(args: MoveArgs, sources: &SettingSources, console: &mut Console<'_>) -> CommandResult {
    let config = configure(sources)?;
    if args.to == config.files_url {
        return Err(CommandError::Because(format!("{} is already files_url", args.to)));
    }
    if !["file://", "s3://"].iter().any(|scheme| args.to.starts_with(scheme)) {
        return Err(CommandError::Because("--to must begin with file:// or s3://".to_owned()));
    }
    let (from, intake) = (open_file_store(&config)?, open_intake(&config)?);
    let to = open_store_at(&args.to, &config.object_storage)?;
    let store = open_store(&config).await?;
    let mut line = ProgressLine::new(&mut *console.stderr, console.watched && !args.quiet);
    let transfer = FileTransfer {
        rows: store.files(),
        intake: &intake,
        from: &from,
        to: &to,
        known: FileDigests::new(),
    };
    let mut observe = |moved: TransferResult, object: &str, digest: Option<&FileDigest>| {
        if digest.is_none() {
            line.print(&format!("missing or damaged: {object}"));
        }
        let files = moved.copied + moved.skipped + moved.missing;
        line.show(|_| format!("{files} files, {} MB copied", moved.bytes / 1_000_000));
    };
    let moved = transfer.run(&mut observe).await;
    line.clear();
    let moved = moved?;
    console.print_json(&moved)?;
    if moved.missing > 0 {
        return Err(CommandError::Reported);
    }
    if !args.quiet {
        console.note(format_args!("Set files_url to {} and restart the server.", args.to))?;
    }
    Ok(())
}

async fn check(args: &CheckArgs, sources: &SettingSources, console: &mut Console<'_>) -> CommandResult {
    let config = configure(sources)?;
    let objects = open_file_store(&config)?;
    let store = open_store(&config).await?;
    let mut failed = None;
    let mut print = |finding: FileFinding| {
        if let Err(failure) = console.print_json(&finding) {
            failed.get_or_insert(failure);
        }
    };
    let found = FileCheck::run((store.files(), &objects), args.delete_unknown, &mut print).await;
    let found = found?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    console.print_json(&found)?;
    if found.is_sound() { Ok(()) } else { Err(CommandError::Reported) }
}
