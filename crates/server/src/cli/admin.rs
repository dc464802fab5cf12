//! `civitas admin`: the accounts of the system panel.

use super::{CommandError, CommandResult, Console, actor, configure, open_store};
use crate::config::SettingSources;
use civitas_accounts::administrators::{Administrators, NewPassword};
use civitas_accounts::{Passwords, Secret, is_email, normal_email};
use civitas_application::Store;
use civitas_audit::{Action, NewAuditEntry};
use civitas_kernel::{Error, clock};
use civitas_tokens::Argon2Passwords;

#[derive(Debug, clap::Subcommand)]
pub(super) enum AdminCommand {
    /// Creates a system administrator, or sets a new password.
    Create(CreateArgs),
    /// Turns off the second factor of a system administrator who has lost it.
    DisableSecondFactor {
        /// The address the administrator signs in with.
        #[arg(long, value_name = "E")]
        email: String,
    },
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

pub(super) async fn run(
    command: AdminCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let args = match command {
        AdminCommand::Create(args) => args,
        AdminCommand::DisableSecondFactor { email } => {
            let store = open_store(&config).await?;
            return disable_second_factor(&*store, email.trim(), console).await;
        }
    };
    let email = normal_email(&args.email);
    if !is_email(&email) {
        return Err(CommandError::Because(format!("{email:?} is no e-mail address")));
    }
    let password = if args.password_stdin { read_password(console)? } else { Secret::random("", 20) };
    let store = open_store(&config).await?;
    let known = set_password(&*store, &Argon2Passwords::without_wait_limit(), &email, &password).await?;
    let done = if known { "has a new password" } else { "is a system administrator" };
    console.print(format_args!("{email} {done}"))?;
    if args.password_stdin {
        return Ok(());
    }
    console.print(format_args!("password: {}", password.expose()))
}

/// Sets the password of an administrator, or creates the administrator. Ends sessions and a lock. Returns whether the
/// administrator existed.
pub(super) async fn set_password(
    store: &dyn Store,
    passwords: &dyn Passwords,
    email: &str,
    password: &Secret,
) -> CommandResult<bool> {
    let password = NewPassword::new(passwords, email, password).await.map_err(refused)?;
    let transaction = store.begin().await?;
    let change = async {
        let (store, now) = (transaction.administrators(), clock::now());
        let administrators = Administrators { administrators: store, sessions: transaction.panel_sessions() };
        let known = store.find_by_email(email).await?;
        let (id, action) = match &known {
            Some((id, _)) => {
                administrators.set_password(*id, password, now).await?;
                (*id, Action::AdministratorPasswordChanged)
            }
            None => (administrators.create(password, now).await?, Action::AdministratorCreated),
        };
        let audit_entry = NewAuditEntry::new(actor("admin create"), action);
        let audit_entry = audit_entry.with_object("administrator", &id.to_string(), email);
        transaction.audit().append(&audit_entry, now).await?;
        Ok(known.is_some())
    };
    let known: civitas_kernel::Result<bool> = change.await;
    let known = known.map_err(refused)?;
    transaction.commit().await?;
    Ok(known)
}

async fn disable_second_factor(store: &dyn Store, email: &str, console: &mut Console<'_>) -> CommandResult {
    let email = normal_email(email);
    let transaction = store.begin().await?;
    let change = async {
        let (store, now) = (transaction.administrators(), clock::now());
        let (id, _) = store.find_by_email(&email).await?.ok_or(Error::NotFound)?;
        let administrators = Administrators { administrators: store, sessions: transaction.panel_sessions() };
        administrators.disable_second_factor(id, now).await?;
        let actor = actor("admin disable-second-factor");
        let audit_entry = NewAuditEntry::new(actor, Action::AdministratorSecondFactorDisabled);
        let audit_entry = audit_entry.with_object("administrator", &id.to_string(), &email);
        transaction.audit().append(&audit_entry, now).await.map(drop)
    };
    change.await.map_err(|error| match error {
        Error::NotFound => CommandError::Because(format!("{email} is no system administrator")),
        other => refused(other),
    })?;
    transaction.commit().await?;
    console.print(format_args!("{email} signs in without a second factor"))
}

fn refused(error: Error) -> CommandError {
    match error {
        Error::Rejected(error) => CommandError::Because(error.description),
        other => CommandError::from(other),
    }
}

fn read_password(console: &mut Console<'_>) -> CommandResult<Secret> {
    let mut line = String::new();
    console.stdin.read_line(&mut line)?;
    let password = line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}');
    if password.trim().is_empty() {
        return Err(CommandError::Because("the password must not be blank".to_owned()));
    }
    Ok(Secret::new(password))
}
