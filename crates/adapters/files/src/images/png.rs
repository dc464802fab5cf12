//! The chunks of a PNG file. Format: W3C Portable Network Graphics, third edition.

use super::{Facts, StripError, array, copy, read_exif, skip};
use std::io::{BufRead, Write};

/// The first bytes of a PNG file.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The largest length of a chunk, in bytes.
const MAX_CHUNK: u32 = (1 << 31) - 1;
/// Chunks that pixels and colours need. Those of animations are left out: the still image remains.
const KEPT: [&[u8; 4]; 15] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"mDCV",
    b"cLLI", b"sBIT", b"bKGD", b"pHYs",
];

/// Copies the chunks that are kept, up to the end of the image.
pub(super) fn strip(from: &mut impl BufRead, to: &mut impl Write) -> Result<Facts, StripError> {
    if array::<8>(from)? != SIGNATURE {
        return Err(StripError::Malformed);
    }
    to.write_all(SIGNATURE)?;
    let mut facts = Facts::default();
    loop {
        let length = u32::from_be_bytes(array(from)?);
        let kind: [u8; 4] = array(from)?;
        if length > MAX_CHUNK || (&kind == b"IHDR") != (facts.width == 0) {
            return Err(StripError::Malformed);
        }
        if &kind == b"IHDR" {
            header(from, to, length, &mut facts)?;
        } else if KEPT.contains(&&kind) {
            to.write_all(&length.to_be_bytes())?;
            to.write_all(&kind)?;
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

fn header(
    from: &mut impl BufRead,
    to: &mut impl Write,
    length: u32,
    facts: &mut Facts,
) -> Result<(), StripError> {
    // Width, height, five bytes, checksum.
    let [width, height]: [u32; 2] = [u32::from_be_bytes(array(from)?), u32::from_be_bytes(array(from)?)];
    let rest: [u8; 9] = array(from)?;
    if length != 13 || width == 0 || height == 0 {
        return Err(StripError::Malformed);
    }
    facts.include(width, height);
    to.write_all(&length.to_be_bytes())?;
    to.write_all(b"IHDR")?;
    to.write_all(&width.to_be_bytes())?;
    to.write_all(&height.to_be_bytes())?;
    Ok(to.write_all(&rest)?)
}
