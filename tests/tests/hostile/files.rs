//! Images, ZIP files and others that are not what they say.

use crate::budget::fuzz;
use crate::generate::{damage, damaged};
use bytes::Bytes;
use civitas_attachments::{FileIntake, ImageBytes, ReceiveOutcome};
use civitas_files::DirectoryIntake;
use futures_util::{StreamExt, stream};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::io::{Cursor, Write};
use tokio::runtime::Runtime;

fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let pixels = RgbImage::from_fn(12, 9, |x, y| {
        Rgb([u8::try_from(x * 20).unwrap(), u8::try_from(y * 20).unwrap(), 7])
    });
    DynamicImage::from(pixels).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A ZIP archive; its list of types is this many bytes of zeros.
fn zip(zeros: usize) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("[Content_Types].xml", vec![0; zeros]), ("word/document.xml", b"<w/>".to_vec())]
    {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Sound files of each kind that is looked into.
pub fn samples() -> Vec<Vec<u8>> {
    let texts = [
        &b"%PDF-1.7\n1 0 obj << >> endobj\n%%EOF\n"[..],
        b"{\\rtf1 text}",
        b"<svg xmlns='a'/>",
        b"text\n",
        b"",
    ];
    let images = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP].map(picture);
    let zips = [100, 1 << 20].map(zip);
    images.into_iter().chain(zips).chain(texts.map(<[u8]>::to_vec)).collect()
}

/// Numbers where headers have sizes.
#[derive(Debug, Clone)]
struct Lie {
    at: usize,
    value: u32,
    is_big_endian: bool,
}

fn lies() -> impl Strategy<Value = Vec<Lie>> {
    let value = select(&[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, 0x4000_0000, 16_384][..]);
    let lie = (0_usize..4_096, value, any::<bool>());
    vec(lie.prop_map(|(at, value, is_big_endian)| Lie { at, value, is_big_endian }), 0..3)
}

#[test]
fn files_that_lie() {
    let runtime = Runtime::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let intake = DirectoryIntake::open(directory.path()).unwrap();
    let strategy = (select(samples()), lies(), vec(damage(), 0..3), select(samples()), 0_u8..6).prop_map(
        |(sample, lies, damages, other, glued)| {
            let mut bytes = sample;
            for Lie { at, value, is_big_endian } in lies {
                let at = at % bytes.len().max(1);
                let value = if is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
                for (place, byte) in bytes.iter_mut().skip(at).zip(value) {
                    *place = byte;
                }
            }
            let bytes = damaged(&bytes, &damages);
            if glued == 0 { [bytes, other].concat() } else { bytes }
        },
    );
    fuzz("files that lie", 1, &strategy, |bytes| {
        runtime.block_on(async {
            let (length, chunk) = (bytes.len() as u64, Bytes::from(bytes.clone()));
            let received = intake.receive(stream::iter([Ok(chunk)]).boxed(), length).await;
            let Ok(ReceiveOutcome::Complete(received)) = received else {
                return Err("not received".to_owned());
            };
            let inspected = intake
                .inspect(received, ImageBytes::WithoutMetadata)
                .await
                .map_err(|error| error.to_string())?;
            if inspected.content.byte_size > 100 * length + 100_000 {
                return Err(format!("{} bytes became {}", length, inspected.content.byte_size));
            }
            Ok(())
        })
    });
}
