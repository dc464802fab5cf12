//! Which commands of clients the audit trail has: those that change rights and settings, sign a general administrator in,
//! or delete what cannot be restored. Other content is not among them: it has authors and times of its own, and its writes
//! would wait for each other.

use civitas_audit::{Action, Actor, NewAuditEntry};
use civitas_kernel::{Ctx, OrganizationId};
use serde_json::Value;

/// Whether the command with this key has an entry.
pub(crate) fn is_recorded(key: &str) -> bool {
    action_of(key).is_some()
}

fn action_of(key: &str) -> Option<(Action, &'static str)> {
    Some(match key {
        "organizations#update" => (Action::OrganizationUpdated, "organization"),
        "roles#create" => (Action::RoleCreated, "role"),
        "roles#update" => (Action::RoleUpdated, "role"),
        "roles#destroy" => (Action::RoleDeleted, "role"),
        "magic_links#create" => (Action::MagicLinkCreated, "user"),
        "forms/questionnaire_responses#destroy" => (Action::ResponseDeleted, "questionnaire_response"),
        _ => return None,
    })
}

/// The client of a request. The names of client and user are looked up by whoever reads the entry.
pub fn client_actor(ctx: &Ctx) -> Actor {
    let user = ctx.participant().map(|user| (user, String::new()));
    Actor::Client { uid: ctx.caller.client_uid.clone(), name: String::new(), user }
}

/// The entry of a command that was executed: who, what, and the values that were sent.
pub(crate) fn build_audit_entry(key: &str, ctx: &Ctx, command: &Value) -> Option<NewAuditEntry> {
    let (action, kind) = action_of(key)?;
    if action == Action::MagicLinkCreated {
        // The address it redirects to may have a secret.
        let id = ctx.participant().filter(|_| ctx.viewer.is_admin())?.to_string();
        return Some(
            NewAuditEntry::new(client_actor(ctx), action)
                .in_organization(ctx.organization)
                .with_object(kind, &id, ""),
        );
    }
    let id = command.get("id").map(text).unwrap_or_default();
    let organization = match kind {
        // A deployment-wide client can change another organization than that of the host.
        "organization" => command.get("id").and_then(Value::as_i64).map_or(ctx.organization, OrganizationId),
        _ => ctx.organization,
    };
    let mut entry = NewAuditEntry::new(client_actor(ctx), action)
        .in_organization(organization)
        .with_object(kind, &id, &id);
    let members = command.as_object().into_iter().flatten().filter(|(name, _)| *name != "id");
    for (name, value) in members {
        match value {
            Value::Object(nested) => {
                for (name, value) in nested {
                    entry = entry.with_change(name, None, Some(&text(value)));
                }
            }
            value => entry = entry.with_change(name, None, Some(&text(value))),
        }
    }
    Some(entry)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_on_settings_or_rights_has_an_entry_with_what_was_sent() {
        let ctx = Ctx::for_test().with_user(7);
        let sent = json!({"id": 3, "attributes": {"time_zone": "UTC", "name": {"en": "Riverton"}}});
        let entry = build_audit_entry("organizations#update", &ctx, &sent).unwrap();
        assert_eq!(entry.organization(), Some(OrganizationId(3)));
        assert_eq!(entry.action(), Action::OrganizationUpdated);
        assert!(entry.has_changes());
        let role = json!({"user": 7, "role_type": "space_moderator"});
        assert_eq!(
            super::build_audit_entry("roles#create", &ctx, &role).unwrap().organization(),
            Some(ctx.organization)
        );
    }

    #[test]
    fn content_has_no_entry() {
        for key in ["proposals#vote", "draft_proposals#update", "blogs#create"] {
            assert!(!is_recorded(key));
        }
    }

    #[test]
    fn a_magic_link_has_an_entry_when_it_signs_an_administrator_in() {
        let sent = json!({"redirect_url": "https://city.example/?key=secret"});
        let key = "magic_links#create";
        assert_eq!(build_audit_entry(key, &Ctx::for_test().with_user(7), &sent), None);
        let entry =
            build_audit_entry(key, &Ctx::for_test().with_user(7).with_admin_viewer(7), &sent).unwrap();
        assert_eq!((entry.action(), entry.has_changes()), (Action::MagicLinkCreated, false));
        assert_eq!(entry.object().map(|object| object.id.as_str()), Some("7"));
    }
}
