//! Pages of other origins in browsers (contract 01 §11d).

use crate::config::Origin;
use actix_cors::Cors;
use actix_web::middleware::Condition;
use civitas_api::BASE_PATH;

/// How long browsers keep the answer to a preflight, in seconds.
const MAX_AGE: usize = 3600;
/// The headers that scripts may read.
const EXPOSED: [&str; 10] = [
    "ETag",
    "Last-Modified",
    "Location",
    "Retry-After",
    "Idempotent-Replayed",
    "Link",
    "Per-Page",
    "Total",
    "Preference-Applied",
    "Civitas-Position",
];

/// Answers preflights and adds headers for requests of these origins, on the paths of the interface and of the token
/// endpoints. Without origins it does nothing.
pub(crate) fn cors(origins: &[Origin]) -> Condition<Cors> {
    let allows_all = origins.iter().any(|origin| origin.0 == "*");
    let allowed: Vec<String> = origins.iter().map(|origin| origin.0.clone()).collect();
    let cors = Cors::default()
        .allowed_origin_fn(move |origin, head| {
            let is_allowed = || allowed.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
            is_api_path(head.uri.path()) && (allows_all || is_allowed())
        })
        .allowed_methods(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        .allow_any_header()
        .expose_headers(EXPOSED)
        .max_age(MAX_AGE);
    Condition::new(!origins.is_empty(), cors)
}

pub(crate) fn is_api_path(path: &str) -> bool {
    let below =
        |base: &str| path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below(BASE_PATH) || below("/oauth")
}
