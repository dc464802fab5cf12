//! `civitas compare`: what differs between the answers of two servers (sheet 13 §9).

use super::{CommandError, CommandResult, Console};
use crate::paths;
use civitas_compare::{Actor, CompareOptions, OldServer, SecretString, Url};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use serde_json::Value;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct CompareArgs {
    /// The address of the old server; not used with `--replay`.
    #[arg(long, value_name = "URL", required_unless_present = "replay")]
    old: Option<Url>,
    /// The address of the new server.
    #[arg(long, value_name = "URL")]
    new: Url,
    /// The host of the organization, when the addresses have another name.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The id of an API client of both servers. What it may not read is skipped.
    #[arg(long, value_name = "ID")]
    client_id: String,
    /// The file of its secret. Else the secret is the first line of standard input.
    #[arg(long, value_name = "F")]
    client_secret_file: Option<PathBuf>,
    /// `service`, or `user:NICKNAME`, whom the client impersonates. Else the client, and an administrator, a member of a
    /// private space and a voter of the old server.
    #[arg(long, value_name = "ACTOR", value_parser = read_actor)]
    actor: Vec<Actor>,
    /// Only this group of lists.
    #[arg(long, value_name = "GROUP", value_parser = PossibleValuesParser::new(civitas_compare::groups()))]
    only: Vec<String>,
    /// The number of records of each list that are also read one by one, or `all`.
    #[arg(long, value_name = "N", default_value = "200", value_parser = read_sample)]
    sample: usize,
    /// The report of the import: records that it names as dropped are expected to be missing.
    #[arg(long, value_name = "FILE")]
    import_report: Option<PathBuf>,
    /// Stores the answers of the old server in this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Reads the answers of the old server from this directory.
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
    /// Expected differences are differences; addresses of links are compared.
    #[arg(long)]
    strict: bool,
    /// The report has the values that differ, also personal data, and not only their digests.
    #[arg(long)]
    show_values: bool,
    /// Also writes the report to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The form of the report on standard output.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The most requests that are open at a time, to both servers together.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=64))]
    parallel: u16,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn read_actor(text: &str) -> Result<Actor, String> {
    match text.split_once(':') {
        None if text == "service" => Ok(Actor::Service),
        Some(("user", nickname)) if !nickname.is_empty() => Ok(Actor::User(nickname.to_owned())),
        _ => Err("must be service or user:NICKNAME".to_owned()),
    }
}

fn read_sample(text: &str) -> Result<usize, String> {
    if text == "all" {
        Ok(usize::MAX)
    } else {
        text.parse().map_err(|_| "must be a number or all".to_owned())
    }
}

/// Exit code 0 without a difference, 3 with one.
pub(super) async fn run(args: CompareArgs, console: &mut Console<'_>) -> CommandResult {
    let client_secret = read_secret(args.client_secret_file.as_deref(), console)?;
    let import_report = match &args.import_report {
        Some(file) => serde_json::from_slice(&paths::read(file)?)?,
        None => Value::Null,
    };
    let old = match (args.replay, args.old) {
        (None, Some(url)) => OldServer::Server(url, args.record),
        (replay, _) => OldServer::Recorded(replay.unwrap_or_default()),
    };
    let options = CompareOptions {
        old,
        new: args.new,
        host: args.host,
        client_id: args.client_id,
        client_secret,
        actors: args.actor,
        only: args.only,
        sample: args.sample,
        import_report,
        strict: args.strict,
        show_values: args.show_values,
        parallel: args.parallel.into(),
    };
    let report = civitas_compare::compare(options).await?;
    if let Some(file) = &args.report {
        let json = serde_json::to_vec(&report)?;
        write_private(file, &json).map_err(|error| paths::with_path(file, error))?;
    }
    match args.format {
        Format::Text => console.print(&report)?,
        Format::Json => console.print_json(&report)?,
    }
    if report.differences() == 0 { Ok(()) } else { Err(CommandError::Different) }
}

fn read_secret(file: Option<&Path>, console: &mut Console<'_>) -> CommandResult<SecretString> {
    let text = if let Some(file) = file {
        fs::read_to_string(file).map_err(|error| paths::with_path(file, error))?
    } else {
        let mut line = String::new();
        console.stdin.read_line(&mut line)?;
        line
    };
    Ok(SecretString::from(text.trim()))
}

/// Writes a file that only its owner may read, also when it was there before: it can have personal data.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    file.write_all(bytes)
}
