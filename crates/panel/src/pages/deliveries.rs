//! Deliveries of webhooks, with their attempts.

use super::jobs::{log_pages, log_place, log_start};
use crate::format::{self, Zone};
use crate::notice::Notice;
use crate::parts::{
    Act, Badge, Card, Cell, Choice, Column, Empty, Event, Field, Head, Html, KeyValues, Split, Table,
    Timeline, render,
};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::webhooks::WebhookAdmin;
use civitas_kernel::{Error, EventName, LogRequest, RegistrationId, Result};
use civitas_webhooks::{
    Attempt, DeliveryFilter, DeliveryId, DeliveryStatus, LoggedDelivery, Replay, parse_event,
};
use std::collections::HashMap;
use uuid::Uuid;

pub(crate) const LIST: &str = "/system/webhook_deliveries";
const PER_PAGE: i64 = 25;

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

fn filter(visit: &Visit) -> DeliveryFilter {
    let query = &visit.query;
    let moment = |name: &str| query.get(name).and_then(|text| format::read_field(Zone::utc(), text));
    DeliveryFilter {
        registration: query.number("registration").map(RegistrationId),
        status: query.get("status").and_then(DeliveryStatus::parse),
        event: query.get("event").and_then(parse_event),
        client: None,
        from: moment("from"),
        to: moment("to"),
    }
}

/// What the filters of the list choose; `None` if they do not name a registration with a state or a time.
pub(crate) fn chosen(visit: &Visit) -> Option<Replay> {
    let filter = filter(visit);
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
    let found = visit.panel.store().registrations().addresses(&ids).await?;
    Ok(found.into_iter().map(|(id, url)| (id.0, url)).collect())
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let start = log_start(visit, |id| Uuid::parse_str(id).ok().map(DeliveryId));
    let request = LogRequest { start, limit: PER_PAGE };
    let page = admin(visit).log(&filter(visit), request).await?;
    let addresses = addresses(visit, &page.items).await?;
    let time = |at| format::date_time_seconds(visit.words.locale, Zone::utc(), at);
    let rows = page.items.iter().map(|delivery| {
        let registration = format!("{} {}", visit.say("registration-one"), delivery.registration);
        let address = addresses.get(&delivery.registration.0).cloned().unwrap_or(registration);
        let next = match delivery.status {
            DeliveryStatus::Pending => visit.tell("delivery-next", &[("time", time(delivery.due_at).into())]),
            _ => delivery.reason.clone().unwrap_or_default(),
        };
        vec![
            Cell::link(
                &format!("{LIST}/{}", delivery.id.0),
                delivery.name.as_str(),
                &delivery.id.0.to_string(),
            ),
            Cell::badge_with_sub(&status(visit, delivery.status), &next),
            Cell::mono("", &address),
            Cell::num(&visit.number(delivery.attempts)),
            Cell::text(&time(delivery.created_at)),
        ]
    });
    let columns = vec![
        Column::new(visit.say("delivery-event")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("registration-address")),
        Column::new(visit.say("delivery-attempts")).num().low(),
        Column::new(visit.say("delivery-queued")),
    ];
    let empty = Empty { title: visit.say("deliveries-none"), text: visit.say("deliveries-lede"), act: None };
    let table = Table::new(visit.say("deliveries-caption"), columns).rows(rows).empty(empty);
    let chips = visit.chips(LIST, &["status", "event", "registration", "from", "to"]);
    let place = |delivery: &LoggedDelivery| log_place(delivery.created_at, &delivery.id.0.to_string());
    let pages = log_pages(visit, LIST, &page, place);
    let results = visit.results(LIST, (visit.say("newest-first"), chips), &table, pages);
    let mut head = Head::new(visit.say("nav-deliveries"))
        .crumb(visit.say("nav-start"), "/system")
        .lede(visit.say("deliveries-lede"));
    if let Some(act) = replay_act(visit) {
        head = head.act(act);
    }
    visit.page(head, Html::join([filters(visit), results])).await
}

fn filters(visit: &Visit) -> Html {
    let states = DeliveryStatus::ALL.iter().map(|status| {
        let name = status.as_str();
        Choice::new(name, visit.say(&format!("delivery-{name}")))
    });
    let events = EventName::ALL.iter().filter(|event| event.is_event());
    let events = events.map(|event| Choice::new(event.as_str(), event.as_str()));
    let registration = visit.query.shown("registration");
    let registration = Field::text("registration", visit.say("delivery-registration"), registration);
    visit
        .filters(visit.say("deliveries-filter"))
        .select("status", visit.say("column-state"), states)
        .select("event", visit.say("delivery-event"), events)
        .field(&registration.class("narrow"))
        .times()
        .html()
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

fn attempt(visit: &Visit, attempt: &Attempt) -> Event {
    let took = i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX);
    let took = visit.tell("delivery-took", &[("milliseconds", took.into())]);
    let (is_good, note, text) = match &attempt.result {
        Ok(response) => {
            let status = i64::from(response.status);
            ((200..300).contains(&status), format!("HTTP {status}, {took}"), response.body.as_str())
        }
        Err(error) => (false, format!("{}, {took}", error.cause), ""),
    };
    Event {
        kind: if is_good { "good" } else { "bad" },
        what: visit.tell("delivery-attempt", &[("number", attempt.number.into())]),
        time: format::date_time_seconds(visit.words.locale, Zone::utc(), attempt.at),
        note,
        more: if text.is_empty() { Html::default() } else { render(&Answer { words: &visit.words, text }) },
    }
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let (delivery, attempts) = admin(visit).delivery(id(visit)?).await?;
    let registration = visit.panel.store().registrations().find_any(delivery.registration).await?;
    let time = |at| format::date_time_seconds(visit.words.locale, Zone::utc(), at);
    let mut events: Vec<Event> = attempts.iter().map(|one| attempt(visit, one)).collect();
    if delivery.status == DeliveryStatus::Pending {
        let (what, note) = (visit.say("delivery-next-attempt"), String::new());
        events.push(Event { kind: "", what, time: time(delivery.due_at), note, more: Html::default() });
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
    facts = facts.text(visit.say("delivery-queued"), &time(delivery.created_at));
    if let Some(at) = delivery.ended_at {
        facts = facts.text(visit.say("delivery-ended"), &time(at));
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
        let action = format!("{LIST}/{}/replay", delivery.id.0);
        head = head.act(Act::post(action, visit.say("delivery-replay"), visit.token()));
    }
    visit.page(head, body.html()).await
}

pub(crate) async fn replay(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let id = id(visit)?;
    visit.change(async |tx| visit.webhooks(tx).replay(&Replay::One(id)).await).await?;
    visit.redirect(format!("{LIST}/{}", id.0), Notice::good(visit.say("delivery-replayed"))).await
}
