//! Whose turn it is on a connection: the client sends a request, the server answers.
//!
//! actix-http limits the time of the first head of a connection and of idle connections ([`HEAD_TIME`], [`KEEP_ALIVE`]). It has no
//! limit for a later head that does not end; for requests that are sent before the answers to others, of which it parses as many as
//! it has read; for answers without body that wait for their client; and for clients that read some bytes now and then.
//! [`Turn`] says when the connection may read, and until when it must have gone on.

use actix_http::error::PayloadError;
use actix_http::{Payload, Request};
use actix_web::body::{BodySize, BoxBody, MessageBody};
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
/// The least speed of a client that reads, in bytes per second, after the time in which nothing need be read.
const LEAST_PER_SECOND: u64 = 1024;

/// What a connection does.
pub(crate) struct Turn {
    phase: Cell<Phase>,
    /// Whether the body of the request that is answered is not complete.
    has_body: Cell<bool>,
    client: Cell<Reading>,
    /// How long nothing need be read.
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

impl Turn {
    pub(crate) fn new(stall: Duration) -> Self {
        Self {
            phase: Cell::new(Phase::New),
            has_body: Cell::new(false),
            client: Cell::default(),
            stall,
            reader: RefCell::default(),
        }
    }

    /// Ready when bytes may be read: of a head or a body, while no answer waits for the client.
    pub(crate) fn poll_may_read(&self, cx: &Context<'_>) -> Poll<()> {
        let is_awaited = !matches!(self.phase.get(), Phase::Answering) || self.has_body.get();
        if is_awaited && self.client.get().waits_since.is_none() {
            return Poll::Ready(());
        }
        *self.reader.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Notes that bytes have been read.
    pub(crate) fn read(&self) {
        if let Phase::Idle(_) = self.phase.get() {
            self.phase.set(Phase::Begun(Instant::now()));
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
        let payload = request.take_payload();
        self.has_body.set(!matches!(payload, Payload::None));
        if self.has_body.get() {
            let stream: Pin<Box<dyn Stream<Item = _>>> =
                Box::pin(RequestBody { payload, turn: self.clone() });
            *request.payload() = stream.into();
        }
        Answering(self.clone())
    }

    fn end_body(&self) {
        self.has_body.set(false);
    }

    fn wake_reader(&self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Until when the connection must have gone on.
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

/// An answer that is not complete.
pub(crate) struct Answering(Rc<Turn>);

impl Answering {
    /// The body of the answer.
    pub(crate) fn body(self, body: BoxBody) -> AnswerBody {
        AnswerBody { body, _answering: self }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.phase.set(Phase::Idle(Instant::now()));
        self.0.wake_reader();
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
    turn: Rc<Turn>,
}

impl Stream for RequestBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let part = ready!(Pin::new(&mut self.payload).poll_next(cx));
        if part.is_none() {
            self.turn.end_body();
        }
        Poll::Ready(part)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.turn.end_body();
    }
}

/// Tells when a connection has not gone on in time.
pub(crate) struct Clock {
    turn: Rc<Turn>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Clock {
    pub(crate) fn new(turn: Rc<Turn>) -> Self {
        Self { turn, sleep: None }
    }

    /// Ready when the client is late. To be called whenever the connection has nothing else to do.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(deadline) = self.turn.deadline() {
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
#[path = "turn_tests.rs"]
mod tests;
