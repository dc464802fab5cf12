//! The JSON interface v0.3 over HTTP: contract sheets 01 to 09, served by actix-web.
//!
//! Every request runs through [`pipeline`]: host to organization, path to route, body, feature switches, token, rights,
//! then the handler, which parses, calls a use case and replies. A resource is one file in `resources`: routes,
//! commands, bodies and views. Router, command registry, rights tests and OpenAPI document are generated from
//! [`routes`]. Dependencies between modules, without cycles (`.ci/layers` checks it):
//!
//! ```text
//! mount > pipeline > api > openapi > resources > route > reply, receipt > request > backend
//! ```

mod answers;
mod api;
mod backend;
mod body;
mod class_filters;
mod confirmations;
mod counted;
mod document;
mod error;
mod form_body;
mod idempotency;
mod keyed_write;
mod links;
mod mount;
mod openapi;
mod pages;
mod paths;
mod pipeline;
mod positions;
mod prefer;
mod query;
mod receipt;
mod reply;
mod request;
mod resources;
mod route;
mod router;
mod served_files;
mod service;
mod shapes;
mod tenancy;
mod typed_body;
mod unread_body;

pub use api::{Api, event_committer, openapi, routes};
pub use backend::{ApiServices, ApiSettings, WebhookServices};
pub use document::OperationDoc;
pub use paths::normalize;
pub use resources::webhook_events::webhook_example;
pub use route::{RequiredAccess, Route};

/// The path prefix of the interface.
pub const BASE_PATH: &str = "/api/rest_full/v0.3";
