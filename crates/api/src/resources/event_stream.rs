//! `/events` (contract 09 D): a live stream of events.

use crate::document::{Doc, ParameterType};
use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use actix_web::web::Bytes;
use civitas_event_delivery::{EventStream, OpenError, StreamMessage, StreamStart};
use civitas_webhooks::READ_WEBHOOKS;
use futures_util::StreamExt;
use futures_util::stream::{once, unfold};
use std::future::ready;

/// A comment: clients ignore it.
pub(crate) const COMMENT: &[u8] = b":\n\n";

pub(crate) fn routes(routes: &mut Routes) {
    let doc = Doc::stream("Streams the events of the organization as server-sent events")
        .with("types[]", ParameterType::List(Box::new(ParameterType::Text)))
        .with("last_event_id", ParameterType::Text)
        .fails(410)
        .fails(429)
        .with_note(
            "Each message has the id of the event as `id`, its name as `event`, and as `data` the body that a webhook \
             gets. A comment comes every 15 s. The stream ends after an hour, with the token, and when the client reads \
             too slowly; it continues after the event in `Last-Event-ID`. At most 10 streams of a client are open at \
             once.",
        );
    routes.read("streamEvents", "/events", READ_WEBHOOKS, doc, stream);
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Error(error) => error.into(),
            OpenError::Gone => Self::EventGone,
            OpenError::TooMany => civitas_kernel::Error::TooManyRequests(1).into(),
        }
    }
}

async fn stream(request: Request) -> HandlerResult {
    let types = request.query.list("types");
    let last_event_id = request.last_event_id.as_deref().or_else(|| request.query.get("last_event_id"));
    let start = StreamStart { types: &types, last_event_id };
    let stream = request.backend.event_streams.open(request.ctx()?, &request.tenant, start).await?;
    let messages = unfold(stream, async |mut stream: EventStream| {
        let message = stream.next().await?;
        Some((Ok(chunk(&message)), stream))
    });
    Ok(Reply::events(once(ready(Ok(Bytes::from_static(COMMENT)))).chain(messages).boxed()))
}

fn chunk(message: &StreamMessage) -> Bytes {
    match message {
        StreamMessage::Silence => Bytes::from_static(COMMENT),
        StreamMessage::Event(relayed) => {
            let event = &relayed.event;
            sent_event(Some(&event.id.to_string()), event.name.as_str(), &event.payload)
        }
    }
}

/// A server-sent event. Data with line breaks takes one line of the message for each line.
pub(crate) fn sent_event(id: Option<&str>, name: &str, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + 128);
    for (field, value) in id.map(|id| ("id", id)).into_iter().chain([("event", name)]) {
        text.extend([field, ": ", value, "\n"]);
    }
    for line in data.split(['\n', '\r']) {
        text.extend(["data: ", line, "\n"]);
    }
    text.push('\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_fields_on_lines_and_ends_with_an_empty_one() {
        let message = sent_event(Some("7"), "user.created", r#"{"type":"user.created"}"#);
        assert_eq!(message, "id: 7\nevent: user.created\ndata: {\"type\":\"user.created\"}\n\n");
        assert_eq!(sent_event(None, "end", "{\n}"), "event: end\ndata: {\ndata: }\n\n");
    }
}
