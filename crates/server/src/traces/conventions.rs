//! Spans as the semantic conventions of OpenTelemetry name them: the log has short names, collectors expect these.

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Link, SpanContext, SpanKind, Status, TraceContextExt};
use opentelemetry::{Context, Key, KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use std::collections::HashMap;
use std::time::Duration;

/// Fields of spans of requests, and their names in HTTP semantic conventions 1.23 and newer.
const NAMES: [(&str, &str); 3] =
    [("method", "http.request.method"), ("route", "http.route"), ("status", "http.response.status_code")];
/// The field with the trace of the caller, of a trusted proxy.
const CALLER: &str = "traceparent";

/// An exporter that renames before it exports.
#[derive(Debug)]
pub(super) struct Conventional<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for Conventional<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.export(batch.into_iter().map(conventional).collect()).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
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
    let find = |name: &str| span.attributes.iter().find(|attribute| attribute.key.as_str() == name);
    if let (Some(method), Some(route)) = (find("http.request.method"), find("http.route")) {
        span.name = format!("{} {}", method.value, route.value).into();
    }
    if find("http.response.status_code").is_some_and(is_fault) {
        span.status = Status::error("");
    }
    span
}

/// Whether the server failed. Errors of the client are not errors of the span (HTTP semantic conventions, server).
fn is_fault(status: &KeyValue) -> bool {
    matches!(status.value, Value::I64(500..))
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
