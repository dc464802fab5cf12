//! Makes attempts at deliveries.

use crate::failure::{from_http_error, send_error};
use crate::guard::{AddressRule, CheckedResolver};
use crate::{answer, client_config, headers, system_roots};
use async_trait::async_trait;
use civitas_kernel::{Error, Result};
use civitas_webhooks::{
    DeliveryAttempt, ReceiverResponse, SendError, SendErrorKind, SignedRequest, TargetPolicy, TargetResolver,
    WebhookSender, has_public_name,
};
use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;
use url::Url;

/// How long an unused connection stays open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The most unused connections to one host. A registration has at most as many concurrent requests.
const MAX_IDLE: usize = 10;

/// The time limits of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To open a connection: name, TCP and TLS.
    pub connect: Duration,
    /// For the whole exchange, from the name to the last byte of the answer.
    pub exchange: Duration,
}

impl Default for Timeouts {
    /// 5 s and 15 s (contract 09 C.4).
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), exchange: Duration::from_secs(15) }
    }
}

/// Signs and sends, over HTTP/1.1. Follows no redirects, uses no proxy and no cookies, and does not decompress answers.
pub struct HttpWebhookSender {
    policy: TargetPolicy,
    timeouts: Timeouts,
    /// For host names and ports that are public.
    public: Client,
    /// For all others.
    exempt: Client,
}

impl HttpWebhookSender {
    /// A sender with the time limits of the contract, and the certificates that the system trusts.
    ///
    /// # Errors
    /// `Internal` when the HTTP client cannot be built.
    pub fn new(policy: TargetPolicy, resolver: Arc<dyn TargetResolver>) -> Result<Self> {
        Self::with_timeouts(policy, resolver, Timeouts::default(), system_roots())
    }

    /// A sender with these time limits, which trusts these certificates.
    pub fn with_timeouts(
        policy: TargetPolicy,
        resolver: Arc<dyn TargetResolver>,
        timeouts: Timeouts,
        roots: RootCertStore,
    ) -> Result<Self> {
        let tls = client_config(roots).map_err(Error::internal)?;
        let guard = |resolver, permitted| CheckedResolver { resolver, policy: policy.clone(), permitted };
        let public = client(guard(resolver.clone(), AddressRule::PublicOrAllowed), timeouts, tls.clone());
        let exempt = client(guard(resolver, AddressRule::Allowed), timeouts, tls);
        let (public, exempt) = (public.map_err(Error::internal)?, exempt.map_err(Error::internal)?);
        Ok(Self { policy, timeouts, public, exempt })
    }

    /// Reads a callback address, and checks it if its host is a literal address. Names are checked by [`CheckedResolver`].
    fn parse_allowed_url(&self, text: &str) -> Result<Url, SendError> {
        let refused = |cause: &str| send_error(SendErrorKind::Refused, cause);
        let url = TargetPolicy::parse(text).map_err(|_| refused("the address is not valid"))?;
        if let Some(address) = TargetPolicy::ip_literal(&url) {
            self.policy.check(&url, &[address]).map_err(|_| refused("the address is not allowed"))?;
        }
        Ok(url)
    }

    async fn exchange(&self, message: &SignedRequest<'_>) -> Result<ReceiverResponse, SendError> {
        let begun = Instant::now();
        let url = self.parse_allowed_url(message.url)?;
        let client = if has_public_name(&url) { &self.public } else { &self.exempt };
        let request = client.post(url).body(message.body.to_owned());
        let request =
            headers(message).into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let answered = async {
            let response = request.send().await?;
            answer::read_response(response, message.at + begun.elapsed()).await
        };
        match timeout(self.timeouts.exchange, answered).await {
            Ok(answered) => answered.map_err(from_http_error),
            Err(_) => Err(send_error(SendErrorKind::Timeout, "no complete answer in time")),
        }
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn send<'a>(&self, message: SignedRequest<'a>, number: i64) -> DeliveryAttempt {
        let begun = Instant::now();
        let result = self.exchange(&message).await;
        DeliveryAttempt { number, at: message.at, duration: begun.elapsed(), result }
    }
}

fn client(guard: CheckedResolver, timeouts: Timeouts, tls: ClientConfig) -> reqwest::Result<Client> {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(guard)
        .connect_timeout(timeouts.connect)
        .http1_only()
        .http1_title_case_headers()
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .no_proxy()
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .build()
}
