//! Long answers in pieces: actix-http copies what a body gives it into a buffer of the connection.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::web::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The length of a piece, in bytes: that of actix-http's buffer, which gets the next piece when it has less than this.
const PIECE: usize = 32 * 1024;

/// A body whose bytes are given in pieces. Connections share the bytes of an answer that is the same for all of them.
///
/// It has no `try_into_bytes`: [`BoxBody::new`] would take the bytes, and give them whole.
struct PiecewiseBody(Bytes);

impl MessageBody for PiecewiseBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.0.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let length = self.0.len().min(PIECE);
        Poll::Ready((length > 0).then(|| Ok(self.0.split_to(length))))
    }
}

/// The answer; its body, if it is longer than a piece and its bytes are there, in pieces.
pub(crate) fn in_pieces(answer: ServiceResponse) -> ServiceResponse {
    let is_long = matches!(answer.response().body().size(), BodySize::Sized(length) if length > PIECE as u64);
    if !is_long {
        return answer;
    }
    answer.map_body(|_, body| match body.try_into_bytes() {
        Ok(bytes) => BoxBody::new(PiecewiseBody(bytes)),
        Err(stream) => stream,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::HttpResponse;
    use actix_web::test::TestRequest;
    use std::future::poll_fn;

    #[actix_web::test]
    async fn a_long_body_is_given_in_pieces_that_share_its_bytes() {
        let bytes = Bytes::from(vec![7; 2 * PIECE + 5]);
        let answer = TestRequest::default().to_srv_response(HttpResponse::Ok().body(bytes.clone()));
        let (_, response) = in_pieces(answer).into_parts();
        let mut body = response.into_body();
        assert_eq!(body.size(), BodySize::Sized(2 * PIECE as u64 + 5));
        let (mut lengths, mut position) = (Vec::new(), bytes.as_ptr());
        while let Some(piece) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
            let piece = piece.unwrap();
            assert_eq!(piece.as_ptr(), position);
            position = position.wrapping_add(piece.len());
            lengths.push(piece.len());
        }
        assert_eq!(lengths, [PIECE, PIECE, 5]);
    }
}
