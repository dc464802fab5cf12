//! Images that are decoded: JPEG, PNG and WebP.
//!
//! Of the bytes of an image only what its pixels and colours need is kept: Exif, XMP, IPTC, comments, texts, embedded
//! previews, unknown blocks and bytes after the end are removed. The colour profile is kept. Pixels are not encoded
//! again, except where the Exif orientation turns them, and where an animation is reduced to its first picture.
//!
//! An image whose pixels have more than 100 million bytes (33 million pixels of three colours with 8 bits) is not decoded: it
//! has no thumbnail, an animation stays one, and the orientation stays in a JPEG file. Decoding one needs at most three times
//! that: as much as its pixels for JPEG and PNG, up to three times that for a progressive JPEG, two times for WebP. Turning
//! an image by 90° needs its pixels twice, and a JPEG file is in memory as a whole beside its pixels. One image is
//! decoded at a time.

mod jpeg;
mod pixels;
mod png;
mod webp;

use civitas_attachments::{ContentError, FileContent, MAX_IMAGE_SIDE};
use image::ImageFormat;
use image::metadata::Orientation;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::Path;

/// The longest Exif block that is read, in bytes.
const MAX_EXIF: u64 = 64 * 1024;

/// The format of a file that begins with these bytes; `None` if it is not decoded.
pub(crate) fn format_of(head: &[u8]) -> Option<ImageFormat> {
    let decoded = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP];
    image::guess_format(head).ok().filter(|format| decoded.contains(format))
}

/// An image without metadata, and its thumbnail if it was decoded.
pub(crate) struct ProcessedImage {
    pub content: FileContent,
    pub thumbnail: Option<FileContent>,
}

/// An image, or why it cannot be attached.
pub(crate) type ImageResult = Result<ProcessedImage, ContentError>;

/// What the blocks of an image say.
#[derive(Debug, Default)]
struct ImageMetadata {
    /// The largest width of the image and its parts, in pixels.
    width: u32,
    height: u32,
    /// TIFF bytes of the Exif block.
    exif: Option<Vec<u8>>,
    animated: bool,
}

impl ImageMetadata {
    fn include(&mut self, width: u32, height: u32) {
        self.width = self.width.max(width);
        self.height = self.height.max(height);
    }
}

/// A block has a length or a position that it cannot have.
fn malformed() -> io::Error {
    ErrorKind::InvalidData.into()
}

/// Removes metadata, decodes the image, and makes a thumbnail. Temporary files are in `directory`.
pub(crate) fn process(
    content: &FileContent,
    format: ImageFormat,
    directory: &Path,
) -> io::Result<ImageResult> {
    let (stripped, facts) = match strip_metadata(content, format, directory) {
        Ok(done) => done,
        Err(cause) if matches!(cause.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
            return Ok(Err(ContentError::Undecodable));
        }
        Err(cause) => return Err(cause),
    };
    if facts.width > MAX_IMAGE_SIDE || facts.height > MAX_IMAGE_SIDE {
        return Ok(Err(ContentError::ImageTooBig));
    }
    let orientation = facts.exif.as_deref().and_then(Orientation::from_exif_chunk);
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    // A decoder that panics on its input has not decoded it.
    let decoded = std::panic::catch_unwind(|| pixels::decode(&stripped.file, format));
    let mut decoded = match decoded {
        Ok(Ok(Some(decoded))) => decoded,
        Ok(Ok(None)) if orientation != Orientation::NoTransforms && format == ImageFormat::Jpeg => {
            let content = jpeg::with_orientation(stripped, orientation, tempfile::tempfile_in(directory)?)?;
            return Ok(Ok(ProcessedImage { content, thumbnail: None }));
        }
        Ok(Ok(None)) => return Ok(Ok(ProcessedImage { content: stripped, thumbnail: None })),
        Ok(Err(fault)) => return Ok(Err(fault)),
        Err(_) => return Ok(Err(ContentError::Undecodable)),
    };
    let content = if orientation == Orientation::NoTransforms && !facts.animated {
        stripped
    } else {
        drop(stripped);
        decoded.pixels.apply_orientation(orientation);
        pixels::encode(&decoded, format, tempfile::tempfile_in(directory)?)?
    };
    let thumbnail = pixels::encode(&decoded.thumbnail(), format, tempfile::tempfile_in(directory)?)?;
    Ok(Ok(ProcessedImage { content, thumbnail: Some(thumbnail) }))
}

/// Copies an image without its metadata.
fn strip_metadata(
    content: &FileContent,
    format: ImageFormat,
    directory: &Path,
) -> io::Result<(FileContent, ImageMetadata)> {
    let mut from = BufReader::new(content.file.try_clone()?);
    from.rewind()?;
    let mut to = BufWriter::new(tempfile::tempfile_in(directory)?);
    let facts = match format {
        ImageFormat::Jpeg => jpeg::strip_metadata(&mut from, &mut to)?,
        ImageFormat::Png => png::strip_metadata(&mut from, &mut to)?,
        _ => webp::strip_metadata(&mut from, &mut to, content.byte_size)?,
    };
    Ok((finished(to)?, facts))
}

/// A written file, at its first byte.
fn finished(writer: BufWriter<File>) -> io::Result<FileContent> {
    let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    let byte_size = file.metadata()?.len();
    file.rewind()?;
    Ok(FileContent { file, byte_size })
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Copies exactly `length` bytes.
fn copy(from: &mut impl Read, to: &mut impl Write, length: u64) -> io::Result<()> {
    if io::copy(&mut from.take(length), to)? == length {
        Ok(())
    } else {
        Err(ErrorKind::UnexpectedEof.into())
    }
}

/// Reads past exactly `length` bytes.
fn skip(from: &mut impl Read, length: u64) -> io::Result<()> {
    copy(from, &mut io::sink(), length)
}

/// Reads exactly `length` bytes of an Exif block; `None` for one that is too long. The result begins with the TIFF
/// header.
fn read_exif(from: &mut impl Read, length: u64) -> io::Result<Option<Vec<u8>>> {
    if length > MAX_EXIF {
        skip(from, length)?;
        return Ok(None);
    }
    let mut bytes = Vec::new();
    copy(from, &mut bytes, length)?;
    Ok(Some(bytes.strip_prefix(b"Exif\0\0").map(<[u8]>::to_vec).unwrap_or(bytes)))
}

#[cfg(test)]
mod tests;
