//! Where the bytes of files are stored.

use crate::bucket::BucketStore;
use crate::directory::DirectoryStore;
use crate::disk::{blocking, disk_error};
use crate::name;
use async_trait::async_trait;
use civitas_attachments::{ByteStream, FileContent, FileStore, StoredObject};
use civitas_kernel::{BoxError, Error, Result, random_key};
use futures_util::TryStreamExt;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A directory, or a bucket with the S3 interface.
///
/// A range that ends after the end of an object is cut; one that begins there is `Unavailable`, because the object is
/// shorter than its record says. Requests to a bucket are tried at most four times, within a minute.
#[derive(Debug, Clone)]
pub struct FileStorage(StorageBackend);

#[derive(Debug, Clone)]
enum StorageBackend {
    Directory(DirectoryStore),
    Bucket(BucketStore),
}

impl FileStorage {
    /// Opens `file:///PATH`, which is created where it is absent, or `s3://BUCKET/PREFIX`.
    ///
    /// `settings` are environment variables. Those of object storage begin with `AWS_`: `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ALLOW_HTTP`, `AWS_PROXY_URL`, ... The others are
    /// ignored. Blocks while it creates directories.
    ///
    /// # Errors
    /// `Internal` for an invalid URL or setting. `Unavailable` when the directory cannot be created.
    pub fn open(url: &str, settings: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        Self::at(url, settings, DirectoryStore::open)
    }

    /// Opens the same addresses to read what is there, and creates nothing.
    ///
    /// # Errors
    /// Those of [`Self::open`]. `Unavailable` when the directory is absent.
    pub fn open_to_read(url: &str, settings: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        Self::at(url, settings, DirectoryStore::open_existing)
    }

    fn at(
        url: &str,
        settings: impl IntoIterator<Item = (String, String)>,
        directory: impl FnOnce(PathBuf) -> Result<DirectoryStore>,
    ) -> Result<Self> {
        let invalid = |cause: BoxError| Error::internal(format!("files_url is invalid: {cause}"));
        let parsed = Url::parse(url).map_err(|cause| invalid(cause.into()))?;
        if parsed.query().is_some() || parsed.fragment().is_some() || !parsed.username().is_empty() {
            return Err(invalid("only a scheme and a path are allowed".into()));
        }
        let backend = match (parsed.scheme(), parsed.host_str()) {
            ("file", None) => {
                let path = parsed.to_file_path().map_err(|()| invalid("not an absolute path".into()))?;
                StorageBackend::Directory(directory(path)?)
            }
            ("s3", Some(bucket)) => {
                let prefix = parsed.path().trim_matches('/');
                if !prefix.is_empty() {
                    name::check(prefix)?;
                }
                StorageBackend::Bucket(
                    BucketStore::open(bucket, prefix, settings).map_err(|cause| invalid(cause.into()))?,
                )
            }
            _ => return Err(invalid("expected file:///PATH or s3://BUCKET/PREFIX".into())),
        };
        Ok(Self(backend))
    }
}

#[async_trait]
impl FileStore for FileStorage {
    async fn put(&self, name: &str, content: FileContent) -> Result<()> {
        name::check(name)?;
        match &self.0 {
            StorageBackend::Directory(directory) => directory.put(name, content).await,
            StorageBackend::Bucket(bucket) => bucket.put(name, content).await,
        }
    }

    async fn read(&self, name: &str, range: Range<u64>) -> Result<Option<ByteStream>> {
        name::check(name)?;
        match &self.0 {
            StorageBackend::Directory(directory) => directory.read(name, range).await,
            StorageBackend::Bucket(bucket) => bucket.read(name, range).await,
        }
    }

    async fn delete(&self, name: &str) -> Result<()> {
        name::check(name)?;
        match &self.0 {
            StorageBackend::Directory(directory) => directory.delete(name).await,
            StorageBackend::Bucket(bucket) => bucket.delete(name).await,
        }
    }

    fn list(&self, prefix: &str) -> BoxStream<'static, Result<StoredObject>> {
        if !prefix.is_empty()
            && let Err(error) = name::check(prefix)
        {
            return stream::once(async { Err(error) }).boxed();
        }
        match &self.0 {
            StorageBackend::Directory(directory) => directory.list(prefix),
            StorageBackend::Bucket(bucket) => bucket.list(prefix),
        }
    }

    /// In a bucket it removes nothing: a lifecycle rule of the bucket must abort incomplete uploads.
    async fn remove_incomplete(&self, age: Duration) -> Result<u64> {
        match &self.0 {
            StorageBackend::Directory(directory) => directory.remove_incomplete(age).await,
            StorageBackend::Bucket(_) => Ok(0),
        }
    }

    async fn ready(&self) -> Result<()> {
        let name = format!("ready/{}", random_key());
        let sample = blocking(|| {
            let mut file = tempfile::tempfile().map_err(disk_error)?;
            file.write_all(b"ready").map_err(disk_error)?;
            Ok(FileContent { file, byte_size: 5 })
        });
        self.put(&name, sample.await?).await?;
        let read = match self.read(&name, 0..5).await {
            Ok(Some(stream)) => stream.try_collect::<Vec<_>>().await.map(|chunks| chunks.concat()),
            Ok(None) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        self.delete(&name).await?;
        if read? == b"ready" {
            Ok(())
        } else {
            Err(Error::Unavailable("what was stored is not what is read".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(url: &str) -> Result<FileStorage> {
        FileStorage::open(url, [("AWS_REGION".to_owned(), "us-east-1".to_owned())])
    }

    #[test]
    fn only_absolute_paths_and_buckets_are_urls_of_a_store() {
        for url in [
            "",
            "files",
            "file://files",
            "file://host/files",
            "http://bucket/x",
            "s3:///x",
            "s3://bucket/a b",
            "s3://bucket/.x",
            "s3://bucket/x?y=1",
            "s3://user:secret@bucket/x",
            "file:///tmp/x#y",
        ] {
            assert!(matches!(open(url), Err(Error::Internal(_))), "{url}");
        }
        assert!(open("s3://bucket").is_ok());
        assert!(open("s3://bucket/a/b/").is_ok());
    }

    #[test]
    fn a_directory_is_created_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        open(&format!("file://{}", path.display())).unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_is_only_read_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("file://{}", directory.path().display());
        assert!(FileStorage::open_to_read(&url, []).is_ok());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(matches!(
            FileStorage::open_to_read(&format!("{url}/absent"), []),
            Err(Error::Unavailable(_))
        ));
    }

    #[test]
    fn a_directory_that_cannot_be_created_is_unavailable() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(open(&format!("file://{}/x", file.path().display())), Err(Error::Unavailable(_))));
    }
}
