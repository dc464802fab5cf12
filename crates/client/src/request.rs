//! Requests.

use crate::answer::{Job, JobReceipt, JobStatus, Page, Response};
use crate::error::{Error, Result, retry_after};
use crate::filter::FilterValue;
use crate::session::{OutgoingRequest, Session};
use futures_core::Stream;
use futures_util::stream::{self, TryStreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// The pause before the second look at a job.
const FIRST_DELAY: Duration = Duration::from_millis(50);
/// The longest pause between two looks.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// How long [`Request::run`] waits for a job.
const JOB_TIMEOUT: Duration = Duration::from_secs(60);
/// The records on a page, unless `per_page` is given: the most that the server returns.
const PER_PAGE: u8 = 100;

/// A stream of the records or pages of a list.
pub type Listing<T> = Pin<Box<dyn Stream<Item = Result<T>> + Send>>;

/// The direction of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the least value.
    Ascending,
    /// From the greatest value.
    Descending,
}

/// A request that is not sent yet. A value that cannot be sent is an error when the request is sent.
#[must_use = "a request is sent by `send`, `run`, `total`, `pages` or `items`"]
pub struct Request {
    session: Arc<Session>,
    outgoing: Result<OutgoingRequest>,
}

impl Request {
    pub(crate) fn new(session: Arc<Session>, method: Method, path: &str) -> Self {
        let outgoing = session.address(path);
        let outgoing =
            outgoing.map(|url| OutgoingRequest { method, url, headers: HeaderMap::new(), body: None });
        Self { session, outgoing }
    }

    /// Adds a query parameter: `.query("filter[id_in][]", 7)`.
    pub fn query(mut self, name: &str, value: impl Display) -> Self {
        if let Ok(outgoing) = &mut self.outgoing {
            outgoing.url.query_pairs_mut().append_pair(name, &value.to_string());
        }
        self
    }

    /// Adds a filter, which is a field and a predicate: `.filter("title_cont", "bench")`, `.filter("id_in", [7, 8])`
    /// (contract 01 §6). Records must match all filters. An empty list or text filters nothing.
    pub fn filter(self, key: &str, value: impl Into<FilterValue>) -> Self {
        let value: FilterValue = value.into();
        let name = format!("filter[{key}]{}", if value.is_list { "[]" } else { "" });
        value.texts.iter().fold(self, |request, text| request.query(&name, text))
    }

    /// Sorts a list by a column: `id`, `created_at`, `updated_at`, or one of its own (contract 01 §7).
    pub fn order(self, column: &str, direction: Direction) -> Self {
        let direction = if direction == Direction::Ascending { "asc" } else { "desc" };
        self.replace("order", column).replace("order_direction", direction)
    }

    /// The records on a page of a list, 1 to 100.
    pub fn per_page(self, records: u8) -> Self {
        self.replace("per_page", records)
    }

    /// Sets a query parameter.
    fn replace(mut self, name: &str, value: impl Display) -> Self {
        if let Ok(outgoing) = &mut self.outgoing {
            let url = outgoing.url.clone();
            let others = url.query_pairs().filter(|(known, _)| known != name);
            outgoing.url.query_pairs_mut().clear().extend_pairs(others);
        }
        self.query(name, value)
    }

