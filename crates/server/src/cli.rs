//! The command line.
//!
//! Exit codes: 0 done, or (not of `export`) the output was closed before its end; 1 failed (one line on standard error), 2
//! wrong usage, 3 `compare` found differences.
//! `api-client` is used by programs and has its own rules (contract 04 §4).

mod admin;
mod api_client;
mod archive;
mod audit;
mod backup;
mod compare;
mod demo;
mod doctor;
mod files;
mod healthcheck;
mod import_decidim;
mod key;
mod migrate;
mod organization;
mod progress;
mod serve;
mod settings;
mod user;
mod webhook;

use crate::config::{Config, ConfigError, SettingSources};
use crate::paths;
use crate::site;
use crate::store::Database;
use crate::telemetry;
use crate::traces::Traces;
use civitas_application::Store;
use civitas_audit::Actor;
use civitas_kernel::OrganizationId;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use settings::SettingFlags;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, BufRead, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Civitas: a platform where a city's people decide together.
#[derive(Parser)]
#[command(name = "civitas", version = env!("BUILD_VERSION"), max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    settings: SettingFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sets up and serves a demo: data directory, database, demo data, server.
    Demo,
    /// Serves the interface and executes background jobs.
    Serve(serve::ServeArgs),
    /// Brings the schema of the database up to date.
    Migrate(migrate::MigrateArgs),
    /// Reads an archive into the database: all of it, or nothing.
    Import(archive::ImportArgs),
    /// Reads a Decidim database, and imports it or writes it as an archive. Changes nothing there.
    #[command(name = "import-decidim")]
    ImportDecidim(import_decidim::ImportDecidimArgs),
    /// Writes the database, or one organization, as an archive.
    Export(archive::ExportArgs),
    /// Makes a backup while the server runs, and restores its database into a temporary one before it is complete.
    Backup(backup::BackupArgs),
    /// Restores a backup into an empty database, or checks it.
    Restore(backup::RestoreArgs),
    /// The bytes of attachments: moves them to another store, and compares them with the database.
    #[command(subcommand)]
    Files(files::FilesCommand),
    /// Moves an organization to another deployment, and lists the hosts that are served here.
    #[command(subcommand)]
    Organization(organization::OrganizationCommand),
    /// Creates and changes API clients.
    #[command(name = "api-client")]
    ApiClient(api_client::ApiClientArgs),
    /// Webhooks: sends a sample delivery; lists, replays, pauses and resumes deliveries.
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Accounts of participants: blocks and locks them, and exports what is kept of a person.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Administrators of the system panel.
    #[command(subcommand)]
    Admin(admin::AdminCommand),
    /// The audit trail: who changed what, and when.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// The secret key: replaces it, and encrypts stored secrets with the new one.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Sends the same reads to two servers, and reports what differs: exit code 0, or 3.
    Compare(compare::CompareArgs),
    /// Prints the OpenAPI document.
    Openapi,
    /// Checks configuration, database, storage, clock and DNS, and prints what to do.
    Doctor,
    /// Asks the running server whether it answers: exit code 0, or 1.
    Healthcheck,
    /// Prints the completions of a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the manual pages: a file for each command.
    Man {
        /// The directory.
        directory: PathBuf,
    },
}

/// Input and output of a command.
pub struct Console<'a> {
    /// All environment variables.
    pub environment: Vec<(String, String)>,
    /// Standard input.
    pub stdin: &'a mut (dyn BufRead + Send),
    /// Standard output.
    pub stdout: &'a mut (dyn Write + Send),
    /// Standard error.
    pub stderr: &'a mut (dyn Write + Send),
    /// Whether standard error is a terminal.
    pub watched: bool,
}

impl Console<'_> {
    /// Prints a line on standard output.
    fn print(&mut self, line: impl Display) -> CommandResult {
        writeln!(self.stdout, "{line}").map_err(CommandError::from)
    }

    /// Prints a value as one line of JSON on standard output.
    fn print_json(&mut self, value: &impl Serialize) -> CommandResult {
        self.print(serde_json::to_string(value)?)
    }

    /// Prints a line on standard error.
    fn note(&mut self, line: impl Display) -> CommandResult {
        writeln!(self.stderr, "{line}").map_err(CommandError::from)
    }
}

/// A command failed: exit code 1, unless its case has another.
enum CommandError {
    /// Print this on standard error.
    Because(String),
    /// Wrong usage that the parser does not see, printed in the same way: exit code 2.
    Misused(String),
    /// The error was already printed.
    Reported,
    /// The compared servers differ: exit code 3.
    Different,
    /// The reader of the output has closed it, as `head` does: exit code 0.
    Unread,
}

type CommandResult<T = ()> = Result<T, CommandError>;

/// The failure with the cause of the error, which clients of the interface do not get.
impl<E: std::error::Error + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let any: &dyn std::error::Error = &error;
        if any.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            return Self::Unread;
        }
        let known = any.downcast_ref::<civitas_kernel::Error>();
        Self::Because(match known.and_then(civitas_kernel::Error::cause) {
            Some(cause) => cause.to_string(),
            None => error.to_string(),
        })
    }
}

