//! The chunks of a WebP file. Format: RFC 9649.

use super::{ImageMetadata, array, copy, malformed, read_exif, skip};
use std::io::{self, BufRead, Seek, SeekFrom, Write};

/// Flags of an extended file: XMP, and Exif.
const METADATA: u8 = 0x04 | 0x08;
/// Flag of an extended file: an animation.
const ANIMATED: u8 = 0x02;
/// The length of the head of a chunk, in bytes.
const HEAD: u64 = 8;
/// The length of the head of a frame of an animation, in bytes.
const FRAME: u64 = 16;
/// The length of the head of the picture data that has its width and height, in bytes.
const PICTURE: u64 = 10;

/// Copies the chunks that pixels and colours need. Of an animation only the first frame is kept.
pub(super) fn strip_metadata(
    from: &mut (impl BufRead + Seek),
    to: &mut (impl Write + Seek),
    size: u64,
) -> io::Result<ImageMetadata> {
    let head: [u8; 12] = array(from)?;
    let [b'R', b'I', b'F', b'F', a, b, c, d, b'W', b'E', b'B', b'P'] = head else {
        return Err(malformed());
    };
    let end = HEAD + u64::from(u32::from_le_bytes([a, b, c, d]));
    if end > size {
        return Err(malformed());
    }
    to.write_all(&head)?;
    let mut facts = ImageMetadata::default();
    let mut at = 12;
    let mut has_frame = false;
    while at + HEAD <= end {
        at = chunk(from, to, (at, end), &mut facts, &mut has_frame)?;
    }
    if facts.width == 0 {
        return Err(malformed());
    }
    let length = to.stream_position()?.checked_sub(HEAD).and_then(|length| u32::try_from(length).ok());
    to.seek(SeekFrom::Start(4))?;
    to.write_all(&length.ok_or_else(malformed)?.to_le_bytes())?;
    Ok(facts)
}

/// Copies or skips the chunk at `at`. Returns where the next one begins.
fn chunk(
    from: &mut (impl BufRead + Seek),
    to: &mut (impl Write + Seek),
    (at, end): (u64, u64),
    facts: &mut ImageMetadata,
    has_frame: &mut bool,
) -> io::Result<u64> {
    let kind: [u8; 4] = array(from)?;
    let length = u32::from_le_bytes(array(from)?);
    // Chunks of an odd length are followed by one byte.
    let padded = u64::from(length) + u64::from(length % 2);
    if at + HEAD + u64::from(length) > end {
        return Err(malformed());
    }
    let next = at + HEAD + padded;
    match &kind {
        b"VP8X" => {
            let [flags, a, b, c, rest @ ..]: [u8; 10] = array(from)?;
            if length != 10 {
                return Err(malformed());
            }
            facts.include(u24(rest[0], rest[1], rest[2]) + 1, u24(rest[3], rest[4], rest[5]) + 1);
            facts.animated = flags & ANIMATED != 0;
            write_head(to, kind, length)?;
            to.write_all(&[flags & !METADATA, a, b, c])?;
            to.write_all(&rest)?;
        }
        b"EXIF" if facts.exif.is_none() => facts.exif = read_exif(from, length.into())?,
        b"ANMF" if *has_frame => {}
        b"VP8 " | b"VP8L" | b"ALPH" | b"ICCP" | b"ANIM" | b"ANMF" => {
            *has_frame |= &kind == b"ANMF";
            measure(from, facts, kind, at + HEAD, length)?;
            write_head(to, kind, length)?;
            copy(from, to, length.into())?;
            to.write_all(if length % 2 == 1 { &[0] } else { &[] })?;
        }
        _ => {}
    }
    // The last byte of a file of an odd length may be absent.
    from.seek(SeekFrom::Start(next))?;
    Ok(next)
}

fn write_head(to: &mut impl Write, kind: [u8; 4], length: u32) -> io::Result<()> {
    to.write_all(&kind)?;
    to.write_all(&length.to_le_bytes())
}

/// Reads width and height of the picture data that begins at `begin`, those of a frame too, and returns there.
fn measure(
    from: &mut (impl BufRead + Seek),
    facts: &mut ImageMetadata,
    kind: [u8; 4],
    begin: u64,
    length: u32,
) -> io::Result<()> {
    match &kind {
        b"VP8 " if u64::from(length) >= PICTURE => {
            skip(from, 6)?;
            let [a, b, c, d]: [u8; 4] = array(from)?;
            let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
            facts.include(side(a, b), side(c, d));
        }
        b"VP8L" if length >= 5 => {
            skip(from, 1)?;
            let bits = u32::from_le_bytes(array(from)?);
            facts.include((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
        }
        b"VP8 " | b"VP8L" => return Err(malformed()),
        b"ANMF" => {
            let (mut at, end) = (begin + FRAME, begin + u64::from(length));
            while at + HEAD <= end {
                from.seek(SeekFrom::Start(at))?;
                let (kind, length): ([u8; 4], _) = (array(from)?, u32::from_le_bytes(array(from)?));
                // A frame has no frames.
                if &kind != b"ANMF" {
                    measure(from, facts, kind, at + HEAD, length)?;
                }
                at += HEAD + u64::from(length) + u64::from(length % 2);
            }
        }
        _ => {}
    }
    from.seek(SeekFrom::Start(begin)).map(drop)
}

fn u24(low: u8, middle: u8, high: u8) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}