    /// Sets a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let pair = (HeaderName::try_from(name), HeaderValue::try_from(value));
        match (&mut self.outgoing, pair) {
            (Ok(outgoing), (Ok(name), Ok(value))) => drop(outgoing.headers.insert(name, value)),
            (Ok(_), _) => self.outgoing = Err(Error::Address(format!("the header {name}"))),
            (Err(_), _) => {}
        }
        self
    }

    /// A key that makes repeated requests have one effect (contract 01 §11c). Choose a new one for each write.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// Sets the body.
    pub fn json<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        match (serde_json::to_vec(body), &mut self.outgoing) {
            (Ok(body), Ok(outgoing)) => {
                outgoing.body = Some(body);
                outgoing.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            (Err(error), outgoing @ Ok(_)) => *outgoing = Err(Error::Encode(error)),
            (_, Err(_)) => {}
        }
        self
    }

    /// Sends the request and decodes the body. `()` accepts the empty body of a 204.
    ///
    /// # Errors
    /// [`Error::Api`] for an answer that is no success.
    pub async fn send<T: DeserializeOwned>(self) -> Result<T> {
        self.response().await?.json()
    }

    /// Sends the request. The answer has status, headers and bytes.
    ///
    /// # Errors
    /// [`Error::Api`] for an answer that is no success.
    pub async fn response(self) -> Result<Response> {
        self.session.execute(self.outgoing?).await
    }

    /// Sends an asynchronous write, waits at most a minute for its job, and decodes what the synchronous endpoint
    /// returns.
    ///
    /// # Errors
    /// [`Error::JobFailed`], [`Error::JobTimeout`], those of [`Self::send`].
    pub async fn run<T: DeserializeOwned>(self) -> Result<T> {
        let session = self.session.clone();
        let accepted: JobReceipt = self.send().await?;
        let job = wait(session, accepted.job_id, JOB_TIMEOUT).await?;
        serde_json::from_value(job.data).map_err(Error::Decode)
    }

    /// The number of all records of a list. The request has the header `Prefer: count=exact` (contract 01 §7).
    ///
    /// # Errors
    /// [`Error::NoTotal`] when the path is no list; those of [`Self::send`].
    pub async fn total(self) -> Result<u64> {
        let counted = self.header("prefer", "count=exact").per_page(1);
        counted.response().await?.total().ok_or(Error::NoTotal)
    }

    /// The pages of a list, from `page` (1 unless given), with 100 records unless `per_page` is given. Each page has
    /// the parameters of the next one, in the header `Link`, or else in `meta.next`; they are sent to the same path. A
    /// list in random order has no end.
    pub fn pages<T: DeserializeOwned + Send + 'static>(self) -> Listing<Page<T>> {
        let is_sized = self.outgoing.as_ref().is_ok_and(|outgoing| has_parameter(outgoing, "per_page"));
        let Self { session, outgoing } = if is_sized { self } else { self.per_page(PER_PAGE) };
        let pages = stream::try_unfold(Some(outgoing), move |request| {
            let session = session.clone();
            async move {
                let Some(request) = request else { return Ok(None) };
                let request = request?;
                let answer = session.execute(request.clone()).await?;
                let page: Page<T> = answer.json()?;
                let next = answer.next_page().or(page.meta.next.as_deref());
                let next = next.map(|address| at_page(request, address));
                Ok(Some((page, next)))
            }
        });
        Box::pin(pages)
    }

    /// The records of all pages of a list, as [`Self::pages`].
    pub fn items<T: DeserializeOwned + Send + 'static>(self) -> Listing<T> {
        Box::pin(
            self.pages().map_ok(|page: Page<T>| stream::iter(page.data.into_iter().map(Ok))).try_flatten(),
        )
    }
}

fn has_parameter(outgoing: &OutgoingRequest, name: &str) -> bool {
    outgoing.url.query_pairs().any(|(known, _)| known == name)
}

/// The request for the page of this address. It has the path of the first one: no address leads to another server.
fn at_page(mut outgoing: OutgoingRequest, address: &str) -> Result<OutgoingRequest> {
    let url = outgoing.url.join(address).map_err(|_| Error::Address(address.to_owned()))?;
    outgoing.url.set_query(url.query());
    Ok(outgoing)
}

/// Waits until a job has completed.
pub(crate) async fn wait(session: Arc<Session>, id: Uuid, timeout: Duration) -> Result<Job> {
    let (end, mut delay) = (Instant::now() + timeout, FIRST_DELAY);
    loop {
        let pause = match Request::new(session.clone(), Method::GET, &format!("/jobs/{id}")).response().await
        {
            Ok(answer) => {
                let job: Job = answer.json()?;
                match job.status {
                    JobStatus::Completed => return Ok(job),
                    JobStatus::Failed => return Err(failed(job)),
                    JobStatus::Pending | JobStatus::Processing => retry_after(&answer.headers),
                }
            }
            Err(Error::Api(error)) if is_busy(error.status) => error.retry_after,
            Err(error) => return Err(error),
        };
        let pause = pause.map_or(delay, |pause| pause.max(FIRST_DELAY));
        if Instant::now() + pause > end {
            return Err(Error::JobTimeout(id));
        }
        sleep(pause).await;
        delay = delay.mul_f64(1.6).min(MAX_DELAY);
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn failed(job: Job) -> Error {
    let (class, message) = (job.error_class.unwrap_or_default(), job.error_message.unwrap_or_default());
    Error::JobFailed { id: job.id, class, message, details: job.error_details }
}
