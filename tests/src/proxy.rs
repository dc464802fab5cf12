//! A TCP proxy whose network fails on demand.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What happens to the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// They arrive.
    Works,
    /// They are accepted and never arrive. Connections stay open.
    LosesEverything,
}

/// A proxy to one address. Ends when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    network: watch::Sender<Network>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy to this address.
    ///
    /// # Panics
    /// When it cannot listen.
    pub async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (network, state) = watch::channel(Network::Works);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, target, state.clone()));
            }
        });
        Self { address, network, accepting }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the network, for open connections too. What was lost stays lost.
    pub fn set(&self, network: Network) {
        self.network.send_replace(network);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn relay(client: TcpStream, target: SocketAddr, network: watch::Receiver<Network>) {
    // A connection that fails ends; the test sees that.
    let Ok(server) = TcpStream::connect(target).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    tokio::join!(copy(from_client, to_server, network.clone()), copy(from_server, to_client, network),);
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, network: watch::Receiver<Network>) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        let works = *network.borrow() == Network::Works;
        if works && to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
    }
}
