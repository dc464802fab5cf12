//! Deliveries of webhooks, with their attempts.

use super::log::{Log, log_pages};
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Card, Cell, Choice, Empty, Field, Head, Html, KeyValues, Split, Table, Timeline,
    TimelineEvent, render,
};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_event_delivery::WebhookAdmin;
use civitas_kernel::{Error, EventName, RegistrationId, Result};
use civitas_webhooks::{
    Attempt, DeliveryFilter, DeliveryId, DeliveryStatus, LoggedDelivery, Replay, parse_event,
};
use std::collections::HashMap;
use uuid::Uuid;

/// The most deliveries of one act.
const MOST: i64 = 10_000;
const LIST: &str = "/system/webhook_deliveries";

pub(crate) fn admin(visit: &Visit) -> WebhookAdmin<'_> {
    WebhookAdmin { store: visit.panel.store(), organization: None }
}

fn status(visit: &Visit, status: DeliveryStatus) -> Badge {
    let text = visit.say(&format!("delivery-{}", status.as_str()));
    match status {
        DeliveryStatus::Pending => Badge::busy(text),
        DeliveryStatus::Delivered => Badge::good(text),
        DeliveryStatus::Dead => Badge::bad(text),
        DeliveryStatus::Dropped => Badge::plain(text),
    }
}

/// Adds the filters of the list.
fn filter(visit: &Visit, log: &mut Log<'_>) -> DeliveryFilter {
    let states = DeliveryStatus::NAMES.iter();
    let states = states.map(|name| Choice::new(*name, visit.say(&format!("delivery-{name}"))));
    let events = EventName::ALL.iter().filter(|event| event.is_event());
    let events = events.map(|event| Choice::new(event.as_str(), event.as_str()));
    let registration = visit.query.shown("registration");
    let registration = Field::text("registration", visit.say("delivery-registration"), registration);
    let registration = registration.class("narrow");
    DeliveryFilter {
        status: log.select("status", "column-state", states).and_then(DeliveryStatus::parse),
        event: log.select("event", "delivery-event", events).and_then(parse_event),
        registration: log
            .field("registration", &registration)
            .and_then(|id| id.parse().ok())
            .map(RegistrationId),
        client: None,
        from: log.time("from"),
        to: log.time("to"),
    }
}

/// What the filters of the list choose; `None` if they do not name a registration with a state or a time.
fn chosen(visit: &Visit) -> Option<Replay> {
    let filter = filter(visit, &mut Log::new(visit, LIST, "deliveries"));
    let registration = filter.registration?;
    match (filter.from, filter.status) {
        (Some(since), None) => {
            Some(Replay::Range { registration, since, until: filter.to.unwrap_or(visit.now) })
        }
        (None, Some(DeliveryStatus::Dead)) => Some(Replay::Failed(registration)),
        _ => None,
    }
}

/// The link of the list to the page that asks.
fn replay_act(visit: &Visit) -> Option<Act> {
    chosen(visit)?;
    let href = visit.query.with(&format!("{LIST}/replay"), "event", None);
    Some(Act::link(href, visit.say("deliveries-replay-link")))
}

/// The addresses of the registrations of these deliveries.
async fn addresses(visit: &Visit, deliveries: &[LoggedDelivery]) -> Result<HashMap<i64, String>> {
    let mut ids: Vec<RegistrationId> = deliveries.iter().map(|delivery| delivery.registration).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = visit.panel.store().delivery_log().addresses(&ids).await?;
    Ok(found.into_iter().map(|(id, url)| (id.0, url)).collect())
}

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let mut log = Log::new(visit, LIST, "deliveries");
    let filter = filter(visit, &mut log);
    let page = admin(visit).log(&filter, log.request(DeliveryId)).await?;
    let addresses = addresses(visit, &page.items).await?;
    let rows = page.items.iter().map(|delivery| {
        let registration = format!("{} {}", visit.say("registration-one"), delivery.registration);
        let address = addresses.get(&delivery.registration.0).cloned().unwrap_or(registration);
        let next = match delivery.status {
            DeliveryStatus::Pending => {
                visit.tell("delivery-next", &[("time", visit.log_time(delivery.due_at).into())])
            }
            _ => delivery.reason.clone().unwrap_or_default(),
        };
        vec![
            Cell::link(&path(delivery.id), delivery.name.as_str(), &delivery.id.0.to_string()),
            Cell::badge_with_sub(&status(visit, delivery.status), &next),
            Cell::mono("", &address),
            Cell::num(&visit.number(delivery.attempts)),
            Cell::text(&visit.log_time(delivery.created_at)),
        ]
    });
    let columns =
        ["delivery-event", "column-state", "registration-address", "delivery-attempts", "delivery-queued"];
    let empty = Empty { title: visit.say("deliveries-none"), text: visit.say("deliveries-lede"), act: None };
    let table = Table::new(visit.say("deliveries-caption"), log.columns(columns)).rows(rows).empty(empty);
    let pages = log_pages(visit, LIST, &page, |delivery| (delivery.created_at, delivery.id.0));
    log.act = replay_act(visit);
    log.show(&table, pages).await
}

fn path(id: DeliveryId) -> String {
    format!("{LIST}/{}", id.0)
}

fn id(visit: &Visit) -> Result<DeliveryId> {
    Uuid::parse_str(visit.param("uuid")).map(DeliveryId).map_err(|_| Error::NotFound)
}

