//! `GET /files/{key}/{filename}` (contract 07 B.8): the bytes of files, outside of `{base}`. Whoever has the key may
//! read. No browser runs what is in a file: its headers make it inert.

use crate::backend::Backend;
use crate::body::header_text;
use crate::counted::mount_page;
use crate::error::ApiError;
use crate::reply::none_match_names;
use crate::tenancy;
use actix_web::body::SizedStream;
use actix_web::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY, ETAG,
    IF_RANGE, RANGE,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use civitas_attachments::StoredFile;
use civitas_kernel::Error;
use futures_util::stream;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::ops::Range;
use std::sync::Arc;
use tracing::Instrument;

/// What a segment of a path, and the value of `filename*`, has unescaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The longest header `Range` that is read, in bytes.
const MAX_RANGE: usize = 100;

/// The path of a file, or of its thumbnail.
pub(crate) fn address_of(file: &StoredFile, is_thumbnail: bool) -> String {
    let thumbnail = if is_thumbnail { "thumbnail/" } else { "" };
    format!("/files/{}/{thumbnail}{}", file.key, utf8_percent_encode(&file.filename, ESCAPED))
}

pub(crate) fn mount(config: &mut web::ServiceConfig, backend: &Arc<Backend>) {
    for (path, is_thumbnail) in [("/files/{key}/thumbnail/{name}", true), ("/files/{key}/{name}", false)] {
        let answer = async move |backend: &Backend, request: &HttpRequest| {
            let span = tracing::info_span!("api.file", status = tracing::field::Empty);
            let served = serve(backend, request, is_thumbnail).instrument(span.clone()).await;
            let response = served.unwrap_or_else(|error| span.in_scope(|| error.respond()));
            span.record("status", response.status().as_u16());
            response
        };
        mount_page(config, path, backend, answer);
    }
}

async fn serve(
    backend: &Backend,
    request: &HttpRequest,
    is_thumbnail: bool,
) -> Result<HttpResponse, ApiError> {
    let tenant = tenancy::tenant(backend, request).await?;
    let key = request.match_info().get("key").unwrap_or_default();
    let is_key = key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit());
    let found = if is_key { Some(backend.files.find(tenant.id, key).await?) } else { None };
    let file = found.ok_or(Error::NotFound)?;
    let (object, length) = match (is_thumbnail, file.thumbnail_bytes) {
        (false, _) => (file.object.clone(), file.byte_size),
        (true, Some(length)) => (file.thumbnail_object(), length),
        (true, None) => return Err(Error::NotFound.into()),
    };
    let length = length.unsigned_abs();
    let etag =
        format!("\"{}{}\"", &file.sha256[..32.min(file.sha256.len())], if is_thumbnail { "-t" } else { "" });
    let headers = request.headers();
    if none_match_names(headers, &etag) == Some(true) {
        return Ok(head(StatusCode::NOT_MODIFIED, &file, &etag).finish());
    }
    let is_current = header_text(headers, &IF_RANGE).is_none_or(|sent| sent == etag);
    let requested = header_text(headers, &RANGE).filter(|_| is_current);
    let requested = requested.map_or(RequestedRange::Whole, |sent| RequestedRange::read(sent, length));
    let (status, range) = match requested {
        RequestedRange::Whole => (StatusCode::OK, 0..length),
        RequestedRange::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        RequestedRange::Unsatisfiable => {
            let mut response = head(StatusCode::RANGE_NOT_SATISFIABLE, &file, &etag);
            return Ok(response.insert_header((CONTENT_RANGE, format!("bytes */{length}"))).finish());
        }
    };
    let mut response = head(status, &file, &etag);
    response.content_type(file.content_type.as_str());
    if status == StatusCode::PARTIAL_CONTENT {
        let part = format!("bytes {}-{}/{length}", range.start, range.end - 1);
        response.insert_header((CONTENT_RANGE, part));
    }
    let sent = range.end - range.start;
    if *request.method() == Method::HEAD {
        // A body without bytes keeps the length of those that GET sends.
        return Ok(response.body(SizedStream::new(sent, stream::empty::<Result<Bytes, Error>>())));
    }
    let bytes = backend.files.read(&object, range).await?;
    Ok(response.body(SizedStream::new(sent, bytes)))
}

