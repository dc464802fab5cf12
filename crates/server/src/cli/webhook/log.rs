//! The log of deliveries: lists, replays, pauses, tests. Each record is one JSON object on a line of standard output.

use crate::cli::{
    CommandError, CommandResult, Console, actor, configure, find_organization, open_store, read_time,
    time_text,
};
use crate::config::SettingSources;
use crate::site;
use civitas_api::webhook_example;
use civitas_application::Store;
use civitas_event_delivery::{WebhookAdministration, WebhookChanges};
use civitas_kernel::{OrganizationId, Page, PageRequest, RegistrationId, clock};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryStatus, LoggedDelivery, Registration,
    RegistrationFilter, RegistrationReport, ReplaySelection, parse_event,
};
use serde_json::{Value, json};
use std::sync::Arc;
use time::OffsetDateTime;
use uuid::Uuid;

/// What is done with the log.
#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum LogCommand {
    /// Prints the registrations with the numbers of their deliveries.
    List {
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Prints deliveries, the newest first; or one with its attempts.
    Deliveries {
        /// One delivery, by its `X-Webhook-Id`.
        delivery: Option<Uuid>,
        /// Only those of this registration.
        #[arg(long, value_name = "N")]
        registration: Option<i64>,
        /// Only those in this state.
        #[arg(long, value_parser = DeliveryStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>())]
        status: Option<String>,
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Sends deliveries again, with the same ids and bodies: one, the dead ones of a registration, or those that were
    /// queued in a time.
    Replay {
        /// One delivery, by its `X-Webhook-Id`.
        #[arg(required_unless_present = "registration", conflicts_with = "registration")]
        delivery: Option<Uuid>,
        /// Those of this registration.
        #[arg(long, value_name = "N")]
        registration: Option<i64>,
        /// The dead ones.
        #[arg(long, requires = "registration", conflicts_with_all = ["since", "until"])]
        failed: bool,
        /// Those queued at this time or later, as 2026-03-01T09:30:00Z.
        #[arg(long, value_name = "TIME", requires = "registration", value_parser = read_time)]
        since: Option<OffsetDateTime>,
        /// Those queued before this time. Default: now.
        #[arg(long, value_name = "TIME", requires = "since", value_parser = read_time)]
        until: Option<OffsetDateTime>,
        #[command(flatten)]
        scope: Scope,
    },
    /// Stops sending to a registration. Its deliveries wait, at most 30 days.
    Pause {
        /// The registration.
        registration: i64,
        #[command(flatten)]
        scope: Scope,
    },
    /// Sends to a paused or disabled registration again.
    Resume {
        /// The registration.
        registration: i64,
        #[command(flatten)]
        scope: Scope,
    },
    /// Queues one delivery of sample data to a registration, whatever it is subscribed to.
    Test {
        /// The registration.
        registration: i64,
        /// The event. Default: the first one it is subscribed to.
        #[arg(long)]
        event: Option<String>,
        #[command(flatten)]
        scope: Scope,
    },
}

/// Restricts a command to one organization.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Scope {
    /// Only registrations of the clients of the organization with this host.
    #[arg(long, value_name = "HOST")]
    organization: Option<String>,
}

/// The page of a list.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PageArgs {
    /// The page.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    page: i64,
    /// Rows of a page.
    #[arg(long, default_value_t = PageRequest::MAX_LENGTH, value_parser = clap::value_parser!(i64).range(1..=PageRequest::MAX_LENGTH))]
    per_page: i64,
}

impl PageArgs {
    fn request(&self) -> PageRequest {
        PageRequest::new(self.page, self.per_page)
    }
}

/// The store, and the organization a command is restricted to.
struct WebhookScope {
    store: Arc<dyn Store>,
    organization: Option<OrganizationId>,
}

impl WebhookScope {
    fn admin(&self) -> WebhookAdministration<'_> {
        WebhookAdministration { store: &*self.store, organization: self.organization }
    }

    /// Runs a change in a transaction. `command`: its name in the audit trail.
    async fn change<T>(
        &self,
        command: &str,
        now: OffsetDateTime,
        work: impl AsyncFnOnce(WebhookChanges<'_>) -> civitas_kernel::Result<T>,
    ) -> CommandResult<T> {
        let tx = self.store.begin().await?;
        let changes = WebhookChanges {
            tx: &*tx,
            organization: self.organization,
            actor: actor(&format!("webhook {command}")),
            from: None,
            now,
        };
        match work(changes).await {
            Ok(done) => tx.commit().await.map(|()| done).map_err(CommandError::from),
            Err(error) => {
                tx.rollback().await;
                Err(CommandError::from(error))
            }
        }
    }

    /// Replays in batches. Returns the number of deliveries.
    async fn replay(&self, which: &ReplaySelection, now: OffsetDateTime) -> CommandResult<u64> {
        let mut replayed = 0;
        loop {
            match self.change("replay", now, async |changes| changes.replay(which).await).await? {
                0 => return Ok(replayed),
                some => replayed += some,
            }
        }
    }
}

