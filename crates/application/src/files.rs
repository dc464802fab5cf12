//! Receives, stores, serves and deletes files. A file has its row before its bytes are stored, and loses it after they
//! are deleted ([`FileState`]), so a crash at any time leaves no bytes without a row.

use crate::worker_loop::{is_running, pause};
use crate::{EventCommitter, Store};
use bytes::Bytes;
use civitas_attachments::{
    ATTACH_WINDOW, ByteStream, FileContent, FileInspection, FileIntake, FileState, FileStore, ImageBytes,
    PENDING_FILE_LIFETIME, ReceiveOutcome, ReceivedBody, StoredFile, UploadWrites,
};
use civitas_kernel::records::{Change, Records};
use civitas_kernel::{Error, FileId, OrganizationId, Result, UploadId, clock};
use futures_util::{Stream, StreamExt, stream};
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The most chunks of a body in memory between connection and disk.
const CHUNKS: usize = 4;
/// The most rows of one step of the reaper.
const BATCH: i64 = 100;
/// How often the reaper looks for removed files.
const INTERVAL: Duration = Duration::from_secs(5);
/// How often the reaper looks for incomplete objects, and how long nothing was written to those that it removes.
const INCOMPLETE: Duration = Duration::from_secs(3600);

/// A new file: its row is stored, its bytes are not.
pub struct NewFile {
    /// The row.
    pub id: FileId,
    /// The file.
    pub file: StoredFile,
    content: FileContent,
    thumbnail: Option<FileContent>,
}

/// Receives, stores, serves and deletes files.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn Store>,
    committer: EventCommitter,
    objects: Arc<dyn FileStore>,
    intake: Arc<dyn FileIntake>,
}

impl Files {
    /// Files over these services.
    pub fn new(
        store: Arc<dyn Store>,
        committer: EventCommitter,
        objects: Arc<dyn FileStore>,
        intake: Arc<dyn FileIntake>,
    ) -> Self {
        Self { store, committer, objects, intake }
    }

    /// Receives at most `limit` bytes.
    ///
    /// # Errors
    /// Those of the stream; `Unavailable` when the disk is full.
    pub async fn receive(&self, bytes: ByteStream, limit: u64) -> Result<ReceiveOutcome> {
        self.intake.receive(bytes, limit).await
    }

    /// The same for the body of a request, whose errors are the outer ones. The rest of a longer file is read and dropped.
    ///
    /// # Errors
    /// Those of the body.
    pub async fn receive_body<E>(
        &self,
        body: impl Stream<Item = Result<Bytes, E>>,
        limit: u64,
    ) -> Result<Result<ReceiveOutcome>, E> {
        let (to, from) = mpsc::channel::<Result<Bytes>>(CHUNKS);
        let bytes = stream::unfold(from, |mut from| async move {
            let next = from.recv().await?;
            Some((next, from))
        });
        let pump = async move {
            let mut body = pin!(body);
            let mut is_open = true;
            while let Some(chunk) = body.next().await {
                match chunk {
                    Ok(chunk) if is_open => is_open = to.send(Ok(chunk)).await.is_ok(),
                    Ok(_) => {}
                    Err(error) => {
                        // The receiver must not take the end of the chunks for the end of the file.
                        let _ = to.send(Err(Error::rejected("the body is incomplete"))).await;
                        return Err(error);
                    }
                }
            }
            Ok(())
        };
        let (pumped, received) = tokio::join!(pump, self.receive(bytes.boxed(), limit));
        pumped.map(|()| received)
    }

    /// Inspects received bytes.
    ///
    /// # Errors
    /// `Unavailable` when the disk is full.
    pub async fn inspect(&self, received: ReceivedBody) -> Result<FileInspection> {
        self.intake.inspect(received, ImageBytes::WithoutMetadata).await
    }

    /// Stores the row of a file, pending. `prefix`: the `reference_prefix` of the organization.
    pub async fn register(
        &self,
        organization: OrganizationId,
        prefix: &str,
        filename: String,
        inspected: FileInspection,
        now: OffsetDateTime,
    ) -> Result<NewFile> {
        let file = StoredFile::new(prefix, filename, &inspected, now);
        let id = self.store.files().add(organization, &file).await?;
        Ok(NewFile { id, file, content: inspected.content, thumbnail: inspected.thumbnail })
    }

    /// Stores the bytes of a registered file.
    ///
    /// # Errors
    /// `Unavailable` when the file store does not answer or is full.
    pub async fn put(&self, new: NewFile) -> Result<(FileId, StoredFile)> {
        let NewFile { id, file, content, thumbnail } = new;
        self.objects.put(&file.object, content).await?;
        if let Some(thumbnail) = thumbnail {
            self.objects.put(&file.thumbnail_object(), thumbnail).await?;
        }
        Ok((id, file))
    }

