//! The pages, by area, with their routes.
//!
//! The functions of a file have these names. Handlers: `list`, `show`, `new`, `create`, `edit`, `update`, `confirm_delete`,
//! `delete`; `perform` is an action such as `publish`. `edit_page` is the page of the handler `edit`, also with the problems
//! of a refused form. `tab_head` is the head of one of the tabs of a record, `subpage_head` that of a page below the record.

/// Routes below an address: the methods of each path with their handlers.
macro_rules! routes {
    ($base:literal: $($path:literal => $($method:ident $handler:path),+;)+) => {
        vec![$($($crate::pages::Route {
            method: actix_web::http::Method::$method,
            path: concat!($base, $path),
            handler: |req| Box::pin($handler(req)),
        }),+),+]
    };
}

mod clients;
pub(crate) mod content;
mod operations;
pub(crate) mod people;
mod questionnaires;

use crate::admin_request::AdminRequest;
use crate::reply::Reply;
use actix_web::http::Method;
use civitas_kernel::Result;
use futures_util::future::LocalBoxFuture;

/// Answers a request of an administrator.
pub(crate) type Handler = for<'a> fn(&'a AdminRequest) -> LocalBoxFuture<'a, Result<Reply>>;

/// A page or an action.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) handler: Handler,
}

/// All routes for administrators. PUT and DELETE arrive as POST with `_method`.
pub(crate) fn routes() -> Vec<Route> {
    let areas: [fn() -> Vec<Route>; 5] =
        [operations::routes, content::routes, people::routes, questionnaires::routes, clients::routes];
    areas.into_iter().flat_map(|routes| routes()).collect()
}
