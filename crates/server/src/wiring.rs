//! Wiring: connects store, signer, commands, interface and workers.
//!
//! HTTP runs on its own threads (one single-threaded runtime each), background work on the runtime that calls
//! [`start`], so that neither starves the other.

use crate::acme::{AcmeCertificates, CertificateOrders};
use crate::background::{BackgroundTask, FailureFlag};
use crate::backup::ScheduledBackups;
use crate::body_pieces::in_pieces;
use crate::config::{Config, Origin};
use crate::connection_limiter::ConnectionLimiter;
use crate::cors::cors;
use crate::http_thread::HttpThread;
use crate::listener::serve;
use crate::operations::OperationsListener;
use crate::store::{Database, DatabaseLock};
use crate::tls::Certificate;
use crate::{background, compression, files, panel, secret_key, site, webhooks};
use actix_http::ConnectionType;
use actix_web::App;
use actix_web::dev::{Server, Service};
use actix_web::http::header::{HeaderName, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use actix_web::middleware::DefaultHeaders;
use civitas_accounts::{Mailer, Secret};
use civitas_api::{Api, ApiServices, ApiSettings, WebhookServices, normalize};
use civitas_application::{
    CleanupWorker, ErasureHandler, HostCheckHandler, InvitationHandler, JobWorker, MailHandler, Shares,
    Store, TaskHandler, TaskWorker, reclaim_all_jobs, run_text_fill,
};
use civitas_dns::DnsResolver;
use civitas_kernel::{Error, Result};
use civitas_mail::{LogMailer, SmtpMailer};
use civitas_panel::Panel;
use civitas_tokens::{Argon2Passwords, JwtTokenSigner, PurposeCipher};
use futures_util::future::BoxFuture;
use rustls::ServerConfig;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};

/// The most mails that are sent at once.
const MAILS: usize = 8;
/// The most invitations that are sent at once. An archive may have many; mails that people wait for do not wait for them.
const INVITATIONS: usize = 2;
/// The most hosts that are checked at once.
const CONCURRENT_HOST_CHECKS: usize = 16;
/// The most accounts whose data is erased at once.
const ERASURES: usize = 1;

/// Which parts of a server run in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerParts {
    /// The interface.
    pub http: bool,
    /// Background jobs, and the tasks of the platform.
    pub workers: bool,
}

/// A running server; [`RunningServer::stop`] stops it in order. When dropped, its workers stop, and HTTP continues.
pub struct RunningServer {
    /// The address it listens on; `None` when it only executes jobs.
    pub address: Option<SocketAddr>,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// The link to the page that creates the first administrator; `None` when there is one.
    pub setup_link: Option<String>,
    /// The address for operators; `None` without `operations_listen`.
    pub operations_address: Option<SocketAddr>,
    http: Option<Http>,
    operations: Option<OperationsListener>,
    workers: Option<JoinHandle<()>>,
    stop: watch::Sender<bool>,
    /// Held until the last worker has ended.
    _lock: Option<DatabaseLock>,
}

struct Http {
    server: HttpThread,
    api: Arc<Api>,
    certificate: Option<Arc<Certificate>>,
    /// Makes certificates by ACME.
    orders: Option<JoinHandle<()>>,
}

/// Starts all parts of a server over a database whose schema is up to date.
///
/// # Errors
/// When the database does not answer, another server has its SQLite file, the address is taken, or a key or certificate cannot be read.
pub fn start(config: Config) -> BoxFuture<'static, Result<RunningServer>> {
    Box::pin(async {
        let database = Database::from_config(&config);
        let lock = database.lock()?;
        let store = database.open().await?;
        start_with_store(config, ServerParts { http: true, workers: true }, store, lock).await
    })
}

/// Starts some parts of a server over an open store. `lock` is that of its SQLite file, and is held until the server ends;
/// `None` on PostgreSQL. Boxed, so that the server is compiled with this crate, and not again with each that starts one.
pub fn start_with_store(
    config: Config,
    parts: ServerParts,
    store: Arc<dyn Store>,
    lock: Option<DatabaseLock>,
) -> BoxFuture<'static, Result<RunningServer>> {
    Box::pin(start_parts(config, parts, store, lock))
}

