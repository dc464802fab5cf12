//! Objects in a bucket with the S3 interface.
//!
//! Objects up to [`PART`] bytes are one request, longer ones a multipart upload with one part in memory at a time. An
//! upload becomes visible when it is completed. A failed or cancelled upload is aborted; what a killed process leaves
//! is invisible, and a lifecycle rule of the bucket (`AbortIncompleteMultipartUpload`) removes it: the storage client
//! cannot list uploads.

use crate::connector::Connector;
use crate::disk::{blocking, disk_error};
use bytes::Bytes;
use civitas_attachments::{ByteStream, FileContent, StoredObject};
use civitas_kernel::{Error, Result};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
};
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The length of a part of a multipart upload, in bytes. At most 10,000 parts: 80 GiB.
const PART: u64 = 8 << 20;
/// A part is in pieces of this length, in bytes.
const PIECE: usize = 64 * 1024;
/// How many uploads run at the same time. Each has one part in memory.
const UPLOADS: usize = 4;

/// A bucket, and the prefix of all names in it.
#[derive(Debug, Clone)]
pub(crate) struct BucketStore {
    client: Arc<AmazonS3>,
    prefix: Path,
    uploads: Arc<Semaphore>,
}

impl BucketStore {
    /// `settings` are `AWS_*` variables; others are ignored. Opens no connection.
    pub fn open(
        bucket: &str,
        prefix: &str,
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> object_store::Result<Self> {
        let mut builder = AmazonS3Builder::new();
        for (name, value) in settings {
            if name.starts_with("AWS_")
                && let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>()
            {
                builder = builder.with_config(key, value);
            }
        }
        let backoff = BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() };
        let retry = RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_secs(60) };
        let client = builder
            .with_bucket_name(bucket)
            .with_http_connector(Connector)
            .with_retry(retry)
            .with_disable_bulk_delete(true)
            .build()?;
        let prefix = Path::parse(prefix)?;
        Ok(Self { client: Arc::new(client), prefix, uploads: Arc::new(Semaphore::new(UPLOADS)) })
    }

    /// The name in the bucket.
    fn path(&self, name: &str) -> Result<Path> {
        let full =
            if self.prefix.as_ref().is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) };
        Path::parse(full).map_err(Error::internal)
    }

    pub async fn put(&self, name: &str, mut content: FileContent) -> Result<()> {
        let path = self.path(name)?;
        let _permit = self.uploads.acquire().await.map_err(Error::internal)?;
        content.file.rewind().map_err(disk_error)?;
        if content.byte_size <= PART {
            let (_, pieces) = next_part(content, Vec::new()).await?;
            self.client.put(&path, pieces.into_iter().collect()).await.map_err(storage_error)?;
            return Ok(());
        }
        let client = Arc::clone(&self.client);
        // A task, so that an upload is aborted too when this future is dropped before its id arrives.
        let begun = tokio::spawn(async move { client.put_multipart(&path).await.map(AbortOnDrop::new) });
        send_parts(begun.await.map_err(Error::internal)?.map_err(storage_error)?, content).await
    }

    pub async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>> {
        let path = self.path(name)?;
        if range.is_empty() {
            let found = found(self.client.head(&path).await)?;
            return Ok(found.map(|_| stream::empty().boxed()));
        }
        let options = GetOptions::new().with_range(Some(range));
        let answer = found(self.client.get_opts(&path, options).await)?;
        Ok(answer.map(|answer| answer.into_stream().map_err(storage_error).boxed()))
    }

    pub async fn delete(&self, name: &str) -> Result<()> {
        found(self.client.delete(&self.path(name)?).await).map(|_| ())
    }

    /// The objects below `prefix`, in the order of the storage.
    pub fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>> {
        let base = self.prefix.clone();
        let at = if prefix.is_empty() { Ok(base.clone()) } else { self.path(prefix) };
        let at = match at {
            Ok(at) => at,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        let name = move |path: &Path| {
            let rest = path.as_ref().strip_prefix(base.as_ref()).unwrap_or(path.as_ref());
            rest.trim_start_matches('/').to_owned()
        };
        let objects = self.client.list(Some(&at)).map_err(storage_error);
        objects.map_ok(move |meta| StoredObject { name: name(&meta.location), byte_size: meta.size }).boxed()
    }
}

/// Sends a file in parts, one at a time, and completes the upload.
async fn send_parts(mut upload: AbortOnDrop, mut content: FileContent) -> Result<()> {
    let mut pieces = Vec::new();
    while content.byte_size > 0 {
        (content, pieces) = next_part(content, pieces).await?;
        let part = pieces.iter().cloned().collect::<PutPayload>();
        upload.get()?.put_part(part).await.map_err(storage_error)?;
    }
    upload.get()?.complete().await.map_err(storage_error)?;
    upload.0 = None;
    Ok(())
}

/// The next part in pieces, and the rest. The memory of `pieces` is used again: an allocation for each part would leave
/// freed memory in the pools of several threads.
async fn next_part(mut content: FileContent, pieces: Vec<Bytes>) -> Result<(FileContent, Vec<Bytes>)> {
    blocking(move || {
        let mut left = content.byte_size.min(PART);
        let mut pieces = pieces.into_iter();
        let mut part = Vec::new();
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE);
            let free = pieces.next().and_then(|piece| piece.try_into_mut().ok());
            let mut piece = free.unwrap_or_default();
            piece.resize(length, 0);
            content.file.read_exact(&mut piece).map_err(disk_error)?;
            part.push(piece.freeze());
            left -= length as u64;
            content.byte_size -= length as u64;
        }
        Ok((content, part))
    })
    .await
}

/// An upload that is aborted unless it is completed: also when the future that sends it is dropped.
struct AbortOnDrop(Option<Box<dyn MultipartUpload>>);

impl AbortOnDrop {
    fn new(upload: Box<dyn MultipartUpload>) -> Self {
        Self(Some(upload))
    }

    fn get(&mut self) -> Result<&mut dyn MultipartUpload> {
        match &mut self.0 {
            Some(upload) => Ok(&mut **upload),
            None => Err(Error::internal("an upload after its end")),
        }
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(cause) = upload.abort().await {
                    tracing::warn!(%cause, "an incomplete upload was not aborted");
                }
            });
        }
    }
}

/// `None` for an object that does not exist.
fn found<T>(result: object_store::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(cause) => Err(storage_error(cause)),
    }
}

fn storage_error(cause: object_store::Error) -> Error {
    Error::Unavailable(cause.into())
}
