//! Finds the route of a request, with a tree of path segments. actix-web's router tries one pattern after the other.
//! The cost of this router depends on the number of segments, not of routes.

use crate::route::{BASE, Route};
use actix_web::http::Method;
use std::collections::HashMap;
use std::str::Split;
use std::sync::Arc;

/// All routes by their paths.
pub(crate) struct Router(Node);

/// A route that was found, with its path parameters.
pub(crate) struct Found {
    /// The route.
    pub(crate) route: Arc<Route>,
    /// Names and values, in their order.
    pub(crate) parameters: Vec<(String, String)>,
}

/// A node of the tree.
#[derive(Default)]
struct Node {
    literals: HashMap<String, Node>,
    parameter: Option<Box<Node>>,
    routes: Vec<Arc<Route>>,
}

impl Router {
    /// These routes below [`BASE`]; those of OAuth at the root too.
    pub(crate) fn of(routes: Vec<Route>) -> Self {
        let mut root = Node::default();
        for route in routes.into_iter().map(Arc::new) {
            root.down(BASE).down(&route.path).routes.push(route.clone());
            if route.path.starts_with("/oauth/") {
                root.down(&route.path).routes.push(route);
            }
        }
        Self(root)
    }

    /// The route of a decoded path. Literal segments take precedence over parameters; `HEAD` is
    /// answered as `GET`.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<Found> {
        let mut values = Vec::new();
        let node = self.0.at(path.strip_prefix('/')?.split('/'), &mut values)?;
        let asked = if *method == Method::HEAD { &Method::GET } else { method };
        let route = node.routes.iter().find(|route| route.method == *asked)?.clone();
        let names = segments(&route.path).filter_map(name).map(str::to_owned);
        let parameters = names.zip(values.into_iter().map(str::to_owned)).collect();
        Some(Found { route, parameters })
    }
}

impl Node {
    /// The node below this one at such a path; created if missing.
    fn down(&mut self, path: &str) -> &mut Self {
        segments(path).fold(self, |node, segment| match name(segment) {
            Some(_) => node.parameter.get_or_insert_default(),
            None => node.literals.entry(segment.to_owned()).or_default(),
        })
    }

    fn at<'p>(&self, mut rest: Split<'p, char>, values: &mut Vec<&'p str>) -> Option<&Self> {
        let Some(segment) = rest.next() else { return (!self.routes.is_empty()).then_some(self) };
        let literal = self.literals.get(segment);
        if let Some(found) = literal.and_then(|node| node.at(rest.clone(), values)) {
            return Some(found);
        }
        let node = self.parameter.as_ref().filter(|_| !segment.is_empty())?;
        values.push(segment);
        let found = node.at(rest, values);
        if found.is_none() {
            values.pop();
        }
        found
    }
}

/// The segments of a path that begins with `/`.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').skip(1)
}

/// `id` of `{id}`.
fn name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Doc;
    use crate::error::ApiError;
    use crate::route::{Gate, Routes};

    fn router(paths: &[(Method, &'static str)]) -> Router {
        let mut routes = Routes::default();
        for (method, path) in paths {
            let doc = Doc::new("", "");
            routes.on("", method.clone(), path, Gate::Open, doc, async |_| Err(ApiError::NoRoute));
        }
        Router::of(routes.list)
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
        let at = |path: &str| found(&router, &get, &format!("{BASE}{path}"));
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
        let votes = format!("{BASE}/votes");
        assert!(at(Method::GET, &votes) && at(Method::HEAD, &votes) && at(Method::POST, &votes));
        assert!(!at(Method::DELETE, &votes));
        assert!(at(Method::POST, "/oauth/token") && at(Method::POST, &format!("{BASE}/oauth/token")));
        assert!(!at(Method::HEAD, "/oauth/token"));
    }
}
