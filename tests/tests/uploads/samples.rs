//! Files, sound and not.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use std::io::{Cursor, Write};

/// What metadata of images has, and served files must not have.
pub const SECRET: &str = "SECRET-PLACE-52.5163N";

/// An image of two colours.
pub fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let pixel = |x, _| if x < width / 2 { Rgb([250, 5, 5]) } else { Rgb([5, 5, 250]) };
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(RgbImage::from_fn(width, height, pixel)).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub fn jpeg() -> Vec<u8> {
    picture(ImageFormat::Jpeg, 40, 30)
}

pub fn png() -> Vec<u8> {
    picture(ImageFormat::Png, 40, 30)
}

pub fn webp() -> Vec<u8> {
    picture(ImageFormat::WebP, 40, 30)
}

/// The first half of a file.
pub fn half(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

/// Two files, one after the other.
pub fn with_tail(bytes: &[u8], tail: &[u8]) -> Vec<u8> {
    [bytes, tail].concat()
}

/// A TIFF block with an orientation of 90° and a place.
fn exif() -> Vec<u8> {
    let mut block = b"Exif\0\0II*\0\x08\0\0\0\x02\0".to_vec();
    block.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]);
    block.extend([0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0]);
    block.extend([0; 4]);
    block.extend([1, 0, 2, 0, 2, 0]);
    block.extend(u32::try_from(SECRET.len()).unwrap().to_le_bytes());
    block.extend([56, 0, 0, 0, 0, 0, 0, 0]);
    block.extend(SECRET.as_bytes());
    block
}

/// A photograph of 40 × 30 pixels that is to be turned, with the place where it was taken, and a comment.
pub fn photograph() -> Vec<u8> {
    let (jpeg, exif) = (jpeg(), exif());
    let mut bytes = jpeg[..2].to_vec();
    for (marker, content) in [(0xe1, exif.as_slice()), (0xfe, SECRET.as_bytes())] {
        bytes.extend([0xff, marker]);
        bytes.extend(u16::try_from(content.len() + 2).unwrap().to_be_bytes());
        bytes.extend(content);
    }
    bytes.extend(&jpeg[2..]);
    bytes
}

fn chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let checksum = crc(&[&kind[..], content].concat());
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[..], &kind, content, &checksum.to_be_bytes()].concat()
}

/// CRC-32 of PNG (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

/// A PNG file with more chunks after its header.
pub fn png_with(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let png = png();
    [&png[..33], &chunk(kind, content), &png[33..]].concat()
}

/// A PNG file whose header says another size than its pixels have.
pub fn png_of(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let png = png();
    [&png[..8], &chunk(*b"IHDR", &header), &png[33..]].concat()
}

/// A JPEG file whose frame says another size than its pixels have.
pub fn jpeg_of(width: u16, height: u16) -> Vec<u8> {
    let mut jpeg = jpeg();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    jpeg[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    jpeg
}

/// An extended WebP file whose header says 16,384 × 16,384 pixels.
pub fn webp_bomb() -> Vec<u8> {
    let header = [0, 0, 0, 0, 0xff, 0x3f, 0, 0xff, 0x3f, 0];
    let webp = webp();
    let body = [b"WEBPVP8X\x0a\0\0\0", &header[..], &webp[12..]].concat();
    [&b"RIFF"[..], &u32::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
}

/// A ZIP archive with entries, deflated.
pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A document of OOXML with this type of its main part.
pub fn ooxml(kind: &str) -> Vec<u8> {
    let types = format!("<Types><Override ContentType=\"application/vnd.{kind}\"/></Types>");
    archive(&[("[Content_Types].xml", types.as_bytes()), ("word/document.xml", b"<w/>")])
}

pub fn docx() -> Vec<u8> {
    ooxml("openxmlformats-officedocument.wordprocessingml.document.main+xml")
}

/// An archive whose list of types is 300 MiB of zeros.
pub fn zip_bomb() -> Vec<u8> {
    let zeros = vec![0; 1 << 20];
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("[Content_Types].xml", zip::write::SimpleFileOptions::default()).unwrap();
    (0..64).for_each(|_| writer.write_all(&zeros).unwrap());
    writer.finish().unwrap().into_inner()
}
