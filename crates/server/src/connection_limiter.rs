//! Limits of connections: how many there are in all and from one address, and how long one may be silent.

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{Instant, Sleep, sleep};
use civitas_application::{metrics, network_of};
use ipnet::IpNet;
use socket2::SockRef;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most open connections.
pub(crate) const MAX_CONNECTIONS: usize = 10_000;
/// The most connections from one address, which may be that of a whole office; proxies are exempt.
const MAX_PER_ADDRESS: usize = 1_000;
/// How long no byte may pass, in either direction. Event streams send a comment every 15 s.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// How many bytes of requests are read at once. actix-http parses all that was read: 8 KiB of the shortest requests become
/// 2 MiB, 128 KiB become 34 MiB.
const READ_AT_ONCE: usize = 4 * 1024;
/// How often a connection may be polled without reading or writing. actix-http polls a connection without pause after
/// 128 KiB of requests behind one that has not ended, such as an event stream.
const IDLE_POLLS: u32 = 1_000;

/// Counts connections.
pub(crate) struct ConnectionLimiter {
    /// The peers that are exempt from the limit per address: many clients connect through them.
    proxies: Vec<IpNet>,
    /// The number of open connections, and that of each address.
    open: Mutex<(usize, HashMap<IpAddr, usize>)>,
}

/// Counts one connection as open until it is dropped.
pub(crate) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    address: IpAddr,
}

impl ConnectionLimiter {
    pub(crate) fn new(proxies: Vec<IpNet>) -> Arc<Self> {
        Arc::new(Self { proxies, open: Mutex::default() })
    }

    /// Counts a connection until the result is dropped, and sets the options of its socket. `None` if there are too many.
    pub(crate) fn count(self: &Arc<Self>, stream: &TcpStream, peer: SocketAddr) -> Option<ConnectionPermit> {
        let Some(permit) = self.try_open(peer.ip()) else {
            metrics::connection_refused();
            tracing::debug!(%peer, "a connection is refused: there are too many");
            return None;
        };
        let socket = SockRef::from(stream);
        // An answer in several pieces would wait for the acknowledgement of the first one, 40 ms on Linux.
        let set = socket.set_tcp_nodelay(true);
        #[cfg(target_os = "linux")]
        let set = set
            // What a client does not receive for this time ends its connection.
            .and_then(|()| socket.set_tcp_user_timeout(Some(Duration::from_secs(30))))
            // Otherwise the system copies up to 4 MiB of the answers for a client that reads slowly.
            .and_then(|()| socket.set_tcp_notsent_lowat(64 * 1024));
        // A system that has not all of them serves without.
        let _ = set;
        Some(permit)
    }

    fn try_open(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let address = network_of(peer);
        let is_exempt = self.proxies.iter().any(|network| network.contains(&peer.to_canonical()));
        let (all, per_address) = &mut *self.open();
        let from_address = per_address.get(&address).copied().unwrap_or_default();
        if *all >= MAX_CONNECTIONS || (from_address >= MAX_PER_ADDRESS && !is_exempt) {
            return None;
        }
        *all += 1;
        per_address.insert(address, from_address + 1);
        metrics::adjust_open_connections(1);
        Some(ConnectionPermit { limiter: self.clone(), address })
    }

    fn open(&self) -> MutexGuard<'_, (usize, HashMap<IpAddr, usize>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let (all, per_address) = &mut *self.limiter.open();
        *all -= 1;
        if let Some(number) = per_address.get_mut(&self.address) {
            *number -= 1;
            if *number == 0 {
                per_address.remove(&self.address);
            }
        }
        metrics::adjust_open_connections(-1);
    }
}

/// A connection that fails when no byte passes for [`IDLE_TIMEOUT`]. actix-http limits the time of the first head and of idle
/// connections only: not that of a later head, of a body that no handler reads, or of an answer.
pub(crate) struct TimeLimitedStream<S> {
    stream: S,
    /// When the last byte passed.
    last: Instant,
    sleep: Pin<Box<Sleep>>,
    /// Whether so much was just read that others have their turn first.
    has_read: bool,
    /// The polls since the last attempt to read or write.
    idle_polls: u32,
    _permit: ConnectionPermit,
}

