//! The harness of the tests.

pub mod databases;
pub mod document;
mod name_server;
pub mod post;
mod rooms;
pub mod service;
mod world;

pub use databases::{Database, Engine, databases};
pub use name_server::NameServer;
pub use rooms::Rooms;
pub use world::World;
