//! Services shared by all requests: settings, store, commands, tokens.

use civitas_accounts::{Passwords, TextCipher, TokenSigner};
use civitas_application::{
    AuthenticationLimit, ClientLimit, CommandExecutor, CommandRegistry, EventCommitter, Files, Shares,
    SiteSettings, Store, TokenService,
};
use civitas_attachments::{FileIntake, FileStore};
use civitas_event_delivery::EventStreams;
use civitas_kernel::limits::MAX_EXTENDED_DATA_BYTES;
use civitas_kernel::{Error, Locales, Result};
use civitas_organizations::Tenant;
use civitas_webhooks::{SecretCipher, TargetPolicy, TargetResolver};
use ipnet::IpNet;
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use time::Duration;
use tokio::runtime::Handle;

/// The settings of the interface (design §2).
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// How absolute links are written.
    pub site: SiteSettings,
    /// Peers whose forwarded headers are used.
    pub trusted_proxies: Vec<IpNet>,
    /// The longest body, in bytes.
    pub max_body_bytes: usize,
    /// Whether the listener speaks HTTPS.
    pub is_encrypted: bool,
    /// The longest payload of a job, in bytes; `None` for no limit.
    pub max_async_api_job_payload_bytes: Option<usize>,
    /// The most extended data, in bytes; `None` for no limit.
    pub max_extended_data_payload_bytes: Option<usize>,
    /// How long a token is valid.
    pub token_lifetime: Duration,
    /// The most requests of one API client in a second; `None` for no limit.
    pub max_requests_per_second_per_client: Option<NonZeroU32>,
    /// The most refused credentials of one source address in a minute; `None` for no limit.
    pub max_failed_authentications_per_minute: Option<NonZeroU32>,
    /// Whether writes are refused. Tokens are issued and revoked nevertheless.
    pub read_only: bool,
}

impl ApiSettings {
    /// The most extended data a record may have, in bytes: the smallest of the limits of a record, a write and a job.
    pub(crate) fn extended_data_limit(&self) -> usize {
        let payload = self.max_extended_data_payload_bytes.or(self.max_async_api_job_payload_bytes);
        payload.map_or(MAX_EXTENDED_DATA_BYTES, |most| most.min(MAX_EXTENDED_DATA_BYTES))
    }
}

/// The services the interface is built on.
#[derive(Clone)]
pub struct ApiServices {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Checks passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Encrypts answers to writes with an idempotency key.
    pub answer_cipher: Arc<dyn TextCipher>,
    /// Stores the bytes of files.
    pub objects: Arc<dyn FileStore>,
    /// Receives and inspects files.
    pub intake: Arc<dyn FileIntake>,
    /// What registrations of webhooks need.
    pub webhooks: WebhookServices,
    /// What clients and organizations use of this process.
    pub shares: Arc<Shares>,
    /// The runtime for requests with long computations; it has several threads.
    pub runtime: Handle,
}

/// The services that registrations of webhooks need.
#[derive(Clone)]
pub struct WebhookServices {
    /// Which callback addresses may be reached.
    pub policy: TargetPolicy,
    /// Resolves the hosts of callback addresses.
    pub resolver: Arc<dyn TargetResolver>,
    /// Creates and encrypts the secrets of signatures.
    pub cipher: Arc<dyn SecretCipher>,
}

/// Services shared by all requests.
pub(crate) struct Backend {
    pub(crate) settings: ApiSettings,
    pub(crate) services: ApiServices,
    pub(crate) commands: Arc<CommandExecutor>,
    pub(crate) token_service: TokenService,
    pub(crate) authentication_limit: Arc<AuthenticationLimit>,
    pub(crate) client_limit: ClientLimit,
    /// The idempotency keys of writes that this process executes now, as digests.
    running_keys: Mutex<HashSet<String>>,
    pub(crate) files: Files,
    pub(crate) event_streams: Arc<EventStreams>,
}

impl Backend {
    pub(crate) fn new(
        settings: ApiSettings,
        services: ApiServices,
        committer: EventCommitter,
        registry: CommandRegistry,
    ) -> Self {
        let ApiServices { store, signer, passwords, objects, intake, shares, runtime, .. } = services.clone();
        let files = Files::new(store.clone(), committer.clone(), objects, intake);
        let limit = settings.max_async_api_job_payload_bytes;
        let commands = CommandExecutor::new(
            registry,
            store.clone(),
            committer.clone(),
            signer.clone(),
            shares.clone(),
            limit,
        );
        let locales = settings.site.locales.clone();
        let event_streams = EventStreams::new(store.clone(), signer.clone(), locales, runtime);
        let most = settings.max_failed_authentications_per_minute;
        let authentication_limit = Arc::new(AuthenticationLimit::per_minute(most));
        let client_limit = ClientLimit::per_second(settings.max_requests_per_second_per_client);
        let token_service = TokenService {
            store,
            limit: authentication_limit.clone(),
            signer,
            passwords,
            committer,
            lifetime: settings.token_lifetime,
            shares,
            extra_limit: settings.extended_data_limit(),
            read_only: settings.read_only,
        };
        Self {
            settings,
            services,
            commands: Arc::new(commands),
            token_service,
            authentication_limit,
            client_limit,
            running_keys: Mutex::default(),
            files,
            event_streams,
        }
    }

    /// Checks that neither the deployment nor the organization is read-only.
    pub(crate) fn check_writable(&self, tenant: &Tenant) -> Result<()> {
        if self.settings.read_only { Err(Error::ReadOnly) } else { tenant.check_writable() }
    }

    /// The languages of the deployment.
    pub(crate) fn locales(&self) -> &Locales {
        &self.settings.site.locales
    }

    /// The idempotency keys of writes that this process executes now, locked.
    pub(crate) fn running_keys(&self) -> MutexGuard<'_, HashSet<String>> {
        self.running_keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.commands.store()
    }
}
