//! Adds the SQLSTATE to the messages of errors. diesel-async passes on the message of an error of PostgreSQL without
//! its code, and the message is in the language of the server. Therefore a stream between the socket (or TLS) and
//! tokio-postgres rewrites each `ErrorResponse`: it writes the code before the message. A connection to a read-only
//! server (SQLSTATE 25006) is closed after that answer: the pool opens a new one, possibly to another server that is
//! writable.
//!
//! Last compared with diesel-async 0.9.2 and diesel 2.3.14: `from_tokio_postgres_error` (`diesel-async/src/pg/error_helper.rs`)
//! has the code, maps eight codes to a `DatabaseErrorKind` and all others to `Unknown`, and `DatabaseErrorInformation` has no
//! method for it. When a later version has one, the part that rewrites errors goes; the time limit below stays.
//!
//! The stream also has a time limit for answers: a server that vanished, or a network that loses everything, would
//! otherwise keep a statement waiting for minutes.
//!
//! Source: the PostgreSQL manual, "Message Formats"; `docs/decisions/0019-sqlstate-from-the-wire.md`.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tokio_postgres::tls::{ChannelBinding, TlsStream};

/// The longest error that is rewritten, in bytes; a longer one is not changed.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The size of a read, in bytes.
const CHUNK: usize = 16 * 1024;
/// `read_only_sql_transaction`
const READ_ONLY: &[u8] = b"25006";

/// A stream that writes the SQLSTATE before the message of each error.
pub struct SqlStateStream<S> {
    inner: S,
    binding: fn(&S) -> ChannelBinding,
    messages: Messages,
    chunk: Box<[u8; CHUNK]>,
    /// The number of bytes of `messages.ready` that were passed on.
    handed: usize,
    answer: AnswerTimeout,
}

/// The time limit of an answer: from the last byte that was sent or received until the server has answered all statements.
struct AnswerTimeout {
    limit: Option<Duration>,
    /// `None` while no answer is expected.
    late: Option<Pin<Box<Sleep>>>,
    /// `None` until the server is ready for the first statement.
    sent: Option<SentStatements>,
}

/// Counts the statements that are not answered: one may be sent before the answer to another.
#[derive(Default)]
struct SentStatements {
    /// Kind and length of the current message: at most 5 bytes.
    head: Vec<u8>,
    /// The number of bytes of its body that are not sent yet.
    rest: usize,
    unanswered: usize,
}

impl SentStatements {
    fn push(&mut self, mut sent: &[u8]) {
        while !sent.is_empty() {
            if self.rest > 0 {
                let skipped = self.rest.min(sent.len());
                self.rest -= skipped;
                sent = &sent[skipped..];
                continue;
            }
            let (head, rest) = sent.split_at((5 - self.head.len()).min(sent.len()));
            self.head.extend_from_slice(head);
            sent = rest;
            if let [kind, length @ ..] = self.head.as_slice()
                && let Ok(length) = <[u8; 4]>::try_from(length)
            {
                // `Query` and `Sync`: `ReadyForQuery` answers each.
                self.unanswered += usize::from(matches!(kind, b'Q' | b'S'));
                self.rest =
                    usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX).saturating_sub(4);
                self.head.clear();
            }
        }
    }
}

impl AnswerTimeout {
    /// Starts the time again.
    fn expect(&mut self) {
        let Some(limit) = self.limit else { return };
        match &mut self.late {
            Some(late) => late.as_mut().reset(Instant::now() + limit),
            None => self.late = Some(Box::pin(sleep(limit))),
        }
    }

    /// The server has sent so many `ReadyForQuery`.
    fn answered(&mut self, number: usize) {
        let sent = self.sent.get_or_insert_default();
        sent.unanswered = sent.unanswered.saturating_sub(number);
        if sent.unanswered == 0 {
            self.late = None;
        }
    }

    /// Whether the time is over. If not, the task of `context` is woken when it is.
    fn poll_late(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(late) = &mut self.late else { return Ok(()) };
        match late.as_mut().poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(()) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the database server does not answer"))
            }
        }
    }
}

