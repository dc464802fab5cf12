//! Counts requests of pages that are not in the table of routes.

use crate::BASE;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use civitas_application::metrics;
use std::time::Instant;

/// Awaits the answer of a page, and counts it. The route is the pattern of its path, below `{base}` as for other routes.
pub(crate) async fn counted(
    request: &HttpRequest,
    answer: impl Future<Output = HttpResponse>,
) -> HttpResponse {
    let begun = Instant::now();
    let response = answer.await;
    let pattern = request.match_pattern().unwrap_or_else(|| "none".to_owned());
    let route = pattern.strip_prefix(BASE).unwrap_or(&pattern);
    // Pages are mounted for these two methods.
    let method = if *request.method() == Method::HEAD { "HEAD" } else { "GET" };
    metrics::request(route, method, response.status().as_u16(), begun.elapsed());
    response
}
