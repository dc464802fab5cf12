//! The content of files: how it is received, inspected and stored.

use async_trait::async_trait;
use bytes::Bytes;
use civitas_kernel::Result;
use futures_core::stream::BoxStream;
use std::fs::File;
use std::ops::Range;
use std::time::Duration;

/// Bytes in order, as they arrive.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// Bytes in a temporary file without a name: the file system frees it when it is dropped or the process ends.
#[derive(Debug)]
pub struct FileContent {
    /// The file; readers begin at its first byte.
    pub file: File,
    /// Its length in bytes.
    pub byte_size: u64,
}

/// A body that was received completely.
#[derive(Debug)]
pub struct ReceivedBody {
    /// The bytes as they were sent.
    pub content: FileContent,
    /// Their MD5, which the contract names as the checksum of an upload (07 B.6).
    pub md5: [u8; 16],
}

/// What became of a body.
#[derive(Debug)]
pub enum ReceiveOutcome {
    /// All bytes arrived.
    Complete(ReceivedBody),
    /// There were more bytes than the limit; none is kept.
    TooLong,
}

/// Which bytes of an image are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageBytes {
    /// Without metadata and without bytes after the end of the image: what the interface and the panel receive (contract 07 B.5).
    WithoutMetadata,
    /// As they are: what is imported (contract 13 §5.12).
    Unchanged,
}

/// A file that was inspected.
#[derive(Debug)]
pub struct FileInspection {
    /// The bytes to store.
    pub content: FileContent,
    /// SHA-256 of the bytes to store.
    pub sha256: [u8; 32],
    /// The media type that the bytes have, in lower case without parameters; `application/octet-stream` when unknown.
    pub content_type: String,
    /// Why the file cannot be attached anywhere.
    pub fault: Option<ContentError>,
    /// A smaller copy of an image, in the same format.
    pub thumbnail: Option<FileContent>,
}

civitas_kernel::named_enum! {
    /// Why a file cannot be attached anywhere.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum ContentError {
        /// An image wider or higher than [`MAX_IMAGE_SIDE`].
        ImageTooBig = "image_too_big",
        /// An image that cannot be decoded.
        Undecodable = "undecodable",
    }
}

/// The largest width and height of an image, in pixels (contract 07 B.5).
pub const MAX_IMAGE_SIDE: u32 = 8_000;
/// The largest height of a thumbnail, in pixels (contract 07 B.8).
pub const THUMBNAIL_HEIGHT: u32 = 237;

/// Receives and inspects files. It uses the disk, and little memory.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait FileIntake: Send + Sync {
    /// Writes at most `limit` bytes to a temporary file.
    ///
    /// # Errors
    /// Those of the stream. `Unavailable` when the disk is full.
    async fn receive(&self, bytes: ByteStream, limit: u64) -> Result<ReceiveOutcome>;

    /// Detects the media type from the bytes. Decodes images completely and makes their thumbnails. Where their metadata is
    /// removed, an orientation is applied to the pixels.
    ///
    /// # Errors
    /// `Unavailable` when the disk is full. A file with faults is not an error.
    async fn inspect(&self, received: ReceivedBody, images: ImageBytes) -> Result<FileInspection>;
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredObject {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub byte_size: u64,
}

/// Stores the bytes of files under names: a directory, or object storage.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait FileStore: Send + Sync {
    /// Stores an object. Readers see all of it or nothing.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer or is full.
    async fn put(&self, name: &str, content: FileContent) -> Result<()>;

    /// The bytes of a range of an object; `None` when there is no such object.
    async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>>;

    /// Deletes an object. Succeeds when there is none.
    async fn delete(&self, name: &str) -> Result<()>;

    /// The objects whose names begin with the segments of `prefix`; all for an empty prefix. In no order.
    fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>>;

    /// Removes incomplete objects of killed processes that nothing was written to for `age`. Returns how many. A store
    /// that removes them by itself returns 0.
    async fn remove_incomplete(&self, age: Duration) -> Result<u64>;

    /// Checks that objects can be written, read and deleted.
    ///
    /// # Errors
    /// `Unavailable` with the reason.
    async fn ready(&self) -> Result<()>;
}
