//! Export of traces: finished spans are sent to a collector by OTLP over HTTP, in batches (decision 0040).
//!
//! A span that ends is put into a bounded queue, without waiting; a thread of its own sends the batches. When the queue
//! is full, or the collector does not answer, spans are lost.

mod collector;
mod conventions;

use collector::Collector;
use conventions::Conventional;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider};
use std::error::Error;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::Metadata;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};
use url::Url;

/// Where a collector takes spans (OTLP 1.0, OTLP/HTTP request).
const PATH: &str = "v1/traces";
/// The most finished spans that wait; further ones are lost.
const QUEUE: usize = 8192;
/// The most spans of one request to the collector.
const BATCH: usize = 512;
/// The span of the relay of events.
const RELAY: &str = "application.webhooks.relay";
/// How long a finished span waits for others.
const DELAY: Duration = Duration::from_secs(2);
/// How long the collector may take for a batch.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long sending the last spans may take when the server stops.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// The export of the spans of this process.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Begins the export to the collector at `endpoint`; requests run on the runtime that calls this.
    ///
    /// # Errors
    /// When the certificates of the system cannot be used, or no thread can be started. The collector itself is not
    /// asked.
    pub(crate) fn to(endpoint: &Url) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let collector = Collector::new(Handle::current(), PATIENCE)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(traces_url(endpoint).as_str())
            .with_timeout(PATIENCE)
            .with_retry_policy(RetryPolicy::disabled())
            .build()?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let processor =
            BatchSpanProcessor::builder(Conventional(exporter)).with_batch_config(batches).build();
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource())
            .with_span_processor(processor)
            .build();
        Ok(Self { provider })
    }

    /// Gives the spans of Civitas to the export. Events are not exported: the causes of failures are for the log.
    pub(crate) fn layer(&self) -> impl Layer<Registry> + use<> {
        tracing_opentelemetry::layer::<Registry>()
            .with_tracer(self.provider.tracer("civitas"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_filter(filter_fn(is_exported))
    }

    /// Sends the last spans, and ends the export. Takes a few seconds at most.
    pub(crate) async fn stop(self) {
        let stopped = spawn_blocking(move || self.provider.shutdown_with_timeout(LAST_SPANS)).await;
        if !matches!(stopped, Ok(Ok(()))) {
            tracing::warn!("the last spans could not be exported");
        }
    }
}

/// All spans of Civitas but that of the relay, which runs every second, mostly with nothing to do.
fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("civitas") && metadata.name() != RELAY
}

/// What all spans have in common.
fn resource() -> Resource {
    let host = hostname::get().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "civitas"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("host.name", host),
        ])
        .build()
}

/// The address for spans of a collector: `/v1/traces` is added, unless the path ends with it.
fn traces_url(endpoint: &Url) -> Url {
    let mut url = endpoint.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with(PATH) {
        url.set_path(&format!("{path}/{PATH}"));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_spans_is_added_once() {
        for (endpoint, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://collector.example/otlp/", "https://collector.example/otlp/v1/traces"),
            ("https://collector.example/otlp/v1/traces", "https://collector.example/otlp/v1/traces"),
        ] {
            assert_eq!(traces_url(&Url::parse(endpoint).unwrap()).as_str(), url);
        }
    }
}
