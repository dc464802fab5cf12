//! The log, written to standard error; with `otlp_endpoint` also the export of traces.

use crate::config::{Config, LogFormat};
use crate::traces::Traces;
use std::error::Error;
use std::io::{IsTerminal, stderr};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

/// Starts logging, for the rest of the process. A second call does nothing.
pub fn begin(config: &Config) {
    let filter = EnvFilter::new(&config.log);
    let log = fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    let begun = match config.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if begun.is_err() {
        tracing::debug!("the log is initialized already");
    }
}

/// Starts logging and, if it is configured, the export of traces: for servers.
///
/// # Errors
/// When the export cannot be set up. A collector that does not answer is no error.
pub(crate) fn begin_server(config: &Config) -> Result<Option<Traces>, Box<dyn Error + Send + Sync>> {
    let Some(endpoint) = &config.otlp_endpoint else {
        begin(config);
        return Ok(None);
    };
    let traces = Traces::to(&endpoint.0)?;
    let log = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let log = match config.log_format {
        LogFormat::Text => log.boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    let subscriber = registry().with(traces.layer()).with(log.with_filter(EnvFilter::new(&config.log)));
    if subscriber.try_init().is_err() {
        tracing::debug!("the log is initialized already");
    }
    Ok(Some(traces))
}