async fn start_parts(
    config: Config,
    parts: ServerParts,
    store: Arc<dyn Store>,
    lock: Option<DatabaseLock>,
) -> Result<RunningServer> {
    if parts.workers && !config.read_only {
        // Read on another thread meanwhile; the sender of webhooks waits for them.
        drop(spawn_blocking(civitas_delivery::system_roots));
    }
    let keys = secret_key::load(&config).map_err(|error| fault("the secret key", &error))?;
    let resolver = Arc::new(DnsResolver::with_server(config.dns_server)?);
    let shares = Shares::new(config.share_capacity());
    let services = ApiServices {
        webhooks: WebhookServices {
            policy: webhooks::target_policy(&config),
            resolver: resolver.clone(),
            cipher: Arc::new(webhooks::webhook_cipher(&config)?),
        },
        answer_cipher: Arc::new(PurposeCipher::for_answers(&keys)),
        objects: Arc::new(files::open_file_store(&config)?),
        intake: Arc::new(files::open_intake(&config)?),
        store: store.clone(),
        signer: Arc::new(JwtTokenSigner::new(&keys)),
        passwords: Arc::new(passwords(&config)),
        shares: shares.clone(),
        runtime: Handle::current(),
    };
    let api = Api::new(settings(&config), services);
    let (stop, stop_receiver) = watch::channel(false);
    // The lock excludes other servers.
    let failed = FailureFlag::default();
    let workers = if parts.workers && !config.read_only {
        Some(workers(&config, &api, &shares, &stop_receiver, lock.is_some(), &failed)?)
    } else {
        None
    };
    let (http, setup_link) = if parts.http {
        let panel = panel::panel(&config, &api, resolver, &keys, passwords(&config))?;
        let setup = panel.setup_path().await?;
        let http = Http::start(&config, api, panel, stop_receiver, failed.clone()).await?;
        // Not by `public_scheme`: it is the address of the listener.
        let scheme = if config.is_https() { "https" } else { "http" };
        let link = setup.map(|path| format!("{scheme}://{}{path}", http.server.address));
        (Some(http), link)
    } else {
        (None, None)
    };
    let operations = match config.operations_listen {
        Some(at) => Some(OperationsListener::start(at, store.clone(), config.read_only, failed).await?),
        None => None,
    };
    let operations_address = operations.as_ref().map(|operations| operations.server.address);
    let address = http.as_ref().map(|http| http.server.address);
    _ = address.inspect(|address| tracing::info!(%address, "listening"));
    Ok(RunningServer {
        address,
        store,
        setup_link,
        operations_address,
        http,
        operations,
        workers,
        stop,
        _lock: lock,
    })
}

/// Starts the background workers, each in a task of its own: when one panics, the others go on, and `failed` is set.
fn workers(
    config: &Config,
    api: &Api,
    shares: &Arc<Shares>,
    stop: &watch::Receiver<bool>,
    is_alone: bool,
    failed: &FailureFlag,
) -> Result<JoinHandle<()>> {
    let commands = Arc::new(api.commands().for_background()?);
    let jobs = JobWorker::new(commands.clone(), config.job_capacity());
    let lanes = task_lanes(config)?.map(|(handler, concurrency)| {
        let worker = TaskWorker::new(commands.store().clone(), commands.committer().clone(), handler);
        worker.run(concurrency, stop.clone())
    });
    let webhooks = webhooks::WebhookWorkers::new(config, &commands, shares, stop)?;
    let (store, files) = (commands.store().clone(), api.files().clone());
    let cleanup = CleanupWorker {
        store: store.clone(),
        jobs: config.job_retention_days.as_days(),
        audit: config.audit_retention_days.as_days(),
    };
    let backups = ScheduledBackups::from_config(config, store.clone())?;
    let (stop, failed) = (stop.clone(), failed.clone());
    Ok(tokio::spawn(async move {
        if is_alone {
            reclaim_all_jobs(&*store, stop.clone()).await;
        }
        let mut tasks = vec![BackgroundTask::new("jobs", jobs.run(stop.clone()))];
        tasks.extend(webhooks.into_tasks(is_alone, &stop).await);
        tasks.extend(lanes.map(|lane| BackgroundTask::new("tasks", lane)));
        tasks.push(BackgroundTask::new("cleanup", cleanup.run(stop.clone())));
        tasks.push(BackgroundTask::new("texts", run_text_fill(store, stop.clone())));
        tasks.push(BackgroundTask::new("files", files.run_cleanup(stop.clone())));
        tasks.extend(backups.map(|backups| BackgroundTask::new("backups", backups.run(stop.clone()))));
        background::run(tasks, stop, &failed).await;
    }))
}

