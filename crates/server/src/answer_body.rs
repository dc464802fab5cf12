//! An answer that waits for its client does not take memory a second time.
//!
//! actix-web copies a body that is there as a whole into the buffer of the connection. Here it is handed over in pieces,
//! each when the one before has been sent.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The bytes of one piece. Shorter bodies are sent as they are.
const PIECE: usize = 32 * 1024;

/// The same body, in pieces if it is long and there as a whole.
pub(crate) fn in_pieces(body: BoxBody) -> BoxBody {
    if !matches!(body.size(), BodySize::Sized(length) if length > PIECE as u64) {
        return body;
    }
    match body.try_into_bytes() {
        Ok(bytes) => BoxBody::new(BodyInPieces { size: BodySize::Sized(bytes.len() as u64), rest: bytes }),
        Err(stream) => stream,
    }
}

/// A body of which `rest` has not been taken.
struct BodyInPieces {
    rest: Bytes,
    size: BodySize,
}

impl MessageBody for BodyInPieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let length = self.rest.len().min(PIECE);
        Poll::Ready((length > 0).then(|| Ok(self.rest.split_to(length))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::{SizedStream, to_bytes};
    use futures_util::stream;
    use std::io;

    #[actix_web::test]
    async fn a_long_body_comes_in_pieces_and_is_complete() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let mut pieces = in_pieces(BoxBody::new(bytes.clone()));
        assert_eq!(pieces.size(), BodySize::Sized(100_000));
        let first = std::future::poll_fn(|context| Pin::new(&mut pieces).poll_next(context)).await;
        assert_eq!(first.unwrap().unwrap(), bytes[..PIECE]);
        let rest = to_bytes(pieces).await.unwrap();
        assert_eq!(rest, bytes[PIECE..]);
    }

    #[actix_web::test]
    async fn short_bodies_and_streams_are_left_alone() {
        assert!(in_pieces(BoxBody::new("short")).try_into_bytes().is_ok());
        let parts: Vec<io::Result<Bytes>> = vec![Ok(vec![1; 40_000].into()), Ok(vec![2; 40_000].into())];
        let stream = BoxBody::new(SizedStream::new(80_000, stream::iter(parts)));
        assert_eq!(to_bytes(in_pieces(stream)).await.unwrap().len(), 80_000);
        let endless = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"event"))]);
        let endless = in_pieces(BoxBody::new(actix_web::body::BodyStream::new(endless)));
        assert_eq!(endless.size(), BodySize::Stream);
    }
}
