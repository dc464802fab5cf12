//! HTTP answers: documents, lists, validators, 304 (contract 01 §2, §7, §8).

use crate::error::JSON;
use crate::request::Request;
use actix_web::HttpResponse;
use actix_web::http::header::{
    CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, HttpDate, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use civitas_application::SharePermit;
use civitas_kernel::{Error, Page, PageRequest, Result, clock, sortable_id};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, empty};
use ring::digest::{Context, SHA256};
use serde::Serialize;
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use time::OffsetDateTime;
use utoipa::ToSchema;

/// The media type of server-sent events.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";
/// The media type of one JSON document on each line.
pub(crate) const NDJSON: &str = "application/x-ndjson";
const REVALIDATED: HeaderValue = HeaderValue::from_static("private, max-age=0, must-revalidate");

/// One resource.
#[derive(Debug, Serialize)]
pub(crate) struct Document<T> {
    pub(crate) data: T,
}

/// One page of resources.
#[derive(Debug, Serialize)]
pub(crate) struct Collection<T, M = CollectionMeta> {
    pub(crate) data: Vec<T>,
    /// The position of the page in the list.
    pub(crate) meta: M,
}

/// The position of a page in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = collection_meta)]
pub(crate) struct CollectionMeta {
    /// The first page is 1.
    #[schema(minimum = 1)]
    pub(crate) page: i64,
    /// Rows on a page.
    #[schema(minimum = 1, maximum = 100)]
    pub(crate) per_page: i64,
    /// Whether another page follows.
    pub(crate) has_more: bool,
    /// Its address.
    #[schema(required)]
    pub(crate) next: Option<String>,
    /// The address of the page before.
    #[schema(required)]
    pub(crate) prev: Option<String>,
}

impl CollectionMeta {
    /// The position of the requested page, with the addresses of the pages beside it.
    pub(crate) fn new(request: &Request, has_more: bool) -> Self {
        let PageRequest { page, per_page, .. } = request.query.page();
        Self {
            page,
            per_page,
            has_more,
            next: has_more.then(|| page_address(request, page.saturating_add(1))),
            prev: (page > 1).then(|| page_address(request, page - 1)),
        }
    }

    /// The value of the header `Link` (RFC 8288). `total`: the number of all rows, if it tells which page is the last.
    fn links(&self, request: &Request, total: Option<i64>) -> String {
        let last = total.map(|total| (total - 1).max(0) / self.per_page + 1);
        let links = [
            ("first", Some(page_address(request, 1))),
            ("prev", self.prev.clone()),
            ("next", self.next.clone()),
            ("last", last.map(|page| page_address(request, page))),
        ];
        let links = links.into_iter().filter_map(|(rel, to)| Some(format!("<{}>; rel=\"{rel}\"", to?)));
        links.collect::<Vec<_>>().join(", ")
    }
}

/// The address of a page of the requested list.
fn page_address(request: &Request, page: i64) -> String {
    let (origin, query) = (&request.origin, &request.query);
    let query = query.for_page(page, query.page().per_page);
    format!("{}://{}{}?{query}", origin.scheme, origin.authority, request.path)
}

/// The chunks of a body that is written while the connection is open.
pub(crate) type Chunks = BoxStream<'static, Result<Bytes, Infallible>>;

/// The body of an answer.
enum Content {
    Whole(Bytes),
    /// A stream of events; `None` after the answer was sent.
    Stream(Mutex<Option<Chunks>>),
}

/// A body with the permit that it holds.
struct BodyWithPermit {
    body: Bytes,
    _permit: SharePermit,
}

impl AsRef<[u8]> for BodyWithPermit {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// An answer.
pub(crate) struct Reply {
    status: StatusCode,
    content: Content,
    validators: Option<Validators>,
    headers: Vec<(Cow<'static, str>, String)>,
    media_type: &'static str,
}

/// The validators, compared with those of conditional requests.
#[derive(Clone)]
struct Validators {
    etag: String,
    last_modified: SystemTime,
    /// The headers of the request that the answer depends on.
    vary: Vec<&'static str>,
}

impl Reply {
    /// A document without validators: the answer to a write.
    pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(document).map_err(Error::internal)?;
        Ok(Self { content: Content::Whole(body.into()), ..Self::empty(status) })
    }

