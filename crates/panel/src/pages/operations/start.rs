//! The start page: what needs attention, figures, recent changes.

use super::audit;
use crate::admin_request::AdminRequest;
use crate::format::{self, Zone};
use crate::parts::{Badge, Head, Html, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::{Alert, AlertKind, Alerts, MAX_ALERT_COUNT, MAX_FIGURE};
use civitas_audit::AuditFilter;
use civitas_kernel::{PageRequest, Result};
use time::Duration;

/// The changes shown.
const RECENT_CHANGES: i64 = 6;

/// An entry of what needs attention, with its link.
struct AlertItem {
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
    translator: &'a Translator,
    checked: String,
    entries: Vec<AlertItem>,
    figures: Vec<Figure>,
    changes: Vec<RecentChange>,
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let store = req.store();
    let alerts = Alerts { store: store.operations() };
    let entries = alerts.list(req.now).await;
    let entries: Vec<AlertItem> = entries.iter().map(|entry| alert_item(req, entry)).collect();
    let lede = if entries.is_empty() {
        req.date(req.now)
    } else {
        req.tr_args("start-lede", &[("date", req.date(req.now).into()), ("count", entries.len().into())])
    };
    let recent = PageRequest::new(1, RECENT_CHANGES);
    let recent = store.audit().list(&AuditFilter::default(), recent).await?;
    let changes = recent.items.iter().map(|entry| RecentChange {
        text: audit::summary(req, entry),
        by: format!("{}, {}", audit::actor(req, entry).0, req.time(entry.at)),
    });
    let start = Start {
        translator: &req.translator,
        checked: req.time(req.now),
        entries,
        figures: figures(req, &alerts).await?,
        changes: changes.collect(),
    };
    req.page(Head::new(req.tr("nav-start")).lede(lede), render(&start)).await
}

async fn figures(req: &AdminRequest, alerts: &Alerts<'_>) -> Result<Vec<Figure>> {
    let found = alerts.figures(req.now - Duration::DAY).await?;
    let figure = |value, key: &str, href| Figure {
        value: req.count_text(value, MAX_FIGURE),
        label: req.tr(key),
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

fn alert_item(req: &AdminRequest, entry: &Alert) -> AlertItem {
    let organization = entry.found.and_then(|found| found.organization);
    // The text and the address of the kind.
    let (name, path) = match entry.kind {
        AlertKind::DisabledRegistrations => {
            ("disabled-registrations", "/system/webhook_registrations?state=disabled")
        }
        AlertKind::PausedRegistrations => {
            ("paused-registrations", "/system/webhook_registrations?state=paused")
        }
        AlertKind::FailedJobs => ("failed-jobs", "/system/jobs?status=failed"),
        AlertKind::DeadDeliveries => ("dead-deliveries", "/system/webhook_deliveries?status=dead"),
        AlertKind::WaitingDeliveries => ("waiting-deliveries", "/system/webhook_deliveries?status=pending"),
        AlertKind::FailedMails => ("failed-mails", "/system/mails?state=retried"),
        AlertKind::PendingHosts => ("pending-hosts", "/system/organizations"),
        AlertKind::LockedAdministrators => ("locked-people", "/system/organizations"),
    };
    let mut href = match (entry.kind, organization) {
        (AlertKind::PendingHosts, Some(id)) => format!("{path}/{id}/edit"),
        (AlertKind::LockedAdministrators, Some(id)) => format!("{path}/{id}/users?state=locked"),
        _ => path.to_owned(),
    };
    let limit = match entry.kind {
        AlertKind::FailedJobs => Some("from"),
        AlertKind::WaitingDeliveries => Some("to"),
        _ => None,
    };
    if let Some(limit) = limit {
        href = format!("{href}&{limit}={}", format::datetime_field_value(Zone::utc(), entry.moment));
    }
    let (title, badge) = match entry.found {
        None => (req.tr("attention-unknown"), Badge::bad(req.tr("attention-badge-unknown"))),
        Some(found) => {
            let key = format!("attention-{name}");
            let title = req.tr_count(&key, found.number);
            let more = req.tr_with("more-than-title", "title", title.clone());
            let title = if found.number >= MAX_ALERT_COUNT { more } else { title };
            (title, alert_badge(req, entry.kind))
        }
    };
    let text = req.tr(&format!("attention-{name}-text"));
    AlertItem { badge: badge.html(), title, text, href, label: req.tr("attention-look") }
}

fn alert_badge(req: &AdminRequest, kind: AlertKind) -> Badge {
    match kind {
        AlertKind::DisabledRegistrations => Badge::bad(req.tr("attention-badge-stopped")),
        AlertKind::FailedJobs | AlertKind::DeadDeliveries => Badge::bad(req.tr("attention-badge-failed")),
        AlertKind::LockedAdministrators => Badge::warn(req.tr("attention-badge-locked")),
        _ => Badge::warn(req.tr("attention-badge-waiting")),
    }
}