impl<S> TimeLimitedStream<S> {
    pub(crate) fn new(stream: S, permit: ConnectionPermit) -> Self {
        let (last, sleep) = (Instant::now(), Box::pin(sleep(IDLE_TIMEOUT)));
        Self { stream, last, sleep, has_read: false, idle_polls: 0, _permit: permit }
    }

    /// The same result, or an error if it is late.
    fn in_time<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.last = Instant::now();
            return polled;
        }
        while self.sleep.as_mut().poll(cx).is_ready() {
            let end = self.last + IDLE_TIMEOUT;
            if end <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.sleep.as_mut().reset(end);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeLimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.idle_polls = 0;
        if std::mem::take(&mut self.has_read) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.has_read = buffer.filled().len() - before >= READ_AT_ONCE;
        self.in_time(cx, polled)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeLimitedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.idle_polls = 0;
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, polled)
    }

    /// When it is ready no byte passed.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.idle_polls += 1;
        if self.idle_polls > IDLE_POLLS {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        if polled.is_pending() { self.in_time(cx, polled) } else { polled }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.in_time(cx, polled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn limiter() -> Arc<ConnectionLimiter> {
        ConnectionLimiter::new(vec!["10.0.0.0/8".parse().unwrap()])
    }

    #[test]
    fn connections_are_limited_in_all_and_per_address() {
        let limiter = limiter();
        let try_open = |address: &str| limiter.try_open(address.parse().unwrap());
        let mut held: Vec<_> = (0..MAX_PER_ADDRESS).map(|_| try_open("192.0.2.1").unwrap()).collect();
        assert!(try_open("192.0.2.1").is_none() && try_open("::ffff:192.0.2.1").is_none(), "of an address");
        let network = ["2001:db8::1", "2001:db8::2"].into_iter().cycle().take(MAX_PER_ADDRESS);
        held.extend(network.map(|address| try_open(address).unwrap()));
        assert!(try_open("2001:db8::3").is_none(), "of a network");
        held.push(try_open("2001:db8:0:1::1").unwrap());
        while held.len() < MAX_CONNECTIONS {
            held.push(try_open("10.1.2.3").expect("a proxy has no limit of its own"));
        }
        assert!(try_open("192.0.2.9").is_none() && try_open("10.1.2.3").is_none(), "in all");
        held.clear();
        assert_eq!(*limiter.open(), (0, HashMap::new()));
        assert!(try_open("192.0.2.1").is_some());
    }

    fn timed<S>(stream: S) -> TimeLimitedStream<S> {
        TimeLimitedStream::new(stream, limiter().try_open("192.0.2.1".parse().unwrap()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_client_fails_and_each_byte_in_either_direction_gives_it_more_time() {
        let (server, mut client) = duplex(64);
        let mut server = timed(server);
        let most = IDLE_TIMEOUT.checked_sub(Duration::from_secs(1)).unwrap();
        for _ in 0..3 {
            // What is sent counts for the reader: a stream of events is read by a client that sends nothing.
            let read = tokio::time::timeout(most, server.read_u8()).await;
            assert!(read.is_err(), "{read:?}");
            server.write_all(b"a").await.unwrap();
        }
        let begun = Instant::now();
        tokio::time::sleep(most).await;
        client.write_all(b"b").await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), b'b');
        assert_eq!(server.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), (most + IDLE_TIMEOUT).as_secs());
    }

    #[tokio::test]
    async fn a_connection_that_only_asks_for_its_turn_fails() {
        let (server, _client) = duplex(64);
        let mut server = timed(server);
        for _ in 0..3 {
            for _ in 0..IDLE_POLLS {
                server.flush().await.unwrap();
            }
            server.write_all(b"a").await.unwrap();
        }
        for _ in 0..IDLE_POLLS {
            server.flush().await.unwrap();
        }
        assert_eq!(server.flush().await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_fails() {
        let (server, _client) = duplex(64);
        let begun = Instant::now();
        let written = timed(server).write_all(&[0; 1000]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), IDLE_TIMEOUT.as_secs());
    }
}