impl<S> SqlStateStream<S> {
    /// Wraps a stream; `binding` returns its channel binding. After `silence` without an answer each use of the stream
    /// is an error.
    pub fn new(inner: S, binding: fn(&S) -> ChannelBinding, silence: Option<Duration>) -> Self {
        Self {
            inner,
            binding,
            messages: Messages::default(),
            chunk: Box::new([0; CHUNK]),
            handed: 0,
            answer: AnswerTimeout { limit: silence, late: None, sent: None },
        }
    }
}

/// Splits the bytes of the server into messages.
#[derive(Default)]
struct Messages {
    /// Kind and length of the current message: at most 5 bytes.
    head: Vec<u8>,
    /// The number of bytes of its body that are not read yet.
    rest: usize,
    /// The part of the body of an error that was read.
    error: Option<Vec<u8>>,
    /// The bytes that can be passed on.
    ready: Vec<u8>,
    is_read_only: bool,
    /// The number of `ReadyForQuery` since it was last taken.
    answers: usize,
    is_over: bool,
}

impl Messages {
    fn push(&mut self, mut read: &[u8]) {
        while !read.is_empty() && !self.is_over {
            if self.rest == 0 {
                let (head, rest) = read.split_at((5 - self.head.len()).min(read.len()));
                self.head.extend_from_slice(head);
                read = rest;
                if let [kind, length @ ..] = self.head.as_slice()
                    && let Ok(length) = <[u8; 4]>::try_from(length)
                {
                    self.begin(*kind, u32::from_be_bytes(length));
                }
            } else {
                let (body, rest) = read.split_at(self.rest.min(read.len()));
                self.error.as_mut().unwrap_or(&mut self.ready).extend_from_slice(body);
                self.rest -= body.len();
                read = rest;
                if self.rest == 0 {
                    self.end();
                }
            }
        }
    }

    /// `length` includes its own bytes.
    fn begin(&mut self, kind: u8, length: u32) {
        self.rest = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(4);
        if kind == b'E' && self.rest <= MAX_ERROR_BYTES {
            self.error = Some(Vec::with_capacity(self.rest));
        } else {
            self.ready.extend_from_slice(&self.head);
        }
        if self.rest == 0 {
            self.end();
        }
    }

    fn end(&mut self) {
        let is_ready_for_query = self.head.first() == Some(&b'Z');
        self.head.clear();
        if let Some(body) = self.error.take() {
            self.is_read_only |= field(&body, b'C') == Some(READ_ONLY);
            let body = with_state(&body);
            self.ready.push(b'E');
            let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
            self.ready.extend_from_slice(&length.to_be_bytes());
            self.ready.extend_from_slice(&body);
        }
        self.answers += usize::from(is_ready_for_query);
        self.is_over = self.is_read_only && is_ready_for_query;
    }
}

/// The fields of an error: a code byte and a text each, with a zero after every text.
fn fields(body: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    body.split(|byte| *byte == 0).filter_map(|field| field.split_first().map(|(kind, text)| (*kind, text)))
}

fn field(body: &[u8], wanted: u8) -> Option<&[u8]> {
    fields(body).find(|(kind, _)| *kind == wanted).map(|(_, text)| text)
}

/// The same error with its SQLSTATE before its message.
fn with_state(body: &[u8]) -> Vec<u8> {
    let state = field(body, b'C').unwrap_or(b"00000");
    let mut changed = Vec::with_capacity(body.len() + state.len() + 2);
    for (kind, text) in fields(body) {
        changed.push(kind);
        if kind == b'M' {
            changed.extend_from_slice(state);
            changed.extend_from_slice(b": ");
        }
        changed.extend_from_slice(text);
        changed.push(0);
    }
    changed.push(0);
    changed
}

