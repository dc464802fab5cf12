//! Finds the route of a request in a tree of paths. actix-web's router tries one pattern after the other; the cost of this
//! router depends on the length of the path, not on the number of routes.

use crate::BASE_PATH;
use crate::route::Route;
use actix_web::http::Method;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All routes by their paths.
pub(crate) struct Router(matchit::Router<Vec<Arc<Route>>>);

/// A route that was found, with its path parameters.
pub(crate) struct RouteMatch {
    pub(crate) route: Arc<Route>,
    /// Names and values, in their order.
    pub(crate) parameters: Vec<(String, String)>,
}

impl Router {
    /// These routes below [`BASE_PATH`]; those of OAuth at the root too.
    pub(crate) fn new(routes: Vec<Route>) -> Self {
        let mut by_path: BTreeMap<String, Vec<Arc<Route>>> = BTreeMap::new();
        for route in routes.into_iter().map(Arc::new) {
            by_path.entry(format!("{BASE_PATH}{}", route.path)).or_default().push(route.clone());
            if route.path.starts_with("/oauth/") {
                by_path.entry(route.path.clone()).or_default().push(route);
            }
        }
        let mut tree = matchit::Router::new();
        for (path, routes) in by_path {
            tree.insert(path, routes).expect("a parameter has one name in all methods of a path");
        }
        Self(tree)
    }

    /// The route of a decoded path. Literal segments take precedence over parameters; `HEAD` is
    /// answered as `GET`.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<RouteMatch> {
        let found = self.0.at(path).ok()?;
        let asked = if *method == Method::HEAD { &Method::GET } else { method };
        let route = found.value.iter().find(|route| route.method == *asked)?.clone();
        let parameters = found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Some(RouteMatch { route, parameters: parameters.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::OperationDoc;
    use crate::error::ApiError;
    use crate::route::{RequiredAccess, Routes};

    fn router(paths: &[(Method, &'static str)]) -> Router {
        let mut routes = Routes::default();
        for (method, path) in paths {
            let doc = OperationDoc::new("", "");
            routes.add_route("", method.clone(), path, RequiredAccess::Open, doc, async |_| {
                Err(ApiError::NoRoute)
            });
        }
        Router::new(routes.list)
    }

    fn found(router: &Router, method: &Method, path: &str) -> Option<(String, Vec<String>)> {
        let found = router.find(method, path)?;
        let values = found.parameters.into_iter().map(|(name, value)| format!("{name}={value}"));
        Some((found.route.path.clone(), values.collect()))
    }

    #[test]
    fn literals_go_before_names_and_a_dead_end_is_left_again() {
        let get = Method::GET;
        let router = router(&[
            (Method::GET, "/spaces/{id}"),
            (Method::GET, "/spaces/search"),
            (Method::GET, "/spaces/{id}/steps/{step}"),
        ]);
        let at = |path: &str| found(&router, &get, &format!("{BASE_PATH}{path}"));
        assert_eq!(at("/spaces/search"), Some(("/spaces/search".to_owned(), vec![])));
        assert_eq!(at("/spaces/7"), Some(("/spaces/{id}".to_owned(), vec!["id=7".into()])));
        let both = vec!["id=search".to_owned(), "step=9".to_owned()];
        assert_eq!(at("/spaces/search/steps/9"), Some(("/spaces/{id}/steps/{step}".to_owned(), both)));
        for nowhere in ["", "/", "/spaces", "/spaces/", "/spaces/7/", "/spaces//steps/9", "/Spaces/7"] {
            assert_eq!(at(nowhere), None, "{nowhere}");
        }
        assert_eq!(found(&router, &get, "/spaces/7"), None, "only below the base");
    }

    #[test]
    fn a_route_is_found_by_its_method_and_reads_by_head_too() {
        let router =
            router(&[(Method::GET, "/votes"), (Method::POST, "/votes"), (Method::POST, "/oauth/token")]);
        let at = |method, path: &str| found(&router, &method, path).is_some();
        let votes = format!("{BASE_PATH}/votes");
        assert!(at(Method::GET, &votes) && at(Method::HEAD, &votes) && at(Method::POST, &votes));
        assert!(!at(Method::DELETE, &votes));
        assert!(at(Method::POST, "/oauth/token") && at(Method::POST, &format!("{BASE_PATH}/oauth/token")));
        assert!(!at(Method::HEAD, "/oauth/token"));
    }
}
