//! A connection of the interface, between its socket and the dispatcher of actix-http.
//!
//! All bytes pass unchanged but one kind: the answer of actix-http to a request head that it refuses
//! ([`head_errors`](crate::head_errors)). Its bytes alone do not prove it, because the body of a stored file can end with the
//! same. So bytes that end with such an answer are held until the dispatcher is at rest. They are replaced when
//!
//! - the dispatcher ends with [`DispatchError::Parse`]: it does so only after its answer to a malformed head was the last it
//!   wrote (while the server stops, it may have discarded that answer: then nothing is replaced); or
//! - nothing was written before, so they are a whole head: no answer of the application has these headers alone.
//!
//! Otherwise they are written as they are.

use crate::connection_limits::{Clock, Limits};
use crate::head_errors::{HeadErrors, find};
use crate::pieces::Pieces;
use actix_http::error::DispatchError;
use actix_web::rt::time::timeout;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long what a client still sends is read after the last answer. Otherwise the system resets the connection, and the
/// client may lose the answer.
const LINGER: Duration = Duration::from_secs(5);
/// The same while the server stops.
const LINGER_AT_STOP: Duration = Duration::from_secs(1);
/// The bytes that are read at once meanwhile.
const DISCARDED: usize = 8 * 1024;

/// What the connections of one thread have in common.
pub(crate) struct Shared {
    pub(crate) errors: HeadErrors,
    /// How long sent bytes may stay unread.
    pub(crate) stall: Duration,
    /// Whether the server stops.
    pub(crate) is_stopping: Cell<bool>,
}

/// A connection.
struct Connection<S> {
    stream: S,
    shared: Rc<Shared>,
    limits: Rc<Limits>,
    pieces: Pieces,
    /// Bytes that the dispatcher has written and the stream has not got; the first `written` of them it has.
    held: Vec<u8>,
    written: usize,
    /// Where in `held` an answer to a refused head begins, or the end of a body that looks so.
    answer: usize,
    /// Whether the stream has got no byte.
    is_unused: bool,
    /// Whether bytes were read since the dispatcher was last polled.
    has_read: bool,
}

