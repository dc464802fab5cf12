//! The harness of the tests.

pub mod databases;
pub mod document;
mod files;
mod fixtures;
pub mod mail_server;
mod name_server;
mod object_server;
pub mod service;
mod suites;
mod world;
mod writes;

pub use databases::{Database, Engine, databases};
pub use files::{Files, files_in_memory};
pub use fixtures::Fixtures;
pub use name_server::NameServer;
pub use object_server::ObjectServer;
pub use world::World;
pub use writes::{commit, replace};
