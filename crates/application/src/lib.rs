//! Where the rooms meet: every port in one place, the unit of work, the registry of commands, the worker and the
//! archive. Knows no database and no web server.

pub mod archive;
mod ports;
mod rules;

pub use ports::{ListChanges, Ports, RefStore, Store, Transaction};
pub use rules::{CurrentSettings, fault};
