//! The harness of the tests.

pub mod databases;
pub mod document;
mod rooms;
pub mod service;
mod world;

pub use databases::{Database, Engine, databases};
pub use rooms::Rooms;
pub use world::World;