/// The headers of every answer with a file.
fn head(status: StatusCode, file: &StoredFile, etag: &str) -> actix_web::HttpResponseBuilder {
    let kind = if file.is_shown_inline() { "inline" } else { "attachment" };
    let name = utf8_percent_encode(&file.filename, ESCAPED);
    let mut response = HttpResponse::build(status);
    response
        .insert_header((ETAG, etag))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header((CACHE_CONTROL, "private, max-age=0, must-revalidate"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .insert_header((CONTENT_DISPOSITION, format!("{kind}; filename*=UTF-8''{name}")));
    response
}

/// The part of a file that a request names.
#[derive(Debug, PartialEq)]
enum RequestedRange {
    Whole,
    Part(Range<u64>),
    /// A part after the end.
    Unsatisfiable,
}

impl RequestedRange {
    /// Reads a header `Range`. One with several ranges, or in another form, is ignored (RFC 9110 §14.2).
    fn read(sent: &str, length: u64) -> Self {
        let number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
        let range = sent.strip_prefix("bytes=").filter(|_| sent.len() <= MAX_RANGE);
        let Some((first, last)) = range.and_then(|range| range.split_once('-')) else { return Self::Whole };
        match (first.trim(), last.trim()) {
            ("", last) => match number(last) {
                None => Self::Whole,
                Some(0) => Self::Unsatisfiable,
                Some(_) if length == 0 => Self::Unsatisfiable,
                Some(count) => Self::Part(length.saturating_sub(count)..length),
            },
            (first, last) => {
                match (number(first), if last.is_empty() { Some(u64::MAX) } else { number(last) }) {
                    (Some(first), Some(last)) if first > last => Self::Whole,
                    (Some(first), Some(_)) if first >= length => Self::Unsatisfiable,
                    (Some(first), Some(last)) => Self::Part(first..last.saturating_add(1).min(length)),
                    _ => Self::Whole,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read_and_anything_else_is_the_whole_file() {
        for (sent, expected) in [
            ("bytes=0-4", RequestedRange::Part(0..5)),
            ("bytes=5-", RequestedRange::Part(5..10)),
            ("bytes=5-99", RequestedRange::Part(5..10)),
            ("bytes=-3", RequestedRange::Part(7..10)),
            ("bytes=-99", RequestedRange::Part(0..10)),
            ("bytes=9-9", RequestedRange::Part(9..10)),
            ("bytes=10-", RequestedRange::Unsatisfiable),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=18446744073709551615-", RequestedRange::Unsatisfiable),
            ("bytes=0-18446744073709551615", RequestedRange::Part(0..10)),
            ("bytes=4-2", RequestedRange::Whole),
            ("bytes=0-1,3-4", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("bytes=+1-2", RequestedRange::Whole),
            ("bytes=99999999999999999999-", RequestedRange::Whole),
            ("items=0-1", RequestedRange::Whole),
            ("", RequestedRange::Whole),
        ] {
            assert_eq!(RequestedRange::read(sent, 10), expected, "{sent}");
        }
        assert_eq!(RequestedRange::read("bytes=0-", 0), RequestedRange::Unsatisfiable);
    }

    #[test]
    fn nothing_in_a_name_ends_a_header_or_a_segment() {
        let file = StoredFile {
            key: "k".to_owned(),
            filename: "a\"; b/é\n?#%.pdf".to_owned(),
            ..StoredFile::for_test(time::OffsetDateTime::UNIX_EPOCH, civitas_attachments::FileState::Stored)
        };
        assert_eq!(address_of(&file, true), "/files/k/thumbnail/a%22%3B%20b%2F%C3%A9%0A%3F%23%25.pdf");
    }
}
