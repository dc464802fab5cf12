//! `civitas api-client` (contract 04 §4). For programs: errors too are written to standard output, in the
//! requested format, with exit code 1.

use super::{Cli, CommandError, CommandResult, Console, actor, configure, open_store};
use crate::config::SettingSources;
use civitas_accounts::{ApiClient, ClientAdministration, ClientAdministrationError, NewClient, Secret};
use civitas_application::{Store, Transaction};
use civitas_audit::{Action, NewAuditEntry};
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
    Get(ClientArg),
    /// Grants permissions to a client.
    Grant(Permissions),
    /// Revokes permissions of a client.
    Revoke(Permissions),
    /// Removes a client with its tokens, permissions and webhook registrations.
    Delete(ClientArg),
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
    format: FormatArg,
}

#[derive(Debug, clap::Args)]
struct ClientArg {
    /// The public name of the client.
    #[arg(long)]
    id: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, clap::Args)]
struct Permissions {
    /// A permission; at least one, repeat it for more.
    #[arg(long = "permission", visible_alias = "perm", value_name = "P")]
    permissions: Vec<String>,
    #[command(flatten)]
    client: ClientArg,
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct FormatArg {
    /// The output format.
    #[arg(long = "format", value_enum, default_value = "json")]
    format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OutputFormat {
    /// One object a line.
    Json,
    /// `key=value` lines.
    Text,
}

impl ApiClientCommand {
    fn format(&self) -> OutputFormat {
        match self {
            Self::Create(args) => args.format.format,
            Self::Get(named) | Self::Delete(named) => named.format.format,
            Self::Grant(args) | Self::Revoke(args) => args.client.format.format,
            Self::Unknown(_) => OutputFormat::Json,
        }
    }
}

pub(super) async fn run(
    args: ApiClientArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let Some(command) = args.command else { return usage(console) };
    if let ApiClientCommand::Unknown(words) = &command {
        usage(console)?;
        let word = words.first().map_or("", String::as_str);
        console.print(format_args!("Unknown command: {word}"))?;
        return Err(CommandError::Reported);
    }
    let format = command.format();
    match execute(command, sources).await {
        Ok(outputs) => outputs.iter().try_for_each(|output| console.print(output.text(format))),
        Err(fault) => {
            console.print(fault_text(&fault, format))?;
            Err(CommandError::Reported)
        }
    }
}

fn usage(console: &mut Console<'_>) -> CommandResult {
    let mut command = Cli::command();
    command.build();
    let help = command.find_subcommand_mut("api-client").map(clap::Command::render_help);
    write!(console.stdout, "{}", help.unwrap_or_default()).map_err(CommandError::from)
}

/// Whether arguments that cannot be parsed seem to be for this command.
pub(super) fn is_asked(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "api-client")
}

/// Handles arguments that cannot be parsed.
pub(super) fn report_misuse(error: &clap::Error, arguments: &[OsString], console: &mut Console<'_>) -> u8 {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let fault = format!("Error: {}", line.strip_prefix("error: ").unwrap_or(line));
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let wants_text =
        words.windows(2).any(|pair| pair == ["--format", "text"]) || words.contains(&"--format=text");
    let format = if wants_text { OutputFormat::Text } else { OutputFormat::Json };
    // The exit code is 1 in both cases.
    let _ = console.print(fault_text(&fault, format));
    1
}

/// The fields of a client, in the order of the output.
#[derive(Debug, Serialize)]
struct ClientFields {
    id: String,
    secret: Option<String>,
    name: String,
    scopes: Vec<&'static str>,
    permissions: Vec<&'static str>,
    organization_id: Option<OrganizationId>,
}

/// What a command prints.
enum Output {
    Client(ClientFields),
    Deleted(String),
}

impl Output {
    fn client(client: ApiClient, secret: Option<&Secret>) -> Self {
        Self::Client(ClientFields {
            secret: secret.map(|secret| secret.expose().to_owned()),
            scopes: client.scopes.iter().map(Scope::as_str).collect(),
            permissions: client.permissions.iter().map(Ability::as_str).collect(),
            organization_id: client.organization,
            id: client.uid,
            name: client.name,
        })
    }