/// The connection, as the dispatcher has it.
pub(crate) struct Io<S>(Rc<RefCell<Connection<S>>>);

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn is_holding(&self) -> bool {
        self.written < self.held.len()
    }

    /// Writes to the stream.
    fn poll_stream(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        match &polled {
            Poll::Ready(Ok(wrote)) => self.limits.wrote(Some(*wrote)),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.limits.wrote(None),
        }
        polled
    }

    /// Writes what is held.
    fn poll_release(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.is_holding() {
            let held = mem::take(&mut self.held);
            let polled = self.poll_stream(cx, &held[self.written..]);
            self.held = held;
            let wrote = ready!(polled)?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_unused = false;
            self.written += wrote;
        }
        if self.written > 0 {
            (self.held, self.written) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }

    /// Puts the answer in the shape of the contract in place of the one that is held.
    fn replace(&mut self) {
        if self.is_holding()
            && self.written <= self.answer
            && let Some(answer) = self.shared.errors.answer(&self.held[self.answer..])
        {
            self.held.truncate(self.answer);
            self.held.extend(answer);
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_release(cx))?;
        if let Some(start) = find(bytes) {
            // All of it: the dispatcher ends with an error only when it has nothing left to write.
            (self.held, self.answer) = (bytes.to_vec(), start);
            return Poll::Ready(Ok(bytes.len()));
        }
        let wrote = ready!(self.poll_stream(cx, bytes))?;
        self.is_unused = false;
        Poll::Ready(Ok(wrote))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The dispatcher flushes before it says whether it ends with an error.
        if self.is_holding() {
            return Poll::Ready(Ok(()));
        }
        // The dispatcher flushes when it has written all; TLS has a buffer of its own.
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        match polled {
            Poll::Ready(_) => self.limits.wrote_all(),
            Poll::Pending => self.limits.wrote(None),
        }
        polled
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_unused && self.answer == 0 {
            self.replace();
        }
        ready!(self.poll_release(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    /// Writes what is held and ends the connection, so that the client gets it.
    async fn end(mut self) {
        let stall = self.shared.stall;
        let sent = timeout(stall, poll_fn(|cx| self.poll_shutdown(cx))).await;
        if matches!(sent, Ok(Ok(()))) {
            // The client may send for longer.
            let linger = if self.shared.is_stopping.get() { LINGER_AT_STOP } else { LINGER };
            let _ = timeout(linger, self.discard()).await;
        }
    }

    /// Whether there is something to read, other than the end.
    async fn has_more(&mut self) -> bool {
        let mut byte = [0];
        poll_fn(|cx| {
            let mut buffer = ReadBuf::new(&mut byte);
            let polled = Pin::new(&mut self.stream).poll_read(cx, &mut buffer);
            Poll::Ready(matches!(polled, Poll::Ready(Ok(()))) && !buffer.filled().is_empty())
        })
        .await
    }

    /// Reads to the end of the connection.
    async fn discard(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; DISCARDED];
        poll_fn(|cx| {
            loop {
                let mut buffer = ReadBuf::new(&mut bytes);
                ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
                if buffer.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
        })
        .await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Io<S> {
    pub(crate) fn new(stream: S, shared: Rc<Shared>) -> Self {
        let (limits, pieces) = (Rc::new(Limits::new(shared.stall)), Pieces::default());
        let (held, written, answer) = (Vec::new(), 0, 0);
        let (is_unused, has_read) = (true, false);
        let connection =
            Connection { stream, shared, limits, pieces, held, written, answer, is_unused, has_read };
        Self(Rc::new(RefCell::new(connection)))
    }

    /// Its limits.
    pub(crate) fn limits(&self) -> Rc<Limits> {
        self.0.borrow().limits.clone()
    }

    /// A second handle, for the dispatcher.
    pub(crate) fn handle(&self) -> Self {
        Self(self.0.clone())
    }

    /// Runs the dispatcher that has the other handle, to the end of the connection.
    ///
    /// # Errors
    /// Those of the dispatcher; [`DispatchError::SlowRequestTimeout`] when the client does not send or read in time.
    pub(crate) async fn run<D>(self, dispatcher: D) -> Result<(), DispatchError>
    where
        D: Future<Output = Result<(), DispatchError>>,
    {
        // In memory of its own: it is dropped before the last answer is sent.
        let mut dispatcher = Box::pin(dispatcher);
        let mut clock = Clock::new(self.limits());
        let ended = poll_fn(|cx| {
            self.0.borrow_mut().has_read = false;
            let polled = dispatcher.as_mut().poll(cx);
            if polled.is_ready() {
                return polled;
            }
            let mut connection = self.0.borrow_mut();
            if connection.is_holding() && connection.poll_release(cx)?.is_ready() {
                let _ = connection.poll_flush(cx)?;
            }
            clock.poll(cx).map(|()| Err(DispatchError::SlowRequestTimeout))
        })
        .await;
        drop(dispatcher);
        if let Some(connection) = Rc::into_inner(self.0) {
            let mut connection = connection.into_inner();
            if matches!(ended, Err(DispatchError::Parse(_))) && !connection.shared.is_stopping.get() {
                connection.replace();
            }
            let is_sending = ended.is_ok() && (connection.limits.has_unread() || connection.has_more().await);
            if connection.is_holding() || is_sending {
                Box::pin(connection.end()).await;
            }
        }
        ended
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Io<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut connection = self.0.borrow_mut();
        let piece = ready!(connection.limits.poll_may_read(cx));
        if connection.has_read {
            // The dispatcher reads all that there is before it parses it.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let Connection { pieces, stream, .. } = &mut *connection;
        let passed = ready!(pieces.poll_next(Pin::new(stream), cx, piece, buffer))?;
        if buffer.filled().len() > before {
            connection.has_read = true;
            connection.limits.read(passed);
        } else {
            connection.limits.read_all();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Io<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_http::error::ParseError;
    use tokio::task::yield_now;

    const EMPTY: &str =
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: Thu, 26 Nov 2026 10:00:00 GMT\r\n\r\n";
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 84\r\n\r\n";

    /// A stream that takes seven bytes at every second attempt, and has nothing to read.
    #[derive(Clone, Default)]
    struct Slow {
        written: Rc<RefCell<Vec<u8>>>,
        is_ready: bool,
    }

    impl AsyncRead for Slow {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Slow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.is_ready = !self.is_ready;
            if !self.is_ready {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let taken = bytes.len().min(7);
            self.written.borrow_mut().extend(&bytes[..taken]);
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// What the dispatcher does after all is written.
    #[derive(Clone, Copy, PartialEq)]
    enum Then {
        Fails,
        ShutsDown,
        Rests,
    }

    /// What the client gets when a dispatcher writes these parts.
    async fn received(parts: &[&str], then: Then, is_stopping: bool) -> String {
        let (errors, is_stopping) = (HeadErrors::new(&[]), Cell::new(is_stopping));
        let shared = Rc::new(Shared { errors, stall: Duration::from_secs(30), is_stopping });
        let stream = Slow::default();
        let written = stream.written.clone();
        let io = Io::new(stream, shared);
        let mut handle = io.handle();
        let dispatcher = async {
            for part in parts {
                let mut rest = part.as_bytes();
                while !rest.is_empty() {
                    let wrote = poll_fn(|cx| Pin::new(&mut handle).poll_write(cx, rest)).await?;
                    rest = &rest[wrote..];
                }
                poll_fn(|cx| Pin::new(&mut handle).poll_flush(cx)).await?;
            }
            match then {
                Then::Fails => return Err(DispatchError::Parse(ParseError::Header)),
                Then::ShutsDown => poll_fn(|cx| Pin::new(&mut handle).poll_shutdown(cx)).await?,
                Then::Rests => {
                    for _ in 0..100 {
                        yield_now().await;
                    }
                    assert!(!handle.0.borrow().is_holding(), "a dispatcher at rest holds nothing back");
                }
            }
            drop(handle);
            Ok(())
        };
        let ended = io.run(dispatcher).await;
        assert_eq!(ended.is_err(), then == Then::Fails);
        String::from_utf8(written.take()).unwrap()
    }

    fn answer() -> String {
        String::from_utf8(HeadErrors::new(&[]).answer(EMPTY.as_bytes()).unwrap()).unwrap()
    }

    #[actix_web::test]
    async fn the_empty_answer_is_replaced_when_the_dispatcher_fails() {
        let body = "a".repeat(84);
        let valid = format!("{HEAD}{body}");
        assert_eq!(received(&[EMPTY], Then::Fails, false).await, answer());
        let expected = format!("{valid}{}", answer());
        assert_eq!(received(&[&valid, EMPTY], Then::Fails, false).await, expected);
        assert_eq!(received(&[&format!("{valid}{EMPTY}")], Then::Fails, false).await, expected);
        let forged = format!("{HEAD}{EMPTY}");
        let expected = format!("{forged}{}", answer());
        assert_eq!(received(&[&format!("{forged}{EMPTY}")], Then::Fails, false).await, expected);
        assert_eq!(received(&[&forged, EMPTY], Then::Fails, false).await, expected);
    }

    #[actix_web::test]
    async fn the_empty_answer_is_replaced_when_it_is_the_first_and_the_last() {
        assert_eq!(received(&[EMPTY], Then::ShutsDown, false).await, answer());
    }

    #[actix_web::test]
    async fn a_body_that_ends_as_the_empty_answer_is_not_altered() {
        assert_eq!(HEAD.len() + EMPTY.len(), format!("{HEAD}{}", "a".repeat(84)).len());
        for parts in [vec![HEAD, EMPTY], vec![HEAD, EMPTY, HEAD, EMPTY]] {
            for then in [Then::ShutsDown, Then::Rests] {
                assert_eq!(received(&parts, then, false).await, parts.concat());
            }
        }
        let whole = format!("{HEAD}{EMPTY}");
        for then in [Then::ShutsDown, Then::Rests] {
            assert_eq!(received(&[&whole], then, false).await, whole);
        }
        assert_eq!(
            received(&[HEAD, "body", EMPTY, "more"], Then::Rests, false).await,
            format!("{HEAD}body{EMPTY}more")
        );
    }

    #[actix_web::test]
    async fn nothing_is_replaced_after_other_answers_while_the_server_stops() {
        let whole = format!("{HEAD}{EMPTY}");
        assert_eq!(received(&[&whole], Then::Fails, true).await, whole);
    }

    #[actix_web::test]
    async fn one_piece_is_passed_on_each_time_the_dispatcher_is_polled() {
        let (errors, is_stopping) = (HeadErrors::new(&[]), Cell::new(false));
        let shared = Rc::new(Shared { errors, stall: Duration::from_secs(30), is_stopping });
        let io = Io::new(tokio::io::join(tokio::io::repeat(7), tokio::io::sink()), shared);
        let mut handle = io.handle();
        let dispatcher = async {
            for _ in 0..3 {
                let reads = poll_fn(|cx| {
                    let mut read = || {
                        let mut bytes = [0; 64];
                        Pin::new(&mut handle).poll_read(cx, &mut ReadBuf::new(&mut bytes)).is_ready()
                    };
                    Poll::Ready([read(), read()])
                });
                assert_eq!(reads.await, [true, false]);
                yield_now().await;
            }
            drop(handle);
            Ok(())
        };
        io.run(dispatcher).await.unwrap();
    }
}
