//! How the two endpoints of a write answer.

use crate::document::Doc;
use crate::receipt::Accepted;
use crate::reply::Reply;
use crate::request::Request;
use actix_web::http::StatusCode;
use civitas_application::View;
use civitas_kernel::{Command, JobId, Result};
use serde_json::Value;

/// How the two endpoints of a write answer.
pub(crate) struct Endpoints<C: Command> {
    /// The answer of the asynchronous endpoint.
    pub(crate) accepted: fn(&Request, JobId) -> Result<Reply>,
    /// Describes that answer.
    pub(crate) describe_accepted: fn(Doc) -> Doc,
    /// Adds headers to the answer of the synchronous endpoint, with this document.
    pub(crate) complete: fn(Reply, &Value) -> Reply,
    /// Renders the result of a job; `None`: as the synchronous endpoint.
    pub(crate) job_view: Option<View<C>>,
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "a derived one requires that commands are `Copy`")]
impl<C: Command> Clone for Endpoints<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Command> Copy for Endpoints<C> {}

impl<C: Command> Endpoints<C> {
    /// The asynchronous endpoint answers with the receipt of contract 09 A.2, the synchronous one with the document.
    pub(crate) fn common() -> Self {
        Self {
            accepted: |request, id| Reply::json(StatusCode::ACCEPTED, &Accepted::of(request, id)),
            describe_accepted: |doc| doc.accepted::<Accepted>(),
            complete: |reply, _| reply,
            job_view: None,
        }
    }
}
