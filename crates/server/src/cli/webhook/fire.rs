//! Sends one delivery of sample data to an address. Does not use the database.

use crate::cli::{CommandError, CommandResult, Console, configure};
use crate::config::SettingSources;
use crate::{site, webhooks};
use civitas_api::webhook_example;
use civitas_delivery::headers;
use civitas_kernel::{EventName, clock};
use civitas_tokens::random_webhook_secret;
use civitas_webhooks::{
    DeliveryAttempt, DeliveryId, SignedRequest, SigningSecret, TargetPolicy, WebhookSender, parse_event,
};
use serde_json::{Map, Value, json};
use url::{Position, Url};

/// The host in the links of the sample.
const HOST: &str = "city.example";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FireArgs {
    /// The address of the receiver.
    #[arg(long, value_name = "U")]
    url: String,
    /// The event, as `proposal_creation.succeeded`.
    #[arg(long, value_name = "E")]
    event: String,
    /// The key of the signature, 16 to 255 printable ASCII characters [default: random, and printed].
    #[arg(long, value_name = "S")]
    secret: Option<String>,
    /// Prints the request with its body, and sends nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(
    args: FireArgs,
    sources: &SettingSources,
    console: &mut Console<'_>,
) -> CommandResult {
    let config = configure(sources)?;
    let url = TargetPolicy::parse(&args.url)
        .map_err(|_| CommandError::Because("--url must be a valid HTTP or HTTPS URL".to_owned()))?;
    let event = parse_event(&args.event).ok_or_else(|| no_event(&args.event))?;
    let body = webhook_example(event, &site::from_config(&config).origin(HOST));
    let body = body.ok_or_else(|| CommandError::Because(format!("{event} has no sample data")))?;
    let body = config.class_name_prefix.replace_in(body);
    let secret = secret(args.secret.as_deref())?;
    let (id, at) = (DeliveryId::generate(), clock::now());
    let message = SignedRequest { url: &args.url, secret: &secret, id, at, body: &body };
    let mut shown = request_json(&message, &url, event);
    if args.secret.is_none() {
        shown["secret"] = secret.expose().into();
    }
    if args.dry_run {
        shown["body"] = body.into();
        return console.print(shown);
    }
    let sender = webhooks::webhook_sender(&config)?;
    let attempt = sender.send(message, 1).await;
    let is_accepted = add_answer(&mut shown, &attempt);
    console.print(shown)?;
    if is_accepted { Ok(()) } else { Err(CommandError::Reported) }
}

fn no_event(name: &str) -> CommandError {
    let events = EventName::ALL.iter().filter(|name| name.is_event());
    let names: Vec<_> = events.map(|name| name.as_str()).collect();
    CommandError::Because(format!("{name} is not an event; events are {}", names.join(", ")))
}

fn secret(chosen: Option<&str>) -> CommandResult<SigningSecret> {
    match chosen {
        None => random_webhook_secret().map_err(CommandError::from),
        Some(text) if SigningSecret::is_valid(text) => Ok(SigningSecret::new(text)),
        Some(_) => {
            Err(CommandError::Because("--secret must have 16 to 255 printable ASCII characters".to_owned()))
        }
    }
}

/// The request as it is sent.
fn request_json(message: &SignedRequest<'_>, url: &Url, event: EventName) -> Value {
    let mut sent: Map<String, Value> =
        headers(message).into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    sent.insert("Host".to_owned(), url[Position::BeforeHost..Position::AfterPort].into());
    sent.insert("Content-Length".to_owned(), message.body.len().to_string().into());
    json!({
        "id": message.id.to_string(),
        "url": message.url,
        "event": event.as_str(),
        "timestamp": message.at.unix_timestamp(),
        "headers": sent,
        "body_bytes": message.body.len(),
    })
}

/// Adds the answer. Returns whether the receiver accepted the delivery.
fn add_answer(shown: &mut Value, attempt: &DeliveryAttempt) -> bool {
    let response = attempt.result.as_ref().ok();
    let error = attempt.result.as_ref().err();
    shown["status"] = json!(response.map(|response| response.status));
    shown["duration_ms"] = u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX).into();
    shown["answer"] = json!(response.map(|response| &response.body));
    shown["error"] = json!(error.map(|error| format!("{}: {}", error.kind.as_str(), error.cause)));
    let is_accepted = response.is_some_and(civitas_webhooks::ReceiverResponse::is_success);
    shown["accepted"] = is_accepted.into();
    is_accepted
}
