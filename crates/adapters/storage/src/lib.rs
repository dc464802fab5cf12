//! Implements the ports of the domain crates on a database.
//!
//! The source is compiled twice, once per engine: `storage-sqlite` and `storage-postgres` differ only in a feature.
//! What differs between engines is in `engine/`; no other file names one.
//!
//! The session returns a connection of the pool or of the open transaction; methods are the same for both. To add a table: a migration for each engine, its lines in `schema.rs`, a file in `tables/`.

#[cfg_attr(feature = "sqlite", path = "engine/sqlite.rs")]
#[cfg_attr(feature = "postgres", path = "engine/postgres.rs")]
mod engine;

mod bounded_count;
mod change_counters;
mod columns;
#[cfg(feature = "postgres")]
mod connection_settings;
mod database_clock;
mod failure;
mod filter;
mod insert;
mod list_changes;
mod list_pages;
mod log_pages;
mod lookups;
mod migrate;
mod old_rows;
mod optional;
mod page_rows;
mod pools;
mod prepared;
mod records;
mod schema;
mod scoped;
mod session;
mod store;
mod tables;
mod visibility;

#[cfg(feature = "postgres")]
pub use connection_settings::missing_settings;
pub use engine::EngineDatabaseCopier;
#[cfg(feature = "postgres")]
pub use engine::connect_to_read;
#[cfg(feature = "sqlite")]
pub use engine::in_memory;
pub use migrate::{migrate, schema};
pub use pools::{DatabaseSettings, StatementLimits};
#[cfg(feature = "postgres")]
pub use session::replica_states;
pub use store::{open, open_with_clock};