    /// Gives a file up if it is still pending: the reaper deletes its bytes. A commit that failed may have taken effect:
    /// then the file is stored, and stays. Errors are logged: the reaper finds the file anyway.
    pub async fn discard(&self, organization: OrganizationId, id: FileId, now: OffsetDateTime) {
        let work = async |tx: &dyn crate::Transaction| {
            let found = Records::find_for_update(tx.files(), organization, id).await?;
            let Some(before) = found.filter(|file| file.state == FileState::Pending) else { return Ok(()) };
            let after = StoredFile { state: FileState::Removed, ..before.clone() };
            tx.files().save(organization, id, &Change { before, after }).await
        };
        if let Err(error) = self.committer.in_transaction(&*self.store, now, work).await {
            tracing::warn!(%error, "a file could not be marked as removed");
        }
    }

    /// Stores the bytes of a registered file, and makes it that of an upload.
    ///
    /// # Errors
    /// `NotFound` when the upload was attached or removed meanwhile; `Unavailable`.
    pub async fn complete_upload(
        &self,
        organization: OrganizationId,
        id: UploadId,
        new: NewFile,
        now: OffsetDateTime,
    ) -> Result<()> {
        let file_id = new.id;
        let completed = async {
            self.put(new).await?;
            let work = async |tx: &dyn crate::Transaction| {
                let writes = UploadWrites { uploads: tx.uploads(), files: tx.files() };
                writes.complete(organization, id, file_id).await
            };
            self.committer.in_transaction(&*self.store, now, work).await
        };
        let outcome = completed.await;
        if outcome.is_err() {
            self.discard(organization, file_id, now).await;
        }
        outcome
    }

    /// The file with this key, if it is attached to a record that is neither deleted nor hidden.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn find(&self, organization: OrganizationId, key: &str) -> Result<StoredFile> {
        self.store.files().find_served(organization, key).await?.ok_or(Error::NotFound)
    }

    /// The bytes of a range of an object.
    ///
    /// # Errors
    /// `NotFound` when there is no such object.
    pub async fn read(&self, object: &str, range: Range<u64>) -> Result<ByteStream> {
        self.objects.read(object, range).await?.ok_or(Error::NotFound)
    }

    /// Deletes what is no longer used: old uploads, the bytes of removed files, then their rows. A file whose bytes
    /// cannot be deleted stays for the next time.
    pub async fn sweep(&self, now: OffsetDateTime) -> Result<()> {
        while self.store.uploads().remove_requested_before(now - ATTACH_WINDOW, BATCH).await? == BATCH {}
        loop {
            let removed = self.store.files().removed(now - PENDING_FILE_LIFETIME, BATCH).await?;
            let mut deleted = Vec::new();
            for (id, file) in &removed {
                match self.delete_objects(file).await {
                    Ok(()) => deleted.push(*id),
                    Err(error) => {
                        tracing::warn!(%error, file = id.0, "the bytes of a file could not be deleted");
                    }
                }
            }
            if !deleted.is_empty() {
                self.store.files().forget(&deleted).await?;
            }
            if deleted.len() < removed.len() || i64::try_from(removed.len()).is_ok_and(|found| found < BATCH)
            {
                return Ok(());
            }
        }
    }

    async fn delete_objects(&self, file: &StoredFile) -> Result<()> {
        if file.thumbnail_bytes.is_some() {
            self.objects.delete(&file.thumbnail_object()).await?;
        }
        self.objects.delete(&file.object).await
    }

    /// Removes objects that killed processes left incomplete, and that nothing was written to for `age`. Errors are
    /// logged.
    pub async fn remove_incomplete(&self, age: Duration) {
        match self.objects.remove_incomplete(age).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "incomplete files were removed"),
            Err(error) => tracing::warn!(%error, "incomplete files could not be removed"),
        }
    }

    /// Deletes removed files at an interval, until `stop` is true. Removes incomplete objects at the start and every hour.
    pub async fn run_cleanup(self, mut stop: watch::Receiver<bool>) {
        let mut incomplete_from = Instant::now();
        while is_running(&stop) {
            if incomplete_from <= Instant::now() {
                self.remove_incomplete(INCOMPLETE).await;
                incomplete_from = Instant::now() + INCOMPLETE;
            }
            if let Err(error) = self.sweep(clock::now()).await {
                tracing::warn!(%error, "removed files could not be deleted");
            }
            pause(INTERVAL, &mut stop).await;
        }
    }
}
