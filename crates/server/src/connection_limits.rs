//! When a connection may read, and the time limits that actix-http does not have.
//!
//! actix-http limits the time of the first head of a connection and of idle connections ([`HEAD_TIME`], [`KEEP_ALIVE`]). It has no
//! limit for a later head that does not end; for requests that are sent before the answers to others, of which it parses as many as
//! it has read; for answers without body that wait for their client; and for clients that read some bytes now and then.

use crate::pieces::Piece;
use actix_http::error::PayloadError;
use actix_http::{Payload, Request};
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::rt::time::{Instant, Sleep, sleep_until};
use actix_web::web::Bytes;
use futures_util::Stream;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

/// How long the head of a request may take to arrive.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection may be idle. Proxies keep theirs for 60 s: one that ended earlier could end while a request is on its way.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long after an answer the next head has arrived, if it began before the answer ended. The rest of that answer may be on its
/// way to a slow client for most of this time.
const LONGEST_WAIT: Duration = Duration::from_secs(180);
/// The least speed of a client that reads, in bytes per second, after the time in which it need not read anything. The system
/// takes more only when it has sent some 32 KiB, so a client that reads less in that time may be late too.
const LEAST_PER_SECOND: u64 = 1024;

/// The limits of a connection.
pub(crate) struct Limits {
    phase: Cell<Phase>,
    /// What was not read of the body of the last request.
    unread: Cell<Unread>,
    /// Whether the handler waits for more of that body.
    is_awaited: Cell<bool>,
    /// The bytes of the body of the next request that were read with its head.
    read_with_head: Cell<usize>,
    client: Cell<Reading>,
    /// How long the client need not read anything.
    stall: Duration,
    /// Wakes the connection when it may read again.
    reader: RefCell<Option<Waker>>,
}

/// How the client reads, in one answer or several that it gets at once. Only the time in which an answer waits for it counts.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// Since when an answer waits for the client.
    waits_since: Option<Instant>,
    /// How long answers waited before.
    waited: Duration,
    /// The bytes it took meanwhile.
    taken: u64,
}

/// What was not read of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    Nothing,
    Bytes(u64),
    /// The dispatcher finds the end.
    Unknown,
}

/// What a connection does.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It waits for the first head, whose time actix-http limits.
    New,
    /// It answers a request.
    Answering,
    /// It waits for the next head, since then.
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
            read_with_head: Cell::new(0),
            client: Cell::default(),
            stall,
            reader: RefCell::default(),
        }
    }

    /// Ready with what may be read: a part of the body that the handler waits for, or else the next head, or what is left of the
    /// body before it. Nothing while an answer waits for the client.
    pub(crate) fn poll_may_read(&self, cx: &Context<'_>) -> Poll<Piece> {
        if self.client.get().waits_since.is_none() {
            match (self.phase.get(), self.unread.get()) {
                (Phase::Answering, Unread::Nothing) => {}
                (Phase::Answering, _) if !self.is_awaited.get() => {}
                (_, Unread::Bytes(left)) => return Poll::Ready(Piece::Body(left)),
                (Phase::Answering, Unread::Unknown) => return Poll::Ready(Piece::Body(u64::MAX)),
                _ => return Poll::Ready(Piece::Head),
            }
        }
        *self.reader.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Notes that so many bytes have been read and passed on. `with_head`: so many of them are a body behind its head.
    pub(crate) fn read(&self, bytes: usize, with_head: usize) {
        self.is_awaited.set(false);
        self.read_with_head.set(with_head);
        match (self.phase.get(), self.unread.get()) {
            (_, Unread::Bytes(left)) => {
                let left = left.saturating_sub(bytes as u64);
                self.unread.set(if left == 0 { Unread::Nothing } else { Unread::Bytes(left) });
            }
            (Phase::Idle(_), _) => self.phase.set(Phase::Begun(Instant::now())),
            _ => {}
        }
    }

    /// Notes that so many bytes have been written; `None`: the client has to read first.
    pub(crate) fn wrote(&self, bytes: Option<usize>) {
        let mut client = self.client.get();
        match (client.waits_since, bytes) {
            (None, Some(_)) => return,
            (None, None) => client.waits_since = Some(Instant::now()),
            (Some(_), more) => client.taken += more.unwrap_or_default() as u64,
        }
        self.client.set(client);
    }

    /// Notes that all has been written.
    pub(crate) fn wrote_all(&self) {
        let mut client = self.client.get();
        if let Some(since) = client.waits_since.take() {
            client.waited += since.elapsed();
            self.client.set(client);
            self.wake_reader();
        }
    }

    /// Begins the answer to a request, which lasts until the result is dropped.
    pub(crate) fn begin(self: &Rc<Self>, request: &mut Request) -> Answering {
        self.phase.set(Phase::Answering);
        if self.client.get().waits_since.is_none() {
            self.client.take();
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

    /// Notes that the handler waits for more of the body.
    fn await_body(&self) {
        self.is_awaited.set(true);
        self.wake_reader();
    }

    fn wake_reader(&self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// When the client is late: with the rest of a head, or with reading an answer.
    fn deadline(&self) -> Option<Instant> {
        let head = match self.phase.get() {
            Phase::New | Phase::Answering => None,
            Phase::Idle(since) => Some(since + LONGEST_WAIT),
            Phase::Begun(since) => Some(since + HEAD_TIME),
        };
        let Reading { waits_since, waited, taken } = self.client.get();
        let allowed = (self.stall + Duration::from_secs(taken / LEAST_PER_SECOND)).saturating_sub(waited);
        let answer = waits_since.map(|since| since + allowed);
        head.into_iter().chain(answer).min()
    }
}

/// What is to be read of the body of a request, of which so many bytes were read with the head.
fn unread(request: &Request, payload: &Payload, with_head: u64) -> Unread {
    if matches!(payload, Payload::None) {
        return Unread::Nothing;
    }
    let headers = request.head().headers();
    if headers.contains_key(TRANSFER_ENCODING) {
        return Unread::Unknown;
    }
    let length =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.trim().parse::<u64>().ok());
    match length.map(|length| length.saturating_sub(with_head)) {
        Some(0) => Unread::Nothing,
        Some(left) => Unread::Bytes(left),
        None => Unread::Unknown,
    }
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
            Poll::Ready(Some(_)) => {}
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
