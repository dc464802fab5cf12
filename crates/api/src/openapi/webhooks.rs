//! The deliveries of events (contract 09 C.1 to C.3).

use super::{by_type, closed, reference};
use crate::resources::webhook_events::webhook_example;
use civitas_kernel::Ability::{
    DraftProposalCreation, DraftProposalUpdate, MeetingReminder, OrganizationCreated, OrganizationDeleted,
    OrganizationUpdated, ProposalCreation, ProposalStateChange, ProposalUpdate, StepActivated, UserCreated,
    UserUpdated,
};
use civitas_kernel::EventName;
use serde_json::{Map, Value, json};

/// An event: its name, the schema of its delivery, that of its record, and when it happens.
type Delivery = (EventName, &'static str, &'static str, &'static str);

const DELIVERIES: [Delivery; 12] = [
    (DraftProposalCreation, "wh_draft_proposal_creation", "draft_proposal", "A draft proposal was created"),
    (DraftProposalUpdate, "wh_draft_proposal_update", "draft_proposal", "The text of a draft changed"),
    (ProposalCreation, "wh_proposal_creation", "proposal", "A draft was published"),
    (ProposalUpdate, "wh_proposal_update", "proposal", "A published proposal was edited"),
    (
        ProposalStateChange,
        "wh_proposal_state_change",
        "proposal",
        "The state of a published proposal changed",
    ),
    (
        MeetingReminder,
        "wh_meeting_upcoming",
        "meeting",
        "A meeting begins in 48 hours, or sooner if it was just published or moved",
    ),
    (StepActivated, "wh_pp_step", "space", "A step of a process became the active one"),
    (OrganizationCreated, "wh_system_organizations_created", "organization", "An organization was created"),
    (OrganizationUpdated, "wh_system_organizations_updated", "organization", "An organization changed"),
    (OrganizationDeleted, "wh_system_organizations_deleted", "organization", "An organization was deleted"),
    (UserCreated, "wh_user_created", "user", "An account was created"),
    (UserUpdated, "wh_user_updated", "user", "An account changed"),
];

/// The headers of a delivery.
const HEADERS: [(&str, &str); 6] = [
    ("X-Webhook-Timestamp", "Unix seconds of this attempt"),
    ("X-Webhook-Signature", "`v1=` and the signature; the key is the secret as text"),
    ("X-Webhook-Id", "The UUID of the delivery, the same in every attempt"),
    ("webhook-id", "The same as `X-Webhook-Id`"),
    ("webhook-timestamp", "The same as `X-Webhook-Timestamp`"),
    ("webhook-signature", "`v1,` and the signature of Standard Webhooks; the key is the secret as text"),
];

const SIGNED: &str = "Signed twice with the same key, the secret as text. `X-Webhook-Signature`: `v1=` and the \
    HMAC-SHA256, in hex, of the timestamp, a full stop and the body. `webhook-signature` (Standard Webhooks): `v1,` and \
    the HMAC-SHA256, in base64, of the id, a full stop, the timestamp, a full stop and the body.";

/// Adds the body of each event, and the envelope: one of them.
pub(super) fn add_schemas(all: &mut Map<String, Value>) {
    for (event, name, record, _) in DELIVERIES {
        let data = if event == StepActivated { activated(&all[record]) } else { reference(record) };
        let mut body =
            closed([("type", json!({"type": "string", "enum": [event.as_str()]})), ("data", data)]);
        body["title"] = format!("Webhook {event}").into();
        all.insert(name.to_owned(), body);
    }
    let variants = DELIVERIES.map(|(event, name, ..)| (event.as_str(), name));
    all.insert("WebhookDeliveryEnvelope".to_owned(), by_type(&variants));
}

/// A space and the step it is in (contract 05 §2.8).
fn activated(space: &Value) -> Value {
    let mut space = space.clone();
    space["properties"]["meta"] = closed([
        ("active_step_id", json!({"type": "string"})),
        ("active_step_position", json!({"type": "integer", "minimum": 0})),
        ("active_step_title", json!({"type": "string"})),
    ]);
    space["required"].as_array_mut().into_iter().for_each(|required| required.push(json!("meta")));
    space
}

/// Adds the deliveries to the components, and refers to them. openapi-generator makes a class of events that are written
/// inline, without the imports it needs.
pub(super) fn add_deliveries(document: &mut Value) {
    let header = |(name, says): (&str, &str)| {
        let schema = json!({"type": "string"});
        json!({"name": name, "in": "header", "required": true, "description": says, "schema": schema})
    };
    let headers = HEADERS.map(header);
    for (event, name, _, says) in DELIVERIES {
        let event_name = event.as_str();
        let body = json!({"schema": reference(name), "example": example(event)});
        let operation = json!({
            "operationId": operation_id(event_name),
            // It differs from that of the operations: generators make one class of a group.
            "tags": ["Webhook Events"],
            "summary": says,
            "description": SIGNED,
            "parameters": headers,
            "requestBody": {"required": true, "content": {"application/json": body}},
            "responses": {"2XX": {"description": "Taken; any other answer is tried again"}},
            "security": [],
        });
        document["components"]["pathItems"][event_name]["post"] = operation;
        document["webhooks"][event_name]["$ref"] = format!("#/components/pathItems/{event_name}").into();
    }
}

/// `receiveUserCreated` of `user.created`.
fn operation_id(event: &str) -> String {
    let words = event.split(['.', '_']).map(super::capitalized);
    words.fold("receive".to_owned(), |id, word| id + &word)
}

/// The example of an event, with the links of a fictitious organization.
fn example(event: EventName) -> Option<Value> {
    serde_json::from_str(&webhook_example(event, "https://city.example")?).ok()
}
