//! Receivers: listeners that record requests and answer with given bytes.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::sleep;

/// What a receiver does with a request.
#[derive(Clone)]
pub enum Reply {
    /// Writes these bytes, and waits for the next request.
    Answer(Vec<u8>),
    /// Writes these bytes, and closes the connection.
    Close(Vec<u8>),
    /// Writes the first bytes, and then the second ones after each pause, without end.
    Drip(Vec<u8>, Vec<u8>, Duration),
}

impl Reply {
    /// An answer with this status, these header lines and a body.
    pub fn status(status: u16, headers: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
        Self::Answer([head.as_bytes(), body].concat())
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number of the connection; the first is 1.
    pub connection: usize,
    /// Request line and headers.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header. The name must be written as it was sent.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// What a receiver has seen.
#[derive(Default)]
pub struct Seen {
    /// The connections it accepted.
    pub connections: AtomicUsize,
    /// The connections whose end it noticed.
    pub closed: AtomicUsize,
    /// The bytes it wrote.
    pub written: AtomicU64,
    /// The requests.
    pub requests: Mutex<Vec<Request>>,
}

/// A listener on 127.0.0.1.
pub struct Receiver {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
}

impl Receiver {
    pub async fn start(reply: Reply) -> Self {
        Self::on("127.0.0.1:0", reply, Arc::default()).await
    }

    /// Listens on this address.
    pub async fn on(address: &str, reply: Reply, seen: Arc<Seen>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                tokio::spawn(serve(stream, number, reply.clone(), shared.clone()));
            }
        });
        Self { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}/civic", self.address)
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Waits until the receiver noticed the end of this many connections.
    pub async fn closed(&self, count: usize) {
        for _ in 0..200 {
            if self.seen.closed.load(Ordering::SeqCst) >= count {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("the connection is still open");
    }
}

/// Serves one connection.
pub async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    number: usize,
    reply: Reply,
    seen: Arc<Seen>,
) {
    let _ = exchange(stream, number, reply, &seen).await;
    seen.closed.fetch_add(1, Ordering::SeqCst);
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    connection: usize,
    reply: Reply,
    seen: &Seen,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut request = Request { connection, head, body: Vec::new() };
        let length: usize = request.header("Content-Length").map_or(0, |length| length.parse().unwrap());
        while bytes.len() < end + 4 + length {
            stream.read_buf(&mut bytes).await?;
        }
        request.body = bytes[end + 4..end + 4 + length].to_vec();
        bytes.drain(..end + 4 + length);
        seen.requests.lock().unwrap().push(request);
        match &reply {
            Reply::Answer(answer) => stream.write_all(answer).await?,
            Reply::Close(answer) => {
                stream.write_all(answer).await?;
                return stream.shutdown().await;
            }
            Reply::Drip(first, next, pause) => {
                stream.write_all(first).await?;
                loop {
                    tokio::select! {
                        end = stream.read_u8() => return end.map(drop),
                        () = sleep(*pause) => {}
                    }
                    stream.write_all(next).await?;
                    stream.flush().await?;
                    seen.written.fetch_add(next.len() as u64, Ordering::SeqCst);
                }
            }
        }
        stream.flush().await?;
    }
}
