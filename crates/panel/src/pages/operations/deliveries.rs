//! Deliveries of webhooks, with their attempts.

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::notice::Notice;
use crate::pages::clients::webhooks;
use crate::parts::{
    Badge, Card, Cell, Choice, EmptyState, Field, Head, Html, KeyValues, PageAction, Table, Timeline,
    TimelineEvent, TwoColumns, render,
};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_event_delivery::WebhookAdministration;
use civitas_kernel::{Error, EventName, RegistrationId, Result};
use civitas_webhooks::{
    DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryStatus, LoggedDelivery, ReplaySelection, parse_event,
};
use std::collections::HashMap;
use uuid::Uuid;

/// The most deliveries of one action.
const MAX_DELIVERIES: i64 = 10_000;
const LIST: &str = "/system/webhook_deliveries";

pub(crate) fn admin(req: &AdminRequest) -> WebhookAdministration<'_> {
    WebhookAdministration { store: req.store(), organization: None }
}

fn status(req: &AdminRequest, status: DeliveryStatus) -> Badge {
    let text = req.tr(&format!("delivery-{}", status.as_str()));
    match status {
        DeliveryStatus::Pending => Badge::busy(text),
        DeliveryStatus::Delivered => Badge::good(text),
        DeliveryStatus::Dead => Badge::bad(text),
        DeliveryStatus::Dropped => Badge::plain(text),
    }
}

/// Declares the filters, and returns what they ask for.
fn read_filter(list: &mut List<'_>) -> DeliveryFilter {
    let req = list.req;
    let states = DeliveryStatus::NAMES.iter();
    let states = states.map(|name| Choice::new(*name, req.tr(&format!("delivery-{name}"))));
    let events = EventName::ALL.iter().filter(|event| event.is_event());
    let events = events.map(|event| Choice::new(event.as_str(), event.as_str()));
    let registration = req.query.field_value("registration");
    let registration = Field::text("registration", req.tr("delivery-registration"), registration);
    let registration = registration.class("narrow");
    DeliveryFilter {
        status: list.select("status", "column-state", states).and_then(DeliveryStatus::parse),
        event: list.select("event", "delivery-event", events).and_then(parse_event),
        registration: list
            .field("registration", &registration)
            .and_then(|id| id.parse().ok())
            .map(RegistrationId),
        client: None,
        from: list.time("from"),
        to: list.time("to"),
    }
}

/// What the filters of the list choose; `None` if they do not name a registration with a state or a time.
fn chosen_replay(req: &AdminRequest) -> Option<ReplaySelection> {
    let filter = read_filter(&mut List::log(req, "deliveries", LIST));
    let registration = filter.registration?;
    match (filter.from, filter.status) {
        (Some(since), None) => {
            Some(ReplaySelection::Range { registration, since, until: filter.to.unwrap_or(req.now) })
        }
        (None, Some(DeliveryStatus::Dead)) => Some(ReplaySelection::Failed(registration)),
        _ => None,
    }
}

/// The link of the list to the confirmation page.
fn replay_action(req: &AdminRequest) -> Option<PageAction> {
    chosen_replay(req)?;
    let href = req.query.with(&format!("{LIST}/replay"), "event", None);
    Some(PageAction::link(href, req.tr("deliveries-replay-link")))
}

/// The addresses of the registrations of these deliveries.
async fn addresses(req: &AdminRequest, deliveries: &[LoggedDelivery]) -> Result<HashMap<i64, String>> {
    let mut ids: Vec<RegistrationId> = deliveries.iter().map(|delivery| delivery.registration).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = req.store().delivery_log().addresses(&ids).await?;
    Ok(found.into_iter().map(|(id, url)| (id.0, url)).collect())
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let mut list = List::log(req, "deliveries", LIST);
    let filter = read_filter(&mut list);
    let page = admin(req).log(&filter, list.log_request(DeliveryId)).await?;
    let addresses = addresses(req, &page.items).await?;
    let rows = page.items.iter().map(|delivery| {
        let registration = format!("{} {}", req.tr("registration-one"), delivery.registration);
        let address = addresses.get(&delivery.registration.0).cloned().unwrap_or(registration);
        let next = match delivery.status {
            DeliveryStatus::Pending => req.tr_with("delivery-next", "time", req.log_time(delivery.due_at)),
            _ => delivery.reason.clone().unwrap_or_default(),
        };
        vec![
            Cell::link(&path(delivery.id), delivery.name.as_str(), &delivery.id.0.to_string()),
            Cell::badge_with_subtext(&status(req, delivery.status), &next),
            Cell::mono("", &address),
            Cell::text(&req.number(delivery.attempts)),
            Cell::text(&req.log_time(delivery.created_at)),
        ]
    });
    let columns = req.columns(
        "delivery-event column-state registration-address delivery-attempts:num:low delivery-queued",
    );
    let empty = EmptyState::new(req.tr("deliveries-none"), req.tr("deliveries-lede"));
    let table = Table::new(req.tr("deliveries-caption"), columns).rows(rows).empty(empty);
    let links = list.log_page_links(&page, |delivery| (delivery.created_at, delivery.id.0));
    let head = replay_action(req).into_iter().fold(req.head("nav-deliveries"), Head::action);
    list.reply(head, &table, &links).await
}

fn path(id: DeliveryId) -> String {
    format!("{LIST}/{}", id.0)
}

fn id_from_path(req: &AdminRequest) -> Result<DeliveryId> {
    Uuid::parse_str(req.path_param("uuid")).map(DeliveryId).map_err(|_| Error::NotFound)
}