/// The lanes of tasks: the handler of each, and how many tasks of it run at once. A service that does not answer, or many
/// tasks of one kind, delay their own lane alone.
fn task_lanes(config: &Config) -> Result<[(Arc<dyn TaskHandler>, usize); 4]> {
    let checks = HostCheckHandler {
        resolver: Arc::new(DnsResolver::with_server(config.dns_server)?),
        loadbalancer_ips: config.loadbalancer_ips.clone(),
    };
    let mailer = mailer(config)?;
    let mails: Arc<dyn TaskHandler> =
        Arc::new(MailHandler { mailer: mailer.clone(), site: site::from_config(config) });
    let invitations = InvitationHandler { mailer, site: site::from_config(config) };
    Ok([
        (mails, MAILS),
        (Arc::new(invitations), INVITATIONS),
        (Arc::new(checks), CONCURRENT_HOST_CHECKS),
        (Arc::new(ErasureHandler), ERASURES),
    ])
}

/// Hashes and compares the passwords of sign-ins.
fn passwords(config: &Config) -> Argon2Passwords {
    let pepper = config.decidim_password_pepper.as_ref().map(|pepper| Secret::new(pepper.0.as_str()));
    Argon2Passwords::new().with_pepper(pepper)
}

fn mailer(config: &Config) -> Result<Arc<dyn Mailer>> {
    match (&config.smtp_url, &config.mail_from) {
        (Some(server), Some(sender)) => {
            Ok(Arc::new(SmtpMailer::new(server, sender).map_err(Error::internal)?))
        }
        _ => Ok(Arc::new(LogMailer)),
    }
}

fn settings(config: &Config) -> ApiSettings {
    ApiSettings {
        site: site::from_config(config),
        trusted_proxies: config.trusted_proxies.clone(),
        max_body_bytes: config.max_body_bytes.get(),
        is_encrypted: config.is_https(),
        max_async_api_job_payload_bytes: config.max_async_api_job_payload_bytes.0,
        max_extended_data_payload_bytes: config.max_extended_data_payload_bytes.0,
        token_lifetime: time::Duration::seconds(config.token_lifetime_seconds.get().into()),
        max_failed_authentications_per_minute: config.max_failed_authentications_per_minute.as_rate(),
        max_requests_per_second_per_client: config.max_requests_per_second_per_client.as_rate(),
        read_only: config.read_only,
    }
}

impl RunningServer {
    /// Reads the certificate again, for new connections.
    ///
    /// # Errors
    /// When it cannot be read; then the old one stays in use.
    pub fn reload_certificate(&self) -> io::Result<()> {
        let certificate = self.http.as_ref().and_then(|http| http.certificate.as_ref());
        certificate.map_or(Ok(()), |certificate| certificate.reload())
    }

    /// Stops in order: no new requests and jobs; running ones have time to end, then the leases of jobs expire.
    pub async fn stop(self) {
        if let Some(operations) = &self.operations {
            operations.begin_stop();
        }
        let mut orders = None;
        if let Some(http) = self.http {
            http.api.close_streams();
            http.server.stop(true).await;
            orders = http.orders;
        }
        // Without workers there is no receiver.
        let _ = self.stop.send(true);
        for workers in self.workers.into_iter().chain(orders) {
            if let Err(error) = workers.await {
                tracing::error!(%error, "the workers failed");
            }
        }
        if let Some(operations) = self.operations {
            operations.stop().await;
        }
    }
}