#[derive(Template)]
#[template(
    source = r#"<details><summary>{{ words.say("delivery-answer") }}</summary><pre tabindex="0" role="region" aria-label="{{ words.say("delivery-answer") }}"><code>{{ text }}</code></pre></details>"#,
    ext = "html"
)]
struct Answer<'a> {
    words: &'a Words,
    text: &'a str,
}

fn attempt(visit: &Visit, attempt: &Attempt) -> TimelineEvent {
    let took = i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX);
    let took = visit.tell("delivery-took", &[("milliseconds", took.into())]);
    let (is_good, note, text) = match &attempt.result {
        Ok(response) => {
            let status = i64::from(response.status);
            ((200..300).contains(&status), format!("HTTP {status}, {took}"), response.body.as_str())
        }
        Err(error) => (false, format!("{}, {took}", error.cause), ""),
    };
    let what = visit.tell("delivery-attempt", &[("number", attempt.number.into())]);
    let kind = if is_good { "good" } else { "bad" };
    let more = if text.is_empty() { Html::default() } else { render(&Answer { words: &visit.words, text }) };
    TimelineEvent { more, ..TimelineEvent::new(kind, what, visit.log_time(attempt.at), note) }
}

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let (delivery, attempts) = admin(visit).delivery(id(visit)?).await?;
    let registration = visit.panel.store().registrations().find_any(delivery.registration).await?;
    let mut events: Vec<TimelineEvent> = attempts.iter().map(|one| attempt(visit, one)).collect();
    if delivery.status == DeliveryStatus::Pending {
        let due = visit.log_time(delivery.due_at);
        events.push(TimelineEvent::new("", visit.say("delivery-next-attempt"), due, String::new()));
    }
    let history = Card::new("attempts", visit.say("delivery-attempts"), Timeline { events }.html());
    let address = registration.as_ref().map_or_else(|| visit.say("deleted"), |one| one.url.clone());
    let mut facts = KeyValues::default()
        .row(visit.say("delivery-id"), Html::code(&delivery.id.0.to_string()))
        .row(visit.say("registration-address"), Html::code(&address));
    if let Some(registration) = &registration {
        let href = format!("{}/{}/edit?tab=webhooks", super::client::LIST, registration.client);
        facts = facts.row(visit.say("client-one"), Html::link(&href, &visit.say("client-tab-webhooks")));
    }
    facts = match &delivery.event {
        Some(event) => facts.row(visit.say("delivery-event-id"), Html::code(&event.to_string())),
        None => facts.text(visit.say("delivery-event-id"), &visit.say("delivery-is-test")),
    };
    facts = facts.text(visit.say("delivery-queued"), &visit.log_time(delivery.created_at));
    if let Some(at) = delivery.ended_at {
        facts = facts.text(visit.say("delivery-ended"), &visit.log_time(at));
    }
    if let Some(reason) = &delivery.reason {
        facts = facts.text(visit.say("delivery-reason"), reason);
    }
    let body = Split {
        left: history.html(),
        right: Card::new("delivery", visit.say("delivery-one"), facts.html()).html(),
    };
    let mut head = Head::new(delivery.name.as_str())
        .crumb(visit.say("nav-start"), "/system")
        .crumb(visit.say("nav-deliveries"), LIST)
        .badge(status(visit, delivery.status));
    if delivery.status != DeliveryStatus::Pending {
        let action = format!("{}/replay", path(delivery.id));
        head = head.act(Act::post(action, visit.say("delivery-replay"), visit.token()));
    }
    visit.page(head, body.html()).await
}

pub(crate) async fn replay(visit: &Visit) -> Result<Reply> {
    let id = id(visit)?;
    visit.change(async |tx| visit.webhooks(tx).replay(&Replay::One(id)).await).await?;
    visit.done("delivery-replayed", &[], path(id)).await
}

/// Asks before many deliveries of a registration are sent again: those that were given up, or those of a time.
pub(crate) async fn ask_replays(visit: &Visit) -> Result<Reply> {
    let which = chosen(visit).ok_or(Error::NotFound)?;
    let found = admin(visit).count_replayable(&which, visit.now, MOST + 1).await?;
    let mut effects = vec![visit.words.count("deliveries-replay-effect", found.min(MOST))];
    if found > MOST {
        effects.push(visit.say("deliveries-replay-most"));
    }
    effects.push(visit.say("deliveries-replay-same"));
    let confirm = visit
        .confirm(
            visit.query.with(&format!("{LIST}/replay"), "page", None),
            visit.say("deliveries-replay-button"),
            visit.query.with(LIST, "page", None),
        )
        .effects(effects)
        .stays(visit.say("deliveries-replay-stays"));
    let head = visit.head("deliveries-replay-title").crumb(visit.say("nav-deliveries"), LIST);
    visit.page(head, confirm.html(&[])).await
}

pub(crate) async fn replay_chosen(visit: &Visit) -> Result<Reply> {
    let which = chosen(visit).ok_or(Error::NotFound)?;
    let mut replayed: i64 = 0;
    while replayed < MOST {
        let some = visit.change(async |tx| visit.webhooks(tx).replay(&which).await).await?;
        if some == 0 {
            break;
        }
        replayed = replayed.saturating_add_unsigned(some);
    }
    let notice = Notice::good(visit.words.count("deliveries-replayed", replayed));
    visit.redirect(visit.query.with(LIST, "status", None), notice).await
}
