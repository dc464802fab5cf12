//! Metrics and spans of requests of the panel. Both have the pattern of the path, not the path.

use crate::panel::Panel;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use civitas_application::{metrics, traces};
use std::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

/// Awaits the answer to a request in a span, and counts it.
pub(crate) async fn instrumented(
    panel: &Panel,
    request: &HttpRequest,
    answer: impl Future<Output = HttpResponse>,
) -> HttpResponse {
    let begun = Instant::now();
    let route = request.match_pattern().map_or("none".to_owned(), |pattern| pattern.replace(":.*}", "}"));
    let method = label(request.method());
    let peer = request.peer_addr().map(|peer| peer.ip());
    let header = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let traceparent = traces::caller_trace(peer, header, &panel.settings.trusted_proxies);
    let span = tracing::info_span!("panel.request", method, route, traceparent, status = Empty);
    let response = answer.instrument(span.clone()).await;
    let status = response.status().as_u16();
    span.record("status", status);
    metrics::record_request(&route, method, status, begun.elapsed());
    response
}

/// A method as a label. Clients may send any word.
fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    }
}
