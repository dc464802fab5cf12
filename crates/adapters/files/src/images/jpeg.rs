//! The segments of a JPEG file. Format: ITU-T T.81, annex B.

use super::{Facts, StripError, array, copy, finished, read_exif, skip};
use civitas_attachments::Content;
use image::metadata::Orientation;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Seek, SeekFrom, Write};

/// How many scans a progressive image may have. Usual are about 10; each takes the time of the whole image.
const MAX_SCANS: u32 = 100;

/// Copies the segments that pixels and colours need, up to the end of the image.
pub(super) fn strip(from: &mut impl BufRead, to: &mut impl Write) -> Result<Facts, StripError> {
    if array(from)? != [0xff, 0xd8] {
        return Err(StripError::Malformed);
    }
    to.write_all(&[0xff, 0xd8])?;
    let mut facts = Facts::default();
    let mut scans = 0;
    let mut marker = next_marker(from)?;
    loop {
        match marker {
            0xd9 if scans > 0 => break,
            0xd9 => return Err(StripError::Malformed),
            // Markers without a length: begin, restart, temporary.
            0x01 | 0xd0..=0xd8 => {}
            0xda => {
                scans += 1;
                if scans > MAX_SCANS || facts.width == 0 {
                    return Err(StripError::Malformed);
                }
                keep(from, to, marker)?;
                marker = copy_scan(from, to)?;
                continue;
            }
            _ => segment(from, to, marker, &mut facts)?,
        }
        marker = next_marker(from)?;
    }
    to.write_all(&[0xff, 0xd9])?;
    Ok(facts)
}

/// The same image with an Exif block that has its orientation alone.
pub(super) fn with_orientation(content: Content, orientation: Orientation, to: File) -> io::Result<Content> {
    // The header, and a directory with one number of 16 bits.
    let mut block = *b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0";
    block[24] = orientation.to_exif();
    let (mut from, mut to) = (content.file, BufWriter::new(to));
    from.seek(SeekFrom::Start(2))?;
    to.write_all(&[0xff, 0xd8, 0xff, 0xe1, 0, 34])?;
    to.write_all(&block)?;
    io::copy(&mut from, &mut to)?;
    finished(to.into_inner().map_err(io::IntoInnerError::into_error)?)
}

/// The second byte of the next marker. Bytes before it are left out.
fn next_marker(from: &mut impl BufRead) -> Result<u8, StripError> {
    loop {
        let [mut byte] = array(from)?;
        if byte == 0xff {
            while byte == 0xff {
                [byte] = array(from)?;
            }
            if byte != 0 {
                return Ok(byte);
            }
        }
    }
}

/// The length of the content of a segment, in bytes.
fn length(from: &mut impl BufRead) -> Result<u16, StripError> {
    u16::from_be_bytes(array(from)?).checked_sub(2).ok_or(StripError::Malformed)
}

fn write_head(to: &mut impl Write, marker: u8, length: u16) -> Result<(), StripError> {
    let [high, low] = length.checked_add(2).ok_or(StripError::Malformed)?.to_be_bytes();
    Ok(to.write_all(&[0xff, marker, high, low])?)
}

fn keep(from: &mut impl BufRead, to: &mut impl Write, marker: u8) -> Result<(), StripError> {
    let length = length(from)?;
    write_head(to, marker, length)?;
    Ok(copy(from, to, length.into())?)
}

fn segment(
    from: &mut impl BufRead,
    to: &mut impl Write,
    marker: u8,
    facts: &mut Facts,
) -> Result<(), StripError> {
    match marker {
        // Tables, restart interval, number of lines.
        0xc4 | 0xcc | 0xdb..=0xdd => keep(from, to, marker),
        0xc0..=0xcf => frame(from, to, marker, facts),
        0xe0..=0xef => application(from, to, marker, facts),
        // Comments and reserved markers.
        _ => {
            let length = length(from)?;
            Ok(skip(from, length.into())?)
        }
    }
}

fn frame(
    from: &mut impl BufRead,
    to: &mut impl Write,
    marker: u8,
    facts: &mut Facts,
) -> Result<(), StripError> {
    let length = length(from)?;
    let rest = length.checked_sub(5).ok_or(StripError::Malformed)?;
    let head: [u8; 5] = array(from)?;
    let [_, high, low, left, right] = head;
    if facts.width > 0 {
        return Err(StripError::Malformed);
    }
    facts.include(u16::from_be_bytes([left, right]).into(), u16::from_be_bytes([high, low]).into());
    write_head(to, marker, length)?;
    to.write_all(&head)?;
    Ok(copy(from, to, rest.into())?)
}

/// Of the segments of applications: the density (JFIF), the colour profile, and the colour transformation (Adobe).
fn application(
    from: &mut impl BufRead,
    to: &mut impl Write,
    marker: u8,
    facts: &mut Facts,
) -> Result<(), StripError> {
    let length = length(from)?;
    let mut content = vec![0; length.into()];
    from.read_exact(&mut content)?;
    match marker {
        0xe0 if content.starts_with(b"JFIF\0") && content.len() >= 14 => {
            // Without the preview: its width and height are 0.
            write_head(to, marker, 14)?;
            to.write_all(&content[..12])?;
            to.write_all(&[0, 0])?;
        }
        0xe1 if content.starts_with(b"Exif\0") && facts.exif.is_none() => {
            facts.exif = read_exif(&mut &*content, length.into())?;
        }
        0xe2 if content.starts_with(b"ICC_PROFILE\0") => {
            write_head(to, marker, length)?;
            to.write_all(&content)?;
        }
        0xee if content.starts_with(b"Adobe") && content.len() >= 12 => {
            write_head(to, marker, 12)?;
            to.write_all(&content[..12])?;
        }
        _ => {}
    }
    Ok(())
}

/// Copies compressed data with its restart markers. Returns the second byte of the marker that ends it.
fn copy_scan(from: &mut impl BufRead, to: &mut impl Write) -> Result<u8, StripError> {
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Err(StripError::Malformed);
        }
        let data = buffer.iter().position(|byte| *byte == 0xff).unwrap_or(buffer.len());
        to.write_all(&buffer[..data])?;
        let ended = data < buffer.len();
        from.consume(data + usize::from(ended));
        if !ended {
            continue;
        }
        let mut byte = 0xff;
        while byte == 0xff {
            [byte] = array(from)?;
        }
        match byte {
            0 | 0xd0..=0xd7 => to.write_all(&[0xff, byte])?,
            _ => return Ok(byte),
        }
    }
}
