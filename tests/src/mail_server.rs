//! A small SMTP server that stores mails, and can be configured to refuse them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// How long to wait for a mail.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A received mail.
#[derive(Debug, Clone)]
pub struct Received {
    /// The sender of the envelope.
    pub from: String,
    /// The receiver of the envelope.
    pub to: String,
    /// The lines before the empty one, unfolded.
    pub headers: Vec<String>,
    /// The text, decoded.
    pub text: String,
}

impl Received {
    /// The value of a header, as it was sent.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_default()
    }

    /// The first address in the text.
    ///
    /// # Panics
    /// When there is none.
    pub fn link(&self) -> &str {
        self.text.split_whitespace().find(|word| word.starts_with("http")).expect("an address")
    }
}

/// The server.
pub struct MailServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    mails: Mutex<Vec<Received>>,
    /// The answers to the next receivers, instead of success.
    refusals: Mutex<VecDeque<String>>,
    /// The answers to the next credentials, instead of success.
    mistrust: Mutex<VecDeque<String>>,
    credentials: Mutex<Vec<String>>,
    news: Notify,
}

impl MailServer {
    /// Starts listening, until the test ends.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (address, shared) = (listener.local_addr().expect("an address"), Arc::<Shared>::default());
        let kept = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = kept.clone();
                // A client may close the connection at any time.
                tokio::spawn(async move { converse(stream, &kept).await });
            }
        });
        Self { address, shared }
    }

    /// Its address, with this before the host: `name:password@`.
    pub fn url(&self, credentials: &str) -> String {
        format!("smtp://{credentials}{}", self.address)
    }

    /// Sets the answer to the next receiver.
    pub fn refuse(&self, answer: &str) {
        lock(&self.shared.refusals).push_back(answer.to_owned());
    }

    /// Sets the answer to the next credentials.
    pub fn mistrust(&self, answer: &str) {
        lock(&self.shared.mistrust).push_back(answer.to_owned());
    }

    /// The received credentials.
    pub fn credentials(&self) -> Vec<String> {
        lock(&self.shared.credentials).clone()
    }

    /// Every mail to this address so far.
    pub fn mails_to(&self, address: &str) -> Vec<Received> {
        lock(&self.shared.mails).iter().filter(|mail| mail.to == address).cloned().collect()
    }

    /// Waits for this number of mails to this address.
    ///
    /// # Panics
    /// When they do not arrive in time.
    pub async fn wait_for(&self, address: &str, count: usize) -> Vec<Received> {
        let wait = async {
            loop {
                let news = self.shared.news.notified();
                let mails = self.mails_to(address);
                if mails.len() >= count {
                    return mails;
                }
                news.await;
            }
        };
        tokio::time::timeout(TIMEOUT, wait).await.expect("the mails come")
    }

    /// Waits until no more receivers are to be refused.
    ///
    /// # Panics
    /// When there is no further receiver in time.
    pub async fn wait_until_refused(&self) {
        let wait = async {
            while !lock(&self.shared.refusals).is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, wait).await.expect("somebody is refused");
    }
}

/// A server that accepts connections and never answers.
pub struct SilentServer {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl SilentServer {
    /// Starts listening, until the test ends.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (address, accepted) = (listener.local_addr().expect("an address"), Arc::<AtomicUsize>::default());
        let count = accepted.clone();
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { address, accepted }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// The number of connections so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One SMTP session (RFC 5321), to the end of the connection.
async fn converse(stream: TcpStream, shared: &Shared) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let (mut from, mut to) = (String::new(), String::new());
    writer.write_all(b"220 post.test ESMTP\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
        let answer = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => "250-post.test\r\n250 AUTH PLAIN".to_owned(),
            "AUTH" => {
                lock(&shared.credentials).push(rest.to_owned());
                lock(&shared.mistrust).pop_front().unwrap_or_else(|| "235 2.7.0 welcome".to_owned())
            }
            "MAIL" => {
                from = address(rest);
                "250 2.1.0 go on".to_owned()
            }
            "RCPT" => {
                to = address(rest);
                lock(&shared.refusals).pop_front().unwrap_or_else(|| "250 2.1.5 go on".to_owned())
            }
            "DATA" => {
                writer.write_all(b"354 tell me\r\n").await.ok()?;
                let mut data = Vec::new();
                while let Some(line) = lines.next_line().await.ok()?.filter(|line| line != ".") {
                    data.push(line.strip_prefix('.').unwrap_or(&line).to_owned());
                }
                lock(&shared.mails).push(received(&from, &to, &data));
                shared.news.notify_waiters();
                "250 2.0.0 kept".to_owned()
            }
            "QUIT" => "221 2.0.0 bye".to_owned(),
            _ => "250 2.0.0 fine".to_owned(),
        };
        writer.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    Some(())
}

fn address(parameter: &str) -> String {
    let inside = parameter.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map_or("", |(address, _)| address).to_owned()
}

fn received(from: &str, to: &str, data: &[String]) -> Received {
    let end = data.iter().position(String::is_empty).unwrap_or(data.len());
    let mut headers: Vec<String> = Vec::new();
    for line in &data[..end] {
        match (line.strip_prefix([' ', '\t']), headers.last_mut()) {
            (Some(rest), Some(header)) => *header = format!("{header} {rest}"),
            _ => headers.push(line.clone()),
        }
    }
    let body = data.get(end + 1..).unwrap_or_default().join("\n");
    let quoted =
        headers.iter().any(|h| h.eq_ignore_ascii_case("Content-Transfer-Encoding: quoted-printable"));
    let text = if quoted { unquoted(&body) } else { body };
    Received { from: from.to_owned(), to: to.to_owned(), headers, text }
}

/// Decodes quoted-printable (RFC 2045, 6.7).
fn unquoted(body: &str) -> String {
    let mut bytes = Vec::new();
    let joined = body.replace("=\n", "");
    let mut rest = joined.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = hex.filter(|_| *first == b'=').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).expect("the text is UTF-8")
}
