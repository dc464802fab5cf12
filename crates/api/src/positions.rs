//! Reads at replicas of the database (docs/decisions/0071-read-replicas.md): after a write its caller has to see it.

use crate::backend::Backend;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{HandlerResult, Route};
use crate::unread_body::UnreadBody;
use actix_web::HttpRequest;
use civitas_application::{Store, metrics};
use civitas_jobs::JobOwner;
use civitas_kernel::{Ctx, Error, Result};
use std::sync::Arc;

/// The header with the position of the log after a write. A read that is sent with it sees the write.
const POSITION: &str = "Civitas-Position";

/// The store for a request, and that of the primary if it reads at a replica.
pub(crate) async fn stores_of(
    route: &Route,
    store: Arc<dyn Store>,
    longest: usize,
    ctx: Option<&Ctx>,
    http: &HttpRequest,
) -> Result<(Arc<dyn Store>, Option<Arc<dyn Store>>)> {
    if route.writes() {
        return Ok((store, None));
    }
    let primary = store.with_page_byte_limit(longest)?;
    let Some(ctx) = ctx.filter(|_| route.doc.is_read_at_replicas) else { return Ok((primary, None)) };
    // What is no position is ignored.
    let position = http.headers().get(POSITION).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(match primary.on_replica(JobOwner::of_caller(ctx), position.unwrap_or_default()).await {
        Some(replica) => (replica, Some(primary)),
        None => (primary, None),
    })
}

/// Calls the handler. A read that failed at a replica is made again on the primary, and so is one that found nothing: the record
/// may be newer than what the replica has.
pub(crate) async fn call(route: &Route, mut request: Request, incoming: Option<UnreadBody>) -> HandlerResult {
    let again = request.primary.take().map(|store| Request { store, ..request.clone() });
    let answer = (route.handler.call)(request, incoming).await;
    match (answer, again) {
        (Err(ApiError::Error(error)), Some(again)) if may_succeed_on_primary(&error) => {
            metrics::replica_read("repeated");
            (route.handler.call)(again, None).await
        }
        (answer, _) => answer,
    }
}

fn may_succeed_on_primary(error: &Error) -> bool {
    let is_fault = matches!(error, Error::Unavailable(_) | Error::Timeout(_) | Error::Internal(_));
    // A read that waits for the log to be replayed is cancelled with a conflict.
    is_fault || matches!(error, Error::Conflict(_) | Error::NotFound)
}

impl Backend {
    /// The reply with the position of the log, if there is a writer, who sees it from now on.
    pub(crate) async fn with_position(&self, reply: Reply, writer: Option<JobOwner>) -> Reply {
        let Some(writer) = writer else { return reply };
        match self.store().note_position(writer).await {
            Some(position) => reply.with_header(POSITION, position.to_string()),
            None => reply,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn only_reads_of_what_is_public_are_made_at_replicas() {
        let routes = crate::api::routes();
        let read = routes.iter().filter(|route| route.doc.is_read_at_replicas && !route.writes());
        let paths: BTreeSet<_> = read.map(|route| route.path.split('/').nth(1).unwrap()).collect();
        let expected = [
            "attachments",
            "blogs",
            "components",
            "meetings",
            "organizations",
            "proposals",
            "questionnaires",
        ];
        assert_eq!(paths, expected.into_iter().chain(["spaces", "vote_proposals"]).collect());
        assert!(routes.iter().all(|route| !route.doc.is_read_at_replicas || route.method == "GET"));
    }
}
