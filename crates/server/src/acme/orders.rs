//! Orders certificates, one at a time.
//!
//! What one organization does neither delays the certificates of another for longer than an order takes, nor uses up the
//! limits of the CA: a host that failed waits, longer after each failure, and an organization has few orders an hour.

use super::{AcmeCertificates, is_name, persist};
use crate::config::Config;
use crate::paths;
use bytes::Bytes;
use civitas_application::Store;
use civitas_delivery::{client_config, system_roots};
use civitas_kernel::{OrganizationId, Result};
use civitas_organizations::HostMatch;
use http::{Request, Response};
use instant_acme::{
    Account, AuthorizationStatus, BodyWrapper, BytesResponse, ChallengeType, Error as AcmeError, HttpClient,
    Identifier, NewAccount, NewOrder, Order, OrderStatus, Problem, RetryPolicy,
};
use reqwest::redirect::Policy;
use reqwest::{Body, Client};
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::iter::successors;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

const HOUR: Duration = Duration::from_secs(60 * 60);
/// How long nothing is ordered after a fault of the CA, of the database or of the data directory.
const FAULT_DELAY: Duration = Duration::from_secs(5 * 60);
/// The time limit of one request to the CA.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// The time limit of one order.
const ORDER_TIME: Duration = Duration::from_secs(60);
/// How long the CA may take to check a challenge, and to sign.
const POLLS: RetryPolicy = RetryPolicy::new().timeout(Duration::from_secs(30));
/// The most orders of one organization in an hour.
const MAX_ORDERS: u32 = 10;
/// The number of hosts that are read at once.
const PAGE: i64 = 100;

/// Makes and renews the certificates of all confirmed hosts.
pub(crate) struct CertificateOrders {
    certificates: Arc<AcmeCertificates>,
    store: Arc<dyn Store>,
    http: Http,
    ca: String,
    contact: String,
    account: Option<Account>,
    /// The hosts of handshakes that found no certificate.
    missing: mpsc::Receiver<String>,
    /// By host.
    failures: HashMap<String, Failures>,
    /// The number of orders of each organization since `counted_since`; after a failure the largest.
    recent: HashMap<OrganizationId, u32>,
    counted_since: Instant,
    /// Nothing is ordered before.
    resumes_at: Instant,
}

/// The failures of a host, one after the other.
struct Failures {
    count: u32,
    retry_at: Instant,
}

/// Why an order failed.
enum OrderError {
    /// Other hosts would fail too: the CA does not answer, or nothing can be stored.
    General(Box<dyn Error + Send + Sync>),
    /// The CA refused this one.
    Host(Box<dyn Error + Send + Sync>),
}

#[derive(Clone)]
struct Http(Client);

