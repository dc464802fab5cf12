//! `civitas api-client` (contract 04 §4). For programs: errors too are written to standard output, in the
//! requested format, with exit code 1.

use super::{Cli, Console, Failure, Outcome, because, configure, open_store};
use crate::config::Sources;
use civitas_accounts::{ApiClient, ClientAdmin, ClientFault, NewClient, Secret};
use civitas_application::{Store, Transaction};
use civitas_audit::{Action, Actor, Record};
use civitas_kernel::{Abilities, Ability, OrganizationId, Scope, clock};
use clap::CommandFactory;
use serde::Serialize;
use serde_json::json;
use std::ffi::OsString;

/// The number of clients read at once.
const PAGE: i64 = 500;

#[derive(Debug, clap::Args)]
pub(super) struct ApiClientArgs {
    #[command(subcommand)]
    command: Option<ApiClientCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum ApiClientCommand {
    /// Creates a client and prints its secret, once.
    Create(CreateArgs),
    /// Prints a client, or all of them.
    Get(Named),
    /// Grants permissions to a client.
    Grant(Permissions),
    /// Revokes permissions of a client.
    Revoke(Permissions),
    /// Removes a client with its tokens, permissions and webhook registrations.
    Delete(Named),
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// A scope the client owns; at least one, repeat it for more.
    #[arg(long = "scope", value_name = "S")]
    scopes: Vec<String>,
    /// The organization it belongs to; required unless the scopes are exactly `system`.
    #[arg(long, value_name = "N")]
    organization_id: Option<i64>,
    /// A permission the client gets; repeat it for more.
    #[arg(long = "permission", visible_alias = "perm", value_name = "P")]
    permissions: Vec<String>,
    /// Its public name, at least 8 characters [default: random].
    #[arg(long)]
    id: Option<String>,
    /// Its secret [default: random].
    #[arg(long)]
    secret: Option<String>,
    /// Its display name [default: made from its public name].
    #[arg(long)]
    name: Option<String>,
    /// Grants `oauth.impersonate` too.
    #[arg(long)]
    allow_impersonate: bool,
    /// Grants `oauth.login` too.
    #[arg(long)]
    allow_login: bool,
    #[command(flatten)]
    shape: ShapeArg,
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The public name of the client.
    #[arg(long)]
    id: Option<String>,
    #[command(flatten)]
    shape: ShapeArg,
}

#[derive(Debug, clap::Args)]
struct Permissions {
    /// A permission; at least one, repeat it for more.
    #[arg(long = "permission", visible_alias = "perm", value_name = "P")]
    permissions: Vec<String>,
    #[command(flatten)]
    client: Named,
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct ShapeArg {
    /// The output format.
    #[arg(long = "format", value_enum, default_value = "json")]
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Shape {
    /// One object a line.
    Json,
    /// `key=value` lines.
    Text,
}

impl ApiClientCommand {
    fn shape(&self) -> Shape {
        match self {
            Self::Create(args) => args.shape.shape,
            Self::Get(named) | Self::Delete(named) => named.shape.shape,
            Self::Grant(given) | Self::Revoke(given) => given.client.shape.shape,
            Self::Unknown(_) => Shape::Json,
        }
    }
}

pub(super) async fn run(args: ApiClientArgs, sources: &Sources, console: &mut Console<'_>) -> Outcome {
    let Some(command) = args.command else { return usage(console) };
    if let ApiClientCommand::Unknown(words) = &command {
        usage(console)?;
        let word = words.first().map_or("", String::as_str);
        writeln!(console.stdout, "Unknown command: {word}").map_err(because)?;
        return Err(Failure::Told);
    }
    let shape = command.shape();
    match execute(command, sources).await {
        Ok(answers) => answers.iter().try_for_each(|answer| tell(answer, shape, console)).map_err(because),
        Err(fault) => {
            tell_fault(&fault, shape, console).map_err(because)?;
            Err(Failure::Told)
        }
    }
}

fn usage(console: &mut Console<'_>) -> Outcome {
    let mut command = Cli::command();
    command.build();
    let help = command.find_subcommand_mut("api-client").map(clap::Command::render_help);
    write!(console.stdout, "{}", help.unwrap_or_default()).map_err(because)
}

/// Whether arguments that cannot be parsed seem to be for this command.
pub(super) fn is_asked(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "api-client")
}

/// Handles arguments that cannot be parsed.
pub(super) fn misused(error: &clap::Error, arguments: &[OsString], console: &mut Console<'_>) -> u8 {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let fault = format!("Error: {}", line.strip_prefix("error: ").unwrap_or(line));
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let wants_text =
        words.windows(2).any(|pair| pair == ["--format", "text"]) || words.contains(&"--format=text");
    let shape = if wants_text { Shape::Text } else { Shape::Json };
    // The exit code is 1 in both cases.
    let _ = tell_fault(&fault, shape, console);
    1
}

/// The fields of a client, in the order of the output.
#[derive(Debug, Serialize)]
struct Shown {
    id: String,
    secret: Option<String>,
    name: String,
    scopes: Vec<&'static str>,
    permissions: Vec<&'static str>,
    organization_id: Option<OrganizationId>,
}

enum Answer {
    Client(Shown),
    Deleted(String),
}

fn shown(client: ApiClient, secret: Option<&Secret>) -> Answer {
    Answer::Client(Shown {
        secret: secret.map(|secret| secret.expose().to_owned()),
        scopes: client.scopes.iter().map(Scope::as_str).collect(),
        permissions: client.permissions.iter().map(Ability::as_str).collect(),
        organization_id: client.organization,
        id: client.uid,
        name: client.name,
    })
}

fn tell(answer: &Answer, shape: Shape, console: &mut Console<'_>) -> std::io::Result<()> {
    match (answer, shape) {
        (Answer::Client(client), Shape::Json) => writeln!(console.stdout, "{}", json_line(client)),
        (Answer::Client(client), Shape::Text) => {
            let organization = client.organization_id.map(|id| id.to_string()).unwrap_or_default();
            let secret = client.secret.as_deref().unwrap_or_default();
            writeln!(
                console.stdout,
                "\nid={}\nsecret={secret}\nname={}\nscopes={}\npermissions={}\norganization_id={organization}",
                client.id,
                client.name,
                client.scopes.join(","),
                client.permissions.join(","),
            )
        }
        (Answer::Deleted(id), Shape::Json) => {
            writeln!(console.stdout, "{}", json_line(&json!({"deleted": true, "id": id})))
        }
        (Answer::Deleted(id), Shape::Text) => writeln!(console.stdout, "\ndeleted id={id}"),
    }
}

/// Its members in the order they were declared.
fn json_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn tell_fault(fault: &str, shape: Shape, console: &mut Console<'_>) -> std::io::Result<()> {
    match shape {
        Shape::Json => writeln!(console.stdout, "{}", json!({"error": fault})),
        Shape::Text => writeln!(console.stdout, "\n\x1b[31m{fault}\x1b[0m"),
    }
}

/// The error with the text of the contract, if that names an option.
fn words(fault: &ClientFault) -> String {
    match fault {
        ClientFault::NoScope => "Error: at least one --scope is required".to_owned(),
        ClientFault::NoOrganization => {
            "Error: --organization-id is required for non-system clients".to_owned()
        }
        other => format!("Error: {other}"),
    }
}

async fn execute(command: ApiClientCommand, sources: &Sources) -> Result<Vec<Answer>, String> {
    let missing = match &command {
        ApiClientCommand::Grant(given) if given.client.id.is_none() => Some(" for grant command"),
        ApiClientCommand::Revoke(given) if given.client.id.is_none() => Some(" for revoke command"),
        ApiClientCommand::Delete(named) if named.id.is_none() => Some(""),
        _ => None,
    };
    if let Some(command) = missing {
        return Err(format!("Error: --id is required{command}"));
    }
    let config = configure(sources).map_err(|error| format!("Error: {error}"))?;
    let store = open_store(&config).await.map_err(|failure| match failure {
        Failure::Because(reason) => format!("Error: {reason}"),
        _ => "Error: the database cannot be opened".to_owned(),
    })?;
    if let ApiClientCommand::Get(Named { id: None, .. }) = command {
        return all(&*store).await.map_err(|error| format!("Error: {error}"));
    }
    let work = store.begin().await.map_err(|error| format!("Error: {error}"))?;
    match change(command, &*work).await {
        Ok(answer) => {
            work.commit().await.map_err(|error| format!("Error: {error}"))?;
            Ok(vec![answer])
        }
        Err(fault) => {
            work.rollback().await;
            Err(fault)
        }
    }
}

async fn all(store: &dyn Store) -> civitas_kernel::Result<Vec<Answer>> {
    let (mut answers, mut after) = (Vec::new(), None);
    loop {
        let page = store.clients().page_after(None, after, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(answers) };
        after = Some(*last);
        answers.extend(page.into_iter().map(|(_, client)| shown(client, None)));
    }
}

async fn change(command: ApiClientCommand, work: &dyn Transaction) -> Result<Answer, String> {
    let admin = ClientAdmin { clients: work.clients(), organizations: work.organization_lookup() };
    let now = clock::now();
    let (answer, record) = match command {
        ApiClientCommand::Create(args) => {
            let (client, secret) = admin.create(args.into(), now).await.map_err(|fault| words(&fault))?;
            let scopes: Vec<_> = client.scopes.iter().map(Scope::as_str).collect();
            let record = record("create", Action::ApiClientCreated, &client).changed(
                "scopes",
                None,
                Some(&scopes.join(", ")),
            );
            let record = with_permissions(record, &Abilities::default(), &client.permissions);
            (shown(client, Some(&secret)), Some(record))
        }
        ApiClientCommand::Get(named) => {
            let found = admin.find(&named.id.unwrap_or_default()).await;
            (shown(found.map_err(|fault| words(&fault))?.1, None), None)
        }
        ApiClientCommand::Delete(named) => {
            let id = named.id.unwrap_or_default();
            let (_, client) = admin.find(&id).await.map_err(|fault| words(&fault))?;
            admin.delete(&id).await.map_err(|fault| words(&fault))?;
            (Answer::Deleted(id), Some(record("delete", Action::ApiClientRevoked, &client)))
        }
        ApiClientCommand::Grant(given) => {
            let before = given.client(&admin).await?;
            let after = admin.grant(&before.uid, &given.permissions, now).await;
            let after = after.map_err(|fault| words(&fault))?;
            let record = record("grant", Action::ApiClientPermissionsGranted, &before);
            let record = with_permissions(record, &before.permissions, &after.permissions);
            (shown(after, None), Some(record).filter(Record::has_changes))
        }
        ApiClientCommand::Revoke(given) => {
            let before = given.client(&admin).await?;
            let after = admin.revoke(&before.uid, &given.permissions, now).await;
            let after = after.map_err(|fault| words(&fault))?;
            let record = record("revoke", Action::ApiClientPermissionsRevoked, &before);
            let record = with_permissions(record, &before.permissions, &after.permissions);
            (shown(after, None), Some(record).filter(Record::has_changes))
        }
        ApiClientCommand::Unknown(_) => return Err("Error: unknown command".to_owned()),
    };
    if let Some(record) = record {
        work.audit().append(&record, now).await.map_err(|error| format!("Error: {error}"))?;
    }
    Ok(answer)
}

/// The record of a command on a client, in the organization of the client.
fn record(command: &str, action: Action, client: &ApiClient) -> Record {
    let actor = Actor::CommandLine { command: format!("civitas api-client {command}") };
    Record::new(actor, action).of(client.organization).on("api_client", &client.uid, &client.name)
}

/// Adds each permission that was granted or revoked.
fn with_permissions(record: Record, before: &Abilities, after: &Abilities) -> Record {
    let revoked = before.iter().filter(|one| !after.has(*one)).map(|one| (one, "granted", "not granted"));
    let granted = after.iter().filter(|one| !before.has(*one)).map(|one| (one, "not granted", "granted"));
    let changes = revoked.chain(granted);
    changes.fold(record, |record, (one, old, new)| record.changed(one.as_str(), Some(old), Some(new)))
}

impl Permissions {
    /// The client; an error if it does not exist or no permissions are given.
    async fn client(&self, admin: &ClientAdmin<'_>) -> Result<ApiClient, String> {
        let id = self.client.id.clone().unwrap_or_default();
        let (_, client) = admin.find(&id).await.map_err(|fault| words(&fault))?;
        if self.permissions.is_empty() {
            return Err("Error: at least one --permission is required".to_owned());
        }
        Ok(client)
    }
}

impl From<CreateArgs> for NewClient {
    fn from(args: CreateArgs) -> Self {
        let more = [
            args.allow_impersonate.then_some(Ability::OauthImpersonate),
            args.allow_login.then_some(Ability::OauthLogin),
        ];
        let more = more.into_iter().flatten().map(|ability| ability.as_str().to_owned());
        Self {
            uid: args.id,
            secret: args.secret.map(Secret::new),
            name: args.name,
            organization: args.organization_id.map(OrganizationId),
            scopes: args.scopes,
            permissions: args.permissions.into_iter().chain(more).collect(),
        }
    }
}
