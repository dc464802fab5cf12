//! Several requests on one connection, cut anywhere: each has its own answer, in order, in the form of its own request.

use crate::budget::fuzz;
use crate::wire::{PATIENCE, Server};
use civitas_tests::Engine;
use civitas_tests::service::{BASE, CITIES, SYSTEM_CLIENTS};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Methods, paths and versions, with the first digits of the status. The second last reads the body, the others do not.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("GET", "/health", "1.1", "200"),
    ("HEAD", "/health", "1.1", "200"),
    ("GET", "/health", "1.0", "200"),
    ("POST", "/vote_proposals", "1.1", "40"),
    ("POST", "/nowhere", "1.1", "404"),
];

/// How the body of a request is sent.
#[derive(Debug, Clone)]
enum Framing {
    /// No body.
    Nothing,
    /// With its length.
    Length(usize),
    /// In chunks of these sizes, with an extension or a trailer.
    Chunks { sizes: Vec<usize>, extension: &'static str, trailer: &'static str },
}

#[derive(Debug, Clone)]
struct Request {
    kind: (&'static str, &'static str, &'static str, &'static str),
    framing: Framing,
    /// Ends of lines before it.
    before: &'static str,
}

fn framing() -> impl Strategy<Value = Framing> {
    let length = prop_oneof![1_usize..50, 8_100_usize..8_300, 1_usize..40_000];
    let sizes = vec(prop_oneof![1_usize..20, 1_usize..20_000], 0..5);
    let extension = select(&["", ";a=b", " ;a=\"0\"", "; 0"][..]);
    let trailer = select(&["", "a: b\r\n", "content-length: 5\r\n0: 0\r\n"][..]);
    prop_oneof![
        2 => Just(Framing::Nothing),
        2 => length.prop_map(Framing::Length),
        2 => (sizes, extension, trailer)
            .prop_map(|(sizes, extension, trailer)| Framing::Chunks { sizes, extension, trailer }),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let before = select(&["", "", "", "\r\n", "\r\n\r\n"][..]);
    (select(KINDS), framing(), before).prop_map(|(kind, framing, before)| {
        // Version 1.0 has no chunks.
        let framing = if kind.2 == "1.0" { Framing::Nothing } else { framing };
        Request { kind, framing, before }
    })
}

/// The bytes of a request. Bodies look like other requests.
fn bytes(request: &Request, is_last: bool) -> String {
    let (method, path, version, _) = request.kind;
    let mut bytes = format!("{}{method} {BASE}{path} HTTP/{version}\r\nhost: city.test\r\n", request.before);
    bytes += if is_last { "connection: close\r\n" } else { "connection: keep-alive\r\n" };
    bytes += "content-type: application/json\r\n";
    let body = |length: usize| "GET /\r\n\r\n0\r\n\r\n".chars().cycle().take(length).collect::<String>();
    match &request.framing {
        Framing::Nothing if method == "POST" => bytes += "content-length: 0\r\n\r\n",
        Framing::Nothing => bytes += "\r\n",
        Framing::Length(length) => {
            write!(bytes, "content-length: {length}\r\n\r\n{}", body(*length)).unwrap();
        }
        Framing::Chunks { sizes, extension, trailer } => {
            bytes += "transfer-encoding: chunked\r\n\r\n";
            for size in sizes {
                write!(bytes, "{size:04X}{extension}\r\n{}\r\n", body(*size)).unwrap();
            }
            write!(bytes, "0{extension}\r\n{trailer}\r\n").unwrap();
        }
    }
    bytes
}

/// Sends these parts, with pauses between them, and reads to the end of the connection.
async fn exchange(address: SocketAddr, parts: &[(&str, u64)]) -> Result<String, String> {
    let mut socket = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    #[expect(deprecated, reason = "zero does not block")]
    socket.set_linger(Some(Duration::ZERO)).map_err(|error| error.to_string())?;
    socket.set_nodelay(true).map_err(|error| error.to_string())?;
    let (mut reader, mut writer) = socket.split();
    let send = async {
        for (part, pause) in parts {
            // The server may have ended the connection.
            if writer.write_all(part.as_bytes()).await.is_err() {
                break;
            }
            sleep(Duration::from_millis(*pause)).await;
        }
    };
    let mut answers = Vec::new();
    let ((), read) = tokio::join!(send, reader.read_to_end(&mut answers));
    read.map_err(|error| format!("{error}, after {}", answers.escape_ascii()))?;
    String::from_utf8(answers).map_err(|error| error.to_string())
}

/// Whether these are the answers to the first of these requests: to all of them, or to those before a connection that ends.
fn check(requests: &[Request], mut answers: &str) -> Result<(), String> {
    let mut has_closed = false;
    for (number, request) in requests.iter().enumerate() {
        if has_closed {
            break;
        }
        let (method, _, version, status) = request.kind;
        let begin = format!("HTTP/{version} {status}");
        let wrong = |what: &str| Err(format!("answer {number}, {what}: {answers:?}"));
        if !answers.starts_with(&begin) {
            return wrong(&begin);
        }
        let Some((head, rest)) = answers.split_once("\r\n\r\n") else { return wrong("no head") };
        let goes_on = version == "1.1" || head.contains("connection: keep-alive");
        has_closed = head.contains("connection: close") || !goes_on;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let length = if method == "HEAD" { Some(0) } else { length };
        match length.and_then(|length: usize| rest.get(length..)) {
            Some(rest) => answers = rest,
            None => return wrong("a body"),
        }
    }
    match (has_closed, answers) {
        (true, "") => Ok(()),
        _ => Err(format!("more, or no end: {answers:?}")),
    }
}

#[test]
fn requests_of_one_connection() {
    for server in Server::on(&[Engine::Sqlite], &format!("{CITIES}{SYSTEM_CLIENTS}"), &[]) {
        let cuts = vec((any::<prop::sample::Index>(), 0_u64..4), 0..8);
        fuzz("requests of one connection", 1, &(vec(request(), 1..7), cuts), |(requests, cuts)| {
            let texts = requests.iter().enumerate();
            let text: String =
                texts.map(|(number, request)| bytes(request, number + 1 == requests.len())).collect();
            let mut cuts: Vec<_> = cuts.iter().map(|(at, pause)| (at.index(text.len()), *pause)).collect();
            cuts.sort_unstable();
            let (mut parts, mut begin) = (Vec::new(), 0);
            for (end, pause) in cuts {
                parts.push((&text[begin..end], pause));
                begin = end;
            }
            parts.push((&text[begin..], 0));
            let answers = server
                .runtime
                .block_on(async { timeout(PATIENCE, exchange(server.service.address, &parts)).await });
            check(requests, &answers.unwrap_or_else(|_| Err("no end in time".to_owned()))?)
        });
        server.stop();
    }
}
