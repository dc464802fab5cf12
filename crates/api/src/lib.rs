//! The JSON interface v0.3 over HTTP: contract sheets 01 to 09, served by actix-web.
//!
//! Every request runs through [`pipeline`]: host to organization, path to route, body, feature switches, token, rights,
//! then the handler, which parses, calls a use-case and replies. A resource is one file in `resources`: routes, bodies
//! and views. Router, rights tests and OpenAPI document are generated from [`routes`].

mod body;
mod document;
mod error;
mod links;
mod openapi;
mod pages;
mod pipeline;
mod query;
mod reply;
mod resources;
mod response_cache;
mod route;
mod router;
mod shapes;
mod tenancy;

pub use document::Doc;
pub use route::{Gate, Route};

use actix_web::{HttpRequest, web};
use civitas_accounts::{Passwords, TokenSigner};
use civitas_application::{Announcer, Commands, Registry, Site, Store, TokenService};
use civitas_kernel::Locales;
use ipnet::IpNet;
use resources::{
    blogs, components, confirmations, drafts, events, extended_data, jobs, magic_links, meetings, oauth,
    organizations, proposals, roles, service, spaces, users, votes,
};
use route::Routes;
use std::sync::Arc;
use time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Where the interface lives.
pub const BASE: &str = "/api/rest_full/v0.3";
/// How many requests that compute for a while are answered at once.
const HEAVY: usize = 4;

/// The settings of the interface (design §2).
#[derive(Debug, Clone)]
pub struct Settings {
    /// How absolute links are written.
    pub site: Site,
    /// Peers whose forwarded headers count.
    pub trusted_proxies: Vec<IpNet>,
    /// The longest body, in bytes.
    pub max_body_bytes: usize,
    /// The longest payload of a job, in bytes; `None` for no limit.
    pub max_async_api_job_payload_bytes: Option<usize>,
    /// The most extended data, in bytes; `None` for no limit.
    pub max_extended_data_payload_bytes: Option<usize>,
    /// The most extended data of one record, in bytes, however many writes it took.
    pub max_extended_data_stored_bytes: Option<usize>,
    /// How long a token is valid.
    pub token_lifetime: Duration,
}

impl Settings {
    /// The most extended data a record may have, in bytes: what it may grow to at all, or less where one write (or a
    /// job) may carry less.
    fn extended_data_limit(&self) -> Option<usize> {
        let payload = self.max_extended_data_payload_bytes.or(self.max_async_api_job_payload_bytes);
        payload.into_iter().chain(self.max_extended_data_stored_bytes).min()
    }
}

/// What the interface is built over.
#[derive(Clone)]
pub struct Services {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Signs tokens.
    pub signer: Arc<dyn TokenSigner>,
    /// Checks passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Where requests are answered that compute for a while; of several threads.
    pub runtime: Handle,
}

/// The interface: one for the whole process.
pub struct Api {
    settings: Settings,
    commands: Arc<Commands>,
    token_service: TokenService,
    signer: Arc<dyn TokenSigner>,
    document: String,
    response_cache: response_cache::ResponseCache,
    router: router::Router,
    runtime: Handle,
    heavy: Semaphore,
}

impl Api {
    /// The interface over these services.
    pub fn new(settings: Settings, services: Services) -> Arc<Self> {
        let Services { store, signer, passwords, runtime } = services;
        let announcer = announcer(settings.site.clone());
        let limit = settings.max_async_api_job_payload_bytes;
        let registry = registry(&settings);
        let commands = Commands::new(registry, store.clone(), announcer.clone(), signer.clone(), limit);
        let token_service = TokenService {
            store,
            signer: signer.clone(),
            passwords,
            announcer,
            lifetime: settings.token_lifetime,
            extra_limit: settings.extended_data_limit(),
        };
        let document = openapi(&settings.site.locales);
        Arc::new(Self {
            settings,
            commands: Arc::new(commands),
            token_service,
            signer,
            document,
            response_cache: response_cache::ResponseCache::new(),
            router: router::Router::of(routes()),
            runtime,
            heavy: Semaphore::new(HEAVY),
        })
    }

    /// The commands, for the worker.
    pub fn commands(&self) -> &Arc<Commands> {
        &self.commands
    }

    /// Mounts everything.
    pub fn configure(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        service::mount(config, self, BASE);
        confirmations::mount(config, self);
        let api = self.clone();
        config.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
            pipeline::serve(api.clone(), request, payload)
        }));
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The languages of the deployment.
    pub(crate) fn locales(&self) -> &Locales {
        &self.settings.site.locales
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.commands.store()
    }

    pub(crate) fn signer(&self) -> &dyn TokenSigner {
        &*self.signer
    }

    pub(crate) fn token_service(&self) -> &TokenService {
        &self.token_service
    }

    pub(crate) fn response_cache(&self) -> &response_cache::ResponseCache {
        &self.response_cache
    }

    pub(crate) fn router(&self) -> &router::Router {
        &self.router
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// The places of requests that compute for a while.
    pub(crate) fn heavy(&self) -> &Semaphore {
        &self.heavy
    }

    pub(crate) fn document(&self) -> &str {
        &self.document
    }
}

/// Shows events with the views of the interface.
pub fn announcer(site: Site) -> Announcer {
    Announcer::new(Arc::new(events::Events), site)
}

/// Every route of the interface, one an operation.
pub fn routes() -> Vec<Route> {
    let mut all = Routes::default();
    for add in [
        oauth::routes,
        organizations::routes,
        users::routes,
        roles::routes,
        magic_links::routes,
        spaces::routes,
        components::routes,
        proposals::routes,
        drafts::routes,
        votes::routes,
        meetings::routes,
        blogs::routes,
        extended_data::routes,
        jobs::routes,
    ] {
        add(&mut all);
    }
    all.0
}

/// Every command of the interface: its use-case and its view.
fn registry(settings: &Settings) -> Registry {
    let commands =
        [roles::commands, magic_links::commands, drafts::commands, votes::commands, blogs::commands];
    let all = commands.into_iter().fold(Registry::default(), |all, add| add(all));
    let all = organizations::commands(all, settings.site.scheme == "http");
    extended_data::commands(all, settings.extended_data_limit())
}

/// The OpenAPI document of a deployment with these languages, as text.
pub fn openapi(locales: &Locales) -> String {
    openapi::document(&routes(), locales).to_string()
}