    fn text(&self, format: OutputFormat) -> String {
        match (self, format) {
            // The members have the order of the type.
            (Self::Client(client), OutputFormat::Json) => serde_json::to_string(client).unwrap_or_default(),
            (Self::Client(client), OutputFormat::Text) => {
                let ClientFields { id, name, .. } = client;
                let (scopes, permissions) = (client.scopes.join(","), client.permissions.join(","));
                let organization = client.organization_id.map(|id| id.to_string()).unwrap_or_default();
                let secret = client.secret.as_deref().unwrap_or_default();
                format!(
                    "\nid={id}\nsecret={secret}\nname={name}\nscopes={scopes}\npermissions={permissions}\n\
                     organization_id={organization}"
                )
            }
            (Self::Deleted(id), OutputFormat::Json) => json!({"deleted": true, "id": id}).to_string(),
            (Self::Deleted(id), OutputFormat::Text) => format!("\ndeleted id={id}"),
        }
    }
}

fn fault_text(fault: &str, format: OutputFormat) -> String {
    match format {
        OutputFormat::Json => json!({"error": fault}).to_string(),
        OutputFormat::Text => format!("\n\x1b[31m{fault}\x1b[0m"),
    }
}

/// The error with the text of the contract, if that names an option.
fn error_text(fault: &ClientAdministrationError) -> String {
    match fault {
        ClientAdministrationError::NoScope => "Error: at least one --scope is required".to_owned(),
        ClientAdministrationError::NoOrganization => {
            "Error: --organization-id is required for non-system clients".to_owned()
        }
        other => format!("Error: {other}"),
    }
}

async fn execute(command: ApiClientCommand, sources: &SettingSources) -> Result<Vec<Output>, String> {
    let missing = match &command {
        ApiClientCommand::Grant(args) if args.client.id.is_none() => Some(" for grant command"),
        ApiClientCommand::Revoke(args) if args.client.id.is_none() => Some(" for revoke command"),
        ApiClientCommand::Delete(named) if named.id.is_none() => Some(""),
        _ => None,
    };
    if let Some(command) = missing {
        return Err(format!("Error: --id is required{command}"));
    }
    let config = configure(sources).map_err(|error| format!("Error: {error}"))?;
    let store = open_store(&config).await.map_err(|failure| match failure {
        CommandError::Because(reason) => format!("Error: {reason}"),
        _ => "Error: the database cannot be opened".to_owned(),
    })?;
    if let ApiClientCommand::Get(ClientArg { id: None, .. }) = command {
        return all(&*store).await.map_err(|error| format!("Error: {error}"));
    }
    let work = store.begin().await.map_err(|error| format!("Error: {error}"))?;
    match change(command, &*work).await {
        Ok(output) => {
            work.commit().await.map_err(|error| format!("Error: {error}"))?;
            Ok(vec![output])
        }
        Err(fault) => {
            work.rollback().await;
            Err(fault)
        }
    }
}

async fn all(store: &dyn Store) -> civitas_kernel::Result<Vec<Output>> {
    let (mut outputs, mut after) = (Vec::new(), None);
    loop {
        let page = store.clients().page_after(None, after, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(outputs) };
        after = Some(*last);
        outputs.extend(page.into_iter().map(|(_, client)| Output::client(client, None)));
    }
}

async fn change(command: ApiClientCommand, work: &dyn Transaction) -> Result<Output, String> {
    let admin = ClientAdministration { clients: work.clients(), organizations: work.organization_lookup() };
    let now = clock::now();
    let find =
        async |id: &str| admin.find(id).await.map(|(_, client)| client).map_err(|fault| error_text(&fault));
    let (output, audit_entry) = match command {
        ApiClientCommand::Create(args) => {
            let (client, secret) =
                admin.create(args.into(), now).await.map_err(|fault| error_text(&fault))?;
            let scopes = client.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(", ");
            let audit_entry = client_audit_entry("create", Action::ApiClientCreated, &client);
            let audit_entry = audit_entry.with_change("scopes", None, Some(&scopes));
            let audit_entry = with_permissions(audit_entry, &Abilities::default(), &client.permissions);
            (Output::client(client, Some(&secret)), Some(audit_entry))
        }
        ApiClientCommand::Get(named) => {
            (Output::client(find(&named.id.unwrap_or_default()).await?, None), None)
        }
        ApiClientCommand::Delete(named) => {
            let id = named.id.unwrap_or_default();
            let client = find(&id).await?;
            admin.delete(&id).await.map_err(|fault| error_text(&fault))?;
            (Output::Deleted(id), Some(client_audit_entry("delete", Action::ApiClientRevoked, &client)))
        }
        ApiClientCommand::Grant(ref args) | ApiClientCommand::Revoke(ref args) => {
            let before = find(args.client.id.as_deref().unwrap_or_default()).await?;
            if args.permissions.is_empty() {
                return Err("Error: at least one --permission is required".to_owned());
            }
            let (after, name, action) = if let ApiClientCommand::Grant(_) = &command {
                let after = admin.grant(&before.uid, &args.permissions, now).await;
                (after, "grant", Action::ApiClientPermissionsGranted)
            } else {
                let after = admin.revoke(&before.uid, &args.permissions, now).await;
                (after, "revoke", Action::ApiClientPermissionsRevoked)
            };
            let after = after.map_err(|fault| error_text(&fault))?;
            let audit_entry = client_audit_entry(name, action, &before);
            let audit_entry = with_permissions(audit_entry, &before.permissions, &after.permissions);
            (Output::client(after, None), Some(audit_entry).filter(NewAuditEntry::has_changes))
        }
        ApiClientCommand::Unknown(_) => return Err("Error: unknown command".to_owned()),
    };
    if let Some(audit_entry) = audit_entry {
        work.audit().append(&audit_entry, now).await.map_err(|error| format!("Error: {error}"))?;
    }
    Ok(output)
}

/// The audit entry of a command on a client, in the organization of the client.
fn client_audit_entry(command: &str, action: Action, client: &ApiClient) -> NewAuditEntry {
    let audit_entry = NewAuditEntry::new(actor(&format!("api-client {command}")), action);
    audit_entry.in_organization(client.organization).with_object("api_client", &client.uid, &client.name)
}

/// Adds each permission that was granted or revoked.
fn with_permissions(audit_entry: NewAuditEntry, before: &Abilities, after: &Abilities) -> NewAuditEntry {
    let revoked = before.iter().filter(|one| !after.has(*one)).map(|one| (one, "granted", "not granted"));
    let granted = after.iter().filter(|one| !before.has(*one)).map(|one| (one, "not granted", "granted"));
    let changes = revoked.chain(granted);
    changes.fold(audit_entry, |audit_entry, (one, old, new)| {
        audit_entry.with_change(one.as_str(), Some(old), Some(new))
    })
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
