//! The binary's parts: configuration, commands, and the wiring of everything to everything.
//!
//! Nothing is decided here: rules are in the domain crates. What is here is read from the outside once, and handed
//! on as values.
//!
//! ```
//! use civitas_server::config::{Config, Sources};
//!
//! let flags = vec![("listen".to_owned(), "127.0.0.1:8080".to_owned())];
//! let config = Config::load(&Sources { flags, ..Sources::default() })?;
//! assert_eq!(config.listen.port(), 8080);
//! assert_eq!(config.database_url, "sqlite://civitas-data/civitas.db");
//! # Ok::<(), civitas_server::config::ConfigError>(())
//! ```

pub mod cli;
pub mod config;
pub mod secret_key;
pub mod store;
pub mod telemetry;
mod tls;
pub mod wiring;
