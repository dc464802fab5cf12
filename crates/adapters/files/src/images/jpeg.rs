//! The segments of a JPEG file. Format: ITU-T T.81, annex B.

use super::{ImageMetadata, array, finished, malformed, read_exif};
use civitas_attachments::FileContent;
use image::metadata::Orientation;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Seek, SeekFrom, Write};

/// How many scans a progressive image may have. Usual are about 10; each takes the time of the whole image.
const MAX_SCANS: u32 = 100;

/// Copies the segments that pixels and colours need, up to the end of the image.
pub(super) fn strip_metadata(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<ImageMetadata> {
    if array(from)? != [0xff, 0xd8] {
        return Err(malformed());
    }
    to.write_all(&[0xff, 0xd8])?;
    let mut facts = ImageMetadata::default();
    let mut scans = 0;
    let mut marker = next_marker(from)?;
    loop {
        match marker {
            0xd9 if scans > 0 => break,
            0xd9 => return Err(malformed()),
            // Markers without a length: begin, restart, temporary.
            0x01 | 0xd0..=0xd8 => {}
            0xda => {
                scans += 1;
                if scans > MAX_SCANS || facts.width == 0 {
                    return Err(malformed());
                }
                segment(from, to, marker, &mut facts)?;
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
pub(super) fn with_orientation(
    content: FileContent,
    orientation: Orientation,
    to: File,
) -> io::Result<FileContent> {
    // The header, and a directory with one number of 16 bits.
    let mut block = *b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0";
    block[24] = orientation.to_exif();
    let (mut from, mut to) = (content.file, BufWriter::new(to));
    from.seek(SeekFrom::Start(2))?;
    to.write_all(&[0xff, 0xd8, 0xff, 0xe1, 0, 34])?;
    to.write_all(&block)?;
    io::copy(&mut from, &mut to)?;
    finished(to)
}

/// The second byte of the next marker. Bytes before it are left out.
fn next_marker(from: &mut impl BufRead) -> io::Result<u8> {
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

/// Copies the parts of a segment that pixels and colours need. Of application segments: the density (JFIF), the colour
/// profile, and the colour transformation (Adobe).
fn segment(
    from: &mut impl BufRead,
    to: &mut impl Write,
    marker: u8,
    facts: &mut ImageMetadata,
) -> io::Result<()> {
    let length = u16::from_be_bytes(array(from)?).checked_sub(2).ok_or_else(malformed)?;
    let mut content = vec![0; length.into()];
    from.read_exact(&mut content)?;
    let copied = match marker {
        // Tables, begin of a scan, number of lines, restart interval.
        0xc4 | 0xcc | 0xda..=0xdd => &content[..],
        0xc0..=0xcf => {
            let [_, high, low, left, right, ..] = *content else { return Err(malformed()) };
            if facts.width > 0 {
                return Err(malformed());
            }
            facts.include(u16::from_be_bytes([left, right]).into(), u16::from_be_bytes([high, low]).into());
            &content[..]
        }
        0xe0 if content.starts_with(b"JFIF\0") && length >= 14 => {
            // Without the preview: its width and height are 0.
            content[12..14].fill(0);
            &content[..14]
        }
        0xe1 if content.starts_with(b"Exif\0") && facts.exif.is_none() => {
            facts.exif = read_exif(&mut &*content, length.into())?;
            return Ok(());
        }
        0xe2 if content.starts_with(b"ICC_PROFILE\0") => &content[..],
        0xee if content.starts_with(b"Adobe") && length >= 12 => &content[..12],
        // Comments, and other segments.
        _ => return Ok(()),
    };
    let length = u16::try_from(copied.len() + 2).map_err(|_| malformed())?;
    to.write_all(&[0xff, marker])?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(copied)
}

/// Copies compressed data with its restart markers. Returns the second byte of the marker that ends it.
fn copy_scan(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<u8> {
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Err(malformed());
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
