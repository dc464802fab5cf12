//! The JSON interface, created once per process.

use crate::backend::{ApiServices, ApiSettings, Backend};
use crate::openapi::{document, unique_words};
use crate::resources::{self, events};
use crate::route::{Route, UseCaseLimits};
use crate::router::Router;
use actix_web::web::Bytes;
use civitas_application::{
    AuthenticationLimit, CommandExecutor, EventCommitter, Files, Shares, SiteSettings,
};
use std::sync::{Arc, OnceLock};

/// The JSON interface, created once per process.
pub struct Api {
    pub(crate) backend: Arc<Backend>,
    limits: UseCaseLimits,
    document: OnceLock<Bytes>,
    pub(crate) router: Router,
}

impl Api {
    /// Builds the interface on these services.
    pub fn new(settings: ApiSettings, services: ApiServices) -> Arc<Self> {
        let limits = UseCaseLimits {
            single_label_hosts: settings.site.scheme == "http",
            extended_data: settings.extended_data_limit(),
        };
        let routes = resources::all_routes(limits);
        let committer = event_committer(settings.site.clone());
        Arc::new(Self {
            backend: Arc::new(Backend::new(settings, services, committer, routes.registry)),
            limits,
            document: OnceLock::new(),
            router: Router::new(routes.list),
        })
    }

    /// The OpenAPI document, which all answers share. It is built for the first answer: at the start it would take more
    /// than half of the processor time.
    pub(crate) fn document(&self) -> Bytes {
        let make =
            || openapi_of(&resources::all_routes(self.limits).list, &self.backend.settings.site).into();
        self.document.get_or_init(make).clone()
    }

    /// The most extended data a record may have, in bytes of compact JSON.
    pub fn extended_data_limit(&self) -> usize {
        self.backend.settings.extended_data_limit()
    }

    /// The files, for the reaper and for the panel.
    pub fn files(&self) -> &Files {
        &self.backend.files
    }

    /// The limit for refused credentials, which the panel shares.
    pub fn authentication_limit(&self) -> &Arc<AuthenticationLimit> {
        &self.backend.authentication_limit
    }

    /// What clients and organizations use of this process, for the panel.
    pub fn shares(&self) -> &Arc<Shares> {
        &self.backend.services.shares
    }

    /// Ends all live streams, and those that are opened later. Call it before the server waits for open requests.
    pub fn close_streams(&self) {
        self.backend.event_streams.close();
    }

    /// The commands, for the worker.
    pub fn commands(&self) -> &Arc<CommandExecutor> {
        &self.backend.commands
    }
}

/// Renders events with the views of the interface.
pub fn event_committer(site: SiteSettings) -> EventCommitter {
    EventCommitter::new(Arc::new(events::Events), site)
}

/// Every route of the interface, one for each operation.
pub fn routes() -> Vec<Route> {
    resources::all_routes(UseCaseLimits::default()).list
}

/// The OpenAPI document of a deployment, as text.
pub fn openapi(site: &SiteSettings) -> String {
    openapi_of(&routes(), site)
}

fn openapi_of(routes: &[Route], site: &SiteSettings) -> String {
    let written = site.class_names.replace_in(document(routes, site).to_string());
    let mut document = serde_json::from_str(&written).expect("a prefix has letters and digits only");
    unique_words(&mut document);
    document.to_string()
}
