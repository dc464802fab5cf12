//! The start page: what needs attention, figures, recent changes.

use crate::format::{self, Zone};
use crate::pages::audit;
use crate::parts::{Badge, Head, Html, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::{Attention, AttentionEntry, Concern, MOST_FIGURE, MOST_FOUND};
use civitas_audit::AuditFilter;
use civitas_kernel::{PageRequest, Result};
use time::Duration;

/// The changes shown.
const RECENT: i64 = 6;

/// A kind of things that needs attention, with the one act.
struct AttentionItem {
    badge: Html,
    title: String,
    text: String,
    href: String,
    label: String,
}

/// A figure.
struct Figure {
    value: String,
    label: String,
    href: &'static str,
}

/// A recent change.
struct RecentChange {
    text: String,
    by: String,
}

#[derive(Template)]
#[template(path = "pages/start.html")]
struct Start<'a> {
    words: &'a Words,
    checked: String,
    entries: Vec<AttentionItem>,
    figures: Vec<Figure>,
    changes: Vec<RecentChange>,
}

pub(crate) async fn show(visit: &Visit) -> Result<Reply> {
    let store = visit.panel.store();
    let attention = Attention { store: store.operations() };
    let entries = attention.list(visit.now).await;
    let entries: Vec<AttentionItem> = entries.iter().map(|entry| item(visit, entry)).collect();
    let lede = if entries.is_empty() {
        visit.date(visit.now)
    } else {
        let count = i64::try_from(entries.len()).unwrap_or_default();
        visit.tell("start-lede", &[("date", visit.date(visit.now).into()), ("count", count.into())])
    };
    let recent = PageRequest::of(1, RECENT);
    let recent = store.audit().list(&AuditFilter::default(), recent).await?;
    let changes = recent.items.iter().map(|entry| RecentChange {
        text: audit::summary(visit, entry),
        by: format!("{}, {}", audit::actor(visit, entry).0, visit.time(entry.at)),
    });
    let start = Start {
        words: &visit.words,
        checked: visit.time(visit.now),
        entries,
        figures: figures(visit, &attention).await?,
        changes: changes.collect(),
    };
    visit.page(Head::new(visit.say("nav-start")).lede(lede), render(&start)).await
}

async fn figures(visit: &Visit, attention: &Attention<'_>) -> Result<Vec<Figure>> {
    let found = attention.figures(visit.now - Duration::DAY).await?;
    let figure = |value, key: &str, href| Figure {
        value: visit.number_up_to(value, MOST_FIGURE),
        label: visit.say(key),
        href,
    };
    Ok(vec![
        figure(found.organizations, "nav-organizations", "/system/organizations"),
        figure(found.clients, "nav-api-clients", "/system/api_clients"),
        figure(found.people, "column-people", "/system/organizations"),
        figure(found.proposals, "figure-proposals", "/system/organizations"),
        figure(found.votes, "figure-votes", "/system/organizations"),
        figure(found.jobs_today, "figure-jobs", "/system/jobs"),
    ])
}

fn item(visit: &Visit, entry: &AttentionEntry) -> AttentionItem {
    let organization = entry.found.and_then(|found| found.organization);
    // The words and the address of the concern.
    let (name, path) = match entry.concern {
        Concern::DisabledRegistrations => {
            ("disabled-registrations", "/system/webhook_registrations?state=disabled")
        }
        Concern::PausedRegistrations => {
            ("paused-registrations", "/system/webhook_registrations?state=paused")
        }
        Concern::FailedJobs => ("failed-jobs", "/system/jobs?status=failed"),
        Concern::DeadDeliveries => ("dead-deliveries", "/system/webhook_deliveries?status=dead"),
        Concern::WaitingDeliveries => ("waiting-deliveries", "/system/webhook_deliveries?status=pending"),
        Concern::FailedMails => ("failed-mails", "/system/mails?state=retried"),
        Concern::PendingHosts => ("pending-hosts", "/system/organizations"),
        Concern::LockedAdministrators => ("locked-people", "/system/organizations"),
    };
    let mut href = match (entry.concern, organization) {
        (Concern::PendingHosts, Some(id)) => format!("{path}/{id}/edit"),
        (Concern::LockedAdministrators, Some(id)) => format!("{path}/{id}/users?state=locked"),
        _ => path.to_owned(),
    };
    let limit = match entry.concern {
        Concern::FailedJobs => Some("from"),
        Concern::WaitingDeliveries => Some("to"),
        _ => None,
    };
    if let Some(limit) = limit {
        href = format!("{href}&{limit}={}", format::field_value(Zone::utc(), entry.moment));
    }
    let (title, badge) = match entry.found {
        None => (visit.say("attention-unknown"), Badge::bad(visit.say("attention-badge-unknown"))),
        Some(found) => {
            let key = format!("attention-{name}");
            let title = visit.words.count(&key, found.number);
            let more = visit.tell("more-than-title", &[("title", title.clone().into())]);
            let title = if found.number >= MOST_FOUND { more } else { title };
            (title, badge(visit, entry.concern))
        }
    };
    let text = visit.say(&format!("attention-{name}-text"));
    AttentionItem { badge: badge.html(), title, text, href, label: visit.say("attention-look") }
}

fn badge(visit: &Visit, concern: Concern) -> Badge {
    match concern {
        Concern::DisabledRegistrations => Badge::bad(visit.say("attention-badge-stopped")),
        Concern::FailedJobs | Concern::DeadDeliveries => Badge::bad(visit.say("attention-badge-failed")),
        Concern::LockedAdministrators => Badge::warn(visit.say("attention-badge-locked")),
        _ => Badge::warn(visit.say("attention-badge-waiting")),
    }
}
