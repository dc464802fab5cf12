//! `civitas user`: blocks and locks accounts of participants, and exports what is kept of a person.

use super::archive::{ArchiveCipher, write_export_entry, write_to};
use super::{CommandError, CommandResult, Console, actor, configure, find_organization, open_store};
use crate::config::SettingSources;
use crate::files;
use civitas_application::{UserStateChange, UserStates};
use civitas_archive::{ExportServices, export_person};
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{Error, clock};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(super) enum UserCommand {
    /// Blocks an account: requests with its tokens are refused, and it gets no new ones.
    Block(UserArgs),
    /// Removes a block.
    Unblock(UserArgs),
    /// Locks an account: the same effects as a block.
    Lock(UserArgs),
    /// Removes a lock, and opens the login that failures have closed, through all API clients.
    Unlock(UserArgs),
    /// Writes what is kept of a person as an archive, without secrets: account, roles, proposals, votes, registrations,
    /// posts, answers, files, jobs, events, and entries of the audit trail.
    Export(ExportArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct UserArgs {
    /// The organization with this host.
    #[arg(long, value_name = "HOST")]
    organization: String,
    /// The nickname, in any case.
    nickname: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    user: UserArgs,
    /// The file to write; `-` writes standard output. A plain file is replaced when the archive is complete.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub(super) async fn run(
    command: UserCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let (act, name, args, state) = match command {
        UserCommand::Export(args) => return export(args, sources, console).await,
        UserCommand::Block(args) => (UserStateChange::Block, "block", args, "blocked"),
        UserCommand::Unblock(args) => (UserStateChange::Unblock, "unblock", args, "not blocked"),
        UserCommand::Lock(args) => (UserStateChange::Lock, "lock", args, "locked"),
        UserCommand::Unlock(args) => (UserStateChange::Unlock, "unlock", args, "not locked"),
    };
    let config = configure(sources)?;
    let committer = civitas_api::event_committer(crate::site::from_config(&config));
    let store = open_store(&config).await?;
    let organization = find_organization(&*store, &args.organization).await?;
    let (nickname, now) = (args.nickname.trim(), clock::now());
    let change = async |tx: &dyn civitas_application::Transaction| {
        let (id, _) = tx.users().find_by_nickname(organization, nickname).await?.ok_or(Error::NotFound)?;
        let actor = actor(&format!("user {name}"));
        UserStates { tx, actor, from: None, now }.change(organization, id, act).await
    };
    let changed = committer.in_transaction(&*store, now, change).await.map_err(|error| match error {
        Error::NotFound => unknown(&args),
        other => CommandError::from(other),
    })?;
    let before = if changed { "" } else { ", as before" };
    console.print(format_args!("{nickname} is {state}{before}"))
}

/// The organization has no account with this nickname.
fn unknown(args: &UserArgs) -> CommandError {
    CommandError::Because(format!("{} has no account {:?}", args.organization.trim(), args.nickname.trim()))
}

async fn export(args: ExportArgs, sources: &SettingSources, console: &mut Console<'_>) -> CommandResult {
    let ExportArgs { user: args, output } = args;
    let config = configure(sources)?;
    let store = open_store(&config).await?;
    let organization = find_organization(&*store, &args.organization).await?;
    let found = store.users().find_by_nickname(organization, args.nickname.trim()).await?;
    let (id, user) = found.ok_or_else(|| unknown(&args))?;
    let audit_entry =
        NewAuditEntry::new(actor("user export"), Action::ArchiveExported).in_organization(organization);
    write_export_entry(&*store, &audit_entry.with_object("user", &id.to_string(), &user.nickname)).await?;
    let objects = files::open_file_store(&config)?;
    let cipher = ArchiveCipher::new(&config);
    let export = async |writer: &mut (dyn Write + Send)| {
        let services = ExportServices { objects: &objects, cipher: &cipher };
        export_person(&*store, services, organization, id, BufWriter::new(writer)).await
    };
    write_to(&output, console, export).await
}
