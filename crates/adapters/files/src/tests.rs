//! Samples of files, and their inspection, for unit tests.

use crate::DirectoryIntake;
use civitas_attachments::{FileContent, FileInspection, FileIntake, ImageBytes, ReceivedBody};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use std::io::{Cursor, Read, Seek, Write};

/// What metadata of samples contains, and stored files must not.
pub(crate) const SECRET: &str = "SECRET-PLACE-52.5163N";

/// Bytes as a temporary file.
pub(crate) fn content(bytes: &[u8]) -> FileContent {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    FileContent { file, byte_size: bytes.len() as u64 }
}

/// All bytes of a temporary file.
pub(crate) fn bytes(mut content: FileContent) -> Vec<u8> {
    let mut bytes = Vec::new();
    content.file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, content.byte_size);
    bytes
}

/// Inspects bytes.
pub(crate) fn inspect(bytes: &[u8]) -> FileInspection {
    let intake = DirectoryIntake::open(std::env::temp_dir()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime
        .block_on(
            intake
                .inspect(ReceivedBody { content: content(bytes), md5: [0; 16] }, ImageBytes::WithoutMetadata),
        )
        .unwrap()
}

/// An image whose left half is red and whose right half is blue.
pub(crate) fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let pixel = |x, _| if x < width / 2 { Rgb([250, 5, 5]) } else { Rgb([5, 5, 250]) };
    encoded(&RgbImage::from_fn(width, height, pixel).into(), format)
}

/// An image in a format.
pub(crate) fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A TIFF block with an orientation and a place.
pub(crate) fn exif(orientation: u8) -> Vec<u8> {
    let mut block = b"II*\0\x08\0\0\0\x02\0".to_vec();
    block.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]);
    block.extend([0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0]);
    block.extend([0; 4]);
    // The directory with the place: one text, behind it.
    block.extend([1, 0, 2, 0, 2, 0]);
    block.extend(u32::try_from(SECRET.len()).unwrap().to_le_bytes());
    block.extend([56, 0, 0, 0, 0, 0, 0, 0]);
    block.extend(SECRET.as_bytes());
    block
}

/// A JPEG file with more segments at its begin.
pub(crate) fn jpeg_with(jpeg: &[u8], segments: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = jpeg[..2].to_vec();
    for (marker, content) in segments {
        bytes.extend([0xff, *marker]);
        bytes.extend(u16::try_from(content.len() + 2).unwrap().to_be_bytes());
        bytes.extend(*content);
    }
    bytes.extend(&jpeg[2..]);
    bytes
}

/// A chunk of a PNG file.
pub(crate) fn png_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut checksum = flate2::Crc::new();
    checksum.update(&kind);
    checksum.update(content);
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], &kind, content, &checksum.sum().to_be_bytes()].concat()
}

/// A PNG file with more chunks after its header.
pub(crate) fn png_with(png: &[u8], chunks: &[([u8; 4], &[u8])]) -> Vec<u8> {
    let mut bytes = png[..33].to_vec();
    for (kind, content) in chunks {
        bytes.extend(png_chunk(*kind, content));
    }
    bytes.extend(&png[33..]);
    bytes
}

/// A chunk of a WebP file.
pub(crate) fn webp_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    let padding: &[u8] = if content.len() % 2 == 1 { &[0] } else { &[] };
    [&kind[..], &length, content, padding].concat()
}

/// An extended WebP file: its flags, width and height, the chunks of `webp`, and more chunks.
pub(crate) fn webp_with(flags: u8, (width, height): (u32, u32), chunks: &[u8]) -> Vec<u8> {
    let mut header = vec![flags, 0, 0, 0];
    header.extend(&(width - 1).to_le_bytes()[..3]);
    header.extend(&(height - 1).to_le_bytes()[..3]);
    let body = [b"WEBP".to_vec(), webp_chunk(*b"VP8X", &header), chunks.to_vec()].concat();
    [&b"RIFF"[..], &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
}

/// A ZIP archive with entries, deflated.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An OLE compound file with empty streams.
pub(crate) fn compound(storages: &[&str], streams: &[&str]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for storage in storages {
        file.create_storage(storage).unwrap();
    }
    for stream in streams {
        file.create_stream(stream).unwrap().write_all(b"content").unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}
