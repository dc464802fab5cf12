//! When a connection may read, and the time limits that actix-http does not have.
//!
//! actix-http limits the time of the first head of a connection and of idle connections ([`HEAD_TIME`], [`KEEP_ALIVE`]). It has no
//! limit for a later head that does not end; for requests that are sent before the answers to others, of which it parses as many as
//! it has read; for answers without body that wait for their client; and for clients that read some bytes now and then.

use crate::pieces::{LONGEST, Passed, Piece};
use crate::unread::{Chunks, Unread};
use actix_http::error::PayloadError;
use actix_http::{Payload, Request};
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::rt::time::{Instant, Sleep, sleep_until, timeout};
use actix_web::web::Bytes;
use futures_util::Stream;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

/// How long the head of a request may take to arrive.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection may be idle. Proxies keep theirs for 60 s: one that ended earlier could end while a request is on its way.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// The longest body that is read although the handler does not wait for it, in bytes.
const SHORT: u64 = LONGEST as u64;
/// How long an answer waits for a short body that its handler did not read, and which follows its head in a packet of its own.
const BODY_TIME: Duration = Duration::from_millis(200);
/// How long after an answer the next head has begun; the rest of the last body arrives in this time.
const LONGEST_WAIT: Duration = Duration::from_secs(180);
/// The least speed of a client that reads, in bytes per second, after the time in which it need not read anything. The system
/// takes more only when it has sent some 32 KiB, so a client that reads less in that time may be late too.
const LEAST_PER_SECOND: u32 = 1024;
/// A client that has read much need not read anything for so many of these times.
const MOST_STALLS: u32 = 2;

/// The limits of a connection.
pub(crate) struct Limits {
    phase: Cell<Phase>,
    /// What was not read of the body of the last request.
    unread: Cell<Unread>,
    /// Whether the handler waits for more of that body.
    is_awaited: Cell<bool>,
    /// Whether the client sends no more.
    is_at_end: Cell<bool>,
    /// The bytes of the body of the next request that were read with its head.
    read_with_head: Cell<usize>,
    client: Cell<Reading>,
    /// How long the client need not read anything.
    stall: Duration,
    /// Wakes the connection when it may read again.
    reader: RefCell<Option<Waker>>,
}

/// How the client reads, in one answer or several that it gets at once. Only the time in which an answer waits for it counts.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Since when an answer waits for the client.
    waits_since: Option<Instant>,
    /// Whether one has waited.
    has_waited: bool,
    /// For how long the client need not read anything, from then on.
    left: Duration,
}

impl Reading {
    fn new(stall: Duration) -> Self {
        Self { waits_since: None, has_waited: false, left: stall }
    }

    /// Counts the time until now.
    fn count(&mut self, now: Instant) {
        if let Some(since) = self.waits_since.take() {
            self.left = self.left.saturating_sub(now - since);
        }
    }
}

/// What a connection does.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It waits for the first head, whose time actix-http limits.
    New,
    /// It answers a request.
    Answering,
    /// It waits for the next head, or for what was not read of the body before it, since then.
    Idle(Instant),
    /// It has read the beginning of the next head, then.
    Begun(Instant),
}

impl Limits {
    pub(crate) fn new(stall: Duration) -> Self {
        Self {
            phase: Cell::new(Phase::New),
            unread: Cell::new(Unread::Nothing),
            is_awaited: Cell::new(false),
            is_at_end: Cell::new(false),
            read_with_head: Cell::new(0),
            client: Cell::new(Reading::new(stall)),
            stall,
            reader: RefCell::default(),
        }
    }