/// Runs one command. Returns the exit code.
///
/// The first of `arguments` is the name of the program.
pub async fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>, mut console: Console<'_>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && api_client::is_asked(&arguments) => {
            return api_client::report_misuse(&error, &arguments, &mut console);
        }
        Err(error) => return misused(&error, &mut console),
    };
    match dispatch(cli, &mut console).await {
        Ok(()) | Err(CommandError::Unread) => 0,
        Err(CommandError::Reported) => 1,
        Err(CommandError::Different) => 3,
        Err(CommandError::Because(reason)) => {
            // An error of standard error cannot be reported.
            let _ = writeln!(console.stderr, "civitas: {reason}");
            1
        }
        Err(CommandError::Misused(reason)) => {
            // As above.
            let _ = writeln!(console.stderr, "civitas: {reason}");
            2
        }
    }
}

/// Boxed, so that the commands are compiled with this crate, and not again with each that runs one.
fn dispatch<'a>(cli: Cli, console: &'a mut Console<'_>) -> LocalBoxFuture<'a, CommandResult> {
    Box::pin(execute(cli, console))
}

async fn execute(cli: Cli, console: &mut Console<'_>) -> CommandResult {
    let sources = cli.settings.sources(&console.environment);
    match cli.command {
        Command::Demo => demo::run(sources, console).await,
        Command::Serve(args) => serve::run(args, &sources).await,
        Command::Migrate(args) => migrate::run(args, &sources, console).await,
        Command::Import(args) => archive::import(args, &sources, console).await,
        Command::ImportDecidim(args) => import_decidim::run(args, &sources, console).await,
        Command::Export(args) => archive::export(args, &sources, console).await,
        Command::Backup(args) => backup::backup(args, &sources, console).await,
        Command::Restore(args) => backup::restore(args, &sources, console).await,
        Command::Files(command) => files::run(command, &sources, console).await,
        Command::Organization(command) => organization::run(command, &sources, console).await,
        Command::ApiClient(args) => api_client::run(args, &sources, console).await,
        Command::Webhook(command) => webhook::run(command, &sources, console).await,
        Command::User(command) => user::run(command, &sources, console).await,
        Command::Admin(command) => admin::run(command, &sources, console).await,
        Command::Audit(command) => audit::run(command, &sources, console).await,
        Command::Key(command) => key::run(command, &sources, console).await,
        Command::Compare(args) => compare::run(args, console).await,
        Command::Openapi => {
            let config = Config::load(&sources)?;
            console.print(civitas_api::openapi(&site::from_config(&config)))
        }
        Command::Doctor => doctor::run(&sources, console).await,
        Command::Healthcheck => healthcheck::run(&sources, console).await,
        Command::Completions { shell } => {
            // `generate` panics when it cannot write.
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "civitas", &mut text);
            console.stdout.write_all(&text).map_err(CommandError::from)
        }
        Command::Man { directory } => {
            let written = clap_mangen::generate_to(Cli::command(), &directory);
            written.map_err(|error| CommandError::from(paths::with_path(&directory, error)))
        }
    }
}

/// Requested help is not a failure.
fn misused(error: &clap::Error, console: &mut Console<'_>) -> u8 {
    let text = error.render();
    let (out, code): (&mut (dyn Write + Send), u8) =
        if error.use_stderr() { (console.stderr, 2) } else { (console.stdout, 0) };
    // The reader may be gone.
    let _ = write!(out, "{text}");
    code
}

/// Reads the configuration and starts logging.
fn configure(sources: &SettingSources) -> Result<Config, ConfigError> {
    let config = Config::load(sources)?;
    telemetry::start_logging(&config);
    Ok(config)
}

/// Reads the configuration; starts logging and the export of traces.
fn configure_server(sources: &SettingSources) -> CommandResult<(Config, Option<Traces>)> {
    let config = Config::load(sources)?;
    let traces =
        telemetry::start_server_logging(&config).map_err(|error| CommandError::Because(error.to_string()))?;
    Ok((config, traces))
}

/// Opens the database; an error if its schema is not the one this build needs.
async fn open_store(config: &Config) -> CommandResult<Arc<dyn Store>> {
    let opened = Database::from_config(config).for_long_work().without_replicas().open_current().await;
    opened?.map_err(CommandError::Because)
}

/// A command in the audit trail, without `civitas`.
fn actor(command: &str) -> Actor {
    Actor::CommandLine { command: format!("civitas {command}") }
}

fn read_time(text: &str) -> Result<OffsetDateTime, String> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| "must be a time, as 2026-03-01T09:30:00Z".to_owned())
}

fn time_text(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}

async fn find_organization(store: &dyn Store, host: &str) -> CommandResult<OrganizationId> {
    let found = store.organizations().find_by_host(&host.trim().to_lowercase()).await?;
    found.ok_or_else(|| CommandError::Because(format!("no organization has the host {host}")))
}
