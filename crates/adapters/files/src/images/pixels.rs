//! Decodes, scales and encodes pixels.

use super::finished;
use civitas_attachments::{ContentError, FileContent, MAX_IMAGE_SIDE, THUMBNAIL_HEIGHT};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{
    ColorType, DynamicImage, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits,
};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};

/// The quality of JPEG files that are encoded again, from 1 to 100.
const QUALITY: u8 = 92;
/// The memory that a decoder may allocate beside the pixels, as far as it counts, in bytes.
const MAX_ALLOCATION: u64 = 300 << 20;
/// The most bytes of the pixels of an image that is decoded.
pub(super) const MAX_DECODED_BYTES: u64 = 100_000_000;
/// The longest colour profile of images that are encoded again, in bytes.
const MAX_PROFILE: usize = 256 * 1024;

/// Pixels and their colour profile.
pub(super) struct DecodedImage {
    pub pixels: DynamicImage,
    profile: Option<Vec<u8>>,
}

/// Decodes all pixels; `None` if they have more than [`MAX_DECODED_BYTES`] bytes.
pub(super) fn decode(mut file: &File, format: ImageFormat) -> Result<Option<DecodedImage>, ContentError> {
    let undecodable = |error: ImageError| {
        tracing::debug!(%error, "an image was not decoded");
        ContentError::Undecodable
    };
    file.rewind().map_err(|cause| undecodable(cause.into()))?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_ALLOCATION);
    let mut reader = ImageReader::with_format(BufReader::new(file), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(undecodable)?;
    let (width, height) = decoder.dimensions();
    if width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE {
        return Err(ContentError::ImageTooBig);
    }
    if decoder.total_bytes() > MAX_DECODED_BYTES {
        return Ok(None);
    }
    let profile = decoder.icc_profile().unwrap_or_default().filter(|profile| profile.len() <= MAX_PROFILE);
    let pixels = DynamicImage::from_decoder(decoder).map_err(undecodable)?;
    let profile = profile.filter(|profile| is_of(profile, pixels.color()));
    Ok(Some(DecodedImage { pixels, profile }))
}

/// Whether a colour profile describes colours of that kind. Decoders turn CMYK into RGB.
fn is_of(profile: &[u8], color: ColorType) -> bool {
    profile.get(16..20) == Some(if color.has_color() { b"RGB " } else { b"GRAY" })
}

impl DecodedImage {
    /// A copy with 8 bits, at most [`THUMBNAIL_HEIGHT`] high, never larger than the image, of the same proportions.
    pub fn thumbnail(&self) -> Self {
        let (width, height) = thumbnail_size(self.pixels.width(), self.pixels.height());
        let scaled = if height < self.pixels.height() {
            self.pixels.thumbnail_exact(width, height)
        } else {
            self.pixels.clone()
        };
        let color = scaled.color();
        let pixels = match (color.has_color(), color.has_alpha()) {
            (false, false) => DynamicImage::ImageLuma8(scaled.into_luma8()),
            (false, true) => DynamicImage::ImageLumaA8(scaled.into_luma_alpha8()),
            (true, false) => DynamicImage::ImageRgb8(scaled.into_rgb8()),
            (true, true) => DynamicImage::ImageRgba8(scaled.into_rgba8()),
        };
        Self { pixels, profile: self.profile.clone() }
    }
}

fn thumbnail_size(width: u32, height: u32) -> (u32, u32) {
    if height <= THUMBNAIL_HEIGHT {
        return (width, height);
    }
    // Rounded; smaller than `width`, because the height is.
    let scaled = (u64::from(width) * u64::from(THUMBNAIL_HEIGHT) + u64::from(height) / 2) / u64::from(height);
    (u32::try_from(scaled).unwrap_or(width).clamp(1, width.max(1)), THUMBNAIL_HEIGHT)
}

/// Writes an image with its colour profile, and nothing else.
pub(super) fn encode(image: &DecodedImage, format: ImageFormat, file: File) -> io::Result<FileContent> {
    let mut to = BufWriter::new(file);
    let written = match format {
        ImageFormat::Jpeg => with(image, JpegEncoder::new_with_quality(&mut to, QUALITY)),
        ImageFormat::WebP => with(image, WebPEncoder::new_lossless(&mut to)),
        _ => with(image, PngEncoder::new(&mut to)),
    };
    written.map_err(|error| match error {
        ImageError::IoError(cause) => cause,
        other => io::Error::other(other),
    })?;
    finished(to)
}

fn with(image: &DecodedImage, mut encoder: impl ImageEncoder) -> Result<(), ImageError> {
    if let Some(profile) = &image.profile {
        // An encoder that does not support profiles writes none.
        let _ = encoder.set_icc_profile(profile.clone());
    }
    image.pixels.write_with_encoder(encoder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thumbnails_keep_proportions() {
        for ((width, height), expected) in [
            ((1, 1), (1, 1)),
            ((8000, 237), (8000, 237)),
            ((474, 474), (237, 237)),
            ((1, 8000), (1, 237)),
            ((8000, 238), (7966, 237)),
            ((640, 480), (316, 237)),
        ] {
            assert_eq!(thumbnail_size(width, height), expected, "{width}x{height}");
        }
    }

    proptest! {
        #[test]
        fn thumbnails_are_neither_empty_nor_enlarged(width in 1u32..=8000, height in 1u32..=8000) {
            let (w, h) = thumbnail_size(width, height);
            prop_assert!(w >= 1 && h >= 1 && w <= width && h <= height && h <= THUMBNAIL_HEIGHT);
            let exact = f64::from(width) * f64::from(h) / f64::from(height);
            prop_assert!(w == 1 || (f64::from(w) - exact).abs() <= 0.5 + 1e-9);
        }
    }
}
