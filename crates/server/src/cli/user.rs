//! `civitas user`: blocks and locks accounts of participants.

use super::{Console, Failure, Outcome, actor, because, configure, find_organization, open_store};
use crate::config::Sources;
use civitas_application::{UserStateChange, UserStates};
use civitas_kernel::{Error, clock};

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
}

#[derive(Debug, clap::Args)]
pub(super) struct UserArgs {
    /// The organization with this host.
    #[arg(long, value_name = "HOST")]
    organization: String,
    /// The nickname, in any case.
    nickname: String,
}

pub(super) async fn run(command: UserCommand, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let (act, name, args, state) = match command {
        UserCommand::Block(args) => (UserStateChange::Block, "block", args, "blocked"),
        UserCommand::Unblock(args) => (UserStateChange::Unblock, "unblock", args, "not blocked"),
        UserCommand::Lock(args) => (UserStateChange::Lock, "lock", args, "locked"),
        UserCommand::Unlock(args) => (UserStateChange::Unlock, "unlock", args, "not locked"),
    };
    let config = configure(sources).map_err(because)?;
    let announcer = civitas_api::announcer(crate::site::of(&config));
    let store = open_store(&config).await?;
    let organization = find_organization(&*store, &args.organization).await?;
    let (nickname, now) = (args.nickname.trim(), clock::now());
    let change = async |tx: &dyn civitas_application::Transaction| {
        let (id, _) = tx.users().find_by_nickname(organization, nickname).await?.ok_or(Error::NotFound)?;
        let actor = actor(&format!("user {name}"));
        UserStates { tx, actor, from: None, now }.change(organization, id, act).await
    };
    let changed = announcer.in_transaction(&*store, now, change).await.map_err(|error| match error {
        Error::NotFound => {
            Failure::Because(format!("{} has no account {nickname:?}", args.organization.trim()))
        }
        other => because(other),
    })?;
    let before = if changed { "" } else { ", as before" };
    console.print(format_args!("{nickname} is {state}{before}"))
}