    /// Ready with what may be read: a part of the body that the handler waits for, or a short one, or else what is left of the body
    /// before the next head, or that head. Nothing while an answer waits for the client.
    pub(crate) fn poll_may_read(&self, cx: &Context<'_>) -> Poll<Piece> {
        if self.client.get().waits_since.is_none() {
            let (is_answering, unread) = (matches!(self.phase.get(), Phase::Answering), self.unread.get());
            match unread {
                Unread::Nothing if is_answering => {}
                Unread::Bytes(..=SHORT) => return Poll::Ready(Piece::Body(unread)),
                _ if is_answering && !self.is_awaited.get() => {}
                Unread::Bytes(_) | Unread::Chunks(_) => return Poll::Ready(Piece::Body(unread)),
                Unread::Unknown if is_answering => return Poll::Ready(Piece::Body(unread)),
                Unread::Nothing | Unread::Unknown => return Poll::Ready(Piece::Head),
            }
        }
        *self.reader.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Notes what has been read and passed on.
    pub(crate) fn read(&self, passed: Passed) {
        match passed {
            Passed::Head { has_begun, body } => {
                self.read_with_head.set(body);
                if has_begun && matches!(self.phase.get(), Phase::Idle(_)) {
                    self.phase.set(Phase::Begun(Instant::now()));
                }
            }
            Passed::Body { left, has_data } => {
                self.unread.set(left);
                if has_data {
                    self.is_awaited.set(false);
                }
                if left == Unread::Nothing && matches!(self.phase.get(), Phase::Idle(_)) {
                    self.phase.set(Phase::Idle(Instant::now()));
                }
            }
        }
    }

    /// Notes that the client sends no more.
    pub(crate) fn read_all(&self) {
        self.is_at_end.set(true);
    }

    /// Whether a part of the last body was not read.
    pub(crate) fn has_unread(&self) -> bool {
        self.unread.get() != Unread::Nothing
    }

    /// Notes that so many bytes have been written; `None`: the client has to read first.
    pub(crate) fn wrote(&self, bytes: Option<usize>) {
        let mut client = self.client.get();
        match bytes {
            None if client.waits_since.is_none() => {
                (client.waits_since, client.has_waited) = (Some(Instant::now()), true);
            }
            Some(bytes) if client.has_waited => {
                let (waits, now) = (client.waits_since.is_some(), Instant::now());
                client.count(now);
                let more = Duration::from_secs(bytes as u64) / LEAST_PER_SECOND;
                client.left = (client.left + more).min(MOST_STALLS * self.stall);
                client.waits_since = waits.then_some(now);
            }
            _ => return,
        }
        self.client.set(client);
    }

    /// Notes that all has been written.
    pub(crate) fn wrote_all(&self) {
        let mut client = self.client.get();
        if client.waits_since.is_some() {
            let now = Instant::now();
            client.count(now);
            self.client.set(client);
            if let Phase::Idle(_) = self.phase.get() {
                self.phase.set(Phase::Idle(now));
            }
            self.wake_reader();
        }
    }

    /// Begins the answer to a request, which lasts until the result is dropped.
    pub(crate) fn begin(self: &Rc<Self>, request: &mut Request) -> Answering {
        self.phase.set(Phase::Answering);
        if self.client.get().waits_since.is_none() {
            self.client.set(Reading::new(self.stall));
        }
        let (payload, with_head) = (request.take_payload(), self.read_with_head.take());
        self.is_awaited.set(false);
        self.unread.set(unread(request, &payload, with_head as u64));
        let has_whole_body = with_head > 0 && self.unread.get() == Unread::Nothing;
        if !matches!(payload, Payload::None) {
            let stream: Pin<Box<dyn Stream<Item = _>>> =
                Box::pin(RequestBody { payload, limits: self.clone() });
            *request.payload() = stream.into();
        }
        Answering { limits: self.clone(), has_whole_body }
    }

    /// Notes that the handler waits for more of the body, until it gets that.
    fn await_body(&self) {
        if !self.is_awaited.replace(true) {
            self.wake_reader();
        }
    }

    fn wake_reader(&self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// When the client is late: with reading an answer, or else with the rest of a head.
    fn deadline(&self) -> Option<Instant> {
        let Reading { waits_since, left, .. } = self.client.get();
        match (waits_since, self.phase.get()) {
            (Some(since), _) => Some(since + left),
            (None, Phase::Begun(since)) => Some(since + HEAD_TIME),
            (None, Phase::Idle(since)) => Some(since + LONGEST_WAIT),
            (None, Phase::New | Phase::Answering) => None,
        }
    }
}

/// What is to be read of the body of a request, of which so many bytes were read with the head.
fn unread(request: &Request, payload: &Payload, with_head: u64) -> Unread {
    if matches!(payload, Payload::None) {
        return Unread::Nothing;
    }
    let headers = request.head().headers();
    if headers.contains_key(TRANSFER_ENCODING) {
        return Unread::Chunks(Chunks::default());
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.trim().parse::<u64>().ok());
    length.map_or(Unread::Unknown, |length| Unread::of_length(length.saturating_sub(with_head)))
}

/// An answer that is not complete.
pub(crate) struct Answering {
    limits: Rc<Limits>,
    has_whole_body: bool,
}

impl Answering {
    /// Whether all of the body of the request was read with its head.
    pub(crate) fn has_whole_body(&self) -> bool {
        self.has_whole_body
    }

    /// Waits until the dispatcher has a short body that the handler did not read. Else the answer would end the connection.
    pub(crate) async fn body_arrived(&self) {
        if let Unread::Bytes(..=SHORT) = self.limits.unread.get() {
            let is_over = || !self.limits.has_unread() || self.limits.is_at_end.get();
            // The dispatcher polls the answer whenever it has read something.
            let arrived = poll_fn(|_| if is_over() { Poll::Ready(()) } else { Poll::Pending });
            // It may not come.
            let _ = timeout(BODY_TIME, arrived).await;
        }
    }

    /// The body of the answer.
    pub(crate) fn body(self, body: BoxBody) -> AnswerBody {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.limits.phase.set(Phase::Idle(Instant::now()));
        self.limits.wake_reader();
    }
}

/// The body of an answer, which lasts until it is dropped.
pub(crate) struct AnswerBody {
    body: BoxBody,
    _answering: Answering,
}

impl MessageBody for AnswerBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}

/// The body of a request.
struct RequestBody {
    payload: Payload,
    limits: Rc<Limits>,
}

impl Stream for RequestBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = Pin::new(&mut self.payload).poll_next(cx);
        match &polled {
            Poll::Pending => self.limits.await_body(),
            Poll::Ready(None) => self.limits.unread.set(Unread::Nothing),
            Poll::Ready(Some(_)) => self.limits.is_awaited.set(false),
        }
        polled
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.limits.is_awaited.set(false);
    }
}

/// Says when the client of a connection is late.
pub(crate) struct Clock {
    limits: Rc<Limits>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Clock {
    pub(crate) fn new(limits: Rc<Limits>) -> Self {
        Self { limits, sleep: None }
    }

    /// Ready when the client is late. To be called whenever the connection has nothing else to do.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(deadline) = self.limits.deadline() {
            // One that ends earlier is of an earlier request, and is set again at its end.
            let is_early = |sleep: &Pin<Box<Sleep>>| sleep.deadline() <= deadline;
            let sleep = self.sleep.take().filter(is_early).unwrap_or_else(|| Box::pin(sleep_until(deadline)));
            ready!(self.sleep.insert(sleep).as_mut().poll(cx));
            self.sleep = None;
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "connection_limits_tests.rs"]
mod tests;
