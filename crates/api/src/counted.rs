//! Mounts pages that are not in the table of routes, and counts their requests.

use crate::BASE_PATH;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};
use civitas_application::metrics;
use std::sync::Arc;
use std::time::Instant;

/// Mounts a page for `GET` and `HEAD`; other methods answer 404. Its requests are counted under the pattern of the path,
/// below `{base}` as for other routes.
pub(crate) fn mount_page<S: 'static>(
    config: &mut web::ServiceConfig,
    path: &str,
    services: &Arc<S>,
    page: impl AsyncFn(&S, &HttpRequest) -> HttpResponse + Clone + 'static,
) {
    let services = services.clone();
    let answer = move |request: HttpRequest| {
        let (services, page, begun) = (services.clone(), page.clone(), Instant::now());
        async move {
            let response = page(&services, &request).await;
            let pattern = request.match_pattern().unwrap_or_else(|| "none".to_owned());
            let route = pattern.strip_prefix(BASE_PATH).unwrap_or(&pattern);
            let method = if *request.method() == Method::HEAD { "HEAD" } else { "GET" };
            metrics::record_request(route, method, response.status().as_u16(), begun.elapsed());
            response
        }
    };
    config.route(path, web::get().to(answer.clone()));
    config.route(path, web::head().to(answer));
}
