//! Limits of connections: how many there are in all and from one address, and how long a client may leave what was sent
//! to it.
//!
//! The listener calls [`Admission::count`] for each connection, before its TLS handshake. Handshakes and heads of requests have
//! time limits of their own.

use crate::config::Config;
use actix_web::rt::net::{ActixStream, Ready, TcpStream};
use civitas_application::{metrics, network_of};
use ipnet::IpNet;
use socket2::SockRef;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Shutdown};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes that the system keeps of a connection before it sends them (`TCP_NOTSENT_LOWAT`). What is on its way to
/// the client comes on top, so the speed of an answer does not depend on it. Without this limit the system takes up to 4 MiB
/// of the answers for a client that reads slowly.
#[cfg(target_os = "linux")]
const MOST_UNSENT: u32 = 64 * 1024;

/// Admits connections.
pub(crate) struct Admission {
    /// The most connections.
    most: usize,
    /// The most connections from one address.
    most_per_address: usize,
    /// The peers that are exempt from it: many clients connect through them.
    proxies: Vec<IpNet>,
    /// How long sent bytes may stay unread.
    stall: Duration,
    open: Mutex<Open>,
}

/// The open connections.
#[derive(Default)]
struct Open {
    all: usize,
    per_address: HashMap<IpAddr, usize>,
}

/// A place among the open connections, until it is dropped.
struct Admitted {
    admission: Arc<Admission>,
    address: IpAddr,
}

/// An admitted connection; counted until it is dropped.
pub(crate) struct Counted {
    stream: TcpStream,
    _admitted: Admitted,
}

impl Admission {
    pub(crate) fn of(config: &Config) -> Arc<Self> {
        Arc::new(Self {
            most: config.max_connections.0.unwrap_or(usize::MAX),
            most_per_address: config.max_connections_per_address.0.unwrap_or(usize::MAX),
            proxies: config.trusted_proxies.iter().map(|network| network.0).collect(),
            stall: Duration::from_secs(config.stalled_connection_seconds.get().into()),
            open: Mutex::default(),
        })
    }

    /// How long sent bytes may stay unread.
    pub(crate) fn stall(&self) -> Duration {
        self.stall
    }

    /// Counts the connection until it is dropped. `None` if there are too many; then it is closed.
    pub(crate) fn count(self: &Arc<Self>, stream: TcpStream) -> Option<Counted> {
        // A client that is already gone has no address.
        let peer = stream.peer_addr().ok()?;
        let socket = SockRef::from(&stream);
        let Some(admitted) = self.try_open(peer.ip()) else {
            metrics::connection_refused();
            tracing::debug!(%peer, "a connection is refused: there are too many");
            // The client may have closed it.
            let _ = socket.shutdown(Shutdown::Both);
            return None;
        };
        #[cfg(target_os = "linux")]
        if let Err(error) = socket.set_tcp_user_timeout(Some(self.stall)) {
            tracing::debug!(%error, "a connection has no time limit for what is sent");
        }
        #[cfg(target_os = "linux")]
        if let Err(error) = socket.set_tcp_notsent_lowat(MOST_UNSENT) {
            tracing::debug!(%error, "a connection has no limit for what is not sent");
        }
        Some(Counted { stream, _admitted: admitted })
    }

    fn try_open(self: &Arc<Self>, peer: IpAddr) -> Option<Admitted> {
        let address = network_of(peer);
        let is_exempt = self.proxies.iter().any(|network| network.contains(&peer.to_canonical()));
        let mut open = self.open();
        let from_address = open.per_address.get(&address).copied().unwrap_or_default();
        if open.all >= self.most || (from_address >= self.most_per_address && !is_exempt) {
            return None;
        }
        open.all += 1;
        open.per_address.insert(address, from_address + 1);
        metrics::open_connections(1);
        Some(Admitted { admission: self.clone(), address })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    /// The socket.
    pub(crate) fn tcp(&self) -> &TcpStream {
        &self.stream
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl ActixStream for Counted {
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_read_ready(&self.stream, cx)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_write_ready(&self.stream, cx)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.admission.open();
        open.all -= 1;
        if let Some(number) = open.per_address.get_mut(&self.address) {
            *number -= 1;
            if *number == 0 {
                open.per_address.remove(&self.address);
            }
        }
        metrics::open_connections(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(most: usize, most_per_address: usize) -> Arc<Admission> {
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let (stall, open) = (Duration::from_secs(1), Mutex::default());
        Arc::new(Admission { most, most_per_address, proxies, stall, open })
    }

    #[test]
    fn connections_are_limited_in_all_and_per_address() {
        let admission = admission(5, 2);
        let try_open = |address: &str| admission.try_open(address.parse().unwrap());
        let mut held: Vec<_> = (0..2).map(|_| try_open("192.0.2.1").unwrap()).collect();
        assert!(
            try_open("192.0.2.1").is_none() && try_open("::ffff:192.0.2.1").is_none(),
            "the third of an address"
        );
        held.extend(["2001:db8::1", "2001:db8::2"].map(|address| try_open(address).unwrap()));
        assert!(try_open("2001:db8::3").is_none(), "the third of a network");
        held.push(try_open("2001:db8:0:1::1").unwrap());
        assert!(try_open("192.0.2.9").is_none(), "the sixth of all");
        held.clear();
        assert!(admission.open().per_address.is_empty() && admission.open().all == 0);
        assert!(try_open("192.0.2.1").is_some());
    }

    #[test]
    fn proxies_have_no_limit_of_their_own() {
        let admission = admission(5, 2);
        let held: Vec<_> = (0..6).filter_map(|_| admission.try_open("10.1.2.3".parse().unwrap())).collect();
        assert_eq!(held.len(), 5);
    }
}
