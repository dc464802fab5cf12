//! `/events` (contract 09 D): a live stream of events. By pull, with `after` or `format`: stored events as `CloudEvents` 1.0.

use crate::document::{OperationDoc, ParameterType};
use crate::error::ApiError;
use crate::query::Query;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, Routes};
use crate::shapes::iso_milliseconds;
use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use civitas_event_delivery::{EventStream, OpenError, StreamMessage, StreamStart};
use civitas_kernel::{Error, Result};
use civitas_webhooks::{OutboxEvent, READ_WEBHOOKS};
use futures_util::StreamExt;
use futures_util::stream::{once, unfold};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::future::ready;
use utoipa::ToSchema;

/// A comment: clients ignore it.
pub(crate) const COMMENT: &[u8] = b":\n\n";
/// The bodies of the events of an answer by pull together, in bytes. The first one may be longer.
const PULLED_BYTES: usize = 1024 * 1024;
/// The pattern of `after`: the id of an event, or nothing.
const CURSOR: &str = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$";

/// An event as a `CloudEvent` 1.0 in structured mode.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = cloud_event, title = "CloudEvent")]
struct CloudEvent<'a> {
    specversion: &'static str,
    /// The same in streams.
    #[schema(format = "uuid")]
    id: String,
    /// The origin of the organization.
    #[schema(format = "uri")]
    source: &'a str,
    /// The name of the event.
    r#type: &'static str,
    /// When it happened.
    #[schema(format = "date-time")]
    time: String,
    datacontenttype: &'static str,
    /// `data` of the body that a webhook gets.
    #[schema(value_type = Object)]
    data: &'a RawValue,
}

/// Stored events, in the order of a stream.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = event_page)]
struct EventPage<'a> {
    #[schema(max_items = 1000)]
    data: Vec<CloudEvent<'a>>,
    /// The value of `after` for the next request: the id of the last event. Null before the first event.
    #[schema(required)]
    next: Option<String>,
}

/// The format of an answer by pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PullFormat {
    Json,
    Ndjson,
}

pub(crate) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::stream("Streams the events of the organization as server-sent events")
        .with_parameter("types[]", ParameterType::List(Box::new(ParameterType::Text)))
        .with_parameter("last_event_id", ParameterType::Text)
        .with_parameter("after", ParameterType::Pattern(CURSOR))
        .with_parameter("format", ParameterType::Word(&["json", "ndjson"]))
        .or_answers_with::<EventPage<'_>>()
        .with_failure(410)
        .with_failure(429)
        .with_note(
            "Each message has the id of the event as `id`, its name as `event`, and as `data` the body that a webhook \
             gets. A comment comes every 15 s. The stream ends after an hour, with the token, and when the client reads \
             too slowly; it continues after the event in `Last-Event-ID`. At most 10 streams of a client are open at \
             once.\n\nWith `after` or `format` there is no stream: the answer has at most 1,000 stored events, and about a MiB, \
             as CloudEvents 1.0. It begins with the oldest one, or continues after `after`. Without events there are no more \
             for now.",
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
    if let Some(format) = pull_format(&request.query)? {
        return pull(&request, format).await;
    }
    let types = request.query.list("types");
    let last_event_id = request.last_event_id.as_deref().or_else(|| request.query.get("last_event_id"));
    let start = StreamStart { types: &types, last_event_id };
    let stream = request.backend.event_streams.open(request.ctx()?, &request.tenant, start).await?;
    let messages = unfold(stream, async |mut stream: EventStream| {
        let message = stream.next().await?;
        Some((Ok(chunk(&message)), stream))
    });
    Ok(Reply::event_stream(once(ready(Ok(Bytes::from_static(COMMENT)))).chain(messages).boxed()))
}

/// The format of an answer by pull; `None` for a stream.
///
/// # Errors
/// `Unknown format <v>`.
fn pull_format(query: &Query) -> Result<Option<PullFormat>> {
    match query.get("format") {
        Some("json") => Ok(Some(PullFormat::Json)),
        Some("ndjson") => Ok(Some(PullFormat::Ndjson)),
        Some(other) => Err(Error::rejected(format!("Unknown format {other}"))),
        None => Ok(query.get("after").map(|_| PullFormat::Json)),
    }
}

