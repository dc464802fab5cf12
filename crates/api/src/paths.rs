//! Different spellings of one path (contract 01 §2). Requests get the one spelling before they are routed, so that
//! routes, metrics and pages of lists have no second one.

use crate::BASE_PATH;
use crate::service::WELL_KNOWN;
use actix_web::dev::ServiceRequest;
use actix_web::http::Uri;
use std::borrow::Cow;

/// How paths of pages of the panel begin.
const PANEL: &str = "/system/";
/// The suffix that names the format of the answer.
const FORMAT: &str = ".json";
/// A path that ends like a format.
const DOCUMENT: &str = "/openapi.json";

/// Replaces the path of a request to the interface or the panel by its one spelling. Call it before the request is routed.
pub fn normalize(request: &mut ServiceRequest) {
    let Some(path) = normal(request.path()) else { return };
    let target = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = target.parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// The path without doubled slashes, a slash at its end and a format; that of a page of the panel without a slash at its
/// end. `None` for one that is as it should be, and for other paths.
fn normal(path: &str) -> Option<String> {
    let single = without_doubled_slashes(path);
    let rest = single.strip_prefix(BASE_PATH).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let normal = match rest {
        Some("" | "/") => format!("{BASE_PATH}/"),
        Some(rest) => format!("{BASE_PATH}{}", stem(rest)),
        None if single.starts_with("/oauth/") || single.strip_suffix('/') == Some(WELL_KNOWN) => {
            stem(&single).to_owned()
        }
        None if path.starts_with(PANEL) => path.trim_end_matches('/').to_owned(),
        None => return None,
    };
    (normal != path).then_some(normal)
}

fn stem(path: &str) -> &str {
    let path = path.strip_suffix('/').unwrap_or(path);
    let stem = path.strip_suffix(FORMAT).filter(|stem| !stem.ends_with('/') && path != DOCUMENT);
    stem.unwrap_or(path)
}

fn without_doubled_slashes(path: &str) -> Cow<'_, str> {
    if !path.contains("//") {
        return path.into();
    }
    let mut single = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !single.ends_with('/') {
            single.push(character);
        }
    }
    single.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (sent, expected) in [
            ("/proposals/", "/proposals"),
            ("//proposals///7", "/proposals/7"),
            ("/proposals.json", "/proposals"),
            ("/proposals/7.json/", "/proposals/7"),
            ("/webhook_events/user.created.json", "/webhook_events/user.created"),
            ("/openapi.json/", "/openapi.json"),
            ("//openapi.json", "/openapi.json"),
            ("", "/"),
            ("//", "/"),
        ] {
            assert_eq!(
                normal(&format!("{BASE_PATH}{sent}")),
                Some(format!("{BASE_PATH}{expected}")),
                "{sent}"
            );
        }
        assert_eq!(
            normal("//api/rest_full/v0.3/proposals").as_deref(),
            Some("/api/rest_full/v0.3/proposals")
        );
        assert_eq!(normal("/oauth/token/").as_deref(), Some("/oauth/token"));
        assert_eq!(normal("/oauth//token.json").as_deref(), Some("/oauth/token"));
        assert_eq!(normal("/system/").as_deref(), Some("/system"));
        assert_eq!(normal("/system/organizations/").as_deref(), Some("/system/organizations"));
    }

    #[test]
    fn normal_paths_and_those_outside_of_the_interface_stay() {
        for path in ["/", "/proposals", "/proposals/7", "/openapi.json", "/.json", "/roles/a.b"] {
            assert_eq!(normal(&format!("{BASE_PATH}{path}")), None, "{path}");
        }
        for path in [
            "/system",
            "/system/jobs",
            "/systems/",
            "/files/k//x.json",
            "/",
            "/api/rest_full/v0.3x/",
            "/confirmation/x/",
        ] {
            assert_eq!(normal(path), None, "{path}");
        }
    }
}
