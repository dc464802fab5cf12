//! Compression of answers (contract 01 §11d).
//!
//! Only documents of the interface are compressed: files and pages of the panel are not. Streams of events have no
//! length and are passed on as they are. Validators are those of the uncompressed body; they are weak.

use crate::cors::is_of_interface;
use actix_http::encoding::Encoder;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    AcceptEncoding, CONTENT_ENCODING, CONTENT_TYPE, ContentEncoding, Encoding, Header, HeaderMap,
    HeaderValue, VARY,
};

/// Shorter bodies are not compressed, in bytes.
const SHORTEST: u64 = 1024;
/// The media types that are compressed.
const MEDIA_TYPES: [&str; 2] = ["application/json", "text/html"];

/// The encoding of the answer to a request: the best one that both sides have. `None` outside of the interface.
pub(crate) fn encoding_for(request: &ServiceRequest) -> Option<ContentEncoding> {
    if !is_of_interface(request.path()) {
        return None;
    }
    let supported = [Encoding::brotli(), Encoding::zstd(), Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok();
    match accepted.and_then(|accepted| accepted.negotiate(supported.iter())) {
        Some(Encoding::Known(encoding)) => Some(encoding),
        _ => Some(ContentEncoding::Identity),
    }
}

/// The answer with its body in this encoding, if it is long enough and of a type that is compressed.
pub(crate) fn compressed(answer: ServiceResponse, encoding: Option<ContentEncoding>) -> ServiceResponse {
    let Some(encoding) = encoding else { return answer };
    answer.map_body(|head, body| {
        let is_document = is_document(head.headers()) && head.status != StatusCode::PARTIAL_CONTENT;
        if is_document || head.status == StatusCode::NOT_MODIFIED {
            head.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        let is_long = matches!(body.size(), BodySize::Sized(length) if length > SHORTEST);
        if !is_document || !is_long || encoding == ContentEncoding::Identity {
            return body;
        }
        BoxBody::new(Encoder::response(encoding, head, body))
    })
}

fn is_document(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !headers.contains_key(CONTENT_ENCODING) && MEDIA_TYPES.iter().any(|known| media_type.starts_with(known))
}
