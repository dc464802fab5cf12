//! Reads server-sent events.

use crate::service::{Answer, BASE, Client};
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// How long a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A live stream.
#[derive(Debug)]
pub struct EventReader {
    response: Response,
    received: String,
    /// The comments so far.
    pub comments: usize,
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentEvent {
    /// Its id; empty without one.
    pub id: String,
    /// Its name.
    pub event: String,
    /// Its data.
    pub data: String,
}

impl SentEvent {
    /// The data, read.
    ///
    /// # Panics
    /// When it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("data of JSON")
    }
}

impl Client {
    /// `GET {base}{path}` of a live stream.
    ///
    /// # Errors
    /// The answer, when it is no stream.
    ///
    /// # Panics
    /// Without an answer.
    pub async fn open(&self, path: &str, headers: &[(&str, &str)]) -> Result<EventReader, Box<Answer>> {
        let mut request = self.http.get(format!("http://{}{BASE}{path}", self.address));
        request = request.header("host", &self.host);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status(), response.headers().clone());
        let media_type = headers.get("content-type").and_then(|value| value.to_str().ok());
        if media_type.is_some_and(|media_type| media_type.starts_with("text/event-stream")) {
            return Ok(EventReader::of(response));
        }
        let text = response.text().await.expect("a text");
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        self.validator.check("GET", path, status.as_u16(), &body);
        Err(Box::new(Answer { status, headers, body, text }))
    }
}

impl EventReader {
    pub(crate) fn of(response: Response) -> Self {
        Self { response, received: String::new(), comments: 0 }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next event; `None` at the end of the stream.
    ///
    /// # Panics
    /// When none comes.
    pub async fn next(&mut self) -> Option<SentEvent> {
        timeout(TIMEOUT, self.read()).await.expect("an event, or the end of the stream")
    }

    /// Whether no event comes for this long; comments may come.
    pub async fn is_silent_for(&mut self, time: Duration) -> bool {
        timeout(time, self.read()).await.is_err()
    }

    async fn read(&mut self) -> Option<SentEvent> {
        loop {
            if let Some((message, rest)) = self.received.split_once("\n\n") {
                let (message, rest) = (message.to_owned(), rest.to_owned());
                self.received = rest;
                if message.starts_with(':') {
                    self.comments += 1;
                    continue;
                }
                return Some(parse(&message));
            }
            // A connection that breaks is an end too.
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.received.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }
}

fn parse(message: &str) -> SentEvent {
    let mut event = SentEvent::default();
    for line in message.lines() {
        match line.split_once(": ").expect("a field") {
            ("id", id) => id.clone_into(&mut event.id),
            ("event", name) => name.clone_into(&mut event.event),
            ("data", data) => event.data.push_str(data),
            (other, _) => panic!("the field {other}"),
        }
    }
    event
}