impl Http {
    async fn start(
        config: &Config,
        api: Arc<Api>,
        panel: Arc<Panel>,
        stop: watch::Receiver<bool>,
        failed: FailureFlag,
    ) -> Result<Self> {
        let certificate = match (&config.tls_certificate, &config.tls_key) {
            (Some(chain), Some(key)) => {
                Some(Certificate::read(chain, key).map_err(|error| fault("the certificate", &error))?)
            }
            _ => None,
        };
        let acme = CertificateOrders::new(config, api.commands().store().clone());
        let (certificates, orders) = acme.map_err(|error| fault("the certificates", &error))?.unzip();
        let tls = match (&certificate, &certificates) {
            (Some(certificate), _) => Some(certificate.server_config()),
            (None, certificates) => certificates.as_ref().map(AcmeCertificates::server_config),
        };
        let tls = tls.transpose().map_err(|error| fault("the certificate", &error))?;
        let (listen, interface) = (config.listen, api.clone());
        let is_https = config.public_scheme.as_str() == "https";
        let origins = config.cors_allowed_origins.clone();
        let limiter = ConnectionLimiter::new(config.trusted_proxies.clone());
        let bind = move || server(listen, tls, interface, panel, limiter, (is_https, origins));
        let server = HttpThread::start("http", "the interface", listen, bind).await?;
        // Not earlier: the CA connects to the listener.
        let orders = orders.map(|orders| {
            let task = BackgroundTask::new("certificates", orders.run(stop.clone()));
            tokio::spawn(async move { background::run(vec![task], stop, &failed).await })
        });
        Ok(Self { server, api, certificate, orders })
    }
}

fn server(
    listen: SocketAddr,
    tls: Option<ServerConfig>,
    api: Arc<Api>,
    panel: Arc<Panel>,
    limiter: Arc<ConnectionLimiter>,
    (is_https, origins): (bool, Vec<Origin>),
) -> io::Result<(SocketAddr, Server)> {
    let headers = security_headers(is_https);
    let app = move || {
        let (api, panel) = (api.clone(), panel.clone());
        let headers = headers.iter().cloned().fold(DefaultHeaders::new(), DefaultHeaders::add);
        // Inside of the compression: it replaces all values of `Vary` by the first one, and its own.
        let app = App::new().wrap(cors(&origins)).wrap_fn(|request, service| {
            let encoding = compression::encoding_for(&request);
            let answer = service.call(request);
            async move {
                let answer =
                    compression::compress_response(answer.await?.map_into_boxed_body(), encoding).await;
                Ok(in_pieces(answer))
            }
        });
        let app = app.wrap(headers).wrap_fn(|mut request, service| {
            normalize(&mut request);
            let offers_upgrade = request.head().upgrade();
            let answer = service.call(request);
            async move {
                let mut answer = answer.await?;
                if offers_upgrade {
                    // actix-http ends the connection after an offer of another protocol, and would say `upgrade`.
                    answer.response_mut().head_mut().set_connection_type(ConnectionType::Close);
                }
                Ok(answer)
            }
        });
        app.configure(move |config| api.configure(config)).configure(move |config| panel.configure(config))
    };
    serve(listen, tls, limiter, app)
}

/// Headers of every answer. Browsers that were on the site over HTTPS once do not use HTTP for a year.
fn security_headers(is_https: bool) -> Vec<(HeaderName, &'static str)> {
    let mut headers = vec![(X_CONTENT_TYPE_OPTIONS, "nosniff")];
    headers.extend(is_https.then_some((STRICT_TRANSPORT_SECURITY, "max-age=31536000")));
    headers
}

fn fault(what: &str, error: &io::Error) -> Error {
    Error::internal(format!("{what}: {error}"))
}
