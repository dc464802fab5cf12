//! The audit trail: who changed what, when, and from where.

use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::pages::clients::api_client;
use crate::parts::{Cell, Choice, EmptyState, Table, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_audit::{Action, Actor, ActorKind, AuditEntry, AuditFilter, AuditScope, FieldChange};
use civitas_kernel::{OrganizationId, Result};
use time::format_description::well_known::Rfc3339;

const LIST: &str = "/system/audit_log";

/// The text of an action: the key has the name of the action without dots.
pub(crate) fn action_text(req: &AdminRequest, action: Action) -> String {
    req.tr(&format!("action-{}", action.as_str().replace(['.', '_'], "-")))
}

/// What was done to what, in one line.
pub(crate) fn summary(req: &AdminRequest, entry: &AuditEntry) -> String {
    let action = action_text(req, entry.action);
    match &entry.object {
        Some(object) if !object.label.is_empty() => format!("{action}: {}", object.label),
        _ => action,
    }
}

fn actor_kind(req: &AdminRequest, kind: ActorKind) -> String {
    req.tr(&format!("actor-{}", kind.as_str().replace('_', "-")))
}

/// Who acted, and with what.
pub(crate) fn actor(req: &AdminRequest, entry: &AuditEntry) -> (String, String) {
    let kind = actor_kind(req, entry.actor.kind());
    match &entry.actor {
        Actor::Administrator { email, .. } => (email.clone(), kind),
        Actor::Client { uid, name, user } => {
            let name = if name.is_empty() { uid.clone() } else { name.clone() };
            let kind = match user {
                Some((_, nickname)) => {
                    req.tr_args("actor-for", &[("kind", kind.into()), ("name", nickname.as_str().into())])
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
fn object_path(entry: &AuditEntry) -> String {
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
    translator: &'a Translator,
    changes: &'a [FieldChange],
}

impl Changes<'_> {
    fn title(&self) -> String {
        self.translator.tr_count("audit-count", self.changes.len())
    }
}

/// Declares the filters, and returns what they ask for.
fn read_filter(list: &mut List<'_>, organizations: &[(OrganizationId, String)]) -> AuditFilter {
    let req = list.req;
    let actions = Action::ALL.iter().map(|action| Choice::new(action.as_str(), action_text(req, *action)));
    let mut actions: Vec<Choice> = actions.collect();
    actions.sort_by(|one, other| one.label.cmp(&other.label));
    let scopes = organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name));
    let scopes = std::iter::once(Choice::new("deployment", req.tr("nav-deployment"))).chain(scopes);
    let kinds = ActorKind::ALL.iter().map(|kind| Choice::new(kind.as_str(), actor_kind(req, *kind)));
    let text = list.search("audit-search");
    let action = list.select("action", "audit-action", actions).and_then(Action::parse);
    let scope = list.select("organization", "organization", scopes);
    let actor = list.select("actor", "audit-with", kinds);
    // The chips of both are in the other order.
    if let (Some(_), Some(_), [.., organization, with]) = (scope, actor, list.chips.as_mut_slice()) {
        std::mem::swap(organization, with);
    }
    let scope = match scope {
        Some("deployment") => AuditScope::Deployment,
        Some(id) => id.parse().map_or(AuditScope::All, |id| AuditScope::Organization(OrganizationId(id))),
        None => AuditScope::All,
    };
    let (actor, since, until) = (actor.and_then(ActorKind::parse), list.time("from"), list.time("to"));
    AuditFilter { scope, action, actor, object: None, text, since, until }
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let organizations =
        api_client::organizations(req, req.query.number("organization").map(OrganizationId)).await?;
    let mut list = List::log(req, "audit", LIST);
    let filter = read_filter(&mut list, &organizations);
    let request = req.query.page(PER_PAGE);
    let page = req.store().audit().list(&filter, request).await?;
    let rows = page.items.iter().map(|entry| {
        let (who, with) = actor(req, entry);
        let from = entry.from.as_deref().unwrap_or_default();
        let object = entry.object.as_ref().map_or("", |object| object.label.as_str());
        let changes = render(&Changes { translator: &req.translator, changes: &entry.changes });
        vec![
            Cell::time(&entry.at.format(&Rfc3339).unwrap_or_default(), &req.log_time(entry.at)),
            Cell::with_subtext(&who, format!("{with} {from}").trim()),
            Cell::text(&action_text(req, entry.action)),
            Cell::link(&object_path(entry), object, ""),
            Cell::html(changes).full_width(),
        ]
    });
    let columns = req.columns("audit-time audit-who audit-action audit-on audit-changes");
    let empty = EmptyState::new(req.tr("audit-none"), "");
    let table = Table::new(req.tr("audit-caption"), columns).rows(rows).empty(empty);
    let links = list.page_links(request, &page).label(req.tr("audit-pages"));
    list.reply(req.head("nav-audit"), &table, &links).await
}
