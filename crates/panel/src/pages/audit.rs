//! The audit trail: who changed what, when, and from where.

use super::client;
use super::log::Log;
use crate::parts::{Cell, Choice, Empty, Pages, Table, render};
use crate::records::PER_PAGE;
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::{Action, Actor, ActorKind, AuditEntry, AuditFilter, AuditScope, FieldChange};
use civitas_kernel::{OrganizationId, Result};
use time::format_description::well_known::Rfc3339;

const LIST: &str = "/system/audit_log";

/// The words of an action: the key has the name of the action without dots.
pub(crate) fn action_words(visit: &Visit, action: Action) -> String {
    visit.say(&format!("action-{}", action.as_str().replace(['.', '_'], "-")))
}

/// What was done to what, in one line.
pub(crate) fn summary(visit: &Visit, entry: &AuditEntry) -> String {
    let action = action_words(visit, entry.action);
    match &entry.object {
        Some(object) if !object.label.is_empty() => format!("{action}: {}", object.label),
        _ => action,
    }
}

fn actor_kind(visit: &Visit, kind: ActorKind) -> String {
    visit.say(&format!("actor-{}", kind.as_str().replace('_', "-")))
}

/// Who acted, and with what.
pub(crate) fn actor(visit: &Visit, entry: &AuditEntry) -> (String, String) {
    let kind = actor_kind(visit, entry.actor.kind());
    match &entry.actor {
        Actor::Administrator { email, .. } => (email.clone(), kind),
        Actor::Client { uid, name, user } => {
            let name = if name.is_empty() { uid.clone() } else { name.clone() };
            let kind = match user {
                Some((_, nickname)) => {
                    visit.tell("actor-for", &[("kind", kind.into()), ("name", nickname.as_str().into())])
                }
                None => kind,
            };
            (name, kind)
        }
        Actor::CommandLine { command } => (kind, command.clone()),
        _ => (kind, String::new()),
    }
}

/// The page of the record that was acted on, if it has one.
fn link_of(entry: &AuditEntry) -> String {
    let Some(object) = &entry.object else { return String::new() };
    // An archive of one organization names its host.
    let has_number = object.id.parse::<i64>().is_ok();
    match object.kind.as_str() {
        "organization" if entry.action != Action::OrganizationDeleted && has_number => {
            format!("/system/organizations/{}", object.id)
        }
        "administrator" if entry.action != Action::AdministratorDeleted && has_number => {
            format!("/system/admins/{}/edit", object.id)
        }
        "api_client" if entry.action != Action::ApiClientRevoked => {
            format!("/system/api_clients?q={}", object.id)
        }
        _ => String::new(),
    }
}

#[derive(Template)]
#[template(path = "pages/changes.html")]
struct Changes<'a> {
    words: &'a Words,
    changes: &'a [FieldChange],
}

impl Changes<'_> {
    fn title(&self) -> String {
        self.words.count("audit-count", i64::try_from(self.changes.len()).unwrap_or_default())
    }
}

/// Adds the filters of the list.
fn filter(visit: &Visit, log: &mut Log<'_>, organizations: &[(OrganizationId, String)]) -> AuditFilter {
    let actions = Action::ALL.iter().map(|action| Choice::new(action.as_str(), action_words(visit, *action)));
    let mut actions: Vec<Choice> = actions.collect();
    actions.sort_by(|one, other| one.label.cmp(&other.label));
    let scopes = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    let scopes = std::iter::once(Choice::new("deployment", visit.say("nav-deployment"))).chain(scopes);
    let kinds = ActorKind::ALL.iter().map(|kind| Choice::new(kind.as_str(), actor_kind(visit, *kind)));
    let text = log.filters.text("audit-search");
    let action = log.select("action", "audit-action", actions).and_then(Action::parse);
    let scope = log.select("organization", "organization", scopes);
    let actor = log.select("actor", "audit-with", kinds);
    // The marks of both are in the other order.
    if let (Some(_), Some(_), [.., organization, with]) = (scope, actor, log.filters.chips.as_mut_slice()) {
        std::mem::swap(organization, with);
    }
    let scope = match scope {
        Some("deployment") => AuditScope::Deployment,
        Some(id) => id.parse().map_or(AuditScope::All, |id| AuditScope::Organization(OrganizationId(id))),
        None => AuditScope::All,
    };
    let (actor, since, until) = (actor.and_then(ActorKind::parse), log.time("from"), log.time("to"));
    AuditFilter { scope, action, actor, object: None, text, since, until }
}

pub(crate) async fn list(visit: &Visit) -> Result<Reply> {
    let organizations = client::organizations(visit).await?;
    let mut log = Log::new(visit, LIST, "audit");
    let filter = filter(visit, &mut log, &organizations);
    let request = visit.query.page(PER_PAGE);
    let page = visit.panel.store().audit().list(&filter, request).await?;
    let rows = page.items.iter().map(|entry| {
        let (who, with) = actor(visit, entry);
        let from = entry.from.as_deref().unwrap_or_default();
        let object = entry.object.as_ref().map_or("", |object| object.label.as_str());
        let changes = render(&Changes { words: &visit.words, changes: &entry.changes });
        vec![
            Cell::time(&entry.at.format(&Rfc3339).unwrap_or_default(), &visit.log_time(entry.at)),
            Cell::with_sub(&who, format!("{with} {from}").trim()),
            Cell::text(&action_words(visit, entry.action)),
            Cell::link(&link_of(entry), object, ""),
            Cell::html(changes).whole(),
        ]
    });
    let columns = visit.columns(&["audit-time", "audit-who", "audit-action", "audit-on", "audit-changes"]);
    let empty = Empty { title: visit.say("audit-none"), ..Empty::default() };
    let table = Table::new(visit.say("audit-caption"), columns).rows(rows).empty(empty);
    let pages = visit.named_pages(LIST, visit.say("audit-pages"), request, page.has_more);
    log.show(&table, Pages { is_log: true, ..pages }.html()).await
}
