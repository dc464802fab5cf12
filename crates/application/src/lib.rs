//! Where the rooms meet: every port in one place, the unit of work, the registry of commands, the workers and
//! the archive. Knows no database and no web server.

mod announcing;
pub mod archive;
mod commands;
mod component_admin;
mod entry_desk;
mod host_checks;
mod organization_removal;
mod ports;
mod post;
mod rules;
mod scene;
mod shift;
mod tasks;
mod token_desk;
mod worker;

pub use announcing::{Announcer, EventViews};
pub use commands::{Commands, Registry, UseCase, View};
pub use component_admin::ComponentAdmin;
pub use entry_desk::EntryDesk;
pub use host_checks::HostChecks;
pub use organization_removal::delete_organization;
pub use ports::{ListChanges, Ports, RefStore, Store, Transaction};
pub use post::{Invitations, Post};
pub use rules::{CurrentSettings, fault};
pub use scene::{Scene, Site};
pub use tasks::{TaskHandler, TaskKinds, TaskWorker, Turn};
pub use token_desk::TokenDesk;
pub use worker::{Worker, take_over};
