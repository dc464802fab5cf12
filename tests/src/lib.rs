//! The harness of the tests.

pub mod databases;
mod world;

pub use databases::{Database, Engine, databases};
pub use world::World;
