//! Forms with a file: read part by part, so that memory does not depend on their length.

use crate::form::SubmittedForm;
use actix_multipart::{Field, Multipart};
use actix_web::HttpRequest;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ContentDisposition, HeaderMap};
use actix_web::web::{Bytes, Payload};
use civitas_application::{BodyTimeout, Files};
use civitas_attachments::ReceiveOutcome;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::cell::Cell;
use std::rc::Rc;

/// The name of the field with the file.
pub(crate) const FILE_FIELD: &str = "file";
/// The most bytes of a form besides its file.
const MAX_FIELD_BYTES: u64 = 1024 * 1024;
/// The most parts of a form.
const MAX_PARTS: usize = 1_000;

/// The file of a form.
#[derive(Debug)]
pub(crate) struct UploadedFile {
    /// The name of the file, as the browser sent it.
    pub(crate) name: String,
    pub(crate) outcome: ReceiveOutcome,
}

/// Whether a form with a file is sent.
pub(crate) fn is_multipart(request: &HttpRequest) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Reads a form: its fields, and its file, of which at most `limit` bytes are kept.
///
/// # Errors
/// The status: 413 for a body that is more than 1 MiB longer than `limit`, 408 when it is too slow, 400 when it is
/// broken, 503 when it cannot be stored.
pub(crate) async fn read_form(
    files: &Files,
    headers: &HeaderMap,
    payload: Payload,
    limit: u64,
) -> Result<(SubmittedForm, Option<UploadedFile>), StatusCode> {
    let longest = limit.saturating_add(MAX_FIELD_BYTES);
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > longest) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let failure: Rc<Cell<Option<StatusCode>>> = Rc::default();
    let body = Body { payload, pace: BodyTimeout::for_upload(), received: 0, longest };
    let chunks = stream::unfold((body, failure.clone()), |(mut body, failure)| async move {
        let next = body.next().await?.map_err(|status| {
            failure.set(Some(status));
            PayloadError::Incomplete(None)
        });
        Some((next, (body, failure)))
    });
    // The parser asks again after the end.
    let parts = Multipart::new(headers, chunks.fuse().boxed_local());
    // The reason of a failed read is lost in the parser.
    read_parts(files, limit, parts).await.map_err(|status| failure.take().unwrap_or(status))
}

/// A body of limited length that must arrive at a minimum pace.
struct Body {
    payload: Payload,
    pace: BodyTimeout,
    received: u64,
    longest: u64,
}

impl Body {
    async fn next(&mut self) -> Option<Result<Bytes, StatusCode>> {
        match self.pace.wait(self.payload.next()).await {
            Some(None) => None,
            Some(Some(Ok(chunk))) => {
                self.pace.received(chunk.len() as u64);
                self.received += chunk.len() as u64;
                Some(if self.received <= self.longest {
                    Ok(chunk)
                } else {
                    Err(StatusCode::PAYLOAD_TOO_LARGE)
                })
            }
            Some(Some(Err(_))) => Some(Err(StatusCode::BAD_REQUEST)),
            None => Some(Err(StatusCode::REQUEST_TIMEOUT)),
        }
    }
}

async fn read_parts(
    files: &Files,
    limit: u64,
    mut parts: Multipart,
) -> Result<(SubmittedForm, Option<UploadedFile>), StatusCode> {
    let (mut pairs, mut file, mut bytes) = (Vec::new(), None, 0);
    while let Some(mut part) = parts.try_next().await.map_err(|_| StatusCode::BAD_REQUEST)? {
        let name = part.name().map(str::to_owned).ok_or(StatusCode::BAD_REQUEST)?;
        let filename = part.content_disposition().and_then(sent_filename);
        if let Some(filename) = filename {
            // A browser sends an empty name when no file was chosen.
            let outcome = receive(files, limit, part).await?;
            if name == FILE_FIELD && file.is_none() && !filename.is_empty() {
                file = Some(UploadedFile { name: filename, outcome });
            }
            continue;
        }
        let mut text = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(|_| StatusCode::BAD_REQUEST)? {
            bytes += chunk.len() as u64;
            if bytes > MAX_FIELD_BYTES {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            text.extend_from_slice(&chunk);
        }
        pairs.push((name, String::from_utf8(text).map_err(|_| StatusCode::BAD_REQUEST)?));
        if pairs.len() > MAX_PARTS {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
    }
    Ok((SubmittedForm::from_pairs(pairs), file))
}

/// The name of a file: `filename*` in UTF-8, else `filename`.
fn sent_filename(sent: &ContentDisposition) -> Option<String> {
    let extended = sent.get_filename_ext().and_then(|name| String::from_utf8(name.value.clone()).ok());
    extended.or_else(|| sent.get_filename().map(str::to_owned))
}

/// Receives a part as a file of at most `limit` bytes. The rest of a longer one is read and dropped.
async fn receive(files: &Files, limit: u64, part: Field) -> Result<ReceiveOutcome, StatusCode> {
    let received = files.receive_body(part, limit).await.map_err(|_| StatusCode::BAD_REQUEST)?;
    received.map_err(|error| {
        tracing::warn!(%error, cause = ?error.cause(), "the file of a form could not be received");
        StatusCode::SERVICE_UNAVAILABLE
    })
}