#[derive(Template)]
#[template(
    source = r#"<details><summary>{{ translator.tr("delivery-answer") }}</summary><pre tabindex="0" role="region" aria-label="{{ translator.tr("delivery-answer") }}"><code>{{ text }}</code></pre></details>"#,
    ext = "html"
)]
struct Answer<'a> {
    translator: &'a Translator,
    text: &'a str,
}

fn attempt(req: &AdminRequest, attempt: &DeliveryAttempt) -> TimelineEvent {
    let took = i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX);
    let took = req.tr_with("delivery-took", "milliseconds", took);
    let (is_good, note, text) = match &attempt.result {
        Ok(response) => {
            let status = i64::from(response.status);
            ((200..300).contains(&status), format!("HTTP {status}, {took}"), response.body.as_str())
        }
        Err(error) => (false, format!("{}, {took}", error.cause), ""),
    };
    let what = req.tr_with("delivery-attempt", "number", attempt.number);
    let kind = if is_good { "good" } else { "bad" };
    let more =
        if text.is_empty() { Html::default() } else { render(&Answer { translator: &req.translator, text }) };
    TimelineEvent { more, ..TimelineEvent::new(kind, what, req.log_time(attempt.at), note) }
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let (delivery, attempts) = admin(req).delivery(id_from_path(req)?).await?;
    let registration = req.store().registrations().find_unrestricted(delivery.registration).await?;
    let mut events: Vec<TimelineEvent> = attempts.iter().map(|one| attempt(req, one)).collect();
    if delivery.status == DeliveryStatus::Pending {
        let due = req.log_time(delivery.due_at);
        events.push(TimelineEvent::new("", req.tr("delivery-next-attempt"), due, String::new()));
    }
    let history = Card::new("attempts", req.tr("delivery-attempts"), Timeline { events }.html());
    let address = registration.as_ref().map_or_else(|| req.tr("deleted"), |one| one.url.clone());
    let mut facts = KeyValues::default()
        .row(req.tr("delivery-id"), Html::code(&delivery.id.0.to_string()))
        .row(req.tr("registration-address"), Html::code(&address));
    if let Some(registration) = &registration {
        let href = webhooks::tab_path(registration.client);
        facts = facts.row(req.tr("client-one"), Html::link(&href, &req.tr("client-tab-webhooks")));
    }
    facts = match &delivery.event {
        Some(event) => facts.row(req.tr("delivery-event-id"), Html::code(&event.to_string())),
        None => facts.text(req.tr("delivery-event-id"), &req.tr("delivery-is-test")),
    };
    facts = facts.text(req.tr("delivery-queued"), &req.log_time(delivery.created_at));
    if let Some(at) = delivery.ended_at {
        facts = facts.text(req.tr("delivery-ended"), &req.log_time(at));
    }
    if let Some(reason) = &delivery.reason {
        facts = facts.text(req.tr("delivery-reason"), reason);
    }
    let body = TwoColumns {
        left: history.html(),
        right: Card::new("delivery", req.tr("delivery-one"), facts.html()).html(),
    };
    let mut head = Head::new(delivery.name.as_str())
        .crumb(req.tr("nav-start"), "/system")
        .crumb(req.tr("nav-deliveries"), LIST)
        .badge(status(req, delivery.status));
    if delivery.status != DeliveryStatus::Pending {
        let action = format!("{}/replay", path(delivery.id));
        head = head.action(PageAction::post(action, req.tr("delivery-replay"), req.token()));
    }
    req.page(head, body.html()).await
}

pub(crate) async fn replay(req: &AdminRequest) -> Result<Reply> {
    let id = id_from_path(req)?;
    req.in_transaction(async |tx| req.webhooks(tx).replay(&ReplaySelection::One(id)).await).await?;
    req.redirect_done("delivery-replayed", &[], path(id)).await
}

/// Asks before many deliveries of a registration are sent again: those that were given up, or those of a time.
pub(crate) async fn confirm_replays(req: &AdminRequest) -> Result<Reply> {
    let which = chosen_replay(req).ok_or(Error::NotFound)?;
    let found = admin(req).count_replayable(&which, req.now, MAX_DELIVERIES + 1).await?;
    let mut effects = vec![req.tr_count("deliveries-replay-effect", found.min(MAX_DELIVERIES))];
    if found > MAX_DELIVERIES {
        effects.push(req.tr("deliveries-replay-most"));
    }
    effects.push(req.tr("deliveries-replay-same"));
    let confirm = req
        .confirmation(
            req.query.with(&format!("{LIST}/replay"), "page", None),
            req.tr("deliveries-replay-button"),
            req.query.with(LIST, "page", None),
        )
        .effects(effects)
        .stays(req.tr("deliveries-replay-stays"));
    let head = req.head("deliveries-replay-title").crumb(req.tr("nav-deliveries"), LIST);
    req.page(head, confirm.html(&[])).await
}

pub(crate) async fn replay_chosen(req: &AdminRequest) -> Result<Reply> {
    let which = chosen_replay(req).ok_or(Error::NotFound)?;
    let mut replayed: i64 = 0;
    while replayed < MAX_DELIVERIES {
        let some = req.in_transaction(async |tx| req.webhooks(tx).replay(&which).await).await?;
        if some == 0 {
            break;
        }
        replayed = replayed.saturating_add_unsigned(some);
    }
    let notice = Notice::success(req.tr_count("deliveries-replayed", replayed));
    req.redirect(req.query.with(LIST, "status", None), notice).await
}
