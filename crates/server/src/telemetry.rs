//! The log: filter and format; written to standard error.

use crate::config::{Config, LogFormat};
use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;

/// Starts logging, for the rest of the process. A second call does nothing.
pub fn begin(config: &Config) {
    let filter = EnvFilter::new(&config.log);
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal());
    let begun = match config.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if begun.is_err() {
        tracing::debug!("the log is initialized already");
    }
}