impl CertificateOrders {
    /// With the certificates that handshakes use; `None` without `tls_acme_email`.
    ///
    /// # Errors
    /// When the directory of the certificates cannot be created or read.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn Store>,
    ) -> io::Result<Option<(Arc<AcmeCertificates>, Self)>> {
        let Some(email) = &config.tls_acme_email else { return Ok(None) };
        let (certificates, missing) = AcmeCertificates::open(config)?;
        let tls = client_config(system_roots()).map_err(io::Error::other)?;
        let http = Client::builder().tls_backend_preconfigured(tls).redirect(Policy::none()).no_proxy();
        let http = http.timeout(REQUEST_TIME).build().map_err(io::Error::other)?;
        let orders = Self {
            certificates: certificates.clone(),
            store,
            http: Http(http),
            ca: config.tls_acme_directory.0.to_string(),
            contact: format!("mailto:{email}"),
            account: None,
            missing,
            failures: HashMap::new(),
            recent: HashMap::new(),
            counted_since: Instant::now(),
            resumes_at: Instant::now(),
        };
        Ok(Some((certificates, orders)))
    }

    /// Looks at all hosts at once and then each hour, and at those of handshakes when they arrive, until `stop` is true.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let work = async {
            let mut next_pass = Instant::now();
            loop {
                let outcome = tokio::select! {
                    biased;
                    () = sleep_until(next_pass) => {
                        let outcome = self.pass().await;
                        let is_late = outcome.is_err() || Instant::now() < self.resumes_at;
                        next_pass = Instant::now() + if is_late { FAULT_DELAY } else { HOUR };
                        outcome
                    }
                    Some(host) = self.missing.recv() => self.order_missing(&host).await,
                };
                if let Err(error) = outcome {
                    let cause = error.cause().map(ToString::to_string);
                    tracing::warn!(%error, cause, "the hosts that need certificates are not known");
                }
            }
        };
        tokio::select! {
            // Also when the sender is dropped.
            _ = stop.wait_for(|stops| *stops) => {}
            () = work => {}
        }
    }

    /// Orders what is due of all organizations, and forgets hosts that have none any more.
    async fn pass(&mut self) -> Result<()> {
        if self.counted_since.elapsed() >= HOUR {
            self.recent.clear();
            self.counted_since = Instant::now();
        }
        let mut after = String::new();
        loop {
            let hosts = self.store.organizations().served_hosts(&after, PAGE).await?;
            let Some(last) = hosts.last() else { break };
            after.clone_from(last);
            for host in hosts {
                if self.waits(&host) {
                    continue;
                }
                self.order(&host).await?;
                // Clients wait for these.
                for _ in 0..super::MAX_WAITING_NAMES {
                    let Ok(host) = self.missing.try_recv() else { break };
                    self.order_missing(&host).await?;
                }
            }
        }
        let known: Vec<String> =
            self.certificates.in_use().keys().chain(self.failures.keys()).cloned().collect();
        for host in known {
            if self.organization_of(&host).await?.is_none() {
                self.failures.remove(&host);
                if let Err(error) = self.certificates.remove(&host) {
                    tracing::warn!(%error, "the certificate of a former host stays");
                }
            }
        }
        Ok(())
    }

    /// Whether no certificate can be ordered for a host, whoever has it, or none has to be.
    fn waits(&self, host: &str) -> bool {
        let now = Instant::now();
        let failed = self.failures.get(host).is_some_and(|failures| now < failures.retry_at);
        failed || now < self.resumes_at || !is_name(host) || !self.certificates.is_due(host)
    }

    /// The same for the host of a handshake that found none: there may be one by now.
    async fn order_missing(&mut self, host: &str) -> Result<()> {
        let is_stored = self.certificates.in_use().contains_key(host);
        if is_stored { Ok(()) } else { self.order(host).await }
    }

    /// Orders a certificate for a host if it is due, and the host is confirmed. Logs the result.
    ///
    /// # Errors
    /// When the host cannot be looked up.
    async fn order(&mut self, host: &str) -> Result<()> {
        if self.waits(host) {
            return Ok(());
        }
        let Some(organization) = self.organization_of(host).await? else { return Ok(()) };
        let orders = self.recent.entry(organization).or_default();
        if *orders >= MAX_ORDERS {
            return Ok(());
        }
        *orders += 1;
        let made = timeout(ORDER_TIME, self.certificate(host)).await;
        self.certificates.end_challenge();
        match made.unwrap_or_else(|_| Err(OrderError::Host("the order took too long".into()))) {
            Ok(()) => {
                self.failures.remove(host);
                tracing::info!(host, "a certificate was made");
            }
            Err(OrderError::General(error)) => {
                self.resumes_at = Instant::now() + FAULT_DELAY;
                if is_without_account(&*error) {
                    self.forget_account();
                }
                tracing::error!(host, error = chain(&*error), "no certificate can be made");
            }
            Err(OrderError::Host(error)) => {
                // The other hosts of its organization wait for the next hour.
                self.recent.insert(organization, MAX_ORDERS);
                let count = self.failures.get(host).map_or(1, |failures| failures.count.saturating_add(1));
                self.failures
                    .insert(host.to_owned(), Failures { count, retry_at: Instant::now() + delay(count) });
                tracing::warn!(host, error = chain(&*error), "the certificate was refused");
            }
        }
        Ok(())
    }

    /// The organization whose confirmed host this is, as requests find it.
    async fn organization_of(&self, host: &str) -> Result<Option<OrganizationId>> {
        let organizations = self.store.organizations();
        match organizations.locate(host).await? {
            Some(HostMatch::Primary(tenant)) => Ok(Some(tenant.id)),
            Some(HostMatch::Secondary { primary }) => organizations.find_by_host(&primary).await,
            None => Ok(None),
        }
    }

    /// Orders, proves, and stores (RFC 8555, 7.4).
    async fn certificate(&mut self, host: &str) -> Result<(), OrderError> {
        let account = self.account().await.map_err(OrderError::General)?;
        // Nothing is ordered that cannot be stored.
        let draft = self.certificates.draft().map_err(|error| OrderError::General(error.into()))?;
        let mut order = account.new_order(&NewOrder::new(&[Identifier::Dns(host.to_owned())])).await?;
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let challenge = authorization.challenge(ChallengeType::TlsAlpn01);
            let mut challenge = challenge.ok_or(AcmeError::Unsupported("the challenge tls-alpn-01"))?;
            let digest = challenge.key_authorization().digest();
            let begun = self.certificates.begin_challenge(host, digest.as_ref());
            begun.map_err(|error| OrderError::Host(error.into()))?;
            challenge.set_ready().await?;
        }
        if order.poll_ready(&POLLS).await? != OrderStatus::Ready {
            return Err(OrderError::Host(refusal(&mut order).await));
        }
        let key = order.finalize().await?;
        let certificates = order.poll_certificate(&POLLS).await?;
        let stored = self.certificates.store(host, draft, &format!("{key}\n{certificates}"));
        stored.map_err(|error| OrderError::Host(error.into()))
    }

    /// The next order has a new account.
    fn forget_account(&mut self) {
        self.account = None;
        let path = self.account_file();
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(error = %paths::with_path(&path, error), "the account that the CA does not know stays");
        }
    }

    fn account_file(&self) -> PathBuf {
        self.certificates.directory.join("account.json")
    }

    /// The account of this deployment at the CA; at first use that of the data directory, or a new one.
    async fn account(&mut self) -> Result<Account, Box<dyn Error + Send + Sync>> {
        if let Some(account) = &self.account {
            return Ok(account.clone());
        }
        let builder = Account::builder_with_http(Box::new(self.http.clone()));
        let path = self.account_file();
        let account = match fs::read(&path) {
            Ok(text) => builder.from_credentials(serde_json::from_slice(&text)?).await?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let new = NewAccount {
                    contact: &[&self.contact],
                    terms_of_service_agreed: true,
                    only_return_existing: false,
                };
                let (account, credentials) = builder.create(&new, self.ca.clone(), None).await?;
                let mut draft = NamedTempFile::new_in(&self.certificates.directory)?;
                draft.write_all(&serde_json::to_vec(&credentials)?)?;
                persist(draft, &path)?;
                account
            }
            Err(error) => return Err(paths::with_path(&path, error).into()),
        };
        Ok(self.account.insert(account).clone())
    }
}

