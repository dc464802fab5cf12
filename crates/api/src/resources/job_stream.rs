//! `/jobs/{id}/events` (contract 09 D): a live stream of the states of a job.

use crate::backend::Backend;
use crate::document::OperationDoc;
use crate::reply::Reply;
use crate::request::Request;
use crate::resources::event_stream::{COMMENT, sent_event};
use crate::resources::jobs::{detail, job_id};
use crate::route::{HandlerResult, RequiredAccess, Routes};
use actix_web::http::Method;
use actix_web::web::Bytes;
use civitas_application::{ShareHolder, SharePermit, SharedResource, Store};
use civitas_jobs::{JobAnswer, JobStatus, Jobs};
use civitas_kernel::{Error, JobId, OrganizationId, Result};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// How often a new stream reads its job.
const FAST_POLL_INTERVAL: Duration = Duration::from_millis(300);
/// How often a stream reads its job after [`FAST_POLL_PERIOD`].
const SLOW_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a stream is new.
const FAST_POLL_PERIOD: Duration = Duration::from_secs(10);
/// The pause after which a stream without change sends a comment.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a stream lasts at most.
const MAX_DURATION: Duration = Duration::from_secs(3600);

pub(crate) fn routes(routes: &mut Routes) {
    let doc = OperationDoc::stream("Streams the states of a job as server-sent events").with_failure(429).with_note(
        "A message `status` has the document of the job, at once and at each change; `end` follows the last one. A \
         comment comes every 15 s. The stream ends after an hour.",
    );
    routes.add_route("streamJob", Method::GET, "/jobs/{id}/events", RequiredAccess::Open, doc, stream);
}

async fn stream(request: Request) -> HandlerResult {
    let id = job_id(&request)?;
    let first = find(&*request.store, request.tenant.id, id).await?;
    let holder = ShareHolder { organization: request.tenant.id, client: None, record: None };
    let shares = &request.backend.services.shares;
    let Some(open) = shares.try_take(SharedResource::JobStreams, holder) else {
        shares.refuse(SharedResource::JobStreams, request.tenant.id);
        return Err(Error::TooManyRequests(1).into());
    };
    let now = Instant::now();
    let stream = JobStream {
        organization: request.tenant.id,
        host: request.tenant.host.clone(),
        id,
        started: now,
        silent_since: now,
        next: Some(Box::new(first)),
        sent: None,
        phase: Phase::Follows,
        closing: request.backend.event_streams.closing(),
        backend: request.backend,
        store: request.store,
        _open: open,
    };
    let chunks = unfold(stream, async |mut stream: JobStream| {
        let chunk = stream.next_chunk().await?;
        Some((Ok(chunk), stream))
    });
    Ok(Reply::event_stream(chunks.boxed()))
}

async fn find(store: &dyn Store, organization: OrganizationId, id: JobId) -> Result<JobAnswer> {
    Jobs { store: store.jobs() }.find(organization, id).await
}

/// A stream of the states of a job. It has no task: it reads the job while the connection waits for the next chunk.
struct JobStream {
    backend: Arc<Backend>,
    store: Arc<dyn Store>,
    organization: OrganizationId,
    host: String,
    id: JobId,
    started: Instant,
    /// When the last chunk was sent.
    silent_since: Instant,
    /// The state to look at first.
    next: Option<Box<JobAnswer>>,
    /// The state that was sent last.
    sent: Option<(JobStatus, OffsetDateTime)>,
    phase: Phase,
    closing: watch::Receiver<bool>,
    _open: SharePermit,
}

/// What a stream does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waits for the next state.
    Follows,
    /// Sends `end`.
    Ends,
    Ended,
}

impl JobStream {
    /// The next chunk, after at most 15 s. `None` when the stream ends.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            match self.phase {
                Phase::Follows => {}
                Phase::Ends => {
                    self.phase = Phase::Ended;
                    return Some(sent_event(None, "end", "{}"));
                }
                Phase::Ended => return None,
            }
            let job = if let Some(job) = self.next.take() {
                Ok(*job)
            } else {
                self.pause().await?;
                find(&*self.store, self.organization, self.id).await
            };
            if let Some(writer) = job.as_ref().ok().and_then(JobAnswer::owner_of_ended) {
                self.backend.store().note_position(writer).await;
            }
            let chunk = match job {
                Ok(job) => self.status(job).inspect_err(failed).ok()?,
                // The job was deleted.
                Err(Error::NotFound) => {
                    self.phase = Phase::Ends;
                    continue;
                }
                Err(error) => {
                    failed(&error);
                    return None;
                }
            };
            if let Some(chunk) = chunk {
                self.silent_since = Instant::now();
                return Some(chunk);
            }
            if self.silent_since.elapsed() >= KEEP_ALIVE_INTERVAL {
                self.silent_since = Instant::now();
                return if self.is_switched_on().await { Some(Bytes::from_static(COMMENT)) } else { None };
            }
        }
    }

    /// Waits until the job is read again. `None` when the stream ends.
    async fn pause(&mut self) -> Option<()> {
        let age = self.started.elapsed();
        if age >= MAX_DURATION {
            return None;
        }
        tokio::select! {
            biased;
            _ = self.closing.wait_for(|closing| *closing) => None,
            () = sleep(if age < FAST_POLL_PERIOD { FAST_POLL_INTERVAL } else { SLOW_POLL_INTERVAL }) => Some(()),
        }
    }

    /// The message with a state; `None` when it was sent already.
    fn status(&mut self, job: JobAnswer) -> Result<Option<Bytes>> {
        let state = (job.summary.status, job.summary.updated_at);
        if self.sent.replace(state) == Some(state) {
            return Ok(None);
        }
        if job.summary.status.has_ended() {
            self.phase = Phase::Ends;
        }
        let document = detail(self.backend.commands.site(), &self.host, job)?;
        let document = serde_json::to_string(&document).map_err(Error::internal)?;
        Ok(Some(sent_event(None, "status", &document)))
    }

    /// Whether the interface is switched on for the organization.
    async fn is_switched_on(&self) -> bool {
        let tenant = self.backend.store().organizations().tenant(self.organization).await;
        tenant.inspect_err(failed).ok().flatten().is_some_and(|tenant| tenant.features.enabled)
    }
}

fn failed(error: &Error) {
    tracing::warn!(%error, "a stream of a job ends");
}