    /// A document that is already rendered.
    pub(crate) fn json_text(status: StatusCode, body: String) -> Self {
        Self { content: Content::Whole(body.into()), ..Self::empty(status) }
    }

    /// Documents that are already rendered, each with the end of its line.
    pub(crate) fn ndjson(lines: String) -> Self {
        Self { media_type: NDJSON, ..Self::json_text(StatusCode::OK, lines) }
    }

    /// An answer that was stored.
    ///
    /// # Errors
    /// `Internal` for a status that does not exist.
    pub(crate) fn from_stored(status: u16, headers: Vec<(String, String)>, body: String) -> Result<Self> {
        let status = StatusCode::from_u16(status).map_err(Error::internal)?;
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Ok(Self { headers, ..Self::json_text(status, body) })
    }

    /// The same, with a permit that is held until the body was sent.
    pub(crate) fn with_permit(mut self, permit: SharePermit) -> Self {
        if let Content::Whole(body) = self.content {
            self.content = Content::Whole(Bytes::from_owner(BodyWithPermit { body, _permit: permit }));
        }
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers that were added, names and values.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        self.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    /// The body as text.
    ///
    /// # Errors
    /// `Internal` for a body that is no text.
    pub(crate) fn text(&self) -> Result<&str> {
        std::str::from_utf8(self.body_bytes()).map_err(Error::internal)
    }

    /// Server-sent events, which caches and proxies neither store nor delay.
    pub(crate) fn event_stream(chunks: Chunks) -> Self {
        let content = Content::Stream(Mutex::new(Some(chunks)));
        let reply = Self { content, media_type: EVENT_STREAM, ..Self::empty(StatusCode::OK) };
        reply.with_header("Cache-Control", "no-store").with_header("X-Accel-Buffering", "no")
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        let content = Content::Whole(Bytes::new());
        Self { status, content, validators: None, headers: Vec::new(), media_type: JSON }
    }

    /// The answer to a read: a document with its last change, as visible to this caller.
    ///
    /// # Errors
    /// `AnswerTooLong`.
    pub(crate) fn for_read(
        request: &Request,
        document: &impl Serialize,
        changed_at: OffsetDateTime,
    ) -> Result<Self> {
        Self::with_validators(request, document, changed_at, "")
    }

    /// The same for an answer that depends on more than the document: `state`, which changes the `ETag` too.
    fn with_validators(
        request: &Request,
        document: &impl Serialize,
        changed_at: OffsetDateTime,
        state: &str,
    ) -> Result<Self> {
        let mut reply = Self::json(StatusCode::OK, document)?;
        if reply.body_bytes().len() > request.longest {
            return Err(Error::AnswerTooLong);
        }
        reply.validators = Some(Validators {
            etag: etag(request, reply.body_bytes(), state),
            // No HTTP date is earlier.
            last_modified: SystemTime::from(changed_at).max(SystemTime::UNIX_EPOCH),
            vary: vec!["Authorization"],
        });
        Ok(reply)
    }

    /// The answer to a read that is the same for all callers.
    pub(crate) fn for_public_read(
        request: &Request,
        document: &impl Serialize,
        changed_at: OffsetDateTime,
    ) -> Result<Self> {
        let mut reply = Self::for_read(request, document, changed_at)?;
        if let Some(validators) = &mut reply.validators {
            validators.vary.clear();
        }
        Ok(reply)
    }

    /// The answer to the read of a list, whose `meta` has the position of the page. With `shuffled` the order is random
    /// for each request.
    pub(crate) fn for_list<T: Serialize, M: Serialize>(
        request: &Request,
        page: Page<T>,
        shuffled: bool,
        changed_at: OffsetDateTime,
        meta: impl FnOnce(CollectionMeta) -> M,
    ) -> Result<Self> {
        let position = CollectionMeta::new(request, page.has_more || shuffled);
        let links = position.links(request, page.total.filter(|_| !shuffled));
        let (total, per_page) = (page.total, position.per_page);
        let nonce = if shuffled { sortable_id().to_string() } else { String::new() };
        let document = Collection { data: page.items, meta: meta(position) };
        let reply = Self::with_validators(request, &document, changed_at, &format!("{total:?} {nonce}"))?;
        let reply =
            reply.varying("Prefer").with_header("Per-Page", per_page.to_string()).with_header("Link", links);
        Ok(match total {
            Some(total) => {
                reply.with_header("Total", total.to_string()).with_header("Preference-Applied", "count=exact")
            }
            None => reply,
        })
    }

    /// The answer depends on `Accept-Language`.
    pub(crate) fn localized(self) -> Self {
        self.varying("Accept-Language")
    }

    /// The answer depends on this header of the request.
    fn varying(mut self, header: &'static str) -> Self {
        if let Some(validators) = &mut self.validators {
            validators.vary.push(header);
        }
        self
    }

    /// The body; empty for a stream.
    fn body_bytes(&self) -> &[u8] {
        match &self.content {
            Content::Whole(body) => body,
            Content::Stream(_) => &[],
        }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The HTTP answer: 304 if a validator of the request matches.
    pub(crate) fn respond(&self, request: &actix_web::HttpRequest) -> HttpResponse {
        let fresh = self.validators.as_ref().is_some_and(|v| v.match_request(request));
        let status = if fresh { StatusCode::NOT_MODIFIED } else { self.status };
        let mut response = HttpResponse::build(status);
        if let Some(validators) = &self.validators {
            response.insert_header((ETAG, validators.etag.as_str()));
            response.insert_header((LAST_MODIFIED, HttpDate::from(validators.last_modified)));
            response.insert_header((CACHE_CONTROL, REVALIDATED));
            if !validators.vary.is_empty() {
                response.insert_header((VARY, validators.vary.join(", ")));
            }
        }
        for (name, value) in &self.headers {
            response.insert_header((name.as_ref(), value.as_str()));
        }
        match &self.content {
            Content::Whole(body) if fresh || body.is_empty() && self.media_type == JSON => response.finish(),
            Content::Whole(body) => response.content_type(self.media_type).body(body.clone()),
            Content::Stream(chunks) => {
                let chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner).take();
                // `HEAD` has the same headers; the body would be read, and not sent.
                let chunks = chunks.filter(|_| *request.method() != Method::HEAD);
                response.content_type(self.media_type).streaming(chunks.unwrap_or_else(|| empty().boxed()))
            }
        }
    }
}

impl Validators {
    fn match_request(&self, request: &actix_web::HttpRequest) -> bool {
        let headers = request.headers();
        if let Some(is_named) = none_match_names(headers, &self.etag) {
            return is_named;
        }
        let since = headers.get(IF_MODIFIED_SINCE).and_then(|v| v.to_str().ok());
        let since = since.and_then(|text| text.parse::<HttpDate>().ok()).map(SystemTime::from);
        let (changed, now) = (seconds(self.last_modified), seconds(clock::now().into()));
        // `Last-Modified` has a resolution of one second: in the current second there may be another change.
        changed < now && since.is_some_and(|since| seconds(since) >= changed)
    }
}

/// Whether `If-None-Match` names a validator; weak comparison. `None` without that header.
pub(crate) fn none_match_names(headers: &HeaderMap, etag: &str) -> Option<bool> {
    fn opaque(tag: &str) -> &str {
        tag.strip_prefix("W/").unwrap_or(tag)
    }
    let mut sent = headers.get_all(IF_NONE_MATCH).peekable();
    sent.peek()?;
    let mut tags = sent.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    Some(tags.any(|tag| tag.trim() == "*" || opaque(tag.trim()) == opaque(etag)))
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// A digest of the body and the caller: it changes with the body, and differs between callers.
fn etag(request: &Request, body: &[u8], nonce: &str) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(body);
    if let Some(ctx) = &request.ctx {
        let asked = request.locales().ok().flatten();
        let languages = (asked, request.language.get());
        let whose = (ctx.organization, ctx.caller.client, ctx.participant(), ctx.viewer, languages);
        hash.update(format!("{whose:?}").as_bytes());
    }
    hash.update(request.path.as_bytes());
    hash.update(request.query.fingerprint().as_bytes());
    hash.update(nonce.as_bytes());
    etag_of(hash)
}

/// The validator of a digest.
pub(crate) fn etag_of(hash: Context) -> String {
    format!("W/\"{}\"", URL_SAFE_NO_PAD.encode(&hash.finish().as_ref()[..18]))
}
