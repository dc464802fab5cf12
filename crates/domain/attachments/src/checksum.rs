//! SHA-256 of bytes as they pass.

use civitas_kernel::text::hexadecimal;
use ring::digest::{Context, SHA256};

/// The length and the SHA-256 of bytes that are read piece by piece.
///
/// ```
/// use civitas_attachments::Checksum;
///
/// let mut checksum = Checksum::default();
/// checksum.update(b"hello ");
/// checksum.update(b"world\n");
/// let (length, sha256) = checksum.finish();
/// assert_eq!((length, &sha256[..8]), (12, "a948904f"));
/// ```
#[derive(Clone)]
pub struct Checksum {
    context: Context,
    length: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Self { context: Context::new(&SHA256), length: 0 }
    }
}

impl Checksum {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.context.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// The number of bytes, and their SHA-256 in hexadecimal.
    pub fn finish(self) -> (u64, String) {
        (self.length, hexadecimal(self.context.finish().as_ref()))
    }
}
