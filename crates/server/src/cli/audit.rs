//! `civitas audit`: lists and verifies the audit trail.

use super::{
    CommandError, CommandResult, Console, configure, find_organization, open_store, read_time, time_text,
};
use crate::config::SettingSources;
use civitas_application::Store;
use civitas_application::audit::{AuditTrail, ChainVerification};
use civitas_audit::{Action, Actor, ActorKind, AuditEntry, AuditFilter, AuditScope};
use civitas_kernel::{PageRequest, clock};
use serde_json::{Value, json};
use std::fmt::Write;
use time::OffsetDateTime;

#[derive(Debug, clap::Subcommand)]
pub(super) enum AuditCommand {
    /// Prints entries, the newest first.
    List(ListArgs),
    /// Verifies the chains of hashes, and prints one JSON object for each. The exit code is 1 when one is broken.
    Verify {
        /// Only that of the organization with this host.
        #[arg(long, value_name = "HOST")]
        organization: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only those of the organization with this host.
    #[arg(long, value_name = "HOST")]
    organization: Option<String>,
    /// Only those of the deployment, which belong to no organization.
    #[arg(long, conflicts_with = "organization")]
    deployment: bool,
    /// Only this action, as `api_client.created`.
    #[arg(long, value_name = "A", value_parser = read_action)]
    action: Option<Action>,
    /// Only actors of this kind.
    #[arg(long, value_name = "KIND", value_parser = ActorKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>())]
    actor: Option<String>,
    /// Only those with this part in the name of the actor or of the object. Searches the newest 10,000.
    #[arg(long, value_name = "PART")]
    text: Option<String>,
    /// Only those at this time or later, as 2026-03-01T09:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    since: Option<OffsetDateTime>,
    /// Only those before this time.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    until: Option<OffsetDateTime>,
    /// The most entries.
    #[arg(long, value_name = "N", default_value_t = PageRequest::DEFAULT_LENGTH, value_parser = clap::value_parser!(i64).range(1..=PageRequest::MAX_LENGTH))]
    limit: i64,
    /// The page of `--limit` entries.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    page: i64,
    /// The output format.
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One object a line.
    Json,
    /// One entry a line, and its changes below it.
    Text,
}

pub(super) async fn run(
    command: AuditCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let store = open_store(&config).await?;
    match command {
        AuditCommand::List(args) => list(args, &*store, console).await,
        AuditCommand::Verify { organization } => verify(organization.as_deref(), &*store, console).await,
    }
}

async fn list(args: ListArgs, store: &dyn Store, console: &mut Console<'_>) -> CommandResult {
    let scope = match &args.organization {
        Some(host) => AuditScope::Organization(find_organization(store, host).await?),
        None if args.deployment => AuditScope::Deployment,
        None => AuditScope::All,
    };
    let filter = AuditFilter {
        scope,
        action: args.action,
        actor: args.actor.as_deref().and_then(ActorKind::parse),
        object: None,
        text: args.text,
        since: args.since.map(clock::to_microseconds),
        until: args.until.map(clock::to_microseconds),
    };
    let page = PageRequest::new(args.page, args.limit);
    let listed = store.audit().list(&filter, page).await?;
    for entry in &listed.items {
        match args.format {
            Format::Json => console.print(entry_json(entry))?,
            Format::Text => console.print(entry_text(entry))?,
        }
    }
    if listed.has_more {
        console.note("There are more: use --page.")?;
    }
    Ok(())
}

async fn verify(host: Option<&str>, store: &dyn Store, console: &mut Console<'_>) -> CommandResult {
    let trail = AuditTrail { log: store.audit() };
    let mut faults = Vec::new();
    let mut lines = String::new();
    let mut report = |verification: ChainVerification| {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{}", verification_json(&verification));
        if let Some(fault) = verification.fault {
            let chain = verification
                .organization
                .map_or("of the deployment".to_owned(), |id| format!("of organization {id}"));
            faults.push(format!("entry {} {chain}: {}", fault.number, fault.error));
        }
    };
    match host {
        Some(host) => {
            let organization = find_organization(store, host).await?;
            report(trail.verify(Some(organization)).await?);
        }
        None => trail.verify_all(report).await?,
    }
    write!(console.stdout, "{lines}")?;
    if faults.is_empty() { Ok(()) } else { Err(CommandError::Because(faults.join("; "))) }
}

fn read_action(name: &str) -> Result<Action, String> {
    Action::parse(name).ok_or_else(|| {
        let names: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
        format!("actions are {}", names.join(", "))
    })
}

fn entry_json(entry: &AuditEntry) -> Value {
    let user = entry.actor.user().map(|(id, nickname)| json!({"id": id, "nickname": nickname}));
    let object = entry.object.as_ref();
    let object = object.map(|object| json!({"kind": object.kind, "id": object.id, "label": object.label}));
    let changes = entry.changes.iter();
    let changes: Vec<_> = changes
        .map(|change| json!({"field": change.field, "before": change.before, "after": change.after}))
        .collect();
    json!({
        "organization_id": entry.organization,
        "number": entry.number,
        "at": time_text(entry.at),
        "actor": {
            "kind": entry.actor.kind().as_str(),
            "id": entry.actor.id(),
            "name": entry.actor.name(),
            "user": user,
        },
        "from": entry.from,
        "action": entry.action.as_str(),
        "object": object,
        "changes": changes,
        "hash": entry.hash,
    })
}

/// `2026-03-01T09:30:00Z 3/12 civitas api-client grant: api_client.permissions_granted on api_client id_app (App)`: time,
/// organization and number, actor, action, object.
fn entry_text(entry: &AuditEntry) -> String {
    let organization = entry.organization.map_or("-".to_owned(), |id| id.to_string());
    let actor = match &entry.actor {
        Actor::Client { uid, name, user: Some((_, nickname)) } => format!("{name} ({uid}) for {nickname}"),
        Actor::Client { uid, name, user: None } => format!("{name} ({uid})"),
        other => other.name().unwrap_or_else(|| other.kind().as_str()).to_owned(),
    };
    let mut text =
        format!("{} {organization}/{} {actor}: {}", time_text(entry.at), entry.number, entry.action.as_str());
    // Writing to a String cannot fail.
    if let Some(object) = &entry.object {
        let _ = write!(text, " on {} {} ({})", object.kind, object.id, object.label);
    }
    if let Some(address) = &entry.from {
        let _ = write!(text, " from {address}");
    }
    for change in &entry.changes {
        let [before, after] = [&change.before, &change.after].map(|value| value.as_deref().unwrap_or("none"));
        let _ = write!(text, "\n    {}: {before} → {after}", change.field);
    }
    text
}

fn verification_json(verification: &ChainVerification) -> Value {
    let head = verification.head.as_ref();
    let fault =
        verification.fault.map(|fault| json!({"number": fault.number, "reason": fault.error.as_str()}));
    json!({
        "organization_id": verification.organization,
        "verified": verification.verified,
        "erased": verification.erased,
        "removed": head.map_or(0, |head| head.removed_number),
        "last": head.map_or(0, |head| head.number),
        "hash": head.map(|head| &head.hash),
        "broken": fault,
    })
}
