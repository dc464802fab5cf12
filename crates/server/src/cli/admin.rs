//! `civitas admin`: the accounts of the system panel.

use super::{Console, Failure, Outcome, because, configure, open_store};
use crate::config::Sources;
use civitas_accounts::{Passwords, Secret, is_email};
use civitas_application::Store;
use civitas_audit::{Action, Actor, Record};
use civitas_kernel::{Result, clock};
use civitas_tokens::Argon2Passwords;

#[derive(Debug, clap::Subcommand)]
pub(super) enum AdminCommand {
    /// Creates a system administrator, or sets a new password.
    Create(CreateArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct CreateArgs {
    /// The address the administrator signs in with.
    #[arg(long, value_name = "E")]
    email: String,
    /// Reads the password from the first line of standard input. Else one is generated, and printed once.
    #[arg(long)]
    password_stdin: bool,
}

pub(super) async fn run(command: AdminCommand, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let AdminCommand::Create(args) = command;
    let config = configure(sources).map_err(because)?;
    let email = args.email.trim().to_lowercase();
    if !is_email(&email) {
        return Err(Failure::Because(format!("{email:?} is no e-mail address")));
    }
    let password = if args.password_stdin { read_password(console)? } else { Secret::random("", 20) };
    let store = open_store(&config).await?;
    let hash = Argon2Passwords::new().hash(password.clone()).await.map_err(because)?;
    let known = put(&*store, &email, &hash).await.map_err(because)?;
    let done = if known { "has a new password" } else { "is a system administrator" };
    writeln!(console.stdout, "{email} {done}").map_err(because)?;
    if args.password_stdin {
        return Ok(());
    }
    writeln!(console.stdout, "password: {}", password.expose()).map_err(because)
}

/// Stores the password, and an entry of the audit trail. Returns whether the account existed.
async fn put(store: &dyn Store, email: &str, hash: &str) -> Result<bool> {
    let now = clock::now();
    let tx = store.begin().await?;
    let known = tx.system_admins().find(email).await?.is_some();
    let id = tx.system_admins().put(email, Some(hash), now).await?;
    let action = if known { Action::AdministratorPasswordChanged } else { Action::AdministratorCreated };
    let actor = Actor::CommandLine { command: "civitas admin create".to_owned() };
    let record = Record::new(actor, action).on("administrator", &id.to_string(), email);
    tx.audit().append(&record, now).await?;
    tx.commit().await?;
    Ok(known)
}

fn read_password(console: &mut Console<'_>) -> Outcome<Secret> {
    let mut line = String::new();
    console.stdin.read_line(&mut line).map_err(because)?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.trim().is_empty() {
        return Err(Failure::Because("the password must not be blank".to_owned()));
    }
    Ok(Secret::new(password))
}
