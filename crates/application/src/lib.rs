//! Where the rooms meet: every port in one place, the unit of work, the registry of commands, the worker and the
//! archive. Knows no database and no web server.

mod announcing;
pub mod archive;
mod commands;
mod component_admin;
mod ports;
mod rules;
mod scene;
mod token_desk;
mod worker;

pub use announcing::{Announcer, EventViews};
pub use commands::{Commands, Registry, UseCase, View};
pub use component_admin::ComponentAdmin;
pub use ports::{ListChanges, Ports, RefStore, Store, Transaction};
pub use rules::{CurrentSettings, fault};
pub use scene::{Scene, Site};
pub use token_desk::TokenDesk;
pub use worker::Worker;
