//! The HTTP client of the export.

use async_trait::async_trait;
use civitas_delivery::{client_config, system_roots};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::Client;
use reqwest::redirect::Policy;
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The time between two warnings.
const WARNINGS: Duration = Duration::from_secs(60);

/// Sends batches from the thread of the export, on the runtime of the server.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    runtime: Handle,
    warned: Mutex<Option<Instant>>,
}

impl Collector {
    /// A client whose requests take at most `patience`.
    ///
    /// # Errors
    /// When the versions of TLS are not supported.
    pub(super) fn new(runtime: Handle, patience: Duration) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let client = Client::builder()
            .tls_backend_preconfigured(client_config(system_roots())?)
            .redirect(Policy::none())
            .no_proxy()
            .timeout(patience)
            .build()?;
        Ok(Self { client, runtime, warned: Mutex::default() })
    }

    /// Logs why a batch was lost, at most once a minute.
    fn warn(&self, cause: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() >= WARNINGS) {
            *warned = Some(Instant::now());
            tracing::warn!(cause, "traces could not be exported; their spans are lost");
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let exchange = self.runtime.spawn(async move { client.send_bytes(request).await });
        let answer = exchange.await.map_err(HttpError::from).and_then(|answer| answer);
        match &answer {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => self.warn(answer.status().as_str()),
            Err(error) => self.warn(&cause_of(&**error)),
        }
        answer
    }
}

/// The innermost cause: those around it have the address, which may have a password.
fn cause_of(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    match innermost.downcast_ref::<reqwest::Error>() {
        Some(error) if error.is_timeout() => "timeout".to_owned(),
        Some(_) => "the request failed".to_owned(),
        None => innermost.to_string(),
    }
}
