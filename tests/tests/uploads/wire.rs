//! HTTP requests as bytes, so that they can be wrong in every way.

use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The boundary of forms.
pub const BOUNDARY: &str = "boundary-of-tests";

/// A request.
#[derive(Clone)]
pub struct Request {
    head: String,
    has_length: bool,
    body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A request to `city.test`.
    pub fn new(method: &str, path: &str) -> Self {
        Self::at("city.test", method, path)
    }

    /// A request to a host.
    pub fn at(host: &str, method: &str, path: &str) -> Self {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        Self { head, has_length: false, body: Vec::new() }
    }

    /// With a header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.has_length |=
            matches!(name.to_ascii_lowercase().as_str(), "content-length" | "transfer-encoding");
        self.head = format!("{}{name}: {value}\r\n", self.head);
        self
    }

    /// With this body; its length is added unless there is a header for it.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// With this body in chunks.
    pub fn chunked(self, body: &[u8]) -> Self {
        let mut chunks = Vec::new();
        for chunk in body.chunks(1000) {
            chunks.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            chunks.extend(chunk);
            chunks.extend(b"\r\n");
        }
        chunks.extend(b"0\r\n\r\n");
        self.with("Transfer-Encoding", "chunked").body(chunks)
    }

    /// Sends it, and reads the answer. The server may answer before it has all bytes.
    pub async fn send(self, address: SocketAddr) -> Reply {
        let head = self.head.clone();
        self.try_send(address).await.unwrap_or_else(|| panic!("no answer to {head}"))
    }

    /// The same; `None` when the server closes the connection without an answer.
    pub async fn try_send(self, address: SocketAddr) -> Option<Reply> {
        let length = format!("Content-Length: {}\r\n", self.body.len());
        let length = if self.has_length { "" } else { &length };
        let mut bytes = format!("{}{length}\r\n", self.head).into_bytes();
        bytes.extend(&self.body);
        let socket = TcpStream::connect(address).await.expect("a connection");
        let (mut from, mut to) = socket.into_split();
        let writing = tokio::spawn(async move {
            // The server may close first.
            let _ = to.write_all(&bytes).await;
            to
        });
        let mut answer = Vec::new();
        let read = timeout(TIMEOUT, from.read_to_end(&mut answer)).await;
        // A reset after the answer does not matter.
        let _ = read.unwrap_or_else(|_| panic!("no end of the answer to {}", self.head));
        writing.abort();
        Reply::parse(&answer)
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Some(Self { status, headers, body: bytes[end + 4..].to_vec() })
    }

    /// A header; empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// The body as JSON; null when it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The codes of an error, else its text; empty for an answer that is none.
    pub fn reason(&self) -> String {
        let body = self.json();
        let codes = body["error_details"].as_array().map(|details| {
            details.iter().filter_map(|detail| detail["code"].as_str()).collect::<Vec<_>>().join(", ")
        });
        codes.unwrap_or_else(|| body["error_description"].as_str().unwrap_or_default().to_owned())
    }
}

/// A part of a form with this head, without its last line.
pub fn part(head: &[u8], content: &[u8]) -> Vec<u8> {
    [format!("--{BOUNDARY}\r\n").as_bytes(), head, b"\r\n\r\n", content, b"\r\n"].concat()
}

/// A text part.
pub fn field(name: &str, text: &str) -> Vec<u8> {
    part(format!("Content-Disposition: form-data; name=\"{name}\"").as_bytes(), text.as_bytes())
}

/// A part `file`; the name is sent as it is, between quotes.
pub fn file(name: &[u8], content: &[u8]) -> Vec<u8> {
    let head = [
        b"Content-Disposition: form-data; name=\"file\"; filename=\"",
        name,
        b"\"\r\nContent-Type: text/plain",
    ]
    .concat();
    part(&head, content)
}

/// A form of these parts.
pub fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}
