//! The media type of a file, from its bytes alone.
//!
//! The first rule that matches decides:
//!
//! 1. the signature at the first byte: JPEG, PNG, WebP, GIF, PDF, RTF (also after a byte order mark or line ends), OLE
//!    documents, ZIP archives (OOXML, `OpenDocument`);
//! 2. a file that is text as a whole, in UTF-16 with its byte order mark: markup and scripts;
//! 3. the signatures of the crate `infer`, for files that are not text;
//! 4. the header of a PDF within the first 1024 bytes: readers accept other bytes before it;
//! 5. plain text;
//! 6. `application/octet-stream`.
//!
//! XML, SVG and HTML are never images.

mod archive;
mod ole;
mod text;

use crate::images;
use image::ImageFormat;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much of the begin of a file the signatures are looked for in, in bytes.
const HEAD: usize = 4096;
const PDF: &str = "application/pdf";
const PDF_HEADER: &[u8] = b"%PDF-";
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// A file without a known type.
const UNKNOWN: &str = "application/octet-stream";

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DetectedType {
    /// An image that is decoded.
    Image(ImageFormat),
    /// The media type of any other file.
    Other(String),
}

/// Detects the type of a file of `size` bytes. May move the position of the file.
pub(crate) fn detect(file: &File, size: u64) -> io::Result<DetectedType> {
    let head = read_up_to(file, 0, HEAD)?;
    if let Some(format) = images::format_of(&head) {
        return Ok(DetectedType::Image(format));
    }
    let begins = |signatures: &[&[u8]]| signatures.iter().any(|signature| head.starts_with(signature));
    let content_type = if begins(&[b"PK\x03\x04", b"PK\x05\x06"]) {
        archive::content_type(file, size)?
    } else if begins(&[ole::SIGNATURE]) {
        ole::content_type(file)?.to_owned()
    } else if begins(&[b"GIF87a", b"GIF89a"]) {
        "image/gif".to_owned()
    } else if begins(&[PDF_HEADER]) {
        PDF.to_owned()
    } else if head.strip_prefix(MARK).unwrap_or(&head).trim_ascii_start().starts_with(b"{\\rtf") {
        "application/rtf".to_owned()
    } else {
        let found = text::content_type(file, &head)?.unwrap_or_else(|| inferred(&head));
        (if [text::PLAIN, UNKNOWN].contains(&found) && has_pdf_header(&head) { PDF } else { found })
            .to_owned()
    };
    Ok(DetectedType::Other(content_type))
}

fn has_pdf_header(head: &[u8]) -> bool {
    head[..head.len().min(1024)].windows(PDF_HEADER.len()).any(|window| window == PDF_HEADER)
}

/// Types of `infer`, except those that the rules before decide.
fn inferred(head: &[u8]) -> &'static str {
    let decided = |found: &str| {
        ["text/", "application/vnd.o", "application/vnd.ms-"].iter().any(|begin| found.starts_with(begin))
            || ["image/jpeg", "image/png", "image/webp", "image/gif", PDF, "application/rtf"].contains(&found)
            || ["application/msword", "application/zip"].contains(&found)
    };
    infer::get(head).map(|kind| kind.mime_type()).filter(|found| !decided(found)).unwrap_or(UNKNOWN)
}

/// At most `length` bytes at `offset`; fewer at the end of the file.
fn read_up_to(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            // An offset from the file itself that the system refuses.
            Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => break,
            Err(cause) => return Err(cause),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// A little-endian number of two bytes.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// A little-endian number of four bytes.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
