//! Export of traces: finished spans are sent to a collector by OTLP over HTTP, in batches (decision 0040).
//!
//! The library has the queue, the batches and their thread. Here are its HTTP client, the names of the semantic conventions,
//! the links to callers, and the warning when spans are lost.

use civitas_delivery::{client_config, system_roots};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Link, SpanContext, SpanKind, Status, TraceContextExt, TracerProvider};
use opentelemetry::{Context, Key, KeyValue, Value};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter as Export};
use reqwest::Client;
use reqwest::redirect::Policy;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

/// The span of the relay of events, which runs every second, mostly with nothing to do.
const RELAY: &str = "application.webhooks.relay";
/// How long the collector may take for a batch, and for the last spans when the server stops.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Fields of spans of requests, and their names in HTTP semantic conventions 1.23 and newer.
const NAMES: [(&str, &str); 3] =
    [("method", "http.request.method"), ("route", "http.route"), ("status", "http.response.status_code")];
/// The field with the trace of the caller, of a trusted proxy.
const CALLER: &str = "traceparent";

/// The export of the spans of this process.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Begins the export to the collector whose address the exporter reads from the environment; requests run on the runtime
    /// that calls this.
    ///
    /// # Errors
    /// When the client cannot be built. The collector itself is not asked.
    pub(crate) fn start() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let client = Client::builder().tls_backend_preconfigured(client_config(system_roots())?);
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.redirect(Policy::none()).no_proxy().timeout(TIMEOUT).build()?)
            .with_retry_policy(RetryPolicy::disabled())
            .build()?;
        let host = hostname::get().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder_empty().with_service_name("civitas").with_attribute(version);
        exporter.set_resource(&resource.with_attribute(KeyValue::new("host.name", host)).build());
        let (exporter, runtime) = (Arc::new(exporter), Handle::current());
        let exporter = Exporter { inner: exporter, runtime, is_lost: AtomicBool::new(false) };
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).build()))
    }

    /// Gives the spans of Civitas to the export. Events are not exported: the causes of failures are for the log.
    pub(crate) fn layer(&self) -> impl Layer<Registry> + use<> {
        tracing_opentelemetry::layer::<Registry>()
            .with_tracer(self.0.tracer("civitas"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_filter(filter_fn(|span| {
                span.is_span() && span.target().starts_with("civitas") && span.name() != RELAY
            }))
    }

    /// Sends the last spans, and ends the export. Takes a few seconds at most.
    pub(crate) async fn stop(self) {
        let stopped = spawn_blocking(move || self.0.shutdown_with_timeout(TIMEOUT)).await;
        if !matches!(stopped, Ok(Ok(()))) {
            tracing::warn!("the last spans could not be exported");
        }
    }
}

/// Renames spans and sends them on the runtime of the server.
#[derive(Debug)]
struct Exporter {
    inner: Arc<SpanExporter>,
    runtime: Handle,
    /// Whether the last batch was lost. Only the first of several lost batches is logged.
    is_lost: AtomicBool,
}

impl Export for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let (exporter, batch) = (self.inner.clone(), batch.into_iter().map(conventional).collect());
        let sent = self.runtime.spawn(async move { exporter.export(batch).await }).await;
        let sent = sent.unwrap_or_else(|ended| Err(OTelSdkError::InternalFailure(ended.to_string())));
        let was_lost = self.is_lost.swap(sent.is_err(), Relaxed);
        if let (Err(cause), false) = (&sent, was_lost) {
            tracing::warn!(%cause, "traces could not be exported; spans are lost until the collector answers");
        }
        sent
    }
}

/// A span of a request gets the kind, name, attributes and status of one; its caller becomes a link. Other spans stay.
fn conventional(mut span: SpanData) -> SpanData {
    if !span.name.starts_with("api.") && !span.name.starts_with("panel.") {
        return span;
    }
    span.span_kind = SpanKind::Server;
    if let Some(at) = span.attributes.iter().position(|attribute| attribute.key.as_str() == CALLER) {
        let caller = span.attributes.swap_remove(at);
        span.links.links.extend(context(&caller.value.as_str()).map(Link::with_context));
    }
    for attribute in &mut span.attributes {
        if let Some((_, name)) = NAMES.iter().find(|(short, _)| attribute.key.as_str() == *short) {
            attribute.key = Key::from_static_str(name);
        }
    }
    let find = |at: usize| span.attributes.iter().find(|attribute| attribute.key.as_str() == NAMES[at].1);
    if let (Some(method), Some(route)) = (find(0), find(1)) {
        span.name = format!("{} {}", method.value, route.value).into();
    }
    // Errors of the client are not errors of the span.
    if find(2).is_some_and(|status| matches!(status.value, Value::I64(500..))) {
        span.status = Status::error("");
    }
    span
}

/// The context in a header `traceparent` (W3C Trace Context 3.2), whose length and characters are checked already.
fn context(header: &str) -> Option<SpanContext> {
    let headers = HashMap::from([(CALLER.to_owned(), header.to_owned())]);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    context.has_active_span().then(|| context.span().span_context().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_whole_or_not_at_all() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let header = format!("00-{trace}-00f067aa0ba902b7-01");
        let read = context(&header).unwrap();
        assert_eq!(read.trace_id().to_string(), trace);
        assert_eq!(read.span_id().to_string(), "00f067aa0ba902b7");
        for wrong in [
            String::new(),
            header.to_uppercase(),
            format!("{header}-more"),
            header.replace("4bf9", "zzzz"),
            header.replace(trace, &"0".repeat(32)),
            header.replace("00f067aa0ba902b7", &"0".repeat(16)),
        ] {
            assert!(context(&wrong).is_none(), "{wrong}");
        }
    }
}
