//! Bodies with files: read part by part, so that memory does not depend on their length.

use crate::body::{self, PacedBody};
use crate::error::ApiError;
use crate::form_body::{malformed_form_error, parse_bracket_pairs};
use actix_multipart::Multipart;
use actix_web::error::PayloadError;
use actix_web::http::header::{ContentDisposition, HeaderMap};
use actix_web::web::Payload;
use civitas_application::{BodyTimeout, Files};
use civitas_attachments::ReceiveOutcome;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::rc::Rc;

/// What a body with a file may have in addition to the file: its other parts and their boundaries. In bytes.
pub(crate) const FORM_OVERHEAD_BYTES: u64 = 1024 * 1024;
/// The most parts of a form with files.
const MAX_PARTS: usize = 100;

/// A body that was not read.
pub(crate) struct UnreadBody {
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Payload,
}

/// The parts of a form with a file.
pub(crate) struct UploadForm {
    /// The text parts, as members: `title[en]` is `{"title": {"en": ..}}`.
    pub(crate) members: Map<String, Value>,
    /// The name and the content of the part `file`; `None` without such a part with a file name.
    pub(crate) file: Option<(String, ReceiveOutcome)>,
}

impl UnreadBody {
    /// The announced length; `None` for a chunked body.
    pub(crate) fn length(&self) -> Option<u64> {
        body::length(&self.headers)
    }

    /// Receives the body as one file of at most `limit` bytes. The rest of a longer one is not read.
    ///
    /// # Errors
    /// `Malformed` for a body that ends early or arrives too slowly; `Unavailable` when the disk is full.
    pub(crate) async fn receive(self, files: &Files, limit: u64) -> Result<ReceiveOutcome, ApiError> {
        let body = PacedBody::new(&self.headers, self.payload, BodyTimeout::for_upload(), limit);
        let chunks = stream::unfold(body, |mut body| async move {
            let next = body.next().await?;
            Some((next, body))
        });
        match files.receive_body(chunks, limit).await {
            Err(ApiError::TooLarge) => Ok(ReceiveOutcome::TooLong),
            received => Ok(received??),
        }
    }

    /// Reads a form: its text parts, and its part `file`, of which at most `limit` bytes are kept.
    ///
    /// # Errors
    /// `TooLarge` for a body that is more than [`FORM_OVERHEAD_BYTES`] longer than `limit`; `Malformed form`; `Malformed` for
    /// one that ends early or arrives too slowly; `Unavailable`.
    pub(crate) async fn read_form(self, files: &Files, limit: u64) -> Result<UploadForm, ApiError> {
        let longest = limit.saturating_add(FORM_OVERHEAD_BYTES);
        if self.length().is_some_and(|length| length > longest) {
            return Err(ApiError::TooLarge);
        }
        let failure: Rc<Cell<Option<ApiError>>> = Rc::default();
        let body = (
            PacedBody::new(&self.headers, self.payload, BodyTimeout::for_upload(), longest),
            failure.clone(),
        );
        let chunks = stream::unfold(body, |(mut body, failure)| async move {
            let next = body.next().await?.map_err(|error| {
                failure.set(Some(error));
                PayloadError::Incomplete(None)
            });
            Some((next, (body, failure)))
        });
        // The parser asks again after the end.
        let parts = Multipart::new(&self.headers, chunks.fuse().boxed_local());
        let read = read_parts(files, limit, parts).await;
        // The reason of a failed read is lost in the parser.
        read.map_err(|error| failure.take().unwrap_or(error))
    }
}

async fn read_parts(files: &Files, limit: u64, mut parts: Multipart) -> Result<UploadForm, ApiError> {
    let (mut pairs, mut file, mut text_bytes) = (Vec::new(), None, 0);
    while let Some(mut part) = parts.try_next().await.map_err(|_| malformed_form_error())? {
        let name = part.name().map(str::to_owned).ok_or_else(malformed_form_error)?;
        let filename = part.content_disposition().and_then(filename_of);
        match filename {
            Some(filename) if name == "file" && file.is_none() => {
                let body = part.map_err(|_| malformed_form_error());
                file = Some((filename, files.receive_body(body, limit).await??));
            }
            _ if name == "file" && file.is_some() => return Err(malformed_form_error()),
            _ => {
                let mut text = Vec::new();
                while let Some(chunk) = part.try_next().await.map_err(|_| malformed_form_error())? {
                    text_bytes += chunk.len() as u64;
                    if text_bytes > FORM_OVERHEAD_BYTES {
                        return Err(ApiError::TooLarge);
                    }
                    text.extend_from_slice(&chunk);
                }
                // A part `file` without a name is no file.
                if name != "file" {
                    pairs.push((name, String::from_utf8(text).map_err(|_| malformed_form_error())?));
                }
            }
        }
        if pairs.len() > MAX_PARTS {
            return Err(ApiError::TooLarge);
        }
    }
    Ok(UploadForm { members: parse_bracket_pairs(pairs)?, file })
}

/// The name of a file: `filename*` in UTF-8, else `filename`.
fn filename_of(sent: &ContentDisposition) -> Option<String> {
    let extended = sent.get_filename_ext().and_then(|name| String::from_utf8(name.value.clone()).ok());
    extended.or_else(|| sent.get_filename().map(str::to_owned))
}
