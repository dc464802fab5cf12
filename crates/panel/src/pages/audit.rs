//! The audit trail: who changed what, when, and from where.

use crate::format::{self, Zone};
use crate::parts::{Cell, Choice, Column, Empty, Head, Html, Pages, Table, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_audit::{Action, Actor, ActorKind, AuditEntry, AuditFilter, AuditScope, FieldChange};
use civitas_kernel::{OrganizationId, Result};
use time::format_description::well_known::Rfc3339;

const LIST: &str = "/system/audit_log";
const PER_PAGE: i64 = 25;

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

/// Who acted, and with what.
pub(crate) fn actor(visit: &Visit, entry: &AuditEntry) -> (String, String) {
    let kind = visit.say(&format!("actor-{}", entry.actor.kind().as_str().replace('_', "-")));
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

fn filter(visit: &Visit) -> AuditFilter {
    let query = &visit.query;
    let moment = |name: &str| query.get(name).and_then(|text| format::read_field(Zone::utc(), text));
    AuditFilter {
        scope: match query.get("organization") {
            Some("deployment") => AuditScope::Deployment,
            Some(text) => {
                text.parse().map_or(AuditScope::All, |id| AuditScope::Organization(OrganizationId(id)))
            }
            None => AuditScope::All,
        },
        action: query.get("action").and_then(Action::parse),
        actor: query.get("actor").and_then(ActorKind::parse),
        object: None,
        text: query.get("q").map(str::to_owned),
        since: moment("from"),
        until: moment("to"),
    }
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let request = visit.query.page(PER_PAGE);
    let page = visit.panel.store().audit().list(&filter(visit), request).await?;
    let rows = page.items.iter().map(|entry| {
        let (who, with) = actor(visit, entry);
        let with = entry
            .from
            .as_ref()
            .map_or_else(|| with.clone(), |from| format!("{with} {from}").trim().to_owned());
        let object = entry.object.as_ref().map_or("", |object| object.label.as_str());
        let changes = render(&Changes { words: &visit.words, changes: &entry.changes });
        vec![
            Cell::time(
                &entry.at.format(&Rfc3339).unwrap_or_default(),
                &format::date_time_seconds(visit.words.locale, Zone::utc(), entry.at),
            ),
            Cell::with_sub(&who, &with),
            Cell::text(&action_words(visit, entry.action)),
            Cell::link(&link_of(entry), object, ""),
            Cell::html(changes).whole(),
        ]
    });
    let columns = vec![
        Column::new(visit.say("audit-time")),
        Column::new(visit.say("audit-who")),
        Column::new(visit.say("audit-action")),
        Column::new(visit.say("audit-on")),
        Column::new(visit.say("audit-changes")),
    ];
    let empty = Empty { title: visit.say("audit-none"), ..Empty::default() };
    let table = Table::new(visit.say("audit-caption"), columns).rows(rows).empty(empty);
    let pages = visit.named_pages(LIST, visit.say("audit-pages"), request, page.has_more);
    let pages = Pages { is_log: true, ..pages }.html();
    let chips = visit.chips(LIST, &["q", "action", "actor", "organization", "from", "to"]);
    let results = visit.results(LIST, (visit.say("newest-first"), chips), &table, pages);
    let head = Head::new(visit.say("nav-audit"))
        .crumb(visit.say("nav-start"), "/system")
        .lede(visit.say("audit-lede"));
    let filters = filters(visit).await?;
    visit.page(head, Html::join([filters, results])).await
}

async fn filters(visit: &Visit) -> Result<Html> {
    let actions = Action::ALL.iter().map(|action| Choice::new(action.as_str(), action_words(visit, *action)));
    let mut actions: Vec<Choice> = actions.collect();
    actions.sort_by(|one, other| one.label.cmp(&other.label));
    let actors = ActorKind::ALL.iter().map(|kind| {
        Choice::new(kind.as_str(), visit.say(&format!("actor-{}", kind.as_str().replace('_', "-"))))
    });
    let organizations = super::client::organizations(visit).await?;
    let deployment = Choice::new("deployment", visit.say("nav-deployment"));
    let organizations = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    let filters = visit
        .filters(visit.say("audit-filter"))
        .search(visit.say("audit-search"))
        .select("action", visit.say("audit-action"), actions)
        .select("organization", visit.say("organization"), std::iter::once(deployment).chain(organizations))
        .select("actor", visit.say("audit-with"), actors);
    Ok(filters.times().html())
}