pub(super) async fn run(
    command: LogCommand,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let (LogCommand::List { scope, .. }
    | LogCommand::Deliveries { scope, .. }
    | LogCommand::Replay { scope, .. }
    | LogCommand::Pause { scope, .. }
    | LogCommand::Resume { scope, .. }
    | LogCommand::Test { scope, .. }) = &command;
    let store = open_store(&config).await?;
    let organization = match &scope.organization {
        None => None,
        Some(host) => Some(find_organization(&*store, host).await?),
    };
    let scope = WebhookScope { store, organization };
    let now = clock::now();
    match command {
        LogCommand::List { page, .. } => {
            let listed = scope.admin().registrations(&RegistrationFilter::default(), page.request()).await?;
            print_page(listed, console, |report| report_json(&report))
        }
        LogCommand::Deliveries { delivery: Some(id), .. } => {
            let found = scope.admin().delivery(DeliveryId(id)).await?;
            let mut shown = delivery_json(&found.0);
            shown["log"] = found.1.iter().map(attempt_json).collect();
            console.print(shown)
        }
        LogCommand::Deliveries { delivery: None, registration, status, page, .. } => {
            let filter = DeliveryFilter {
                registration: registration.map(RegistrationId),
                status: status.as_deref().and_then(DeliveryStatus::parse),
                ..DeliveryFilter::default()
            };
            let listed = scope.admin().deliveries(&filter, page.request()).await?;
            print_page(listed, console, |delivery| delivery_json(&delivery))
        }
        LogCommand::Replay { delivery, registration, failed, since, until, .. } => {
            let which = replay_selection(delivery, registration, failed, since, until.unwrap_or(now))?;
            let replayed = scope.replay(&which, now).await?;
            console.print(json!({"replayed": replayed}))
        }
        LogCommand::Pause { registration, .. } => {
            let id = RegistrationId(registration);
            let paused = scope.change("pause", now, async |changes| changes.pause(id).await).await?;
            console.print(registration_json(id, &paused))
        }
        LogCommand::Resume { registration, .. } => {
            let id = RegistrationId(registration);
            let resumed = scope.change("resume", now, async |changes| changes.resume(id).await).await?;
            console.print(registration_json(id, &resumed))
        }
        LogCommand::Test { registration, event, .. } => {
            let origin = site::from_config(&config).origin("city.example");
            test(&scope, RegistrationId(registration), event, &origin, console).await
        }
    }
}

fn replay_selection(
    delivery: Option<Uuid>,
    registration: Option<i64>,
    failed: bool,
    since: Option<OffsetDateTime>,
    until: OffsetDateTime,
) -> CommandResult<ReplaySelection> {
    match (delivery, registration.map(RegistrationId), since) {
        (Some(id), ..) => Ok(ReplaySelection::One(DeliveryId(id))),
        (None, Some(registration), Some(since)) => Ok(ReplaySelection::Range { registration, since, until }),
        (None, Some(registration), None) if failed => Ok(ReplaySelection::Failed(registration)),
        _ => Err(CommandError::Because("give --failed, or --since with a time".to_owned())),
    }
}

async fn test(
    scope: &WebhookScope,
    id: RegistrationId,
    event: Option<String>,
    origin: &str,
    console: &mut Console<'_>,
) -> CommandResult {
    let event = if let Some(name) = event {
        parse_event(&name).ok_or_else(|| CommandError::Because(format!("{name} is not an event")))?
    } else {
        let found = scope.store.registrations().find_unrestricted(id).await?;
        let first = found.and_then(|one| one.subscriptions.first().copied());
        first.ok_or(civitas_kernel::Error::NotFound)?
    };
    let body = webhook_example(event, origin);
    let body = body.ok_or_else(|| CommandError::Because(format!("{event} has no sample data")))?;
    let delivery =
        scope.change("test", clock::now(), async |changes| changes.test(id, event, body).await).await?;
    console.print(json!({"delivery": delivery.0, "event": event.as_str()}))
}

fn report_json(report: &RegistrationReport) -> Value {
    let mut shown = registration_json(report.id, &report.registration);
    let figures = &report.figures;
    shown["client_id"] = json!(report.client_uid);
    shown["deliveries"] = json!({
        "pending": figures.pending,
        "delivered": figures.delivered,
        "dead": figures.dead,
        "dropped": figures.dropped,
        "oldest_pending": figures.oldest_pending.map(time_text),
    });
    shown
}

fn registration_json(id: RegistrationId, registration: &Registration) -> Value {
    let health = &registration.health;
    json!({
        "id": id.0,
        "url": registration.url,
        "subscriptions": registration.subscriptions.iter().map(|event| event.as_str()).collect::<Vec<_>>(),
        "failures": health.failures,
        "failing_since": health.failing_since.map(time_text),
        "succeeded_at": health.succeeded_at.map(time_text),
        "disabled_at": health.disabled_at.map(time_text),
        "paused_at": registration.paused_at.map(time_text),
    })
}

fn delivery_json(delivery: &LoggedDelivery) -> Value {
    json!({
        "id": delivery.id.0,
        "registration": delivery.registration.0,
        "event": delivery.event,
        "type": delivery.name.as_str(),
        "status": delivery.status.as_str(),
        "attempts": delivery.attempts,
        "due_at": Some(delivery.due_at).filter(|_| delivery.status == DeliveryStatus::Pending).map(time_text),
        "created_at": time_text(delivery.created_at),
        "ended_at": delivery.ended_at.map(time_text),
        "reason": delivery.reason,
    })
}

fn attempt_json(attempt: &DeliveryAttempt) -> Value {
    let (status, answer, error) = match &attempt.result {
        Ok(response) => (Some(response.status), Some(response.body.as_str()), None),
        Err(error) => (None, None, Some(format!("{}: {}", error.kind.as_str(), error.cause))),
    };
    json!({
        "number": attempt.number,
        "at": time_text(attempt.at),
        "duration_ms": u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
        "status": status,
        "answer": answer,
        "error": error,
    })
}

/// Prints the rows; on standard error, whether more follow.
fn print_page<T>(page: Page<T>, console: &mut Console<'_>, show: impl Fn(T) -> Value) -> CommandResult {
    for row in page.items {
        console.print(show(row))?;
    }
    if page.has_more {
        console.note("There are more: use --page.")?;
    }
    Ok(())
}