async fn pull(request: &Request, format: PullFormat) -> HandlerResult {
    let (types, after) = (request.query.list("types"), request.query.filled("after"));
    let start = StreamStart { types: &types, last_event_id: after };
    let streams = &request.backend.event_streams;
    let pulled = streams.pull(request.ctx()?, &request.tenant, start, PULLED_BYTES).await?;
    let source = request.backend.commands.site().origin(&request.tenant.host);
    let data = pulled.iter().map(|event| cloud_event(&source, event)).collect::<Result<Vec<_>>>()?;
    let reply = match format {
        PullFormat::Json => {
            let next = pulled.last().map(|event| event.id.to_string()).or(after.map(str::to_owned));
            Reply::json(StatusCode::OK, &EventPage { data, next })?
        }
        PullFormat::Ndjson => Reply::ndjson(data.iter().map(line).collect::<Result<String>>()?),
    };
    Ok(reply.with_header("Cache-Control", "no-store"))
}

/// The event with the record of its body.
///
/// # Errors
/// `Internal` for a stored body that is not JSON.
fn cloud_event<'a>(source: &'a str, event: &'a OutboxEvent) -> Result<CloudEvent<'a>> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let Envelope { data } = serde_json::from_str(&event.payload).map_err(Error::internal)?;
    Ok(CloudEvent {
        specversion: "1.0",
        id: event.id.to_string(),
        source,
        r#type: event.name.as_str(),
        time: iso_milliseconds(event.occurred_at),
        datacontenttype: "application/json",
        data,
    })
}

/// An event on one line. Line breaks of its data stand between values: those in texts are escaped.
fn line(event: &CloudEvent<'_>) -> Result<String> {
    let text = serde_json::to_string(event).map_err(Error::internal)?;
    Ok(text.replace(['\n', '\r'], " ") + "\n")
}

fn chunk(message: &StreamMessage) -> Bytes {
    match message {
        StreamMessage::KeepAlive => Bytes::from_static(COMMENT),
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
    use civitas_kernel::{EventName, OrganizationId};
    use time::macros::datetime;
    use uuid::Uuid;

    #[test]
    fn a_message_has_its_fields_on_lines_and_ends_with_an_empty_one() {
        let message = sent_event(Some("7"), "user.created", r#"{"type":"user.created"}"#);
        assert_eq!(message, "id: 7\nevent: user.created\ndata: {\"type\":\"user.created\"}\n\n");
        assert_eq!(sent_event(None, "end", "{\n}"), "event: end\ndata: {\ndata: }\n\n");
    }

    #[test]
    fn a_format_or_a_cursor_pulls_and_a_request_without_them_streams() {
        let format = |text: &str| pull_format(&Query::read(text).unwrap());
        assert_eq!(format("last_event_id=7&types[]=user.created").unwrap(), None);
        for (text, expected) in [
            ("after=", PullFormat::Json),
            ("after=7", PullFormat::Json),
            ("format=json", PullFormat::Json),
            ("after=7&format=ndjson", PullFormat::Ndjson),
        ] {
            assert_eq!(format(text).unwrap(), Some(expected), "{text}");
        }
        assert_eq!(format("after=7&format=xml").unwrap_err().description(), "Unknown format xml");
        assert_eq!(format("format=").unwrap_err().description(), "Unknown format ");
    }

    fn event(payload: &str) -> OutboxEvent {
        OutboxEvent {
            id: Uuid::from_u128(7),
            organization: OrganizationId(1),
            name: EventName::UserCreated,
            payload: payload.to_owned(),
            occurred_at: datetime!(2026-03-01 09:30:00.25 UTC),
        }
    }

    #[test]
    fn a_cloud_event_has_the_bytes_of_the_record_on_one_line() {
        let stored = event("{\"type\":\"user.created\",\"data\":{\"b\":1.50,\n\"a\":\"\\n\"}}");
        let written = line(&cloud_event("https://city.example", &stored).unwrap()).unwrap();
        let expected = concat!(
            r#"{"specversion":"1.0","id":"00000000-0000-0000-0000-000000000007","#,
            r#""source":"https://city.example","type":"user.created","time":"2026-03-01T09:30:00.250Z","#,
            r#""datacontenttype":"application/json","data":{"b":1.50, "a":"\n"}}"#,
            "\n"
        );
        assert_eq!(written, expected);
        assert!(cloud_event("https://city.example", &event("{}")).is_err());
    }
}
