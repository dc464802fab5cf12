//! Events in the outbox, and who may receive them (contract 09 C.1).

use civitas_kernel::{Abilities, EventName, OrganizationId, Scope, Scopes, UserId, sortable_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

/// An event in the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxEvent {
    /// Its id; sorts by time.
    pub id: Uuid,
    /// The organization.
    pub organization: OrganizationId,
    /// The name of the event.
    pub name: EventName,
    /// The body for all receivers, rendered at the time of the change: every attempt sends these bytes.
    pub payload: String,
    /// When it happened.
    pub occurred_at: OffsetDateTime,
}

impl OutboxEvent {
    /// A new one.
    pub fn new(
        organization: OrganizationId,
        name: EventName,
        payload: String,
        occurred_at: OffsetDateTime,
    ) -> Self {
        Self { id: sortable_id(), organization, name, payload, occurred_at }
    }
}

/// The position of an event in the order of commits. The relay gives it, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EventPosition(pub i64);

/// An event that the relay has given its position.
#[derive(Debug, Clone, PartialEq)]
pub struct RelayedEvent {
    /// Its position.
    pub position: EventPosition,
    /// The event.
    pub event: OutboxEvent,
}

/// An event without its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHead {
    /// Its id.
    pub id: Uuid,
    /// The organization.
    pub organization: OrganizationId,
    /// The name.
    pub name: EventName,
}

/// The body of a delivery: the event's name and the record (contract 09 C.2).
pub fn envelope(name: EventName, data: &Value) -> String {
    #[derive(Serialize)]
    struct Envelope<'a> {
        r#type: &'static str,
        data: &'a Value,
    }
    // A `Value` has only text keys, so that it can always be written.
    serde_json::to_string(&Envelope { r#type: name.as_str(), data }).unwrap_or_default()
}

/// Whether an event of an account has the data of this one.
pub fn describes_user(payload: &str, user: UserId) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        data: Described,
    }
    #[derive(Deserialize)]
    struct Described {
        id: String,
        r#type: String,
    }
    let parsed: Option<Envelope> = serde_json::from_str(payload).ok();
    parsed.is_some_and(|Envelope { data }| data.r#type == "user" && data.id == user.to_string())
}

/// The switches of an organization that stop its events (contract 09 C.1, receivers, d).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSwitches {
    /// The interface.
    pub api: bool,
    /// Proposals.
    pub proposals: bool,
    /// Meetings.
    pub meetings: bool,
}

impl EventSwitches {
    /// Nothing is switched off; also for a client without organization.
    pub const ALL_ON: Self = Self { api: true, proposals: true, meetings: true };

    /// Whether this event is sent.
    pub fn allow(self, event: EventName) -> bool {
        self.api
            && match event.scope() {
                Some(Scope::Proposals) => self.proposals,
                Some(Scope::Meetings) => self.meetings,
                _ => true,
            }
    }
}

/// The rights of a client concerning events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiverRights {
    /// The scopes it owns.
    pub scopes: Scopes,
    /// The permissions it holds.
    pub permissions: Abilities,
}

impl ReceiverRights {
    /// Whether it holds the event permission, and owns its scope.
    pub fn may_receive(self, event: EventName) -> bool {
        event.is_event()
            && self.permissions.has(event)
            && event.scope().is_none_or(|scope| self.scopes.has(scope))
    }
}

/// The event with this name; `None` for abilities that are no events.
pub fn parse_event(name: &str) -> Option<EventName> {
    EventName::parse(name).filter(|name| name.is_event())
}

/// Whether deployment-wide clients receive the event too: those of organizations.
pub fn is_of_system(event: EventName) -> bool {
    event.scope() == Some(Scope::System)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_body_begins_with_the_type() {
        let body = envelope(EventName::UserCreated, &json!({"id": "17", "type": "user"}));
        assert_eq!(body, r#"{"type":"user.created","data":{"id":"17","type":"user"}}"#);
    }

    #[test]
    fn a_switch_stops_the_events_of_its_scope_and_the_interface_all() {
        let proposals_off = EventSwitches { proposals: false, ..EventSwitches::ALL_ON };
        assert!(!proposals_off.allow(EventName::ProposalCreation));
        assert!(proposals_off.allow(EventName::MeetingReminder));
        let off = EventSwitches { api: false, ..EventSwitches::ALL_ON };
        assert!(EventName::ALL.iter().filter(|name| name.is_event()).all(|event| !off.allow(*event)));
    }

    #[test]
    fn an_event_needs_its_permission_and_its_scope() {
        let rights = ReceiverRights {
            scopes: Scopes::read("proposals"),
            permissions: [EventName::ProposalCreation, EventName::UserCreated, EventName::ProposalsRead]
                .into_iter()
                .collect(),
        };
        assert!(rights.may_receive(EventName::ProposalCreation));
        assert!(!rights.may_receive(EventName::UserCreated), "the scope is not owned");
        assert!(!rights.may_receive(EventName::ProposalsRead), "not an event");
    }
}
