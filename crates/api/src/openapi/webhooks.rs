//! The deliveries of events (contract 09 C.1 to C.3).

use super::build::{Schemas, any_integer, by_type, closed, object, text, words};
use super::tags;
use crate::resources::spaces::SpaceView;
use crate::resources::webhook_events::webhook_example;
use civitas_kernel::EventName;
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, Object, Paths, Ref, RefOr, Required, ResponseBuilder, Schema,
    SecurityRequirement,
};

/// An event: its name, the schema of its delivery, that of its record, and when it happens.
type Delivery = (EventName, &'static str, &'static str, &'static str);

/// The record of a step that became active, which has no published schema.
const ACTIVATED_SPACE: &str = "";

const DELIVERIES: [Delivery; 12] = [
    (
        EventName::DraftProposalCreation,
        "wh_draft_proposal_creation",
        "draft_proposal",
        "A draft proposal was created",
    ),
    (
        EventName::DraftProposalUpdate,
        "wh_draft_proposal_update",
        "draft_proposal",
        "The text of a draft changed",
    ),
    (EventName::ProposalCreation, "wh_proposal_creation", "proposal", "A draft was published"),
    (EventName::ProposalUpdate, "wh_proposal_update", "proposal", "A published proposal was edited"),
    (
        EventName::ProposalStateChange,
        "wh_proposal_state_change",
        "proposal",
        "The state of a published proposal changed",
    ),
    (
        EventName::MeetingReminder,
        "wh_meeting_upcoming",
        "meeting",
        "A meeting begins in 48 hours, or sooner if it was just published or moved",
    ),
    (EventName::StepActivated, "wh_pp_step", ACTIVATED_SPACE, "A step of a process became the active one"),
    (
        EventName::OrganizationCreated,
        "wh_system_organizations_created",
        "organization",
        "An organization was created",
    ),
    (
        EventName::OrganizationUpdated,
        "wh_system_organizations_updated",
        "organization",
        "An organization changed",
    ),
    (
        EventName::OrganizationDeleted,
        "wh_system_organizations_deleted",
        "organization",
        "An organization was deleted",
    ),
    (EventName::UserCreated, "wh_user_created", "user", "An account was created"),
    (EventName::UserUpdated, "wh_user_updated", "user", "An account changed"),
];

/// Adds the body of each event, and the envelope: one of them.
pub(super) fn add_all(to: &mut Schemas) {
    for (event, name, record, _) in DELIVERIES {
        let data: RefOr<Schema> = if record == ACTIVATED_SPACE {
            activated_space().into()
        } else {
            Ref::from_schema_name(record).into()
        };
        let body = closed()
            .property("type", words([event.as_str()]))
            .required("type")
            .property("data", data)
            .required("data");
        to.insert(name.to_owned(), body.into());
    }
    let variants = DELIVERIES.map(|(event, name, ..)| (event.as_str(), name));
    to.insert("WebhookDeliveryEnvelope".to_owned(), by_type(&variants).into());
}

/// A space and the step it is in (contract 05 §2.8).
fn activated_space() -> Object {
    let step = [
        ("active_step_id", text()),
        ("active_step_position", any_integer().minimum(Some(0))),
        ("active_step_title", text()),
    ];
    let meta = step.into_iter().fold(closed(), |o, (key, schema)| o.property(key, schema).required(key));
    let mut space = object(SpaceView::schema());
    space.properties.insert("meta".to_owned(), meta.into());
    space.required.push("meta".to_owned());
    space
}

/// Moves the events to the components, and refers to them. openapi-generator makes a class of events that are written in
/// place, without the imports it needs.
pub(super) fn refer(document: &mut Value) {
    let Some(events) = document["webhooks"].as_object_mut() else { return };
    let mut items = Map::new();
    for (name, item) in events {
        let reference = json!({"$ref": format!("#/components/pathItems/{name}")});
        items.insert(name.clone(), std::mem::replace(item, reference));
    }
    document["components"]["pathItems"] = Value::Object(items);
}

/// The deliveries as the document lists them.
pub(super) fn deliveries() -> Paths {
    let mut paths = Paths::new();
    for (event, name, _, says) in DELIVERIES {
        let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(name))).example(example(event));
        let body = RequestBodyBuilder::new()
            .required(Some(Required::True))
            .content("application/json", body.build());
        let taken = ResponseBuilder::new().description("Taken; any other answer is tried again").build();
        let operation = OperationBuilder::new()
            .operation_id(Some(operation_id(event)))
            .tag(tags::EVENTS)
            .summary(Some(says))
            .description(Some(
                "Signed twice with the same key, the secret as text. `X-Webhook-Signature`: `v1=` and the HMAC-SHA256, \
                 in hex, of the timestamp, a full stop and the body. `webhook-signature` (Standard Webhooks): `v1,` and \
                 the HMAC-SHA256, in base64, of the id, a full stop, the timestamp, a full stop and the body.",
            ))
            .parameters(Some(headers()))
            .request_body(Some(body.build()))
            .response("2XX", taken)
            .securities(Some(Vec::<SecurityRequirement>::new()));
        paths.add_path_operation(event.as_str(), vec![HttpMethod::Post], operation.build());
    }
    paths
}

/// `receiveUserCreated` of `user.created`.
fn operation_id(event: EventName) -> String {
    let words = event.as_str().split(['.', '_']).map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_ascii_uppercase() + rest
    });
    words.fold("receive".to_owned(), |id, word| id + &word)
}

/// The example of an event, with the links of a fictitious organization.
fn example(event: EventName) -> Option<Value> {
    serde_json::from_str(&webhook_example(event, "https://city.example")?).ok()
}

fn headers() -> [Parameter; 6] {
    [
        ("X-Webhook-Timestamp", "Unix seconds of this attempt"),
        ("X-Webhook-Signature", "`v1=` and the signature; the key is the secret as text"),
        ("X-Webhook-Id", "The UUID of the delivery, the same in every attempt"),
        ("webhook-id", "The same as `X-Webhook-Id`"),
        ("webhook-timestamp", "The same as `X-Webhook-Timestamp`"),
        ("webhook-signature", "`v1,` and the signature of Standard Webhooks; the key is the secret as text"),
    ]
    .map(|(name, says)| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::True)
            .description(Some(says))
            .schema(Some(text()))
            .build()
    })
}
