//! Runs an HTTP server on a thread of its own, with a runtime of its own.

use actix_web::dev::{Server, ServerHandle};
use actix_web::rt::System;
use civitas_kernel::{Error, Result};
use std::io;
use std::net::SocketAddr;
use std::thread::{Builder, JoinHandle};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

/// A running HTTP server.
pub(crate) struct HttpThread {
    pub(crate) address: SocketAddr,
    /// The name of the server in the log.
    label: &'static str,
    handle: ServerHandle,
    thread: JoinHandle<()>,
}

impl HttpThread {
    /// Starts the server that `bind` returns. `label`: its name in the log.
    pub(crate) async fn start(
        name: &str,
        label: &'static str,
        listen: SocketAddr,
        bind: impl FnOnce() -> io::Result<(SocketAddr, Server)> + Send + 'static,
    ) -> Result<Self> {
        let (sender, receiver) = oneshot::channel();
        let thread = Builder::new().name(name.to_owned()).spawn(move || {
            System::new().block_on(async move {
                match bind() {
                    Ok((address, server)) => {
                        // The receiver may be dropped; the server ends with the process.
                        let _ = sender.send(Ok((address, server.handle())));
                        if let Err(error) = server.await {
                            tracing::error!(%error, "{label} failed");
                        }
                    }
                    Err(error) => drop(sender.send(Err(error))),
                }
            });
        });
        let thread = thread.map_err(Error::internal)?;
        let begun = receiver.await.map_err(Error::internal)?;
        let (address, handle) =
            begun.map_err(|error: io::Error| Error::internal(format!("listening on {listen}: {error}")))?;
        Ok(Self { address, label, handle, thread })
    }

    /// Stops the server. `is_graceful`: open requests have time to end.
    pub(crate) async fn stop(self, is_graceful: bool) {
        self.handle.stop(is_graceful).await;
        if !matches!(spawn_blocking(|| self.thread.join()).await, Ok(Ok(()))) {
            tracing::error!("the thread of {} failed", self.label);
        }
    }
}
