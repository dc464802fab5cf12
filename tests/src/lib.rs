//! The harness of the tests.

mod archives;
mod conformance_worlds;
pub mod databases;
pub mod document;
mod event_reader;
mod files;
mod fixtures;
mod jobs;
pub mod mail_server;
mod name_server;
mod object_server;
pub mod panel;
mod passwords;
mod proxy;
mod receiver;
pub mod service;
mod suites;
mod views;
mod world;
mod writes;

pub use archives::{export_services, import_options, numbered_proposals};
pub use databases::{Database, Engine, databases};
pub use document::Validator;
pub use event_reader::{EventReader, SentEvent};
pub use files::{Files, files_in_memory};
pub use fixtures::Fixtures;
pub use jobs::job;
pub use name_server::NameServer;
pub use object_server::ObjectServer;
pub use passwords::KnownPasswords;
pub use proxy::{Network, Proxy};
pub use receiver::{Behaviour, Received, Receiver, Secrets};
pub use service::{CITIES, Client, Service};
pub use views::NoViews;
pub use world::World;
pub use writes::{commit, delete_organization, replace};
