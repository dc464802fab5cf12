use super::pixels::MAX_DECODED_BYTES;
use crate::tests::{
    SECRET, bytes, encoded, exif, inspect, jpeg_with, picture, png_chunk, png_with, webp_chunk, webp_with,
};
use civitas_attachments::{ContentError, FileInspection, THUMBNAIL_HEIGHT};
use image::metadata::Orientation;
use image::{
    DynamicImage, GenericImageView, GrayImage, ImageDecoder, ImageFormat, ImageReader, Rgba, RgbaImage,
};
use proptest::prelude::*;
use std::io::Cursor;

const FORMATS: [ImageFormat; 3] = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP];

/// The stored image and its thumbnail.
fn accepted(inspected: FileInspection, format: ImageFormat) -> (Vec<u8>, DynamicImage, DynamicImage) {
    assert_eq!((inspected.fault, inspected.content_type.as_str()), (None, format.to_mime_type()));
    let stored = bytes(inspected.content);
    assert_eq!(ring::digest::digest(&ring::digest::SHA256, &stored).as_ref(), inspected.sha256);
    let thumbnail = bytes(inspected.thumbnail.unwrap());
    let decode = |bytes: &[u8]| ImageReader::with_format(Cursor::new(bytes), format).decode().unwrap();
    let (image, small) = (decode(&stored), decode(&thumbnail));
    (stored, image, small)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A sample with metadata of all kinds.
fn with_metadata(format: ImageFormat, size: (u32, u32), orientation: u8) -> Vec<u8> {
    let (plain, block) = (picture(format, size.0, size.1), exif(orientation));
    let xmp = format!("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>{SECRET}</x:xmpmeta>");
    let (secret, text) = (SECRET.as_bytes(), format!("Comment\0{SECRET}"));
    let mut bytes = match format {
        ImageFormat::Jpeg => {
            let block = [b"Exif\0\0", &block[..]].concat();
            let iptc = [b"Photoshop 3.0\0", secret].concat();
            let segments: [(u8, &[u8]); 6] = [
                (0xe1, &block),
                (0xe1, xmp.as_bytes()),
                (0xed, &iptc),
                (0xfe, secret),
                (0xe2, b"MPF\0x"),
                (0xe5, secret),
            ];
            jpeg_with(&plain, &segments)
        }
        ImageFormat::Png => {
            let chunks: [([u8; 4], &[u8]); 4] =
                [(*b"eXIf", &block), (*b"tEXt", text.as_bytes()), (*b"tIME", &[7; 7]), (*b"prVt", secret)];
            png_with(&plain, &chunks)
        }
        _ => {
            let chunks = [
                plain[12..].to_vec(),
                webp_chunk(*b"EXIF", &block),
                webp_chunk(*b"XMP ", xmp.as_bytes()),
                webp_chunk(*b"prVt", secret),
            ];
            webp_with(0x0c, size, &chunks.concat())
        }
    };
    bytes.extend(SECRET.as_bytes());
    bytes
}

#[test]
fn metadata_is_removed_and_pixels_stay() {
    for format in FORMATS {
        let sample = with_metadata(format, (64, 32), 1);
        assert!(contains(&sample, SECRET));
        let (stored, image, thumbnail) = accepted(inspect(&sample), format);
        assert!(!contains(&stored, SECRET) && stored.len() < sample.len() - 3 * SECRET.len(), "{format:?}");
        for name in ["Exif", "EXIF", "eXIf", "XMP ", "tEXt", "tIME", "prVt", "MPF", "Photoshop"] {
            assert!(!contains(&stored, name), "{format:?} {name}");
        }
        let original = image::load_from_memory(&picture(format, 64, 32)).unwrap();
        assert_eq!(image.to_rgb8(), original.to_rgb8(), "{format:?}");
        assert_eq!(thumbnail.dimensions(), (64, 32));
        let again = accepted(inspect(&stored), format).0;
        assert_eq!(again, stored, "{format:?}: a second inspection changes nothing");
    }
}

#[test]
fn the_orientation_is_applied_to_the_pixels() {
    for format in FORMATS {
        for (orientation, size, red_at) in [
            (3, (64, 32), (60, 16)),
            (6, (32, 64), (16, 4)),
            (8, (32, 64), (16, 60)),
            (2, (64, 32), (60, 16)),
        ] {
            let (stored, image, thumbnail) =
                accepted(inspect(&with_metadata(format, (64, 32), orientation)), format);
            assert!(!contains(&stored, SECRET));
            assert_eq!(
                (image.dimensions(), thumbnail.dimensions()),
                (size, size),
                "{format:?} {orientation}"
            );
            let Rgba([red, _, blue, _]) = image.get_pixel(red_at.0, red_at.1);
            assert!(red > 200 && blue < 60, "{format:?} {orientation}");
            let opposite = image.get_pixel(size.0 - 1 - red_at.0, size.1 - 1 - red_at.1);
            assert!(opposite.0[2] > 200, "{format:?} {orientation}");
        }
    }
}

#[test]
fn the_preview_of_a_jpeg_is_removed_and_its_profile_stays() {
    let plain = picture(ImageFormat::Jpeg, 16, 16);
    let preview = [b"JFIF\0\x01\x02\x01\0\x48\0\x48\x02\x02", SECRET.as_bytes()].concat();
    let mut profile = [7; 128];
    profile[16..20].copy_from_slice(b"RGB ");
    let segment = [b"ICC_PROFILE\0\x01\x01", &profile[..]].concat();
    let block = [b"Exif\0\0", &exif(6)[..]].concat();
    for segments in [&[(0xe0, &preview[..]), (0xe2, &segment)][..], &[(0xe2, &segment), (0xe1, &block)]] {
        let (stored, ..) = accepted(inspect(&jpeg_with(&plain, segments)), ImageFormat::Jpeg);
        assert!(contains(&stored, "ICC_PROFILE") && !contains(&stored, SECRET));
    }
}

#[test]
fn truncated_images_cannot_be_attached() {
    for format in FORMATS {
        let sample = picture(format, 40, 30);
        for length in 12..sample.len() {
            let inspected = inspect(&sample[..length]);
            assert_eq!(
                inspected.fault,
                Some(ContentError::Undecodable),
                "{format:?} {length} of {}",
                sample.len()
            );
            assert!(inspected.thumbnail.is_none());
        }
    }
}

#[test]
fn images_are_at_most_8000_pixels_wide_and_high() {
    for (width, height, fault) in [(8000, 1, false), (1, 8000, false), (8001, 1, true), (1, 8001, true)] {
        for format in FORMATS {
            let expected = fault.then_some(ContentError::ImageTooBig);
            let inspected = inspect(&picture(format, width, height));
            assert_eq!(inspected.fault, expected, "{format:?} {width}x{height}");
            assert_eq!(inspected.thumbnail.is_none(), fault);
        }
    }
}

/// A PNG file whose header claims a width and height.
fn claimed(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let chunks = [png_chunk(*b"IHDR", &header), png_chunk(*b"IDAT", b"x"), png_chunk(*b"IEND", b"")];
    [&b"\x89PNG\r\n\x1a\n"[..], &chunks.concat()].concat()
}

#[test]
fn the_header_decides_before_pixels_are_decoded() {
    for (width, height) in [(60_000, 60_000), (u32::MAX, u32::MAX), (8001, 8000)] {
        assert_eq!(inspect(&claimed(width, height)).fault, Some(ContentError::ImageTooBig));
    }
    assert_eq!(inspect(&claimed(0, 7)).fault, Some(ContentError::Undecodable));
    let mut jpeg = picture(ImageFormat::Jpeg, 16, 16);
    let frame = jpeg.windows(2).position(|bytes| bytes == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    assert_eq!(inspect(&jpeg).fault, Some(ContentError::ImageTooBig));
    let webp = picture(ImageFormat::WebP, 16, 16);
    assert_eq!(inspect(&webp_with(0, (1 << 24, 9), &webp[12..])).fault, Some(ContentError::ImageTooBig));
}

/// The number of bytes of the pixels of an image.
fn decoded(bytes: &[u8], format: ImageFormat) -> u64 {
    ImageReader::with_format(Cursor::new(bytes), format).into_decoder().unwrap().total_bytes()
}

#[test]
fn an_image_of_more_than_100_million_bytes_is_stored_without_a_thumbnail() {
    const SIDE: u32 = 5774;
    for format in FORMATS {
        let sample = encoded(&DynamicImage::new_rgb8(SIDE, SIDE), format);
        assert!(decoded(&sample, format) > MAX_DECODED_BYTES);
        let inspected = inspect(&sample);
        assert_eq!((inspected.fault, inspected.content_type.as_str()), (None, format.to_mime_type()));
        assert!(inspected.thumbnail.is_none(), "{format:?}");
        let smaller = encoded(&DynamicImage::new_rgb8(SIDE, SIDE - 2), format);
        assert!(inspect(&smaller).thumbnail.is_some(), "{format:?}");
    }
    let header = [&8000_u32.to_be_bytes()[..], &8000_u32.to_be_bytes(), &[16, 6, 0, 0, 0]].concat();
    let chunks = [png_chunk(*b"IHDR", &header), png_chunk(*b"IDAT", b"x"), png_chunk(*b"IEND", b"")];
    let deep = inspect(&[&b"\x89PNG\r\n\x1a\n"[..], &chunks.concat()].concat());
    assert!(deep.fault.is_none() && deep.thumbnail.is_none(), "its pixels have 512 million bytes");
}

#[test]
fn a_jpeg_that_is_not_decoded_keeps_its_orientation_and_nothing_else() {
    let plain = encoded(&DynamicImage::new_rgb8(5774, 5774), ImageFormat::Jpeg);
    let sample = jpeg_with(&plain, &[(0xe1, &[b"Exif\0\0", &exif(6)[..]].concat())]);
    let stored = bytes(inspect(&sample).content);
    assert!(!contains(&stored, SECRET));
    let mut decoder =
        ImageReader::with_format(Cursor::new(&stored), ImageFormat::Jpeg).into_decoder().unwrap();
    assert_eq!(decoder.orientation().unwrap(), Orientation::Rotate90);
    assert_eq!(bytes(inspect(&stored).content), stored, "a second inspection changes nothing");
}

#[test]
fn a_jpeg_with_many_scans_cannot_be_attached() {
    let jpeg = picture(ImageFormat::Jpeg, 16, 16);
    let scan = jpeg.windows(2).position(|bytes| bytes == [0xff, 0xda]).unwrap();
    let (begin, rest) = jpeg.split_at(scan);
    let mut bomb = begin.to_vec();
    for _ in 0..101 {
        bomb.extend(&rest[..rest.len() - 2]);
    }
    bomb.extend([0xff, 0xd9]);
    assert_eq!(inspect(&bomb).fault, Some(ContentError::Undecodable));
}

#[test]
fn animations_become_their_first_picture() {
    let chunk = |width, height| picture(ImageFormat::WebP, width, height)[12..].to_vec();
    let frame = |x: u8| {
        let head = [x, 0, 0, 0, 0, 0, 31, 0, 0, 15, 0, 0, 100, 0, 0, 0];
        webp_chunk(*b"ANMF", &[&head[..], &chunk(32, 16)].concat())
    };
    let animation = webp_with(0x02, (32, 16), &[webp_chunk(*b"ANIM", &[0; 6]), frame(0), frame(0)].concat());
    let (stored, image, _) = accepted(inspect(&animation), ImageFormat::WebP);
    assert_eq!(image.dimensions(), (32, 16));
    assert!(!contains(&stored, "ANMF"));
    let big = webp_chunk(*b"ANMF", &[&[0; 16][..], &chunk(1, 8001)].concat());
    let bomb = webp_with(0x02, (32, 16), &[webp_chunk(*b"ANIM", &[0; 6]), big].concat());
    assert_eq!(inspect(&bomb).fault, Some(ContentError::ImageTooBig));

    let png = picture(ImageFormat::Png, 32, 16);
    let animated = png_with(&png, &[(*b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]), (*b"fdAT", SECRET.as_bytes())]);
    assert_eq!(accepted(inspect(&animated), ImageFormat::Png).0, png);
}

#[test]
fn other_kinds_of_pixels_have_thumbnails_too() {
    let gray = DynamicImage::ImageLuma8(GrayImage::from_pixel(300, 500, image::Luma([9])));
    let transparent = DynamicImage::ImageRgba8(RgbaImage::from_pixel(500, 400, Rgba([1, 2, 3, 4])));
    let deep = DynamicImage::ImageRgba16(transparent.to_rgba16());
    for (image, formats) in [(&gray, &FORMATS[..2]), (&transparent, &FORMATS[1..]), (&deep, &FORMATS[1..2])] {
        for format in formats {
            let (_, whole, thumbnail) = accepted(inspect(&encoded(image, *format)), *format);
            assert_eq!(whole.dimensions(), image.dimensions());
            assert_eq!(thumbnail.height(), THUMBNAIL_HEIGHT);
            assert!(thumbnail.as_bytes().len() < 500 * 237 * 4);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_images_are_inspected(which in 0usize..6, changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..20)) {
        let format = FORMATS[which % 3];
        let mut sample = if which < 3 { picture(format, 24, 18) } else { with_metadata(format, (24, 18), 5) };
        for (at, value) in changes {
            let at = usize::from(at) % sample.len();
            sample[at] = value;
        }
        let inspected = inspect(&sample);
        let is_image = inspected.fault.is_none() && inspected.content_type.starts_with("image/");
        let is_decoded = is_image && decoded(&bytes(inspected.content), format) <= MAX_DECODED_BYTES;
        prop_assert_eq!(inspected.thumbnail.is_some(), is_decoded);
        if let Some(thumbnail) = inspected.thumbnail {
            let small = image::load_from_memory(&bytes(thumbnail)).unwrap();
            prop_assert!(small.height() <= THUMBNAIL_HEIGHT && small.width() >= 1);
        }
    }

    #[test]
    fn thumbnails_obey_the_rules(width in 1u32..900, height in 1u32..900, which in 0usize..3) {
        let format = FORMATS[which];
        let (_, image, thumbnail) = accepted(inspect(&picture(format, width, height)), format);
        prop_assert_eq!(image.dimensions(), (width, height));
        prop_assert!(thumbnail.height() == height.min(THUMBNAIL_HEIGHT) && (1..=width).contains(&thumbnail.width()));
    }
}
