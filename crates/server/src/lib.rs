//! The parts of the binary: configuration, commands, wiring.
//!
//! Contains no rules; those are in the domain crates.
//!
//! ```
//! use civitas_server::config::{Config, SettingSources};
//!
//! let flags = vec![("listen".to_owned(), "127.0.0.1:8080".to_owned())];
//! let config = Config::load(&SettingSources { flags, ..SettingSources::default() })?;
//! assert_eq!(config.listen.port(), 8080);
//! assert_eq!(config.database_url, "sqlite://civitas-data/civitas.db");
//! # Ok::<(), civitas_server::config::ConfigError>(())
//! ```

mod acme;
mod background;
pub mod backup;
mod body_pieces;
pub mod cli;
mod compression;
pub mod config;
mod connection_limiter;
mod cors;
mod doctor;
pub mod files;
mod http_thread;
mod listener;
mod log_filter;
pub mod open_files;
mod operations;
mod panel;
mod paths;
pub mod secret_key;
mod site;
pub mod store;
pub mod telemetry;
mod tls;
mod traces;
pub mod webhooks;
pub mod wiring;
