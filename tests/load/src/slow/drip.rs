//! Connections that send or read one byte a second.

use crate::city::HOST;
use crate::client::BASE;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The time for one byte.
const BYTE: Duration = Duration::from_secs(1);
/// The pause before a connection that ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);
/// The receive buffer of slow readers, in bytes: as small as it can be, so that the server has to keep the answer.
const WINDOW: u32 = 4096;
/// Requests that a slow reader sends at once.
const REQUESTS: usize = 8;
/// Between the first attempts of two connections.
const STAGGER: Duration = Duration::from_micros(500);

/// What is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drip {
    /// The head of a request.
    Heads,
    /// The body of a request.
    Bodies,
    /// The client that reads answers.
    Readers,
}

/// Connections, opened again when the server ends them. Dropped, they are closed.
pub struct Drips {
    counts: Arc<Counts>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Counts {
    open: AtomicU64,
    most_open: AtomicU64,
    ended: AtomicU64,
}

impl Drips {
    /// Opens so many from so many addresses of this machine.
    pub fn open(drip: Drip, server: SocketAddr, connections: u16, addresses: u8) -> Self {
        let (counts, mut tasks) = (Arc::new(Counts::default()), JoinSet::new());
        for number in 0..connections {
            let last = u8::try_from(number % u16::from(addresses)).unwrap_or_default() + 1;
            let (from, counts) = (Ipv4Addr::new(127, 0, 1, last), counts.clone());
            tasks.spawn(async move {
                sleep(STAGGER * number.into()).await;
                loop {
                    // A refused connection is an ended one.
                    if let Ok(stream) = connect(drip, server, from).await {
                        let open = counts.open.fetch_add(1, Ordering::Relaxed) + 1;
                        counts.most_open.fetch_max(open, Ordering::Relaxed);
                        let _ = keep(drip, stream).await;
                        counts.open.fetch_sub(1, Ordering::Relaxed);
                    }
                    counts.ended.fetch_add(1, Ordering::Relaxed);
                    sleep(AGAIN).await;
                }
            });
        }
        Self { counts, _tasks: tasks }
    }

    /// The most that were open at once, and how many the server ended.
    pub fn counts(&self) -> (u64, u64) {
        (self.counts.most_open.load(Ordering::Relaxed), self.counts.ended.load(Ordering::Relaxed))
    }
}

/// A connection; open only if the server has not closed it within a moment.
async fn connect(drip: Drip, server: SocketAddr, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((from, 0).into())?;
    if drip == Drip::Readers {
        socket.set_recv_buffer_size(WINDOW)?;
    }
    let stream = socket.connect(server).await?;
    match timeout(BYTE, stream.readable()).await {
        Ok(_) => Err(std::io::ErrorKind::ConnectionRefused.into()),
        Err(_) => Ok(stream),
    }
}

/// Sends or reads a byte each second, until the server ends the connection.
async fn keep(drip: Drip, mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(beginning(drip).as_bytes()).await?;
    let mut byte = [0; 1];
    loop {
        if drip == Drip::Readers {
            sleep(BYTE).await;
            if stream.read(&mut byte).await? == 0 {
                return Ok(());
            }
        } else {
            // An answer is the end too: the server gave the request up.
            if timeout(BYTE, stream.read(&mut byte)).await.is_ok() {
                return Ok(());
            }
            stream.write_all(b"a").await?;
        }
    }
}

/// What is sent at once.
fn beginning(drip: Drip) -> String {
    match drip {
        Drip::Heads => format!("GET {BASE}/health HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: "),
        Drip::Bodies => format!(
            "POST {BASE}/oauth/introspect HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n\
             Content-Length: 1000\r\n\r\n"
        ),
        Drip::Readers => format!("GET {BASE}/openapi.json HTTP/1.1\r\nHost: {HOST}\r\n\r\n").repeat(REQUESTS),
    }
}
