//! Every port of the domain crates, kept in a database.
//!
//! These sources are compiled twice, once per engine: see `storage-sqlite` and `storage-postgres`, which differ in a
//! feature and nothing else. What an engine does its own way is in `engine/`; no other file names one.
//!
//! A method asks the session for a connection and cannot tell whether it gets one of the pool or the one of an
//! open transaction. To add a table: a migration for each engine, its lines in `schema.rs`, a file in `tables/`.

#[cfg_attr(feature = "sqlite", path = "engine/sqlite.rs")]
#[cfg_attr(feature = "postgres", path = "engine/postgres.rs")]
mod engine;

mod columns;
mod correlated;
mod failure;
mod filter;
mod list_changes;
mod migrate;
mod schema;
mod session;
mod store;
mod tables;
mod visibility;

pub use migrate::{SchemaState, migrate, schema};
pub use session::Settings;
pub use store::open;
