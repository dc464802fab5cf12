//! HTTP requests as bytes, and the rules of every answer.

use crate::budget::no_panic;
use civitas_tests::service::Service;
use civitas_tests::{Database, Engine};
use serde_json::Value;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

/// How long an answer may take on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is repeated that was answered with 503, which is an answer of a busy machine.
const REPETITIONS: usize = 5;

/// A request.
#[derive(Clone)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.method, self.target.escape_debug())?;
        for (name, value) in &self.headers {
            writeln!(f, "{}: {}", name, value.escape_ascii())?;
        }
        write!(f, "{}", self.body.escape_ascii())
    }
}

impl Request {
    /// A request to the city.
    pub fn new(method: &str, target: impl Into<String>) -> Self {
        let headers = vec![("Host".to_owned(), b"city.test".to_vec())];
        Self { method: method.to_owned(), target: target.into(), headers, body: Vec::new() }
    }

    /// With a header.
    pub fn with(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With a body of this media type.
    pub fn body(self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self.with("Content-Type", media_type) }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend(name.bytes().chain(*b": ").chain(value.iter().copied()).chain(*b"\r\n"));
        }
        bytes.extend(format!("Content-Length: {}\r\n\r\n", self.body.len()).bytes());
        bytes.extend(&self.body);
        bytes
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// A server with a runtime for its clients.
pub struct Server {
    pub runtime: Runtime,
    pub service: Service,
    /// A token of a participant, of an administrator and of a client of the system scope.
    pub tokens: Vec<String>,
}

impl Server {
    /// One on each available engine, with this archive and these settings.
    pub fn on(engines: &[Engine], archive: &str, settings: &[(&str, &str)]) -> Vec<Self> {
        engines.iter().filter_map(|engine| Self::fresh(*engine, archive, settings)).collect()
    }

    fn fresh(engine: Engine, archive: &str, settings: &[(&str, &str)]) -> Option<Self> {
        let runtime = Runtime::new().expect("a runtime");
        let settings = [settings, &[("max_failed_authentications_per_minute", "100000000")]].concat();
        let service = runtime.block_on(async {
            let database = Database::fresh(engine).await?;
            Some(Service::over(database, archive, &settings).await)
        })?;
        let tokens = runtime.block_on(async {
            let nora = service.user("norablum").await;
            let mary = service.user("maryadmin").await;
            let system = service.anonymous().of_system("city_system").await;
            [nora, mary, system].map(|client| client.token.expect("a token")).to_vec()
        });
        Some(Self { runtime, service, tokens })
    }

    /// Sends a request, and checks the answer: no panic, no 5xx, the shape of errors. `is_raw` allows a closed connection, the
    /// pages of the panel, and the empty answer of the library to a head that it refuses.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, request: &Request, is_raw: bool) -> Result<Option<Answer>, String> {
        let address = self.service.address;
        let mut answer = self.runtime.block_on(send(address, &request.bytes(), &request.method))?;
        for _ in 0..REPETITIONS {
            if answer.as_ref().is_some_and(|answer| answer.status == 503) {
                // Made inside of the runtime: it needs its timer.
                self.runtime.block_on(async { sleep(Duration::from_secs(2)).await });
                answer = self.runtime.block_on(send(address, &request.bytes(), &request.method))?;
            }
        }
        no_panic()?;
        let Some(answer) = answer else {
            return if is_raw { Ok(None) } else { Err("no answer".to_owned()) };
        };
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        if answer.status >= 500 {
            return Err(format!("{}: {text}", answer.status));
        }
        let is_shaped = || {
            let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            body["error"].is_string() && body["error_description"].is_string()
        };
        let is_page = is_raw && answer.head.contains("content-type: text/html");
        let is_of_head = is_raw && answer.body.is_empty() && matches!(answer.status, 400 | 431);
        if answer.status >= 400 && request.method != "HEAD" && !is_page && !is_of_head && !is_shaped() {
            return Err(format!("not the shape of an error: {} {text}", answer.status));
        }
        Ok(Some(answer))
    }

    /// Ends the server.
    pub fn stop(self) {
        self.runtime.block_on(self.service.stop());
    }
}

async fn send(address: SocketAddr, bytes: &[u8], method: &str) -> Result<Option<Answer>, String> {
    let exchange = async {
        let mut socket = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        // Closed at once: hundreds of thousands of connections would use up the ports.
        #[expect(deprecated, reason = "zero does not block")]
        socket.set_linger(Some(Duration::ZERO)).map_err(|error| error.to_string())?;
        // The server may answer, or close, before it has everything.
        let _ = socket.write_all(bytes).await;
        Ok(read(&mut socket, method).await)
    };
    timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}

/// The first answer; `None` when the connection ends before its head.
async fn read(socket: &mut TcpStream, method: &str) -> Option<Answer> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        more(socket, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status: u16 = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    // Streams of events have no length.
    let length: usize = if method == "HEAD" { 0 } else { length.unwrap_or(0) };
    while bytes.len() < end + 4 + length {
        more(socket, &mut bytes).await?;
    }
    Some(Answer { status, head, body: bytes[end + 4..].to_vec() })
}

async fn more(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = vec![0; 16 * 1024];
    let length = socket.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
    bytes.extend(&buffer[..length]);
    Some(())
}
