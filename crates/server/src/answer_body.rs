//! The time limit of answers: a client that reads a long answer too slowly loses its connection, and an answer that waits
//! for its client does not take memory a second time.
//!
//! actix-web copies a body that is there as a whole into the buffer of the connection. Here it is handed over in pieces,
//! each when the one before has been sent. Event streams have no length and no limit.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The bytes of one piece. Shorter bodies are sent as they are.
const PIECE: usize = 32 * 1024;
/// The least speed, in bytes per second, after the time in which nothing need be read.
const LEAST_PER_SECOND: u64 = 1024;

/// The same body, with a limit if it is long: after `stall` the client has to read [`LEAST_PER_SECOND`].
pub(crate) fn limited(body: BoxBody, stall: Duration) -> BoxBody {
    match body.size() {
        BodySize::Sized(length) if length > PIECE as u64 => BoxBody::new(LimitedBody::new(body, stall)),
        _ => body,
    }
}

/// A body of which so much has been taken.
struct LimitedBody {
    rest: Rest,
    size: BodySize,
    stall: Duration,
    /// The time of the first piece.
    begun: Option<Instant>,
    taken: u64,
    /// How long the source of the body took, and since when it is waited for.
    source: Duration,
    source_since: Option<Instant>,
}

/// What has not been taken.
enum Rest {
    Bytes(Bytes),
    Stream(BoxBody),
}

/// The client reads too slowly.
#[derive(Debug)]
struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client reads its answer too slowly")
    }
}

impl Error for TooSlow {}

impl LimitedBody {
    fn new(body: BoxBody, stall: Duration) -> Self {
        let size = body.size();
        let rest = body.try_into_bytes().map_or_else(Rest::Stream, Rest::Bytes);
        Self { rest, size, stall, begun: None, taken: 0, source: Duration::ZERO, source_since: None }
    }

    /// Whether the client has taken less than it must have.
    fn is_too_slow(&mut self, now: Instant) -> bool {
        if let Some(since) = self.source_since.take() {
            self.source += now - since;
        }
        let begun = *self.begun.get_or_insert(now);
        let allowed = self.stall + self.source + Duration::from_secs(self.taken / LEAST_PER_SECOND);
        now - begun > allowed
    }

    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Box<dyn Error>>>> {
        match &mut self.rest {
            Rest::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Rest::Bytes(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(PIECE))))),
            Rest::Stream(body) => Pin::new(body).poll_next(context),
        }
    }
}

impl MessageBody for LimitedBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        let now = Instant::now();
        if this.is_too_slow(now) {
            return Poll::Ready(Some(Err(TooSlow.into())));
        }
        let polled = this.poll_rest(context);
        match &polled {
            Poll::Ready(Some(Ok(bytes))) => this.taken += bytes.len() as u64,
            Poll::Ready(_) => {}
            Poll::Pending => this.source_since = Some(now),
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::{SizedStream, to_bytes};
    use futures_util::stream;
    use std::io;

    const STALL: Duration = Duration::from_secs(30);

    fn body(length: usize) -> LimitedBody {
        LimitedBody::new(BoxBody::new(vec![7; length]), STALL)
    }

    #[actix_web::test]
    async fn a_long_body_comes_in_pieces_and_is_complete() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let mut pieces = limited(BoxBody::new(bytes.clone()), STALL);
        assert_eq!(pieces.size(), BodySize::Sized(100_000));
        let first = std::future::poll_fn(|context| Pin::new(&mut pieces).poll_next(context)).await;
        assert_eq!(first.unwrap().unwrap(), bytes[..PIECE]);
        let rest = to_bytes(pieces).await.unwrap();
        assert_eq!(rest, bytes[PIECE..]);
    }

    #[actix_web::test]
    async fn a_stream_with_a_length_is_complete() {
        let parts: Vec<io::Result<Bytes>> = vec![Ok(vec![1; 40_000].into()), Ok(vec![2; 40_000].into())];
        let stream = BoxBody::new(SizedStream::new(80_000, stream::iter(parts)));
        let bytes = to_bytes(limited(stream, STALL)).await.unwrap();
        assert_eq!(bytes.len(), 80_000);
    }

    #[test]
    fn a_client_that_reads_less_than_the_least_speed_is_too_slow() {
        let mut body = body(1_000_000);
        let begun = Instant::now();
        assert!(!body.is_too_slow(begun));
        assert!(!body.is_too_slow(begun + STALL));
        assert!(body.is_too_slow(begun + STALL + Duration::from_secs(1)));
        body.taken = 100 * LEAST_PER_SECOND;
        assert!(!body.is_too_slow(begun + STALL + Duration::from_secs(100)));
        assert!(body.is_too_slow(begun + STALL + Duration::from_secs(101)));
    }

    #[test]
    fn the_time_of_a_slow_source_is_not_the_clients() {
        let mut body = body(1_000_000);
        let begun = Instant::now();
        assert!(!body.is_too_slow(begun));
        body.source_since = Some(begun);
        assert!(!body.is_too_slow(begun + Duration::from_secs(500)));
        assert!(body.is_too_slow(begun + Duration::from_secs(531)));
    }

    #[actix_web::test]
    async fn short_bodies_and_streams_without_length_are_left_alone() {
        let short = limited(BoxBody::new("short"), STALL);
        assert!(short.try_into_bytes().is_ok());
        let endless = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"event"))]);
        let endless = limited(BoxBody::new(actix_web::body::BodyStream::new(endless)), STALL);
        assert_eq!(endless.size(), BodySize::Stream);
    }
}
