//! Receivers: one in a process of its own that counts requests, and one that never answers.

use crate::Outcome;
use crate::process::{Process, free_address};
use actix_web::rt::System;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpResponse, HttpServer};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The longest time without a further request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The interval at which the number of requests is read.
const POLL: Duration = Duration::from_millis(100);
/// Connections stay open this long.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// The configuration of the receiver.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen.
    #[arg(long)]
    listen: SocketAddr,
}

/// The requests of a receiver.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Counted {
    requests: u64,
    /// Time of the first and of the last one, in microseconds since the start of the receiver.
    first: u64,
    last: u64,
}

impl Counted {
    /// From the first request to the last.
    pub fn span(&self) -> Duration {
        Duration::from_micros(self.last.saturating_sub(self.first))
    }

    /// Requests per second.
    pub fn per_second(&self) -> f64 {
        crate::wrk::precise(self.requests) / self.span().as_secs_f64()
    }
}

struct Shared {
    started: Instant,
    requests: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    body: Mutex<Bytes>,
}

/// Serves until the process is killed.
pub fn serve(args: &Args) -> Outcome {
    let shared = Data::new(Shared {
        started: Instant::now(),
        requests: AtomicU64::new(0),
        first: AtomicU64::new(0),
        last: AtomicU64::new(0),
        body: Mutex::new(Bytes::new()),
    });
    System::new().block_on(async move {
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .route("/counted", web::get().to(counted))
                .route("/body", web::get().to(body))
                .default_service(web::post().to(receive))
        });
        Ok(server.keep_alive(KEEP_ALIVE).bind(args.listen)?.run().await?)
    })
}

async fn receive(sent: Bytes, shared: Data<Shared>) -> HttpResponse {
    let at = u64::try_from(shared.started.elapsed().as_micros()).unwrap_or(u64::MAX);
    shared.last.fetch_max(at, Ordering::Relaxed);
    if shared.requests.fetch_add(1, Ordering::Relaxed) == 0 {
        shared.first.store(at, Ordering::Relaxed);
        *shared.body.lock().unwrap_or_else(PoisonError::into_inner) = sent;
    }
    HttpResponse::NoContent().finish()
}

async fn counted(shared: Data<Shared>) -> HttpResponse {
    let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let requests = read(&shared.requests);
    HttpResponse::Ok().json(Counted { requests, first: read(&shared.first), last: read(&shared.last) })
}

async fn body(shared: Data<Shared>) -> HttpResponse {
    HttpResponse::Ok().body(shared.body.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// A receiver in a process of its own.
pub struct Receiver {
    process: Process,
    http: reqwest::Client,
}

impl Receiver {
    /// Starts it.
    pub fn start() -> Outcome<Self> {
        let address = free_address()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["receiver", "--listen", &address.to_string()]);
        let mut process = Process::start(&mut command, address)?;
        process.until_answers("/counted")?;
        // A second install is refused, and changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { process, http: reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()? })
    }

    /// One of its addresses.
    pub fn url(&self, number: u64) -> String {
        format!("http://{}/{number}", self.process.address)
    }

    /// Waits for so many requests.
    ///
    /// # Errors
    /// When none comes for a minute.
    pub async fn until(&self, requests: u64) -> Outcome<Counted> {
        let (mut most, mut at) = (0, Instant::now());
        loop {
            let counted: Counted = serde_json::from_slice(&self.get("counted").await?)?;
            if counted.requests >= requests {
                return Ok(counted);
            }
            if counted.requests > most {
                (most, at) = (counted.requests, Instant::now());
            }
            if at.elapsed() > TIMEOUT {
                return Err(format!("{most} of {requests} requests came").into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The body of the first request.
    pub async fn body(&self) -> Outcome<Vec<u8>> {
        self.get("body").await
    }

    async fn get(&self, path: &str) -> Outcome<Vec<u8>> {
        let answer = self.http.get(format!("http://{}/{path}", self.process.address)).send().await?;
        Ok(answer.error_for_status()?.bytes().await?.to_vec())
    }
}

/// Accepts connections and never answers.
pub struct BlackHole {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl BlackHole {
    /// Opens it.
    pub async fn open() -> Outcome<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                open.push(connection);
            }
        });
        Ok(Self { address, task })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for BlackHole {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_per_second_are_those_between_the_first_and_the_last() {
        let counted = Counted { requests: 500, first: 1_000_000, last: 1_500_000 };
        assert!((counted.per_second() - 1_000.0).abs() < 1e-9);
    }
}
