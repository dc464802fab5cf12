//! The chunks of a PNG file. Format: W3C Portable Network Graphics, third edition.

use super::{ImageMetadata, array, copy, malformed, read_exif, skip};
use std::io::{self, BufRead, Write};

/// The first bytes of a PNG file.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The largest length of a chunk, in bytes.
const MAX_CHUNK: u32 = (1 << 31) - 1;
/// Chunks that pixels and colours need. Those of animations are left out: the still image remains.
const KEPT_CHUNKS: [&[u8; 4]; 15] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"mDCV",
    b"cLLI", b"sBIT", b"bKGD", b"pHYs",
];

/// Copies the chunks that are kept, up to the end of the image.
pub(super) fn strip_metadata(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<ImageMetadata> {
    if array::<8>(from)? != SIGNATURE {
        return Err(malformed());
    }
    to.write_all(SIGNATURE)?;
    let mut facts = ImageMetadata::default();
    loop {
        let mut length = u32::from_be_bytes(array(from)?);
        let kind: [u8; 4] = array(from)?;
        if length > MAX_CHUNK || (&kind == b"IHDR") != (facts.width == 0) {
            return Err(malformed());
        }
        if KEPT_CHUNKS.contains(&&kind) {
            to.write_all(&length.to_be_bytes())?;
            to.write_all(&kind)?;
            if &kind == b"IHDR" {
                let [width, height] = [array(from)?, array(from)?].map(u32::from_be_bytes);
                if length != 13 || width == 0 || height == 0 {
                    return Err(malformed());
                }
                facts.include(width, height);
                to.write_all(&[width.to_be_bytes(), height.to_be_bytes()].concat())?;
                length -= 8;
            }
            // With the checksum.
            copy(from, to, u64::from(length) + 4)?;
        } else if &kind == b"eXIf" && facts.exif.is_none() {
            facts.exif = read_exif(from, length.into())?;
            skip(from, 4)?;
        } else {
            skip(from, u64::from(length) + 4)?;
        }
        if &kind == b"IEND" {
            return Ok(facts);
        }
    }
}
