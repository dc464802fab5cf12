//! A receiver of webhooks, for tests: an HTTP server that verifies every delivery.

use crate::receiver::Behaviour::Answer;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// How long a test waits for deliveries.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request that the receiver got.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// When it arrived.
    pub at: Instant,
}

impl Received {
    /// A header; empty without one.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The id of the delivery.
    pub fn id(&self) -> &str {
        self.header("x-webhook-id")
    }

    /// The body, read.
    ///
    /// # Panics
    /// When it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }

    /// The name of the event.
    pub fn event(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }
}

/// How the receiver answers.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// With this status, at once.
    Answer(u16),
    /// With this status and `Retry-After` in seconds.
    RetryAfter(u16, u32),
    /// Never: it reads the request and keeps the connection open.
    Silence,
}

#[derive(Debug)]
struct State {
    received: Vec<Received>,
    behaviour: Behaviour,
    /// The most requests at once, and those of now.
    most: usize,
    now: usize,
}

/// A receiver on a free port of 127.0.0.1, which stops when it is dropped.
#[derive(Debug)]
pub struct Receiver {
    address: std::net::SocketAddr,
    state: Arc<Mutex<State>>,
    task: Option<JoinHandle<()>>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Receiver {
    /// A receiver that accepts everything.
    pub async fn start() -> Self {
        let state = State { received: Vec::new(), behaviour: Answer(204), most: 0, now: 0 };
        let mut receiver =
            Self { address: ([127, 0, 0, 1], 0).into(), state: Arc::new(Mutex::new(state)), task: None };
        receiver.listen().await;
        receiver
    }

    /// Listens, also again after [`Receiver::stop`], at the same address.
    ///
    /// # Panics
    /// When the address is taken.
    pub async fn listen(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("a free port");
        self.address = listener.local_addr().expect("an address");
        let state = self.state.clone();
        self.task = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let state = state.clone();
                let service = service_fn(move |request| answer(state.clone(), request));
                let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
                while connections.try_join_next().is_some() {}
                connections.spawn(async move { drop(connection.await) });
            }
        }));
    }

    /// Closes the listener and all connections.
    pub fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }

    /// An address of the receiver.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers in another way from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.state().behaviour = behaviour;
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// The number of requests so far.
    pub fn count(&self) -> usize {
        self.state().received.len()
    }

    /// The most requests at once.
    pub fn most_at_once(&self) -> usize {
        self.state().most
    }

    /// The number of requests for each delivery.
    pub fn ids(&self) -> BTreeMap<String, usize> {
        let mut ids = BTreeMap::new();
        for one in &self.state().received {
            *ids.entry(one.id().to_owned()).or_default() += 1;
        }
        ids
    }

    /// Waits until there are this many requests, and returns all.
    ///
    /// # Panics
    /// When they do not come.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        self.wait_until(&format!("{count} requests"), |received| received.len() >= count).await
    }

    /// Waits until the requests satisfy a condition, and returns them.
    ///
    /// # Panics
    /// When they do not.
    pub async fn wait_until(&self, what: &str, holds: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let begun = Instant::now();
        loop {
            {
                let state = self.state();
                if holds(&state.received) {
                    return state.received.clone();
                }
                assert!(begun.elapsed() < TIMEOUT, "no {what}, but {}", state.received.len());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Verifies deliveries with the secrets of their registrations, by path.
#[derive(Debug, Clone, Default)]
pub struct Secrets(HashMap<String, String>);

impl Secrets {
    /// Adds the secret of the registration of this path.
    pub fn add(&mut self, path: &str, secret: &str) {
        self.0.insert(path.to_owned(), secret.to_owned());
    }

    /// Verifies both signatures of a delivery: that of the contract with its own computation, and that of Standard
    /// Webhooks with the library of that project.
    ///
    /// # Panics
    /// When one is wrong.
    pub fn verify(&self, received: &Received) {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let secret = self.0.get(&received.target).expect("a registration with this path");
        let timestamp = received.header("x-webhook-timestamp");
        let body = std::str::from_utf8(&received.body).expect("UTF-8");
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let tag = ring::hmac::sign(&key, format!("{timestamp}.{body}").as_bytes());
        let expected = tag.as_ref().iter().fold("v1=".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(received.header("x-webhook-signature"), expected);
        let library = standardwebhooks::Webhook::new(&format!("whsec_{}", STANDARD.encode(secret)));
        let library = library.expect("a secret of the library");
        library.verify(&received.body, &received.headers).expect("a signature of Standard Webhooks");
    }
}

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<http_body_util::Empty<Bytes>>, Infallible> {
    use http_body_util::BodyExt;
    let (head, body) = request.into_parts();
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut state = lock();
        state.now += 1;
        state.most = state.most.max(state.now);
    }
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let behaviour = {
        let mut state = lock();
        let target = head.uri.to_string();
        state.received.push(Received { target, headers: head.headers, body, at: Instant::now() });
        state.behaviour
    };
    let mut response = Response::new(http_body_util::Empty::new());
    let status = match behaviour {
        Behaviour::Answer(status) => status,
        Behaviour::RetryAfter(status, seconds) => {
            response.headers_mut().insert("retry-after", seconds.into());
            status
        }
        Behaviour::Silence => pending().await,
    };
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    lock().now -= 1;
    Ok(response)
}
