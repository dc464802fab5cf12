//! The log, written to standard error; with `OTEL_EXPORTER_OTLP_ENDPOINT` also the export of traces.

use crate::config::{Config, LogFormat};
use crate::log_filter::ClientErrorFilter;
use crate::traces::Traces;
use std::error::Error;
use std::io::{IsTerminal, stderr};
use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

/// Starts logging, for the rest of the process. A second call does nothing.
pub fn start_logging(config: &Config) {
    let log = log_of(config);
    if registry().with(log).try_init().is_err() {
        tracing::debug!("the log is initialized already");
    }
}

/// Starts logging and, if it is configured, the export of traces: for servers.
///
/// # Errors
/// When the export cannot be set up. A collector that does not answer is no error.
pub(crate) fn start_server_logging(config: &Config) -> Result<Option<Traces>, Box<dyn Error + Send + Sync>> {
    if !config.has_collector {
        start_logging(config);
        return Ok(None);
    }
    let traces = Traces::start()?;
    if registry().with(traces.layer()).with(log_of(config)).try_init().is_err() {
        tracing::debug!("the log is initialized already");
    }
    Ok(Some(traces))
}

/// The log in the configured format.
fn log_of<S: Subscriber + for<'span> LookupSpan<'span>>(config: &Config) -> impl Layer<S> + use<S> {
    let log = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let log = match config.log_format {
        LogFormat::Text => log.map_event_format(|f| ClientErrorFilter::new(f, &config.log)).boxed(),
        LogFormat::Json => {
            let log = log.json().flatten_event(true);
            log.map_event_format(|f| ClientErrorFilter::new(f, &config.log)).boxed()
        }
    };
    log.with_filter(EnvFilter::new(&config.log))
}