impl From<AcmeError> for OrderError {
    fn from(error: AcmeError) -> Self {
        match error {
            AcmeError::Api(problem) if !is_of_host(&problem) => Self::General(problem.into()),
            AcmeError::Api(_) | AcmeError::Timeout(_) | AcmeError::Unsupported(_) | AcmeError::Str(_) => {
                Self::Host(error.into())
            }
            _ => Self::General(error.into()),
        }
    }
}

impl HttpClient for Http {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, AcmeError>> + Send>> {
        let client = self.0.clone();
        Box::pin(async move {
            let failed = |error: reqwest::Error| AcmeError::Other(error.into());
            let request = request.map(Body::wrap).try_into().map_err(failed)?;
            let response: Response<Body> = client.execute(request).await.map_err(failed)?.into();
            Ok(response.into())
        })
    }
}

/// Whether a problem is of the host that a certificate was ordered for, and other hosts would not have it.
fn is_of_host(problem: &Problem) -> bool {
    let is_of_server = problem.status.is_some_and(|status| status >= 500);
    !is_of_server && !has_type(problem, "serverInternal") && !has_type(problem, "accountDoesNotExist")
}

/// Whether the CA does not know the account.
fn is_without_account(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<Problem>().is_some_and(|problem| has_type(problem, "accountDoesNotExist"))
}

/// Whether a problem has this type of RFC 8555, 6.7.
fn has_type(problem: &Problem, name: &str) -> bool {
    let of = problem.r#type.as_deref();
    of.and_then(|of| of.strip_prefix("urn:ietf:params:acme:error:")).is_some_and(|of| of == name)
}

/// What the CA says about the challenges of an order that it refused.
async fn refusal(order: &mut Order) -> Box<dyn Error + Send + Sync> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        if let Ok(state) = authorization.refresh().await
            && let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.clone())
        {
            return problem.into();
        }
    }
    "the CA gives no reason".into()
}

/// How long a host waits after this many failures: an hour, doubled each time, at most a day.
fn delay(count: u32) -> Duration {
    HOUR * (1 << count.saturating_sub(1).min(5)).min(24)
}

/// An error with its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |cause| (*cause).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_of_the_ca_is_not_a_failure_of_the_host() {
        let fault = |name: &str, status: u16| {
            let problem = Problem {
                r#type: Some(format!("urn:ietf:params:acme:error:{name}")),
                detail: None,
                status: Some(status),
                subproblems: Vec::new(),
            };
            OrderError::from(AcmeError::Api(problem))
        };
        assert!(matches!(fault("rejectedIdentifier", 400), OrderError::Host(_)));
        assert!(matches!(fault("serverInternal", 500), OrderError::General(_)));
        assert!(matches!(fault("rateLimited", 503), OrderError::General(_)));
        let OrderError::General(error) = fault("accountDoesNotExist", 400) else { panic!("of the host") };
        assert!(is_without_account(&*error));
    }

    #[test]
    fn a_host_that_fails_waits_longer_each_time_and_a_day_at_most() {
        let hours = [1, 2, 3, 4, 5, 6, 100].map(|count| delay(count).as_secs() / 3600);
        assert_eq!(hours, [1, 2, 4, 8, 16, 24, 24]);
    }
}
