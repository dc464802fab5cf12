//! Compression of answers (contract 01 §11d).
//!
//! Only documents of the interface are compressed: files and pages of the panel are not. Streams have no length and are
//! passed on as they are. Validators are those of the uncompressed body; they are weak.

use crate::cors::is_api_path;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{
    AcceptEncoding, CONTENT_ENCODING, CONTENT_TYPE, ContentEncoding, Encoding, Header, HeaderMap,
    HeaderValue, Preference, Quality, VARY,
};
use actix_web::rt::task::spawn_blocking;
use actix_web::web::Bytes;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Shorter bodies are not compressed, in bytes.
const MIN_LENGTH: u64 = 1024;
/// Longer bodies are compressed on another thread, in bytes: gzip takes a millisecond for 1 MiB, brotli three.
const MAX_AT_ONCE: usize = 256 * 1024;
/// The media types that are compressed.
const MEDIA_TYPES: [&str; 2] = ["application/json", "text/html"];
/// The encodings; of those a client wants equally, the first one: it costs least for its size. (actix-web takes brotli.)
const PREFERRED: [ContentEncoding; 4] =
    [ContentEncoding::Zstd, ContentEncoding::Gzip, ContentEncoding::Brotli, ContentEncoding::Identity];
/// The level of zstd: 36 µs for a list of 32 KB, of which 15 % are left.
const ZSTD_LEVEL: i32 = 3;
/// The level of gzip: 30 µs for the same list, 20 %. Higher levels leave 14 % and take up to 86 µs.
const GZIP_LEVEL: Compression = Compression::fast();
/// The quality of brotli: 98 µs for the same list, 14 %. Lower ones are hardly faster.
const BROTLI_QUALITY: i32 = 3;
/// The window of brotli, as a power of 2, in bytes: enough for a list. A larger one takes longer to set up.
const BROTLI_WINDOW: i32 = 18;

/// The encoding of the answer to a request. `None` outside of the interface.
pub(crate) fn encoding_for(request: &ServiceRequest) -> Option<ContentEncoding> {
    if !is_api_path(request.path()) {
        return None;
    }
    let accepted = AcceptEncoding::parse(request).map(|accepted| accepted.0).unwrap_or_default();
    let of_quality = |encoding: &ContentEncoding| {
        let wanted = Preference::Specific(Encoding::Known(*encoding));
        accepted
            .iter()
            .find(|accepted| accepted.item == wanted)
            .map_or(Quality::ZERO, |accepted| accepted.quality)
    };
    let best = PREFERRED.into_iter().rev().max_by_key(of_quality);
    best.filter(|encoding| of_quality(encoding) > Quality::ZERO).or(Some(ContentEncoding::Identity))
}

/// The answer with its body in this encoding, if it is long enough and of a type that is compressed.
pub(crate) async fn compress_response(
    answer: ServiceResponse,
    encoding: Option<ContentEncoding>,
) -> ServiceResponse {
    let Some(encoding) = encoding else { return answer };
    let (request, mut response) = answer.into_parts();
    let status = response.status();
    let is_document = is_document(response.headers()) && status != StatusCode::PARTIAL_CONTENT;
    if is_document || status == StatusCode::NOT_MODIFIED {
        response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    let is_long = matches!(response.body().size(), BodySize::Sized(length) if length > MIN_LENGTH);
    if !is_document || !is_long || encoding == ContentEncoding::Identity {
        return ServiceResponse::new(request, response);
    }
    let (mut response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Err(stream) => stream,
        Ok(plain) => match encode(encoding, &plain).await {
            Ok(Some(encoded)) => {
                response.headers_mut().insert(CONTENT_ENCODING, encoding.to_header_value());
                BoxBody::new(encoded)
            }
            Ok(None) => BoxBody::new(plain),
            Err(error) => {
                tracing::warn!(%error, "an answer is sent without compression");
                BoxBody::new(plain)
            }
        },
    };
    ServiceResponse::new(request, response.set_body(body))
}

/// As [`encode_now`], on another thread for a long body.
async fn encode(encoding: ContentEncoding, plain: &Bytes) -> io::Result<Option<Vec<u8>>> {
    if plain.len() <= MAX_AT_ONCE {
        return encode_now(encoding, plain);
    }
    let plain = plain.clone();
    spawn_blocking(move || encode_now(encoding, &plain)).await.map_err(io::Error::other)?
}

/// The bytes in this encoding; `None` if they stay as they are.
fn encode_now(encoding: ContentEncoding, plain: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let encoded = match encoding {
        ContentEncoding::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL)?,
        ContentEncoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), GZIP_LEVEL);
            encoder.write_all(plain)?;
            encoder.finish()?
        }
        ContentEncoding::Brotli => {
            let (quality, lgwin, size_hint) = (BROTLI_QUALITY, BROTLI_WINDOW, plain.len());
            let parameters = BrotliEncoderParams { quality, lgwin, size_hint, ..Default::default() };
            let (mut encoded, mut plain) = (Vec::new(), plain);
            brotli::BrotliCompress(&mut plain, &mut encoded, &parameters)?;
            encoded
        }
        _ => return Ok(None),
    };
    Ok(Some(encoded))
}

fn is_document(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !headers.contains_key(CONTENT_ENCODING) && MEDIA_TYPES.iter().any(|known| media_type.starts_with(known))
}
