//! `/webhook_events` (contract 09 B.1): an example of each delivery.

use crate::document::OperationDoc;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use civitas_kernel::{Error, EventName};
use civitas_webhooks::{READ_WEBHOOKS, envelope, parse_event};
use serde_json::Value;
use serde_json::value::RawValue;
use time::OffsetDateTime;

/// The origin of links in the files of examples.
const ORIGIN: &str = "{origin}";

pub(crate) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::new("Shows an example of the delivery of an event", "WebhookDeliveryEnvelope");
    routes.read(
        "showWebhookEventExample",
        "/webhook_events/{event_type}",
        READ_WEBHOOKS,
        doc.with_failure(404),
        show,
    );
}

async fn show(request: Request) -> HandlerResult {
    request.ctx()?.require(&READ_WEBHOOKS)?;
    let site = request.backend.commands.site();
    let origin = site.origin(&request.tenant.host);
    let event = parse_event(request.segment("event_type"));
    let example = event.and_then(|event| webhook_example(event, &origin)).ok_or(Error::NotFound)?;
    let example = request.class_names().replace_in(example);
    let example = RawValue::from_string(example).map_err(Error::internal)?;
    Ok(Reply::for_read(&request, &example, OffsetDateTime::UNIX_EPOCH)?)
}

/// An example of the body of a delivery, with the members of a real one. `origin`: scheme, host and port of its links.
/// `None` for an ability that is no event.
pub fn webhook_example(event: EventName, origin: &str) -> Option<String> {
    // The files are part of the program; a test reads each.
    let data: Value = serde_json::from_str(data_of(event)?).ok()?;
    let origin = Value::from(origin).to_string();
    Some(envelope(event, &data).replace(ORIGIN, origin.trim_matches('"')))
}

/// The record of the example of an event.
fn data_of(event: EventName) -> Option<&'static str> {
    Some(match event {
        EventName::DraftProposalCreation => include_str!("webhook_events/draft_proposal_creation.json"),
        EventName::DraftProposalUpdate => include_str!("webhook_events/draft_proposal_update.json"),
        EventName::ProposalCreation => include_str!("webhook_events/proposal_creation.json"),
        EventName::ProposalUpdate => include_str!("webhook_events/proposal_update.json"),
        EventName::ProposalStateChange => include_str!("webhook_events/proposal_state_change.json"),
        EventName::MeetingReminder => include_str!("webhook_events/meeting_reminder.json"),
        EventName::StepActivated => include_str!("webhook_events/step_activated.json"),
        EventName::UserCreated => include_str!("webhook_events/user_created.json"),
        EventName::UserUpdated => include_str!("webhook_events/user_updated.json"),
        EventName::OrganizationCreated => include_str!("webhook_events/organization_created.json"),
        EventName::OrganizationUpdated => include_str!("webhook_events/organization_updated.json"),
        EventName::OrganizationDeleted => include_str!("webhook_events/organization_deleted.json"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_and_no_other_ability_has_an_example_with_links_of_the_origin() {
        for ability in EventName::ALL.iter().copied() {
            let example = webhook_example(ability, "https://city.test:8443");
            assert_eq!(example.is_some(), ability.is_event(), "{ability}");
            let Some(example) = example else { continue };
            let read: Value = serde_json::from_str(&example).unwrap();
            assert_eq!(read["type"], ability.as_str());
            assert!(!example.contains(ORIGIN) && !example.contains('\n'), "{ability}");
        }
        let example = webhook_example(EventName::ProposalCreation, "https://city.test:8443").unwrap();
        let read: Value = serde_json::from_str(&example).unwrap();
        let this = &read["data"]["links"]["self"]["href"];
        assert_eq!(*this, "https://city.test:8443/api/rest_full/v0.3/proposals/904");
    }
}