impl<S: AsyncRead + Unpin> AsyncRead for SqlStateStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.handed == this.messages.ready.len() {
            this.messages.ready.clear();
            this.handed = 0;
            if this.messages.is_over {
                return Poll::Ready(Ok(()));
            }
            let mut chunk = ReadBuf::new(&mut this.chunk[..]);
            let Poll::Ready(read) = Pin::new(&mut this.inner).poll_read(context, &mut chunk) else {
                this.answer.poll_late(context)?;
                return Poll::Pending;
            };
            read?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.messages.push(chunk.filled());
            if this.answer.late.is_some() {
                this.answer.expect();
            }
            let answers = mem::take(&mut this.messages.answers);
            if answers > 0 {
                this.answer.answered(answers);
            }
        }
        let rest = &this.messages.ready[this.handed..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        this.handed += length;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SqlStateStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.answer.expect();
        this.answer.poll_late(context)?;
        let polled = Pin::new(&mut this.inner).poll_write(context, bytes);
        if let (Poll::Ready(Ok(written)), Some(sent)) = (&polled, &mut this.answer.sent) {
            sent.push(&bytes[..*written]);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for SqlStateStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        (self.binding)(&self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[kind], length.to_be_bytes().as_slice(), body].concat()
    }

    /// The output, with the input in pieces of any size.
    fn handed_on(sent: &[u8], piece: usize) -> (Vec<u8>, bool) {
        let mut messages = Messages::default();
        sent.chunks(piece).for_each(|piece| messages.push(piece));
        (messages.ready, messages.is_over)
    }

    #[test]
    fn an_error_comes_with_its_state_and_everything_else_as_it_was() {
        let error = message(b'E', b"SFATAL\0C53100\0Mdisk full\0\0");
        let sent = [message(b'1', b""), message(b'D', &[0; 300]), error, message(b'Z', b"I")].concat();
        let error = message(b'E', b"SFATAL\0C53100\0M53100: disk full\0\0");
        let expected = [message(b'1', b""), message(b'D', &[0; 300]), error, message(b'Z', b"I")].concat();
        for piece in [1, 2, 3, 5, 7, 64, 10_000] {
            assert_eq!(handed_on(&sent, piece), (expected.clone(), false), "in pieces of {piece}");
        }
    }

    #[test]
    fn a_connection_that_only_reads_is_over_after_the_answer() {
        let error = message(b'E', b"SERROR\0C25006\0Mread-only\0\0");
        let sent = [error, message(b'Z', b"I"), message(b'T', b"next")].concat();
        let (ready, is_over) = handed_on(&sent, 4);
        assert!(is_over);
        assert!(ready.ends_with(&message(b'Z', b"I")), "the answer is handed on, and nothing after it");
    }

    #[test]
    fn sent_statements_are_counted_in_pieces_of_any_size() {
        let sent =
            [message(b'Q', b"BEGIN\0"), message(b'P', b"SELECT\0"), message(b'S', b""), message(b'X', b"")];
        for piece in [1, 2, 3, 5, 7, 64] {
            let mut statements = SentStatements::default();
            sent.concat().chunks(piece).for_each(|piece| statements.push(piece));
            assert_eq!(statements.unanswered, 2, "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn a_statement_behind_an_answered_one_has_its_time_limit() {
        let (client, mut server) = tokio::io::duplex(1024);
        let binding = |_: &tokio::io::DuplexStream| ChannelBinding::none();
        let mut stream = SqlStateStream::new(client, binding, Some(Duration::from_millis(50)));
        let (ready, query) = (message(b'Z', b"I"), message(b'Q', b"BEGIN\0"));
        let mut answer = vec![0; ready.len()];
        server.write_all(&ready).await.unwrap();
        stream.read_exact(&mut answer).await.unwrap();
        stream.write_all(&[query.clone(), query].concat()).await.unwrap();
        server.write_all(&ready).await.unwrap();
        stream.read_exact(&mut answer).await.unwrap();
        let late = stream.read_exact(&mut answer).await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn an_error_of_any_length_passes() {
        let long = [b"C42601\0M".as_slice(), &vec![b'x'; MAX_ERROR_BYTES], b"\0\0"].concat();
        let sent = message(b'E', &long);
        assert_eq!(handed_on(&sent, 1000).0, sent, "too long to be rewritten");
        assert_eq!(handed_on(&message(b'E', b"\0"), 9).0, message(b'E', b"\0"), "an empty one");
    }
}
